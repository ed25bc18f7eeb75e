"""Sparse matrices row by row: what rows hold, how large it is, the same with other values."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np
import scipy.sparse as sp

from coembed.progress import Tell


def unit_rows(matrices: Sequence[sp.csr_array]) -> np.ndarray:
    """What to multiply the rows of [matrix ; matrix ; ...] with, to give each the length one.

    Examples
    --------
    >>> unit_rows([sp.csr_array([[3.0], [0.0]]), sp.csr_array([[4.0, 0.0], [0.0, 2.0]])])
    array([0.2, 0.5], dtype=float32)
    """
    squares = sum(np.asarray(matrix.power(2).sum(axis=1)) for matrix in matrices)
    return (1 / np.sqrt(np.maximum(squares, 1e-12))).astype(np.float32)


def root_mean_square(matrix: sp.csr_array) -> float:
    """Of the stored values; 1 where there are none.

    Examples
    --------
    >>> root_mean_square(sp.csr_array([[1.0, 0.0], [0.0, 7.0]]))
    5.0
    """
    return float(np.sqrt(np.mean(matrix.data.astype(np.float64) ** 2))) if matrix.nnz else 1.0


def as_float32(values: np.ndarray, what: str, notice: Tell) -> np.ndarray:
    """Numbers as the network keeps them; it is said of those that are too close to zero for that.

    Examples
    --------
    >>> as_float32(np.array([2.0, 1e-46]), "links", print)
    links: 1 value(s) closer to zero than 1e-45 were taken as zero
    array([2., 0.], dtype=float32)
    """
    if values.dtype == np.float32:
        return values
    with np.errstate(over="ignore", under="ignore"):  # what is infinite then is refused where it is checked
        narrow = values.astype(np.float32)
    say_vanished(what, int(np.count_nonzero((narrow == 0) & (values != 0))), notice)
    return narrow


def say_vanished(what: str, count: int, notice: Tell) -> None:
    if count:
        notice(f"{what}: {count} value(s) closer to zero than 1e-45 were taken as zero")


def column_squares(matrix: sp.csr_array) -> np.ndarray:
    """The sum of squares of every column.

    Examples
    --------
    >>> column_squares(sp.csr_array([[1.0, 0.0], [2.0, 3.0]]))
    array([5., 9.])
    """
    squares = np.square(matrix.data, dtype=np.float64)
    return np.bincount(matrix.indices, weights=squares, minlength=matrix.shape[1])


def presence(matrix: sp.csr_array) -> sp.csr_array:
    """One where something is stored."""
    return with_values(matrix, np.ones(matrix.nnz, dtype=np.float32))


def with_values(matrix: sp.csr_array, values: np.ndarray) -> sp.csr_array:
    """Other values at the same places, which are shared.

    Not by its constructor, which checks all that it is given: of a few rows that takes longer than the work.
    """
    found = copy(matrix)
    found.data = values
    return found


def magnitudes(matrix: sp.csr_array) -> np.ndarray:
    """The sum of the magnitudes of every row.

    Examples
    --------
    >>> magnitudes(sp.csr_array([[1.0, -2.0], [0.0, 0.0]]))
    array([3., 0.])
    """
    matrix.sum_duplicates()
    return row_sums(np.abs(matrix.data), matrix.indptr)


def row_sums(values: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """Sums of consecutive values: of each row, from its beginning to that of the next."""
    sums = np.zeros(len(indptr) - 1, dtype=values.dtype)
    filled = np.flatnonzero(np.diff(indptr))
    if len(filled):
        sums[filled] = np.add.reduceat(values, indptr[filled])
    return sums


def row_of(matrix: sp.csr_array, row: int) -> tuple[np.ndarray, np.ndarray]:
    """Places and values of one row.

    Examples
    --------
    >>> row_of(sp.csr_array([[1.0, 0.0], [2.0, 3.0]]), 1)
    (array([0, 1], dtype=int32), array([2., 3.]))
    """
    part = slice(matrix.indptr[row], matrix.indptr[row + 1])
    return matrix.indices[part], matrix.data[part]


def entries_of(matrix: sp.csr_array, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the entries of some rows stand among all, one row after the other; and how many each has.

    Examples
    --------
    >>> entries_of(sp.csr_array([[1.0, 0.0], [2.0, 3.0], [0.0, 4.0]]), np.array([2, 1]))
    (array([3, 1, 2]), array([1, 2], dtype=int32))
    """
    starts = matrix.indptr[rows]
    counts = matrix.indptr[rows + 1] - starts
    return np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum()), counts
