"""Arrays in a safetensors file, written one after the other and opened without being read.

The library's own functions copy all arrays to save them, and read all of a file to load it; a model of a
million nodes has gigabytes.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from coembed.untrusted import check_kind

_TYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
    "BOOL": "|b1",
}
_NAMES = {kind: name for name, kind in _TYPES.items()}
_LONGEST_HEADER = 100_000_000


def save_file(arrays: dict[str, np.ndarray], path: Path) -> None:
    """Write contiguous arrays.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "two.safetensors"
    >>> save_file({"a": np.arange(3), "b": np.ones((2, 1), np.float32)}, path)
    >>> opened = open_file(path)
    >>> opened["a"], opened["b"].shape
    (array([0, 1, 2]), (2, 1))
    """
    # widest types first: so every array begins at a multiple of its own width
    order = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    header: dict[str, Any] = {}
    end = 0
    for name in order:
        array = arrays[name]
        start, end = end, end + array.nbytes
        kind = _NAMES[array.dtype.newbyteorder("<").str]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as stream:
        stream.write(len(text).to_bytes(8, "little") + text)
        for name in order:
            stream.write(arrays[name].reshape(-1).view(np.uint8).data)


def open_file(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file, mapped into memory and read-only; a strange file is a ValueError."""
    check_kind(path)
    size = path.stat().st_size
    with path.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if not 2 <= length <= min(size - 8, _LONGEST_HEADER):
            raise ValueError("its header is longer than the file")
        header = json.loads(stream.read(length))
    if not isinstance(header, dict):
        raise ValueError("its header is not an object")
    return {
        name: _open_array(path, header[name], 8 + length, size) for name in header if name != "__metadata__"
    }


def _open_array(path: Path, said: dict[str, Any], begin: int, size: int) -> np.ndarray:
    dtype, shape = np.dtype(_TYPES[said["dtype"]]), tuple(said["shape"])
    start, end = said["data_offsets"]
    numbers = (start, end, *shape)
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise ValueError("its sizes are not whole numbers")
    if begin + end > size or end - start != math.prod(shape) * dtype.itemsize:
        raise ValueError("its sizes do not fit the file")
    if start == end:
        return np.empty(shape, dtype=dtype)
    mapped = np.memmap(path, dtype=dtype, mode="r", offset=begin + start, shape=shape).view(np.ndarray)
    return mapped if mapped.flags.aligned else mapped.copy()
