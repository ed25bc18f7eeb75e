"""Writing so that a file or folder is there complete, or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from coembed.errors import InputError


@contextmanager
def replacing_file(path: Path) -> Iterator[Path]:
    """Yield a temporary sibling to write to; it takes the name of `path` only when the block ends well.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "figures.txt"
    >>> with replacing_file(target) as sibling:
    ...     _ = sibling.write_text("42")
    >>> target.read_text()
    '42'
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the name of a file to write")
    sibling = _sibling(path)
    try:
        yield sibling
        os.replace(sibling, path)
    finally:
        sibling.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: Path, own_names: frozenset[str]) -> Iterator[Path]:
    """Yield a temporary sibling folder to fill, which then takes the place of `path`.

    A folder that holds anything but files of `own_names` is never touched: it may be somebody's home.
    """
    if path.exists():
        if not path.is_dir():
            raise InputError(f"{path} is a file; give the name of a folder to write")
        strange = sorted(set(os.listdir(path)) - own_names)
        if strange:
            raise InputError(
                f"{path} holds other files ({strange[0]}); give a new or empty folder to write to"
            )
    sibling = _sibling(path)
    sibling.mkdir()
    aside = _sibling(path)
    try:
        yield sibling
        if path.exists():
            os.rename(path, aside)
        os.rename(sibling, path)
    except BaseException:
        if aside.exists() and not path.exists():
            os.rename(aside, path)
        raise
    finally:
        shutil.rmtree(sibling, ignore_errors=True)
        shutil.rmtree(aside, ignore_errors=True)


def _sibling(path: Path) -> Path:
    """A free name next to `path`: on the same file system, where renaming is atomic; with the same ending."""
    path = path.absolute()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.stem}.", suffix=path.suffix, dir=path.parent)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}); choose another place") from None
    os.close(handle)
    os.unlink(name)
    return Path(name)
