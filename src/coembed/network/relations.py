"""What joins the items of two types: a sparse matrix of values, and what they mean.

A column of a table is such a relation, too: between the items of the table and its attributes, of which a
column has one (a number, yes or no) or one for each of its values (a category, tags, words).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network.matrices import as_float32
from coembed.network.pairs import Pairing
from coembed.progress import Tell
from coembed.untrusted import check_positions

Absent = Literal["no", "unknown"]
ColumnKind = Literal["number", "category", "yes/no", "tags", "counts", "text", "date"]
CELL_KINDS: tuple[ColumnKind, ...] = ("number", "date", "category", "yes/no")
"""Kinds of columns of which an empty cell is not known, and a known one is to be explained."""
NUMERIC_KINDS: tuple[ColumnKind, ...] = ("number", "date")
SINGLE_KINDS: tuple[ColumnKind, ...] = (*NUMERIC_KINDS, "yes/no")
"""Kinds of columns that are one attribute, called as the column."""


@dataclass(frozen=True)
class Column:
    """Which column of a table a relation is, and the way from its cells to values and back.

    Attributes
    ----------
    name, kind
        As the table has it, and what it was taken for.
    start, stop
        Its attributes among those of the type.
    center, scale, log
        Of a number: its value is (x - center) / scale, with x the cell or log(1 + cell).
    whole
        Whether all cells are whole numbers (of a date: days since 1970).
    day_first
        Of a date that is written with strokes, and of its parts: whether the day stands before the month;
        None where nothing told.

    Examples
    --------
    >>> income = Column("income", "number", 0, 1, center=10.0, scale=0.5, log=True)
    >>> round(income.cell(income.value(52_100.0)))
    52100
    """

    name: str
    kind: ColumnKind = "tags"
    start: int = 0
    stop: int = 0
    center: float = 0.0
    scale: float = 1.0
    log: bool = False
    whole: bool = False
    day_first: bool | None = None

    @property
    def has_cells(self) -> bool:
        """Whether every item has one cell of it, known or not, rather than any number of entries."""
        return self.kind in CELL_KINDS

    @property
    def numeric(self) -> bool:
        return self.kind in NUMERIC_KINDS

    def value(self, cell: Any) -> Any:
        """From the unit of the column to that of the model."""
        return ((np.log1p(cell) if self.log else cell) - self.center) / self.scale

    def cell(self, value: Any) -> Any:
        """From the unit of the model to that of the column."""
        x = value * self.scale + self.center
        return np.expm1(x) if self.log else x

    def held(self, value: np.ndarray | float) -> np.ndarray:
        """Cells that known values stand for, as the table has them: without the digits that float32 makes up.

        Examples
        --------
        >>> price = Column("price", "number", center=17.3, scale=21.9)
        >>> stored = price.value(np.array([3.6, 95.39])).astype(np.float32)
        >>> price.held(stored).tolist()
        [3.6, 95.39]
        """
        value = np.asarray(value, dtype=np.float64)
        cell = np.asarray(self.cell(value))
        if self.whole:
            return np.rint(cell)
        if self.kind == "date":
            return cell
        steepness = self.scale * (1 + np.abs(cell) if self.log else np.ones(cell.shape))
        lost = 2.0**-22 * steepness * np.maximum(np.abs(value), 1)
        finer = 10.0 ** -np.ceil(np.log10(np.maximum(lost, 1e-300)))
        return np.where(np.isfinite(finer) & (lost > 0), np.rint(cell * finer) / finer, cell)


@dataclass(frozen=True, eq=False)
class Relation:
    """A relation between the items of two types, or of one type with itself.

    Attributes
    ----------
    values
        CSR, float32, a row an item of `source` and a column an item of `target`.
    likelihood
        How a value comes about: a name of :data:`coembed.likelihoods.LIKELIHOODS`, or ``auto``: as it looks.
    absent
        What an entry that is not stored means: ``no`` (then no zeros are stored), or ``unknown`` (a stored
        zero is a known value).
    directed
        Of a type with itself: whether (i, j) says nothing of (j, i); else the matrix is symmetric. No item
        is related to itself.
    column
        Which column of the source's table it is, if it is one.

    Examples
    --------
    >>> likes = Relation.build("likes", "person", "film", [[0, 1], [1, 1]])
    >>> likes
    Relation('likes', person to film, 3 entries)
    """

    name: str
    source: str
    target: str
    values: sp.csr_array
    likelihood: str = "auto"
    absent: Absent = "no"
    directed: bool = False
    column: Column | None = None

    @classmethod
    def build(
        cls,
        name: str,
        source: str,
        target: str,
        values: Any,
        likelihood: str = "auto",
        absent: Absent = "no",
        directed: bool = False,
        column: Column | None = None,
        notice: Tell = lambda said: None,
    ) -> Relation:
        """Check and normalise a matrix; `notice` is told what had to be changed."""
        matrix = canonical_matrix(values, name, keep_zeros=absent == "unknown", notice=notice)
        if source == target:
            if matrix.shape[0] != matrix.shape[1]:
                raise InputError(
                    f"{name} must be square, got {matrix.shape[0]} x {matrix.shape[1]}; "
                    f"give one row and one column for every {source}"
                )
            matrix = _without_loops(matrix, name, notice)
            if not directed:
                matrix = _undirected(matrix, name, notice)
        return cls(name, source, target, matrix, likelihood, absent, directed and source == target, column)

    def __repr__(self) -> str:
        way = f"{self.source} {'to' if self.source != self.target or self.directed else 'with'} {self.target}"
        what = f", {self.column.kind} column" if self.column else ""
        return f"Relation({self.name!r}, {way}, {self.n_entries} entries{what})"

    @property
    def pairing(self) -> Pairing:
        """Which pairs there are: none of an item with itself, and two orders of one pair."""
        same = self.source == self.target
        return Pairing(same, same and not self.directed)

    @property
    def n_entries(self) -> int:
        """Stored entries; of an undirected relation each pair once."""
        return int(self.values.nnz // (2 if self.pairing.undirected else 1))

    @property
    def weighted(self) -> bool:
        """Whether the values say more than presence."""
        return bool(np.any(self.values.data != 1))

    @cached_property
    def backwards(self) -> sp.csr_array:
        """The matrix from the other end: a row an item of `target`."""
        return self.values if self.pairing.undirected else self.values.T.tocsr()

    def with_values(self, values: sp.csr_array) -> Relation:
        """The same relation with another matrix, which must already be canonical."""
        return replace(self, values=values)


def canonical_matrix(
    matrix: Any, what: str, keep_zeros: bool = False, notice: Tell = lambda said: None
) -> sp.csr_array:
    """CSR of finite float32 in order, duplicates added up, without stored zeros unless they are kept."""
    try:
        if getattr(matrix, "format", None) in ("csr", "csc"):  # SciPy's conversions trust the positions
            check_positions(matrix.indices, matrix.indptr, matrix.shape[1 if matrix.format == "csr" else 0])
        csr = sp.csr_array(matrix, copy=True)
        if csr.dtype.kind == "c":
            raise ValueError("complex numbers; give real ones")
        if csr.ndim == 2:
            csr.data = as_float32(csr.data, what, notice)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} cannot be read as a matrix of numbers ({error})") from None
    if csr.ndim != 2:
        raise InputError(f"{what} must be a matrix, got {csr.ndim} dimension(s)")
    if not np.isfinite(csr.data).all():
        row = int(np.searchsorted(csr.indptr, np.flatnonzero(~np.isfinite(csr.data))[0], side="right")) - 1
        raise InputError(f"{what} of row {row} hold NaN or infinity; remove or replace that value")
    csr.sum_duplicates()
    if not keep_zeros:
        csr.eliminate_zeros()
    csr.sort_indices()
    return csr


def _without_loops(matrix: sp.csr_array, name: str, notice: Tell) -> sp.csr_array:
    loops = int(np.count_nonzero(matrix.diagonal()))
    if not loops:
        return matrix
    notice(f"{name}: {loops} self-loop(s) were dropped")
    return canonical_matrix(matrix - sp.diags_array(matrix.diagonal(), format="csr"), name)


def _undirected(matrix: sp.csr_array, name: str, notice: Tell) -> sp.csr_array:
    transposed = matrix.T.tocsr()
    if not (matrix != transposed).nnz:
        return matrix
    notice(f"{name} were directed: every pair was made undirected")
    # maximum, not sum: a pair listed in both directions is one link, with one weight
    return canonical_matrix(_wider(matrix, transposed), name)


def _wider(links: sp.csr_array, transposed: sp.csr_array) -> sp.csr_array:
    """Entry by entry the value of larger magnitude, so that negative weights survive too."""
    smaller = abs(links) < abs(transposed)
    wide = sp.csr_array(links - links.multiply(smaller) + transposed.multiply(smaller))
    return wide.maximum(wide.T.tocsr())
