"""Writing so that a file or folder is there complete, or as it was before, whatever happens meanwhile.

What is new is written under the name of a sibling, brought to the disk, and then takes the name in one step.
A process that is killed leaves nothing but such siblings, which the next one to write there removes.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import secrets
import shutil
import socket
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from coembed.errors import InputError, one_line

# .NAME.HOST-PID-RANDOM.part and the like: whose it is can be told from the name
_MARK = re.compile(r"\.(?P<host>[\w-]+)-(?P<pid>\d+)-[0-9a-f]{8}\.(?P<what>part|old)")
_PART, _OLD = "part", "old"
_LONGEST_NAME = 120
"""Characters of a name that its siblings repeat: a name may have 255 bytes in all."""


@contextmanager
def replacing_file(path: Path) -> Iterator[Path]:
    """Yield a temporary sibling to write to; it takes the name of `path` only when the block ends well.

    A symbolic link stays, and the file that it leads to is replaced.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "figures.txt"
    >>> with replacing_file(target) as sibling:
    ...     _ = sibling.write_text("42")
    >>> target.read_text()
    '42'
    """
    with written(path):
        target = _target(path)
        if target.is_dir():
            raise InputError(f"{path} is a folder; give the name of a file to write")
        sibling = _sibling(target)
        try:
            yield sibling
            put_in_place(sibling, target)
        finally:
            sibling.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: Path, own_names: frozenset[str]) -> Iterator[Path]:
    """Yield a temporary sibling folder to fill, which then takes the place of `path`.

    A folder that holds anything but files of `own_names` is never touched: it may be somebody's home.
    """
    with written(path):
        target = _target(path)
        recover(target)
        if target.exists():
            if not target.is_dir():
                raise InputError(f"{path} is a file; give the name of a folder to write")
            strange = sorted(set(os.listdir(target)) - own_names)
            if strange:
                raise InputError(
                    f"{path} holds other files ({strange[0]}); give a new or empty folder to write to"
                )
        sibling = _sibling(target)
        sibling.mkdir()
        try:
            yield sibling
            for inside in sibling.iterdir():
                flush(inside)
            flush(sibling)
            _exchange(sibling, target)
            flush(target.parent)
        finally:
            shutil.rmtree(sibling, ignore_errors=True)


@contextmanager
def written(path: Path) -> Iterator[None]:
    """Whatever the disk says becomes one sentence."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or one_line(error, 160)
        raise InputError(f"{path} cannot be written ({reason}); choose another place") from None


def put_in_place(sibling: Path, target: Path) -> None:
    """Give a whole file its name; both are on the disk afterwards."""
    flush(sibling)
    os.replace(sibling, target)
    flush(target.parent)


def flush(path: Path) -> None:
    """Bring a file, or the names in a folder, to the disk: a power cut could leave one without the other."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some file systems cannot, and promise nothing
            raise
    finally:
        os.close(handle)


def make_folder(path: Path) -> None:
    """Make a folder and those above it; their names are on the disk afterwards."""
    missing = [each for each in (path, *path.parents) if not each.exists()]
    path.mkdir(parents=True, exist_ok=True)
    for each in missing:
        flush(each.parent)


def checksum(path: Path) -> str:
    """CRC-32 of a file, eight hexadecimal digits."""
    total = 0
    with path.open("rb") as stream:
        while chunk := stream.read(1 << 22):
            total = zlib.crc32(chunk, total)
    return f"{total:08x}"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder against other processes that write to it; a process that dies lets go of it."""
    if os.name == "nt":  # there, folders cannot be opened; the last one to write wins
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        hold(handle)
        yield
    finally:
        os.close(handle)


def hold(file: int | BinaryIO, shared: bool = False) -> None:
    """Hold an open file against other processes until it is closed, for reading together or writing alone.

    Windows knows no such hold: there only one process should write.
    """
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)


def recover(path: Path) -> None:
    """Put back what a process was killed over, just after it had moved it aside to make place for the new.

    Only needed where two folders cannot be exchanged in one step.
    """
    if path.exists():
        return
    for left in _left_behind(path, _OLD):
        os.rename(left, path)
        return


def _exchange(sibling: Path, target: Path) -> None:
    """Let two folders swap their names, or give the first one the name that nobody has."""
    if not target.exists():
        os.rename(sibling, target)
        return
    if _swapped(sibling, target):
        return
    aside = _sibling(target, _OLD)
    os.rename(target, aside)
    try:
        os.rename(sibling, target)
    except BaseException:
        os.rename(aside, target)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _swapped(first: Path, second: Path) -> bool:
    """Exchange two names in one step, where the system can."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return rename(here, os.fsencode(first), here, os.fsencode(second), exchange) == 0


def _target(path: Path) -> Path:
    """Where to write: a link is followed; what is no file or folder is never replaced."""
    if "\0" in str(path):
        raise InputError(f"{path} cannot be a name; choose another")
    try:
        target = path.absolute().resolve() if path.is_symlink() else path.absolute()
    except RuntimeError:
        raise InputError(f"{path} is a link that leads to itself; choose another place") from None
    if target.exists() and not (stat.S_ISREG(target.stat().st_mode) or target.is_dir()):
        raise InputError(f"{path} is neither a file nor a folder; choose another place")
    make_folder(target.parent)
    return target


def _sibling(path: Path, what: str = _PART) -> Path:
    """A free name next to `path`: on the same file system, where renaming is atomic; with the same ending."""
    for left in _left_behind(path, _PART):
        _remove(left)
    if path.exists():
        for left in _left_behind(path, _OLD):
            _remove(left)
    mark = f"{_host()}-{os.getpid()}-{secrets.token_hex(4)}.{what}"
    return path.with_name(f".{path.stem[:_LONGEST_NAME]}.{mark}{path.suffix[:_LONGEST_NAME]}")


def _left_behind(path: Path, what: str) -> Iterator[Path]:
    """Siblings of `path` whose writer, a process of this machine, is no more."""
    begin, end = f".{path.stem[:_LONGEST_NAME]}", path.suffix[:_LONGEST_NAME]
    for name in os.listdir(path.parent) if path.parent.is_dir() else ():
        if not (name.startswith(begin) and name.endswith(end)):
            continue
        found = _MARK.fullmatch(name[len(begin) : len(name) - len(end)])
        if found and found["what"] == what and found["host"] == _host() and not _alive(int(found["pid"])):
            yield path.with_name(name)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _host() -> str:
    return re.sub(r"[^\w-]", "-", socket.gethostname())[:64] or "here"


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
