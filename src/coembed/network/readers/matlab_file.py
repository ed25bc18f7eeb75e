"""Variables of a ``.mat`` file, versions 4 to 7: matrices of numbers, full or sparse, and nothing else.

Sizes are compared with the bytes before anything is made of them, and positions of sparse matrices are
checked, since a file is not to be trusted; cells, structures, objects and functions are not read at all.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.untrusted import ROOM, TIMES, check_count, check_unpacked, checked_csr

Matrix = Any
"""An array, or a sparse matrix."""

# codes of MATLAB's own description of its format
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_MATRIX, _COMPRESSED = 14, 15
_SPARSE, _FULL = 5, range(6, 16)
_COMPLEX = 0x0800
_NUMBERS_4 = ("f8", "f4", "i4", "i2", "u2", "u1")
_PEEK = 4096
"""Unpacked bytes in which the name of a variable is looked for."""


class Variable(NamedTuple):
    """A variable by name, and how to get at it; None: it is not a matrix of numbers."""

    name: str
    load: Callable[[], Matrix] | None


def list_variables(path: Path) -> list[Variable]:
    """All variables in their order; a file that is cut short or lies about itself is a ValueError.

    Examples
    --------
    >>> import tempfile
    >>> from scipy.io import savemat
    >>> path = Path(tempfile.mkdtemp()) / "two.mat"
    >>> savemat(path, {"A": sp.csc_matrix([[0.0, 7.0]]), "B": np.arange(2)}, do_compression=True)
    >>> [(name, load().shape) for name, load in list_variables(path)]
    [('A', (1, 2)), ('B', (1, 2))]
    """
    octets = memoryview(path.read_bytes())
    if len(octets) < 4:
        raise ValueError("it has no header")
    if 0 in octets[:4]:
        return list(_variables_4(octets))
    if len(octets) < 128:
        raise ValueError("its header is cut short")
    order = "<" if bytes(octets[126:128]) == b"IM" else ">"
    (version,) = struct.unpack(f"{order}H", octets[124:126])
    if version >> 8 == 2:
        raise InputError(f"{path} is a MATLAB 7.3 file; save it in MATLAB with the option -v7")
    return list(_variables_5(path, octets[128:], order))


def _variables_5(path: Path, octets: memoryview, order: str) -> Iterator[Variable]:
    for kind, data in _elements(octets, order):
        if kind == _COMPRESSED:
            # only what is asked for is unpacked as a whole
            beginning = memoryview(zlib.decompressobj().decompress(data, _PEEK))
            yield _variable(beginning[8:], order, lambda data=data: _unpacked(path, data)[8:])  # type: ignore[misc]
        elif kind == _MATRIX and len(data):
            yield _variable(data, order, lambda data=data: data)  # type: ignore[misc]


def _unpacked(path: Path, data: memoryview) -> memoryview:
    most = ROOM + TIMES * path.stat().st_size
    inflated = zlib.decompressobj().decompress(data, most + 1)
    check_unpacked(path, len(inflated))
    return memoryview(inflated)


def _variable(beginning: memoryview, order: str, whole: Callable[[], memoryview]) -> Variable:
    head = list(islice(_elements(beginning, order), 3))
    if len(head) < 3:
        raise ValueError("a variable of it has no name")
    flags, dims, name = (_numbers(each, order) for each in head)
    if not len(flags):
        raise ValueError("a variable of it has no kind")
    kind = int(flags[0]) & 0xFF
    text = name.astype(np.uint8).tobytes().decode("latin-1")
    if (kind != _SPARSE and kind not in _FULL) or int(flags[0]) & _COMPLEX:
        return Variable(text, None)
    shape = tuple(int(size) for size in dims)

    def load() -> Matrix:
        content = list(_elements(whole(), order))[3:]
        pieces = [_numbers(each, order) for each in content]
        return _sparse(pieces, shape) if kind == _SPARSE else _full(pieces, shape)

    return Variable(text, load)


def _elements(octets: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Kind and bytes of the elements, one after the other, each looked at when it is asked for."""
    place = 0
    while place + 8 <= len(octets):
        kind, size = struct.unpack(f"{order}II", octets[place : place + 8])
        begin = place + 8
        if kind >> 16:  # a small one, inside of its own tag
            kind, size, begin = kind & 0xFFFF, kind >> 16, place + 4
            if size > 4:
                raise ValueError("an element of it is larger than its place")
            end = place + 8
        else:
            end = begin + size if kind == _COMPRESSED else begin + -(-size // 8) * 8
        if begin + size > len(octets):
            raise ValueError("it is cut short")
        yield kind, octets[begin : begin + size]
        place = end


def _numbers(element: tuple[int, memoryview], order: str) -> np.ndarray:
    kind, data = element
    if kind not in _NUMBERS:
        raise ValueError("an element of it is not numbers")
    dtype = np.dtype(order + _NUMBERS[kind])
    whole = data[: len(data) // dtype.itemsize * dtype.itemsize]
    return np.frombuffer(whole, dtype=dtype).astype(dtype.newbyteorder("="), copy=False)


def _full(pieces: list[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    if not pieces or min(shape, default=-1) < 0 or len(pieces[0]) != math.prod(shape):
        raise ValueError(f"a matrix of it does not have {' x '.join(map(str, shape))} numbers")
    return pieces[0].reshape(shape, order="F")


def _sparse(pieces: list[np.ndarray], shape: tuple[int, ...]) -> sp.csc_array:
    if len(pieces) < 3 or len(shape) != 2:
        raise ValueError("a sparse matrix of it is not whole")
    rows, ends, values = pieces[:3]
    count = int(ends[-1]) if len(ends) else -1
    if not 0 <= count <= min(len(rows), len(values)):  # MATLAB leaves room behind the last
        raise ValueError("a sparse matrix of it has fewer entries than it says")
    # by columns: the transpose of a matrix by rows
    return checked_csr(values[:count], rows[:count], ends, shape[::-1]).T


def _variables_4(octets: memoryview) -> Iterator[Variable]:
    place = 0
    while place + 20 <= len(octets):
        order = "<" if struct.unpack("<i", octets[place : place + 4])[0] in range(5000) else ">"
        code, rows, columns, imaginary, length = struct.unpack(f"{order}5i", octets[place : place + 20])
        number, kind = code // 10 % 10, code % 10
        if code not in range(5000) or number >= len(_NUMBERS_4) or min(rows, columns, length) < 0:
            raise ValueError("a header of it is damaged")
        dtype = np.dtype(order + _NUMBERS_4[number])
        begin = place + 20 + length
        name = bytes(octets[place + 20 : begin]).rstrip(b"\0").decode("latin-1")
        size = rows * columns * dtype.itemsize
        place = begin + size * (2 if imaginary else 1)
        if place > len(octets):
            raise ValueError("it is cut short")
        flat = np.frombuffer(octets[begin : begin + size], dtype=dtype)
        data = flat.astype(dtype.newbyteorder("="), copy=False).reshape((rows, columns), order="F")
        readable = kind in (0, 2) and not imaginary and (kind == 0 or columns == 3)
        load = (lambda data=data, kind=kind: _sparse_4(data) if kind else data) if readable else None
        yield Variable(name, load)  # type: ignore[arg-type]


def _sparse_4(listed: np.ndarray) -> sp.csc_array:
    """Rows of (row, column, value), counted from 1; the last one has the numbers of rows and columns."""
    places = listed[:, :2].astype(np.int64)
    if not len(listed) or (places != listed[:, :2]).any() or places.min() < 0:
        raise ValueError("a sparse matrix of it has positions that are not whole numbers")
    shape = tuple(int(size) for size in places[-1])
    check_count("a sparse matrix", "rows or columns", max(shape), len(listed))
    rows, columns = places[:-1].T - 1
    return sp.coo_array((listed[:-1, 2], (rows, columns)), shape=shape).tocsc()
