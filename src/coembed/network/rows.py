"""Rows of concatenated matrices, without concatenating them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp


def unit_rows(matrices: Sequence[sp.csr_array]) -> np.ndarray:
    """What to multiply the rows of [matrix ; matrix ; ...] with, to give each the length one.

    Examples
    --------
    >>> unit_rows([sp.csr_array([[3.0], [0.0]]), sp.csr_array([[4.0, 0.0], [0.0, 2.0]])])
    array([0.2, 0.5], dtype=float32)
    """
    squares = sum(np.asarray(matrix.power(2).sum(axis=1)) for matrix in matrices)
    return (1 / np.sqrt(np.maximum(squares, 1e-12))).astype(np.float32)
