"""Typed records as JSON and arrays, and back: nothing is pickled, and only known classes are made.

A record is a frozen data class or a named tuple of plain values, arrays, and other records, in dictionaries
and tuples. Arrays are numbered, so that no name of a user becomes one of theirs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError


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
            matrix = sp.csr_array(
                tuple(walk(piece) for piece in value["~matrix"]), shape=tuple(value["shape"])
            )
            # scipy's products trust the indices: unchecked ones would read outside the arrays
            matrix.check_format(full_check=check)
            return matrix
        if "~pairs" in value:
            return {key: walk(each) for key, each in value["~pairs"]}
        if "~" in value:
            name = value["~"]
            if name not in known:
                raise InputError(f"it holds a record {str(name)[:40]!r} that this program does not know")
            return known[name](**{key: walk(each) for key, each in value.items() if key != "~"})
        return {key: walk(each) for key, each in value.items()}

    return walk(tree)


def plain(value: Any) -> Any:
    """Plain JSON: numpy numbers as numbers, what is not finite as null."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
