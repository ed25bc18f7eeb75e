"""A network as a folder of raw arrays, opened by mapping them into memory: nothing is copied.

``network.json`` says what is there: sizes, names of classes, and type, shape and CRC-32 of every array; each
array is a ``.npy`` of its own, which any program with NumPy opens. Strings are UTF-8 bytes and offsets.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.files import replacing_folder
from coembed.network.names import Names
from coembed.network.network import UNKNOWN, Network

Check = Literal["sizes", "bounds", "full"]

FORMAT, VERSION = "coembed mapped network", 1
RECORD = "network.json"
MATRICES = ("links", "attributes")
ARRAYS = (
    *(f"{matrix}.{piece}" for matrix in MATRICES for piece in ("indptr", "indices", "data")),
    "labels",
    *(f"{kind}_names.{piece}" for kind in ("node", "attribute") for piece in ("bytes", "offsets")),
)
OWN_NAMES = frozenset({RECORD, "truth.csv", *(f"{name}.npy" for name in ARRAYS)})
_REMEDY = "write it again with `coembed convert`"
_PIECE = 1 << 24


def is_mapped(folder: Path) -> bool:
    """Whether a folder says that it is a mapped network."""
    try:
        with (folder / RECORD).open("rb") as file:
            return FORMAT.encode() in file.read(4096)
    except OSError:
        return False


def open_mapped(folder: str | os.PathLike[str], check: Check = "bounds") -> Network:
    """Open a folder that :func:`write_mapped` or ``coembed convert`` wrote; its arrays stay in the files.

    Parameters
    ----------
    check
        ``sizes``: what the record says and what the files hold fit together, no array is read; for a process
        that takes a few rows of a folder that was checked before. ``bounds``: positions stay inside the
        matrices besides, so that no product can read beside them; one pass over the positions. ``full``:
        checksums, order, symmetry, finite values and unique names besides.

    Examples
    --------
    >>> import tempfile
    >>> from coembed.network import demo_network
    >>> folder = Path(tempfile.mkdtemp()) / "wordnet"
    >>> write_mapped(demo_network(), folder)
    >>> network = open_mapped(folder, check="full")
    >>> network.n_links, network.links.data.flags.writeable, network.node_names[0]
    (3682, False, 'Animalia.n.01')
    """
    if check not in get_args(Check):
        raise InputError(f"there is no check {check!r}; known: {', '.join(get_args(Check))}")
    place = Path(folder)
    record = _read_record(place)
    try:
        nodes, attributes = (_count(record, key) for key in ("nodes", "attributes"))
        class_names = np.empty(len(record["classes"]), dtype=object)
        class_names[:] = [_text(name) for name in record["classes"]]
        arrays = {name: _open_array(place, name, record["arrays"][name]) for name in ARRAYS}
        network = Network.plain(
            links=_matrix(arrays, "links", (nodes, nodes), check),
            attributes=_matrix(arrays, "attributes", (nodes, attributes), check),
            labels=arrays["labels"],
            node_names=_names(arrays, "node", nodes),
            attribute_names=_names(arrays, "attribute", attributes),
            class_names=class_names,
            name=_text(record["name"]),
            notices=tuple(_text(notice) for notice in record["notices"]),
        )
        _check_labels(network, check)
        if check == "full":
            _check_all(network, arrays, record)
    except KeyError as error:
        raise InputError(f"{place / RECORD} does not say {error.args[0]!r}; {_REMEDY}") from None
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"{place} is not a sound mapped network: {error}; {_REMEDY}") from None
    return network


def write_mapped(network: Network, folder: str | os.PathLike[str]) -> None:
    """Write a network; the folder is there complete, or as it was before."""
    with replacing_folder(Path(folder), OWN_NAMES) as sibling:
        for name in MATRICES:
            matrix: sp.csr_array = getattr(network, name)
            index = index_type(matrix.nnz, matrix.shape[1])
            save_array(sibling, f"{name}.indptr", matrix.indptr.astype(index, copy=False))
            save_array(sibling, f"{name}.indices", matrix.indices.astype(index, copy=False))
            save_array(sibling, f"{name}.data", matrix.data)
        save_array(sibling, "labels", network.labels)
        for kind, names in (("node", network.node_names), ("attribute", network.attribute_names)):
            save_names(sibling, kind, Names.of(names))
        seal(
            sibling, network.name, network.n_nodes, network.n_attributes, network.class_names, network.notices
        )


def index_type(entries: int, width: int) -> np.dtype:
    """Type of the positions of a matrix: both kinds alike, else SciPy would copy one of them."""
    return np.dtype(np.int32 if max(entries, width) < 2**31 else np.int64)


def array_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.npy"


def save_array(folder: Path, name: str, array: np.ndarray) -> None:
    np.save(array_path(folder, name), array, allow_pickle=False)


class ArrayFile:
    """An array written piece by piece, of a length known before.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with ArrayFile(folder, "labels", np.dtype(np.int64), 3) as file:
    ...     file.write(np.array([1, 2]))
    ...     file.write(np.array([3]))
    >>> np.load(folder / "labels.npy")
    array([1, 2, 3])
    """

    def __init__(self, folder: Path, name: str, dtype: np.dtype, length: int) -> None:
        self.dtype, self.missing = dtype, length
        self.stream = array_path(folder, name).open("wb")
        header = {"descr": dtype.str, "fortran_order": False, "shape": (length,)}
        np.lib.format.write_array_header_1_0(self.stream, header)

    def write(self, piece: np.ndarray) -> None:
        self.stream.write(np.ascontiguousarray(piece, dtype=self.dtype).data)
        self.missing -= len(piece)

    def __enter__(self) -> ArrayFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.stream.close()
        if kind is None and self.missing:
            raise ValueError(f"{self.stream.name} lacks {self.missing} entries")


def save_names(folder: Path, kind: str, names: Names) -> None:
    save_array(folder, f"{kind}_names.bytes", names.octets)
    save_array(folder, f"{kind}_names.offsets", names.offsets)


def seal(
    folder: Path, name: str, nodes: int, attributes: int, classes: Iterable[str], notices: Sequence[str]
) -> None:
    """Write the record of a folder whose arrays are complete."""
    found = {}
    for key in ARRAYS:
        array = np.load(array_path(folder, key), mmap_mode="r", allow_pickle=False)
        found[key] = {"dtype": array.dtype.str, "shape": list(array.shape), "crc32": _checksum(array)}
    record = {
        "format": FORMAT,
        "version": VERSION,
        "name": name,
        "nodes": nodes,
        "links": found["links.indices"]["shape"][0] // 2,
        "attributes": attributes,
        "entries": found["attributes.indices"]["shape"][0],
        "classes": [str(each) for each in classes],
        "notices": list(notices),
        "arrays": found,
    }
    (folder / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _read_record(place: Path) -> dict[str, Any]:
    path = place / RECORD
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{place} is not a mapped network: it has no {RECORD}; {_REMEDY}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read ({type(error).__name__}); {_REMEDY}") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise InputError(f"{path} is not the record of a mapped network; {_REMEDY}")
    version = record.get("version")
    if type(version) is not int or version < 1:
        raise InputError(f"{path} has no format version; {_REMEDY}")
    if version > VERSION:
        raise InputError(
            f"{path} has format version {version}, this program reads up to {VERSION}; "
            "install a newer coembed"
        )
    return record


def _open_array(place: Path, name: str, said: Any) -> np.ndarray:
    path = array_path(place, name)
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise InputError(f"{path.name} is missing") from None
    except Exception as error:  # a damaged header makes NumPy raise nearly anything
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise InputError(f"{path.name} is cut short or broken ({reason})") from None
    if not isinstance(array, np.ndarray) or not isinstance(said, dict):
        raise InputError(f"{path.name} is not an array")
    if array.dtype.str != said.get("dtype") or list(array.shape) != said.get("shape") or array.ndim != 1:
        raise InputError(f"{path.name} holds {array.dtype} {array.shape}, which {RECORD} does not say")
    return array.view(np.ndarray)


def _matrix(arrays: dict[str, np.ndarray], name: str, shape: tuple[int, int], check: Check) -> sp.csr_array:
    indptr, indices, data = (arrays[f"{name}.{piece}"] for piece in ("indptr", "indices", "data"))
    index = index_type(len(indices), shape[1])
    if indptr.dtype != index or indices.dtype != index or data.dtype != np.float32:
        raise InputError(f"{name} must have positions of type {index} and values of type float32")
    if len(indptr) != shape[0] + 1 or len(data) != len(indices):
        raise InputError(f"the arrays of {name} have lengths that do not make {shape[0]} x {shape[1]}")
    if indptr[0] != 0 or indptr[-1] != len(indices):
        raise InputError(f"{name}.indptr does not begin at 0 and end at {len(indices)}")
    if check != "sizes":
        if (indptr[1:] < indptr[:-1]).any():
            raise InputError(f"{name}.indptr goes down")
        if len(indices) and not (indices.min() >= 0 and indices.max() < shape[1]):
            raise InputError(f"{name}.indices leave the {shape[1]} columns")
    matrix = sp.csr_array((data, indices, indptr), shape=shape)
    # as it was written, and as `full` checks: asking SciPy would read all positions
    matrix.has_canonical_format = True
    return matrix


def _names(arrays: dict[str, np.ndarray], kind: str, count: int) -> Names:
    names = Names(arrays[f"{kind}_names.bytes"], arrays[f"{kind}_names.offsets"])
    if len(names) != count:
        raise InputError(f"{len(names)} {kind} names for {count}")
    return names


def _check_labels(network: Network, check: Check) -> None:
    labels = network.labels
    if labels.dtype != np.int64 or labels.shape != (network.n_nodes,) or not network.n_nodes:
        raise InputError(f"labels must be int64, one for each of the {network.n_nodes} nodes")
    if check != "sizes" and not (labels.min() >= UNKNOWN and labels.max() < network.n_classes):
        raise InputError(f"labels name more than the {network.n_classes} classes")


def _check_all(network: Network, arrays: dict[str, np.ndarray], record: dict[str, Any]) -> None:
    for name, array in arrays.items():
        if _checksum(array) != record["arrays"][name].get("crc32"):
            raise InputError(f"{name}.npy is damaged: its content does not fit its checksum")
    for name in MATRICES:
        matrix = getattr(network, name)
        inside = np.ones(len(matrix.indices), dtype=bool)
        inside[matrix.indptr[:-1][np.diff(matrix.indptr) > 0]] = False
        if (inside[1:] & (matrix.indices[1:] <= matrix.indices[:-1])).any():
            raise InputError(f"the columns of a row of {name} are not in order, or occur twice")
        if not np.isfinite(matrix.data).all() or not matrix.data.all():
            raise InputError(f"{name} hold zeros, NaN or infinity")
    links = network.links
    mirrored = links.T.tocsr()
    same = all(
        np.array_equal(getattr(links, piece), getattr(mirrored, piece)) for piece in ("indptr", "indices")
    )
    if not same or not np.array_equal(links.data, mirrored.data):
        raise InputError("its links are not symmetric")
    rows = np.repeat(np.arange(network.n_nodes, dtype=links.indices.dtype), np.diff(links.indptr))
    if (rows == links.indices).any():
        raise InputError("its links hold self-loops")
    for names in (network.node_names, network.attribute_names):
        if not names.decodable():
            raise InputError("its names are not UTF-8")
        if (twice := names.repeated()) is not None:
            raise InputError(f"the name {twice[:40]!r} occurs twice")


def _checksum(array: np.ndarray) -> str:
    octets = array.view(np.ndarray).view(np.uint8)
    total = 0
    for start in range(0, len(octets), _PIECE):
        total = zlib.crc32(octets[start : start + _PIECE].data, total)
    return f"{total:08x}"


def _count(record: dict[str, Any], key: str) -> int:
    value = record[key]
    if type(value) is not int or value < 0:
        raise InputError(f"{RECORD} has no whole number of {key}")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise InputError(f"{RECORD} has {type(value).__name__} where a text should be")
    return value
