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

    @classmethod
    def of(cls, relations: Sequence[Relation]) -> CellLayout | None:
        """Of those of the columns that have cells."""
        with_cells = [each for each in relations if each.column is not None and each.column.has_cells]
        if not with_cells:
            return None
        columns = tuple(each.column for each in with_cells if each.column is not None)
        widths = [width_of(column) for column in columns]
        place = np.repeat(np.arange(len(columns)), widths)
        return cls(tuple(each.name for each in with_cells), columns, place)

    @property
    def width(self) -> int:
        return len(self.place)

    def features(self, rows: Mapping[str, sp.csr_array]) -> np.ndarray:
        """One row an item; an unknown cell is nothing but zeros."""
        parts = [
            _features(rows[f"{name}>"], column)
            for name, column in zip(self.relations, self.columns, strict=True)
        ]
        return np.hstack(parts)


def width_of(column: Column) -> int:
    """Features of a column: a number has two, one says whether it is known."""
    return column.stop - column.start if column.kind == "category" else 2


def _features(rows: sp.csr_array, column: Column) -> np.ndarray:
    found = np.zeros((rows.shape[0], width_of(column)), dtype=np.float32)
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    if column.kind == "category":
        found[row, rows.indices - column.start] = 1
        return found
    values = 2 * rows.data - 1 if column.kind == "yes/no" else np.clip(rows.data, -FARTHEST, FARTHEST)
    found[row, 0], found[row, 1] = values, 1
    return found
