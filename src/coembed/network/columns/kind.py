"""What a kind of column is: it learns a coding from cells, and codes cells, those of new items too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from coembed.network.columns.column_cells import Cells
from coembed.network.relations import SINGLE_KINDS, Absent, Column, ColumnKind


@dataclass(frozen=True, eq=False)
class Coding:
    """The way from the cells of a column to its attributes and values.

    Attributes
    ----------
    column
        With `start` 0 and `stop` the number of attributes, until it is placed among those of a table.
    titles
        The attributes: the values of a category, tags or words; of a number or yes/no the name of the column.
    notices
        What a person should know of it.
    """

    column: Column
    titles: tuple[str, ...]
    notices: tuple[str, ...] = ()

    @classmethod
    def make(
        cls,
        name: str,
        kind: ColumnKind,
        titles: Sequence[str],
        notices: Sequence[str] = (),
        **way: float | bool | None,
    ) -> Coding:
        column = replace(Column(name, kind, 0, len(titles)), **way)  # type: ignore[arg-type]
        return cls(column, tuple(titles), tuple(notices))

    @property
    def ids(self) -> list[str]:
        """What to call the attributes among those of a table."""
        name = self.column.name
        return [name] if self.column.kind in SINGLE_KINDS else [f"{name}={t}" for t in self.titles]

    @property
    def places(self) -> dict[str, int]:
        return {title: i for i, title in enumerate(self.titles)}


class Kind(Protocol):
    """A kind of column; one small module each."""

    name: ColumnKind
    likelihood: str
    absent: Absent

    def learn(self, cells: Cells) -> Coding:
        """What the attributes are, and how numbers are scaled."""
        ...

    def values(self, cells: Cells, coding: Coding) -> sp.csr_array:
        """A row for each cell and a column for each attribute; what is unknown is not stored."""
        ...


def one_a_row(places: np.ndarray, values: np.ndarray, width: int) -> sp.csr_array:
    """A matrix with at most one entry a row; a negative place is none. Zeros are stored.

    Examples
    --------
    >>> matrix = one_a_row(np.array([1, -1, 0]), np.array([0.0, 5.0, 2.0]), 2)
    >>> matrix.toarray().tolist(), matrix.nnz
    ([[0.0, 0.0], [0.0, 0.0], [2.0, 0.0]], 2)
    """
    there = places >= 0
    indptr = np.concatenate([[0], np.cumsum(there)])
    data = np.asarray(values, dtype=np.float32)[there]
    return sp.csr_array((data, places[there], indptr), shape=(len(places), width))
