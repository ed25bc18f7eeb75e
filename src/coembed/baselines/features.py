"""Sparse features that the floors share; everything is computed from the matrix that is given."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def presence(matrix: sp.csr_array) -> sp.csr_array:
    """1 wherever the matrix has an entry; shares no memory with it."""
    ones = sp.csr_array(matrix, dtype=np.float32, copy=True)
    ones.data[:] = 1
    return ones


def frequency(matrix: sp.csr_array) -> np.ndarray:
    """Entries in each column."""
    return np.bincount(matrix.indices, minlength=matrix.shape[1])


def unit_rows(matrix: sp.csr_array) -> sp.csr_array:
    """Rows of length one; empty rows stay empty.

    Examples
    --------
    >>> unit_rows(sp.csr_array(np.array([[3.0, 4.0], [0.0, 0.0]]))).toarray()
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    counts = np.diff(matrix.indptr)
    squares = np.bincount(
        np.repeat(np.arange(len(counts)), counts), weights=matrix.data**2, minlength=len(counts)
    )
    lengths = np.repeat(np.sqrt(squares), counts)
    return sp.csr_array(
        ((matrix.data / lengths).astype(matrix.dtype), matrix.indices, matrix.indptr), shape=matrix.shape
    )


def idf_rows(attributes: sp.csr_array) -> sp.csr_array:
    """Presence of attributes, rare ones weighing more (log N / frequency), rows of length one.

    An attribute that every node has weighs nothing, and disappears.
    """
    idf = np.log(attributes.shape[0] / np.maximum(frequency(attributes), 1))
    weighed = presence(attributes)
    weighed.data = idf[weighed.indices].astype(np.float32)
    weighed.eliminate_zeros()
    return unit_rows(weighed)


def degree_scaled(links: sp.csr_array) -> sp.csr_array:
    """Links divided by the square root of the degrees at both ends: D^-1/2 A D^-1/2.

    Examples
    --------
    >>> star = sp.csr_array(np.array([[0, 1, 1, 1, 1]] + [[1, 0, 0, 0, 0]] * 4))
    >>> degree_scaled(star).toarray()[0].tolist()
    [0.0, 0.5, 0.5, 0.5, 0.5]
    """
    degree = np.diff(links.indptr)
    scaled = presence(links)
    scaled.data = (1 / np.sqrt(np.repeat(degree, degree) * degree[links.indices])).astype(np.float32)
    return scaled


def mean_of_neighbours(links: sp.csr_array) -> sp.csr_array:
    """The matrix P = D^-1 A whose product averages over neighbours."""
    degree = np.diff(links.indptr)
    averaging = presence(links)
    averaging.data = (1 / np.repeat(degree, degree)).astype(np.float32)
    return averaging
