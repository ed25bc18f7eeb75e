"""Sizes of what a matrix holds: of its rows, of its values."""

from __future__ import annotations

from collections.abc import Sequence

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
    return sp.csr_array(
        (np.ones(matrix.nnz, dtype=np.float32), matrix.indices, matrix.indptr), shape=matrix.shape
    )
