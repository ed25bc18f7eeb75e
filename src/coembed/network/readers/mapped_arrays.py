"""Arrays of a mapped network: written whole or piece by piece, opened by mapping, checked as far as asked."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network.items import unique_names
from coembed.network.matrix_checks import Rules, check_entries
from coembed.network.names import Names
from coembed.untrusted import check_kind

Check = Literal["sizes", "bounds", "full"]
RECORD = "network.json"
FEW_NAMES = 1 << 17
"""Names up to which it is always checked that none is there twice."""
_PIECE = 1 << 24


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


def open_array(place: Path, name: str, said: Any) -> np.ndarray:
    path = array_path(place, name)
    try:
        check_kind(path)
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


def open_matrix(
    arrays: dict[str, np.ndarray], name: str, shape: tuple[int, int], check: Check, rules: Rules
) -> sp.csr_array:
    indptr, indices, data = (arrays[f"{name}.{piece}"] for piece in ("indptr", "indices", "data"))
    index = index_type(len(indices), shape[1])
    if indptr.dtype != index or indices.dtype != index or data.dtype != np.float32:
        raise InputError(f"{name} must have positions of type {index} and values of type float32")
    if len(indptr) != shape[0] + 1 or len(data) != len(indices):
        raise InputError(f"the arrays of {name} have lengths that do not make {shape[0]} x {shape[1]}")
    if indptr[0] != 0 or indptr[-1] != len(indices):
        raise InputError(f"{name}.indptr does not begin at 0 and end at {len(indices)}")
    matrix = sp.csr_array((data, indices, indptr), shape=shape)
    if check != "sizes":
        if (indptr[1:] < indptr[:-1]).any():
            raise InputError(f"{name}.indptr goes down")
        check_entries(matrix, name, rules, thorough=check == "full" or None)
    # as it was written and is checked above: asking SciPy would read all positions again
    matrix.has_canonical_format = True
    return matrix


def checksum(array: np.ndarray) -> str:
    octets = array.view(np.ndarray).view(np.uint8)
    total = 0
    for start in range(0, len(octets), _PIECE):
        total = zlib.crc32(octets[start : start + _PIECE].data, total)
    return f"{total:08x}"


def check_checksums(arrays: dict[str, np.ndarray], said: dict[str, Any]) -> None:
    for name, array in arrays.items():
        if checksum(array) != said[name].get("crc32"):
            raise InputError(f"{name}.npy is damaged: its content does not fit its checksum")


def count_of(record: dict[str, Any], key: str) -> int:
    value = record[key]
    if type(value) is not int or value < 0:
        raise InputError(f"{RECORD} has no whole number of {key}")
    return value


def text_of(value: Any) -> str:
    if not isinstance(value, str):
        raise InputError(f"{RECORD} has {type(value).__name__} where a text should be")
    return value


def classes_of(record: Any) -> np.ndarray:
    """Names of classes, each once."""
    if not isinstance(record, list):
        raise InputError(f"{RECORD} has {type(record).__name__} where names of classes should be")
    return unique_names([text_of(each) for each in record], len(record), "class")


def check_texts(names: Names, what: str, check: Check, unique: bool = True) -> None:
    """Whether names are texts, and each is there once: of many that is asked only if all is to be checked."""
    if check != "sizes" and not names.decodable():
        raise InputError(f"its {what} are not UTF-8")
    if unique and (check == "full" or (check == "bounds" and len(names) <= FEW_NAMES)):
        twice = names.repeated()
        if twice is not None:
            raise InputError(f"the name {twice[:40]!r} occurs twice among its {what}")
