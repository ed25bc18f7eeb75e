"""Reading the few pickles that benchmark networks come in, without ever running what a pickle asks for.

A pickle is a program: it names functions and has them called. Here every name it may use stands for a
harmless stand-in that only keeps what it is given, and any other name ends the reading. No NumPy or SciPy
object is built from the state in the file; arrays are made from plain bytes, shapes and number types.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError


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
        matrix = sp.csr_array((data, indices, indptr), shape=(int(rows), int(columns)))
        matrix.check_format(full_check=True)
        return matrix


def _from_bytes(raw: Any, number: _Number, shape: Any, order: Any) -> np.ndarray:
    raw = raw.encode("latin1") if isinstance(raw, str) else bytes(raw)
    flat = np.frombuffer(raw, dtype=number.plain())
    return flat.reshape(tuple(int(n) for n in shape), order=order).copy()


def _reconstruct(*_: Any) -> _Array:
    return _Array()


def _scalar(number: _Number, raw: Any) -> Any:
    return _from_bytes(raw, number, (1,), "C")[0].item()


def _csr_instance(kind: Any, *_: Any) -> _Csr:
    if kind is not _Csr:
        raise pickle.UnpicklingError("only csr_matrix may be rebuilt")
    return _Csr()


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


def _no_bytes(*arguments: Any) -> bytes:
    """``bytes()`` is how an empty array is written; with a number it would fill the memory."""
    if arguments:
        raise pickle.UnpicklingError("bytes are made of nothing only")
    return b""


_STAND_INS: dict[tuple[str, str], Callable[..., Any]] = {
    ("numpy", "dtype"): _Number,
    ("numpy", "ndarray"): _Array,
    ("scipy.sparse.csr", "csr_matrix"): _Csr,
    ("scipy.sparse._csr", "csr_matrix"): _Csr,
    ("copy_reg", "_reconstructor"): _Call(_csr_instance),
    ("copyreg", "_reconstructor"): _Call(_csr_instance),
    ("_codecs", "encode"): _Call(_latin1),
    ("collections", "defaultdict"): _Call(_empty_dict),
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
    ("__builtin__", "bytes"): _Call(_no_bytes),
    ("builtins", "bytes"): _Call(_no_bytes),
    ("__builtin__", "int"): int,
    ("builtins", "int"): int,
    ("__builtin__", "object"): _Call(_empty_dict),
    ("builtins", "object"): _Call(_empty_dict),
    **{(f"numpy.{core}.multiarray", "_reconstruct"): _Call(_reconstruct) for core in ("core", "_core")},
    **{(f"numpy.{core}.multiarray", "scalar"): _Call(_scalar) for core in ("core", "_core")},
    **{(f"numpy.{core}.numeric", "_frombuffer"): _Call(_from_bytes) for core in ("core", "_core")},
}


class _Refused(pickle.UnpicklingError):
    pass


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _STAND_INS[module, name]
        except KeyError:
            raise _Refused(f"{module}.{name}") from None


def plain(value: Any) -> Any:
    """A stand-in as the array that it stands for; everything else as it is."""
    if isinstance(value, _Array):
        return value.array
    return value.matrix() if isinstance(value, _Csr) else value


def read_pickle(path: Path) -> Any:
    """An array, a CSR matrix or a dictionary of lists of numbers; anything else is refused."""
    try:
        with path.open("rb") as file:
            return plain(_Reader(file, encoding="latin1").load())
    except _Refused as error:
        raise InputError(
            f"{path} asks for {error}, which a network does not need: it may be hostile and was not run; "
            "fetch it from its original source"
        ) from None
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; put it beside the others") from None
    except Exception as error:  # a broken pickle raises nearly anything
        said = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{path} is not a whole pickle of arrays ({said}); fetch it again") from None
