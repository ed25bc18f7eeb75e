"""A fitted result as a folder: ``model.json`` and the one ``arrays-*.safetensors`` that it names.

The arrays are written under a name of their own, then ``model.json`` is put in place in one step. So at every
moment the folder holds the whole old model or the whole new one, whatever happens to the process. Nothing is
pickled.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from coembed.errors import InputError, one_line
from coembed.files import checksum, locked, make_folder, put_in_place, replacing_file, written
from coembed.fitted.fitted import Fitted
from coembed.fitted.format1 import fitted_of_format1
from coembed.fitted.history_lines import FILE as HISTORY
from coembed.fitted.history_lines import history_lines
from coembed.fitted.model_record import to_fitted, to_record
from coembed.fitted.nearest_index import attach_index, build_index, is_index_file
from coembed.fitted.soundness import check_sound
from coembed.network.readers.read import network_files
from coembed.progress import Tell
from coembed.tensor_files import open_file, save_file

FORMAT, VERSION = "coembed model", 2
RECORD = "model.json"
_ARRAYS_NAME = re.compile(r"arrays-[0-9a-f]{8}\.safetensors")
_HALF_NAME = re.compile(r"\.(arrays|record)-[0-9]+\.tmp")
_REMEDY = "save the model again, or train it anew"
MAPPED_FROM = 1 << 28
"""Size in bytes from which arrays stay in their file: mapped, and not compared with their checksum."""


def save(
    fitted: Fitted,
    folder: str | os.PathLike[str],
    *,
    index: bool = True,
    progress: Tell | None = None,
) -> Path:
    """Write a fitted result; a model that was there is replaced only once the new one is complete.

    Parameters
    ----------
    index
        Whether to build an index of nodes and attributes, where there are so many that answers need one
        (:mod:`coembed.fitted.nearest_index`); the model is complete before.
    progress
        Called with what is being done, since an index takes minutes.

    Examples
    --------
    >>> import tempfile
    >>> from coembed.network import demo_network
    >>> from coembed.settings import preset_settings
    >>> from coembed.training import fit
    >>> fitted = fit(demo_network(), preset_settings("paper", epochs=1, dim=2))
    >>> folder = save(fitted, tempfile.mkdtemp())
    >>> bool((load(folder).predict() == fitted.predict()).all())
    True
    """
    place = check_place(folder)
    try:
        check_sound(fitted)
    except InputError as error:
        raise InputError(f"the fit did not end in a sound model, and is not saved: {error}") from None
    with written(place):
        fresh = not place.exists()
        make_folder(place)
        # or another one that saves here could remove arrays whose record is yet to be written
        with locked(place):
            try:
                record, arrays = to_record(fitted)
                name = _write_arrays(place, arrays)
                _write_record(place, {"format": FORMAT, "version": VERSION, "arrays": name, **record})
            except BaseException:
                if fresh and not (place / RECORD).exists():
                    _remove_arrays(place, keep=None)
                    _remove_empty(place)
                raise
            _remove_arrays(place, keep=name)
            with replacing_file(place / HISTORY) as part:
                part.write_text("".join(f"{line}\n" for line in history_lines(record["history"])), "utf-8")
            if index:
                build_index(fitted, place, name, progress)
    return place


def check_place(folder: str | os.PathLike[str]) -> Path:
    """Refuse what a model must not be written to: a file, or the folder of a network, which it would hide.

    To be asked before the work, too, so that none is done in vain.
    """
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise InputError(f"{place} is a file; give the name of a folder for the model")
    try:
        found = network_files(place) if place.is_dir() and not (place / RECORD).exists() else []
    except OSError as error:
        raise InputError(f"{place} cannot be read ({error.strerror}); choose another place") from None
    if found:
        raise InputError(
            f"{place} holds a network ({found[0].name}), which could not be read any more beside a model; "
            f"give the model a folder of its own, such as {place / 'model'}"
        )
    return place


def load(folder: str | os.PathLike[str], *, check: bool | None = None) -> Fitted:
    """Read a fitted result; whatever is missing, broken or of a newer version is an InputError.

    Parameters
    ----------
    check
        Whether to compare the arrays with their checksum; None: unless they are so large that they stay in
        their file.
    """
    place = Path(folder)
    record = _read_record(place)
    arrays = _read_arrays(place, record, check)
    small = sum(array.nbytes for array in arrays.values()) < MAPPED_FROM
    with _blaming(place):
        fitted = fitted_of_format1(record, arrays) if record["version"] == 1 else to_fitted(record, arrays)
        check_sound(fitted, values=small if check is None else check)
    attach_index(fitted, place, record["arrays"])
    return fitted


def _read_record(place: Path) -> dict[str, Any]:
    path = place / RECORD
    if not place.exists():
        raise InputError(f"{place} does not exist; give the folder that `coembed train -o` wrote")
    if not path.is_file():
        raise InputError(
            f"{place} is not a model: it has no {RECORD}; give the folder that `coembed train -o` wrote"
        )
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); {_REMEDY}") from None
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}, line {error.lineno}: this is not JSON, the file is damaged; {_REMEDY}"
        ) from None
    except (ValueError, RecursionError):
        raise InputError(f"{path} is not JSON, the file is damaged; {_REMEDY}") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise InputError(
            f"{path} is not the record of a coembed model; give the folder that `coembed train -o` wrote"
        )
    version = record.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise InputError(f"{path} has no format version; {_REMEDY}")
    if version > VERSION:
        raise InputError(
            f"{path} has format version {version}, this program reads up to {VERSION}; "
            "install a newer coembed"
        )
    said = record.pop("checksum", None)  # older models have none
    if said is not None and said != _record_checksum(record):
        raise InputError(f"{path} is damaged: its content does not fit its checksum; {_REMEDY}")
    return record


def _read_arrays(place: Path, record: dict[str, Any], check: bool | None) -> dict[str, np.ndarray]:
    name = record.get("arrays")
    # a bare name of our own pattern: a record must not send us to other places of the disk
    if not isinstance(name, str) or not _ARRAYS_NAME.fullmatch(name):
        raise InputError(f"{place / RECORD} names no arrays file; {_REMEDY}")
    path = place / name
    if not path.is_file():
        raise InputError(f"{path} is missing; {_REMEDY}")
    mapped = path.stat().st_size >= MAPPED_FROM
    compared = not mapped if check is None else check
    if compared and checksum(path) not in name:
        raise InputError(f"{path} is damaged: its content does not fit its checksum; {_REMEDY}")
    try:
        return open_file(path) if mapped else load_file(path)
    except (SafetensorError, ValueError, OSError, TypeError, KeyError, MemoryError) as error:
        raise InputError(f"{path} is not a safetensors file ({error}); {_REMEDY}") from None


@contextmanager
def _blaming(place: Path) -> Iterator[None]:
    """Whatever is wrong inside a model is told with the model's name."""
    try:
        yield
    except KeyError as error:
        raise InputError(f"{place} is not a whole model: {error.args[0]} is missing; {_REMEDY}") from None
    except (
        ValueError,
        TypeError,
        AttributeError,
        ArithmeticError,
        IndexError,
        RecursionError,
        MemoryError,
        StopIteration,
    ) as error:
        raise InputError(f"{place} is not a sound model: {one_line(error, 200)}; {_REMEDY}") from None


def _write_arrays(place: Path, arrays: dict[str, np.ndarray]) -> str:
    """Write the arrays under the name of their checksum, complete or not at all."""
    sibling = place / f".arrays-{os.getpid()}.tmp"
    try:
        save_file(arrays, sibling)
        name = f"arrays-{checksum(sibling)}.safetensors"
        put_in_place(sibling, place / name)
    except SafetensorError as error:
        raise InputError(f"{place} cannot be written ({error}); choose another place") from None
    finally:
        sibling.unlink(missing_ok=True)
    return name


def _write_record(place: Path, record: dict[str, Any]) -> None:
    sibling = place / f".record-{os.getpid()}.tmp"
    try:
        whole = {"checksum": _record_checksum(record), **record}
        sibling.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
        put_in_place(sibling, place / RECORD)
    finally:
        sibling.unlink(missing_ok=True)


def _remove_arrays(place: Path, keep: str | None) -> None:
    """Remove the arrays of older models, and what a killed process left half-written."""
    for path in place.iterdir() if place.is_dir() else ():
        ours = (
            _ARRAYS_NAME.fullmatch(path.name) or _HALF_NAME.fullmatch(path.name) or is_index_file(path.name)
        )
        if ours and path.name != keep:
            path.unlink(missing_ok=True)


def _remove_empty(place: Path) -> None:
    if place.is_dir() and not any(place.iterdir()):
        place.rmdir()


def _record_checksum(record: dict[str, Any]) -> str:
    """CRC-32 of what a record says, whatever the blanks between."""
    text = json.dumps(record, sort_keys=True, separators=(",", ":"))
    return f"{zlib.crc32(text.encode()):08x}"
