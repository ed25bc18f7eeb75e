"""Reading the few pickles that benchmark networks come in, without ever running what a pickle asks for.

A pickle is a program: it names functions and has them called. Here every name it may use stands for a
harmless stand-in that only keeps what it is given, and any other name ends the reading. No NumPy or SciPy
object is built from the state in the file; arrays are made from plain bytes, shapes and number types.
"""

from __future__ import annotations

import io
import pickle
import pickletools
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.untrusted import checked_csr, reading


class _Number:
    """Stand-in for ``numpy.dtype``: the type's letter and size, and the order of its bytes."""

    def __init__(self, code: str, *_: Any) -> None:
        self.code = str(code)
        self.order = "="

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.order = {"<": "<", ">": ">"}.get(str(state[1]), "=")

    def plain(self) -> np.dtype:
        dtype = np.dtype(self.code.lstrip("<>|=")).newbyteorder(self.order)  # type: ignore[arg-type]
        if dtype.kind not in "biuf":
            raise pickle.UnpicklingError(f"arrays of type {self.code} are not admitted")
        return dtype


class _Array:
    """Stand-in for ``numpy.ndarray``: becomes one from plain bytes."""

    array: np.ndarray

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, number, fortran, raw = state
        self.array = _from_bytes(raw, number, shape, "F" if fortran else "C")


class _Csr:
    """Stand-in for ``scipy.sparse.csr_matrix``."""

    parts: dict[str, Any]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.parts = dict(state)

    def matrix(self) -> sp.csr_array:
        data, indices, indptr = (plain(self.parts[key]) for key in ("data", "indices", "indptr"))
        rows, columns = self.parts.get("_shape", self.parts.get("shape"))  # type: ignore[misc]
        return checked_csr(data, indices, indptr, (rows, columns))


def _from_bytes(raw: Any, number: _Number, shape: Any, order: Any) -> np.ndarray:
    raw = _latin1(raw) if isinstance(raw, str) else raw
    if not isinstance(raw, (bytes, bytearray)):
        raise pickle.UnpicklingError("arrays are made of bytes only")
    # a view: a pickle may ask for the same bytes again and again
    flat = np.frombuffer(raw, dtype=number.plain())
    return flat.reshape(tuple(int(n) for n in shape), order=order)


def _reconstruct(*_: Any) -> _Array:
    return _Array()


def _scalar(number: _Number, raw: Any) -> Any:
    return _from_bytes(raw, number, (1,), "C")[0].item()


def _csr_instance(kind: Any, *_: Any) -> _Csr:
    if kind is not _Csr:
        raise pickle.UnpicklingError("only csr_matrix may be rebuilt")
    return _Csr()


@lru_cache(maxsize=8)  # of the same text the same bytes, however often they are asked for
def _latin1(text: str, encoding: str = "latin1") -> bytes:
    if encoding not in ("latin1", "latin-1"):  # other codecs unpack and run code of their own
        raise pickle.UnpicklingError(f"encoding {encoding!r} is not admitted")
    return text.encode("latin1")


def _empty_dict(*_: Any) -> dict[Any, Any]:
    return {}


class _Call:
    """A function that a pickle may have called but, unlike a plain one, not change."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    def __setstate__(self, state: Any) -> None:
        raise pickle.UnpicklingError("a function has no state to set")


def _empty(kind: type) -> _Call:
    """``bytes()`` is how an empty array is written; with an argument such a call could fill the memory."""

    def make(*arguments: Any) -> Any:
        if arguments:
            raise pickle.UnpicklingError(f"{kind.__name__} are made of nothing only")
        return kind()

    return _Call(make)


_STAND_INS: dict[tuple[str, str], Callable[..., Any]] = {
    ("numpy", "dtype"): _Number,
    ("numpy", "ndarray"): _Array,
    ("scipy.sparse.csr", "csr_matrix"): _Csr,
    ("scipy.sparse._csr", "csr_matrix"): _Csr,
    ("copy_reg", "_reconstructor"): _Call(_csr_instance),
    ("copyreg", "_reconstructor"): _Call(_csr_instance),
    ("_codecs", "encode"): _Call(_latin1),
    ("collections", "defaultdict"): _Call(_empty_dict),
    **{
        (module, kind.__name__): _empty(kind)
        for module in ("__builtin__", "builtins")
        for kind in (list, bytes, int)
    },
    ("__builtin__", "object"): _Call(_empty_dict),
    ("builtins", "object"): _Call(_empty_dict),
    **{(f"numpy.{core}.multiarray", "_reconstruct"): _Call(_reconstruct) for core in ("core", "_core")},
    **{(f"numpy.{core}.multiarray", "scalar"): _Call(_scalar) for core in ("core", "_core")},
    **{(f"numpy.{core}.numeric", "_frombuffer"): _Call(_from_bytes) for core in ("core", "_core")},
}


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _STAND_INS[module, name]
        except KeyError:
            raise pickle.UnpicklingError(
                f"it asks for {module}.{name}, which no network needs: it may be hostile and was not run"
            ) from None


def plain(value: Any) -> Any:
    """A stand-in as the array that it stands for; everything else as it is."""
    if isinstance(value, _Array):
        return value.array
    return value.matrix() if isinstance(value, _Csr) else value


def read_pickle(path: Path) -> Any:
    """An array, a CSR matrix or a dictionary of lists of numbers; anything else is refused."""
    if not path.exists():
        raise InputError(f"{path} does not exist; put it beside the others")
    try:
        with reading(path, "a whole pickle of arrays", "fetch it again"):
            octets = path.read_bytes()
            _check_room(octets)
            return plain(_Reader(io.BytesIO(octets), encoding="latin1").load())
    finally:
        _latin1.cache_clear()


def _check_room(octets: bytes) -> None:
    """Look at every instruction before any is followed, for the room that it asks for."""
    for opcode, argument, _ in pickletools.genops(octets):
        # a reference is a place in a list, which is made as long as the largest
        if "PUT" in opcode.name and int(str(argument)) > len(octets):
            raise pickle.UnpicklingError("it numbers more parts than it has bytes")
