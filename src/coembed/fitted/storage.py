"""A fitted result as a folder: ``model.json`` and the one ``arrays-*.safetensors`` that it names.

The arrays are written under a name of their own, then ``model.json`` is put in place in one step. So at every
moment the folder holds the whole old model or the whole new one, whatever happens to the process. Nothing is
pickled.
"""

from __future__ import annotations

import json
import math
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from safetensors import SafetensorError
from safetensors.numpy import load_file

from coembed.errors import InputError
from coembed.fitted.fitted import Fitted
from coembed.fitted.nearest_index import attach_index, build_index, is_index_file
from coembed.fitted.packed_texts import pack_texts, unpack_texts
from coembed.network.names import NameArray, Names
from coembed.network.network import Network
from coembed.progress import Tell
from coembed.tensor_files import open_file, save_file

FORMAT, VERSION = "coembed model", 1
RECORD = "model.json"
_ARRAYS_NAME = re.compile(r"arrays-[0-9a-f]{8}\.safetensors")
_HALF_NAME = re.compile(r"\.(arrays|record)-[0-9]+\.tmp")
_OWN = ("node_mean", "node_std", "probabilities", "label_shift", "attribute_mean", "attribute_std")
_GROUPS = ("weights", "biases", "companions")
_NAMES = ("node_names", "attribute_names", "class_names")
_MATRICES = ("links", "attributes")
_REMEDY = "save the model again, or train it anew"
MAPPED_FROM = 1 << 28
"""Size in bytes from which arrays stay in their file: mapped, and not compared with their checksum."""
LISTED_NAMES = 100_000
"""Names of a kind up to which they are decoded at once; more are when looked at."""


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
    A model of two nodes and no attributes:

    >>> import tempfile
    >>> two = Network.build([[0, 1], [1, 0]])
    >>> ones, none = np.ones((2, 1), dtype=np.float32), np.ones((0, 1), dtype=np.float32)
    >>> fitted = Fitted(two, {}, {}, "paper", ones, ones, ones[:, :0], np.ones((0, 2)), none, none)
    >>> folder = save(fitted, tempfile.mkdtemp())
    >>> load(folder).score_links([[0, 1]], expected=False).round(2)
    array([0.73], dtype=float32)
    """
    place = Path(folder)
    fresh = not place.exists()
    if not fresh and not place.is_dir():
        raise InputError(f"{place} is a file; give the name of a folder for the model")
    try:
        place.mkdir(parents=True, exist_ok=True)
        name = _write_arrays(place, _to_arrays(fitted))
        _write_record(place, _to_record(fitted, name))
    except BaseException as error:
        if fresh and not (place / RECORD).exists():
            _remove_arrays(place, keep=None)
            _remove_empty(place)
        if isinstance(error, OSError):
            raise InputError(f"{place} cannot be written ({error.strerror}); choose another place") from None
        raise
    _remove_arrays(place, keep=name)
    if index:
        build_index(fitted, place, name, progress)
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
    with _blaming(place):
        fitted = _to_fitted(record, arrays)
    attach_index(fitted, place, record["arrays"])
    return fitted


def _to_record(fitted: Fitted, arrays_name: str) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "arrays": arrays_name,
        "network": {"name": fitted.network.name, "notices": list(fitted.network.notices)},
        "preset": fitted.preset,
        "settings": _plain(fitted.settings),
        "units": _plain(fitted.units),
        "history": _plain(fitted.history),
    }


def _to_arrays(fitted: Fitted) -> dict[str, np.ndarray]:
    network = fitted.network
    arrays = {name: getattr(fitted, name) for name in _OWN}
    for group in _GROUPS:
        arrays |= {f"{group}.{name}": array for name, array in getattr(fitted, group).items()}
    arrays["network.labels"] = network.labels
    for name in _MATRICES:
        matrix = getattr(network, name)
        for piece in ("data", "indices", "indptr"):
            arrays[f"network.{name}.{piece}"] = getattr(matrix, piece)
    for name in _NAMES:
        arrays[f"network.{name}.bytes"], arrays[f"network.{name}.offsets"] = pack_texts(
            getattr(network, name)
        )
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}


def _to_fitted(record: dict[str, Any], arrays: dict[str, np.ndarray]) -> Fitted:
    names = {name: _texts(arrays, name) for name in _NAMES}
    nodes, attributes, classes = (len(names[name]) for name in _NAMES)
    labels = arrays["network.labels"]
    if (
        labels.shape != (nodes,)
        or labels.dtype != np.int64
        or (len(labels) and not labels.min() >= -1)
        or (len(labels) and labels.max() >= classes)
    ):
        raise InputError("its labels do not fit its nodes and classes")
    network = Network.plain(
        links=_matrix(arrays, "links", (nodes, nodes)),
        attributes=_matrix(arrays, "attributes", (nodes, attributes)),
        labels=labels,
        name=str(record["network"]["name"]),
        notices=tuple(str(notice) for notice in record["network"].get("notices", [])),
        **names,
    )
    return Fitted(
        network=network,
        settings=dict(record["settings"]),
        history=dict(record["history"]),
        preset=str(record["preset"]),
        units={key: float(value) for key, value in record["units"].items()},
        weights=_group(arrays, "weights"),
        biases=_group(arrays, "biases"),
        companions=_group(arrays, "companions"),
        **{name: _numbers(arrays, name) for name in _OWN},
    )


def _texts(arrays: dict[str, np.ndarray], name: str) -> NameArray:
    octets, offsets = arrays[f"network.{name}.bytes"], arrays[f"network.{name}.offsets"]
    if name == "class_names" or len(offsets) <= LISTED_NAMES:
        return unpack_texts(octets, offsets)
    return Names(octets, offsets)


def _group(arrays: dict[str, np.ndarray], group: str) -> dict[str, np.ndarray]:
    start = f"{group}."
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


def _matrix(arrays: dict[str, np.ndarray], name: str, shape: tuple[int, int]) -> sp.csr_array:
    data, indices, indptr = (arrays[f"network.{name}.{piece}"] for piece in ("data", "indices", "indptr"))
    matrix = sp.csr_array((data, indices, indptr), shape=shape)
    # scipy's products trust the indices: unchecked ones would read outside the arrays
    matrix.check_format(full_check=True)
    if data.dtype != np.float32:
        raise InputError(f"its {name} are not float32")
    return matrix


def _numbers(arrays: dict[str, np.ndarray], name: str) -> np.ndarray:
    array = arrays[name]
    if array.dtype.kind != "f" or array.ndim != 2:
        raise InputError(f"{name} is not a matrix of floats")
    return array


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
    if compared and _checksum(path) not in name:
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
    except (ValueError, TypeError, AttributeError, OverflowError) as error:
        raise InputError(f"{place} is not a sound model: {error}; {_REMEDY}") from None


def _write_arrays(place: Path, arrays: dict[str, np.ndarray]) -> str:
    """Write the arrays under the name of their checksum, complete or not at all."""
    sibling = place / f".arrays-{os.getpid()}.tmp"
    try:
        save_file(arrays, sibling)
        _flush(sibling)
        name = f"arrays-{_checksum(sibling)}.safetensors"
        os.replace(sibling, place / name)
    except SafetensorError as error:
        raise InputError(f"{place} cannot be written ({error}); choose another place") from None
    finally:
        sibling.unlink(missing_ok=True)
    return name


def _write_record(place: Path, record: dict[str, Any]) -> None:
    sibling = place / f".record-{os.getpid()}.tmp"
    try:
        sibling.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        _flush(sibling)
        os.replace(sibling, place / RECORD)
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


def _flush(path: Path) -> None:
    """On the disk before the name is: else a power cut could leave a name without content."""
    with path.open("rb") as stream:
        os.fsync(stream.fileno())


def _checksum(path: Path) -> str:
    total = 0
    with path.open("rb") as stream:
        while chunk := stream.read(1 << 22):
            total = zlib.crc32(chunk, total)
    return f"{total:08x}"


def _plain(value: Any) -> Any:
    """Plain JSON: numpy numbers as numbers, what is not finite as null."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
