"""Typed records as JSON and arrays, and back: nothing is pickled, and only known classes are made.

A record is a frozen data class or a named tuple of plain values, arrays, and other records, in dictionaries
and tuples. Arrays are numbered, so that no name of a user becomes one of theirs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.untrusted import checked_csr


def pack(record: Any, prefix: str = "a") -> tuple[Any, dict[str, np.ndarray]]:
    """What is left of a record in JSON, and its arrays.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> class Pair(NamedTuple):
    ...     name: str
    ...     values: np.ndarray
    >>> tree, arrays = pack({"one": Pair("x", np.arange(2))})
    >>> tree
    {'one': {'~': 'Pair', 'name': 'x', 'values': {'~array': 'a0'}}}
    >>> unpack(tree, arrays, [Pair])["one"].values
    array([0, 1])
    """
    arrays: dict[str, np.ndarray] = {}

    def keep(array: np.ndarray) -> dict[str, str]:
        name = f"{prefix}{len(arrays)}"
        arrays[name] = np.ascontiguousarray(array)
        return {"~array": name}

    def walk(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return keep(value)
        if sp.issparse(value):
            by_row = value.tocsr()
            pieces = [keep(getattr(by_row, piece)) for piece in ("data", "indices", "indptr")]
            return {"~matrix": pieces, "shape": [int(n) for n in by_row.shape]}
        if is_dataclass(value) and not isinstance(value, type):
            own = {each.name: walk(getattr(value, each.name)) for each in fields(value)}
            return {"~": type(value).__name__, **own}
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            named = zip(value._fields, value, strict=True)
            return {"~": type(value).__name__, **{name: walk(each) for name, each in named}}
        if isinstance(value, Mapping):
            if any(not isinstance(key, str) or key.startswith("~") for key in value):
                return {"~pairs": [[key, walk(each)] for key, each in value.items()]}
            return {key: walk(each) for key, each in value.items()}
        if isinstance(value, (list, tuple)):
            return [walk(each) for each in value]
        return plain(value)

    return walk(record), arrays


def unpack(tree: Any, arrays: Mapping[str, np.ndarray], classes: Iterable[type], check: bool = True) -> Any:
    """The record again; a strange one is an :class:`InputError`. Without `check` indices are trusted."""
    known = {each.__name__: each for each in classes}

    def walk(value: Any) -> Any:
        if isinstance(value, list):
            return tuple(walk(each) for each in value)
        if not isinstance(value, dict):
            return value
        if "~array" in value:
            return arrays[value["~array"]]
        if "~matrix" in value:
            data, indices, indptr = (walk(piece) for piece in value["~matrix"])
            if check:
                return checked_csr(data, indices, indptr, value["shape"])
            return sp.csr_array((data, indices, indptr), shape=tuple(value["shape"]))
        if "~pairs" in value:
            return {key: walk(each) for key, each in value["~pairs"]}
        if "~" in value:
            name = value["~"]
            if name not in known:
                raise InputError(f"it holds a record {str(name)[:40]!r} that this program does not know")
            given = {key: walk(each) for key, each in value.items() if key != "~"}
            _check_fields(known[name], given)
            return known[name](**given)
        return {key: walk(each) for key, each in value.items()}

    return walk(tree)


def _check_fields(kind: type, given: Mapping[str, Any]) -> None:
    """What was stored under a field is what the class says of it; an old record may lack some."""
    hints = _hints(kind)
    for name, value in given.items():
        if name not in hints:
            raise InputError(
                f"it holds a {kind.__name__} with {name[:40]!r}, which this program does not know"
            )
        if not fits(value, hints[name]):
            raise InputError(f"{name} of its {kind.__name__} is not what it should be")


@lru_cache(maxsize=64)
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is what a type hint says, as far as records go.

    Examples
    --------
    >>> fits({"a": (1, 2)}, dict[str, tuple[int, ...]]), fits("1", int | None), fits(True, float)
    (True, False, False)
    """
    origin, inside = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if hint is None or hint is NoneType:
        return value is None
    if origin in (Union, UnionType):
        return any(fits(value, each) for each in inside)
    if origin is list:
        return type(value) is list and all(fits(each, inside[0]) for each in value)
    if origin is Literal:
        return value in inside
    if origin in (dict, Mapping):
        return isinstance(value, dict) and all(
            fits(key, inside[0]) and fits(each, inside[1]) for key, each in value.items()
        )
    if origin is tuple:
        if type(value) is not tuple:
            return False
        expected = inside[:1] * len(value) if inside[-1:] == (...,) else inside
        return len(value) == len(expected) and all(map(fits, value, expected))
    if hint is float:
        return type(value) in (int, float) and math.isfinite(value)
    if hint in (int, bool, str):
        return type(value) is hint
    return isinstance(value, origin or hint)


def plain(value: Any) -> Any:
    """Plain JSON: numpy numbers as numbers, what is not finite as null."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
