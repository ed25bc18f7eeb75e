"""The cells of a table as features: numbers with whether they are known, yes or no, one of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from coembed.network.relations import Column, Relation

FARTHEST = 6.0
"""How many units from the middle a number counts: beyond it is an outlier, whatever its size."""


@dataclass(frozen=True, eq=False)
class CellLayout:
    """Where the features of each column are.

    Attributes
    ----------
    relations, columns
        The columns that have cells, in their order.
    place
        For each feature, the number of its column.
    codes
        For each column, the features of its values, a row each, where these share some; else None.

    Examples
    --------
    >>> age = Relation.build("age", "person", "person.attributes", sp.csr_array([[0.5, 0], [0, 0]]),
    ...     absent="unknown", column=Column("age", "number", 0, 1))
    >>> layout = CellLayout.of([age])
    >>> layout.features({"age>": age.values})  # the second is not known
    array([[0.5, 1. ],
           [0. , 0. ]], dtype=float32)
    """

    relations: tuple[str, ...]
    columns: tuple[Column, ...]
    place: np.ndarray
    codes: tuple[np.ndarray | None, ...] = ()

    @classmethod
    def of(cls, relations: Sequence[Relation], one_hot: int = 0) -> CellLayout | None:
        """Of those of the columns that have cells; values of a category beyond `one_hot` share features."""
        with_cells = [each for each in relations if each.column is not None and each.column.has_cells]
        if not with_cells:
            return None
        columns = tuple(each.column for each in with_cells if each.column is not None)
        codes = tuple(_codes(column, one_hot) for column in columns)
        widths = [
            width_of(column) if code is None else code.shape[1]
            for column, code in zip(columns, codes, strict=True)
        ]
        place = np.repeat(np.arange(len(columns)), widths)
        return cls(tuple(each.name for each in with_cells), columns, place, codes)

    @property
    def width(self) -> int:
        return len(self.place)

    def features(self, rows: Mapping[str, sp.csr_array]) -> np.ndarray:
        """One row an item; an unknown cell is nothing but zeros."""
        codes = self.codes or (None,) * len(self.columns)
        parts = [
            _features(rows[f"{name}>"], column, code)
            for name, column, code in zip(self.relations, self.columns, codes, strict=True)
        ]
        return np.hstack(parts)


def width_of(column: Column) -> int:
    """Features of a column: a number has two, one says whether it is known."""
    return column.stop - column.start if column.kind == "category" else 2


def _codes(column: Column, one_hot: int) -> np.ndarray | None:
    """Signs for every value, each row of length one: any two are nearly at right angles."""
    values = column.stop - column.start
    if column.kind != "category" or not one_hot or values <= one_hot:
        return None
    signs = np.random.default_rng(values).integers(0, 2, size=(values, one_hot)) * 2 - 1
    return (signs / np.sqrt(one_hot)).astype(np.float32)


def _features(rows: sp.csr_array, column: Column, code: np.ndarray | None = None) -> np.ndarray:
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    if code is not None:
        found = np.zeros((rows.shape[0], code.shape[1]), dtype=np.float32)
        found[row] = code[rows.indices - column.start]
        return found
    found = np.zeros((rows.shape[0], width_of(column)), dtype=np.float32)
    if column.kind == "category":
        found[row, rows.indices - column.start] = 1
        return found
    values = 2 * rows.data - 1 if column.kind == "yes/no" else np.clip(rows.data, -FARTHEST, FARTHEST)
    found[row, 0], found[row, 1] = values, 1
    return found
