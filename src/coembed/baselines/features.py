"""Sparse features that the floors share; everything is computed from the matrix that is given."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

NEAREST = 20
ROWS = 512


def presence(matrix: sp.csr_array) -> sp.csr_array:
    """1 wherever the matrix has an entry; shares no memory with it."""
    ones = sp.csr_array(matrix, dtype=np.float32, copy=True)
    ones.data[:] = 1
    return ones


def symmetric(matrix: sp.csr_array) -> sp.csr_array:
    """Presence of a square matrix or of its mirror image.

    Examples
    --------
    >>> symmetric(sp.csr_array([[0, 5], [0, 0]])).toarray().tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    ones = presence(matrix)
    both = sp.csr_array(ones + ones.T)
    both.sort_indices()
    return presence(both)


def frequency(matrix: sp.csr_array) -> np.ndarray:
    """Entries in each column."""
    return np.bincount(matrix.indices, minlength=matrix.shape[1])


def unit_length_rows(matrix: sp.csr_array) -> sp.csr_array:
    """Rows of length one; empty rows stay empty.

    Examples
    --------
    >>> unit_length_rows(sp.csr_array(np.array([[3.0, 4.0], [0.0, 0.0]]))).toarray()
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
    return unit_length_rows(weighed)


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


def nearest_nodes(unit: Any, k: int = NEAREST, among: np.ndarray | None = None) -> sp.csr_array:
    """The k nodes with the largest cosine to each node (itself left out), N x N with k entries a row at most.

    `unit` has vectors of length one as its rows, sparse or dense; `among`: only these nodes are looked for.

    Examples
    --------
    >>> unit = sp.csr_array(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    >>> nearest_nodes(unit, k=1).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """
    n_nodes = unit.shape[0]
    k = min(k, n_nodes - 1)
    columns = (unit if among is None else _only(unit, among)).T
    columns = columns.tocsr() if sp.issparse(columns) else columns
    blocks = []
    for start in range(0, n_nodes, ROWS):
        near = unit[start : start + ROWS] @ columns
        near = near.toarray() if sp.issparse(near) else near
        rows = np.arange(len(near))
        near[rows, start + rows] = 0
        blocks.append(largest_entries(near, k))
    return sp.vstack(blocks, format="csr")


def _first_largest(matrix: sp.csr_array, k: int) -> sp.csr_array:
    """At most k entries of every row: the largest, among equals the first."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((matrix.indices, -matrix.data, rows))
    place = np.arange(matrix.nnz) - matrix.indptr[rows]
    kept = order[place < k]
    return sp.csr_array((matrix.data[kept], (rows[kept], matrix.indices[kept])), shape=matrix.shape)


def largest_entries(rows: np.ndarray, k: int) -> sp.csr_array:
    """At most k positive entries of every row: the largest, among equals the first.

    Examples
    --------
    >>> largest_entries(np.array([[3.0, 1.0, 1.0], [0.0, 0.0, 2.0]]), k=2).toarray()
    array([[3., 1., 0.],
           [0., 0., 2.]])
    """
    width = rows.shape[1]
    if 0 < k < width:
        floor = np.partition(rows, width - k, axis=1)[:, width - k, None]
        rows = np.where(rows >= floor, rows, 0)
    return _first_largest(sp.csr_array(np.where(rows > 0, rows, 0)), k)


def _only(matrix: sp.csr_array, rows: np.ndarray) -> sp.csr_array:
    """The matrix with all other rows empty."""
    chosen = np.zeros(matrix.shape[0], dtype=matrix.dtype)
    chosen[rows] = 1
    return sp.csr_array(sp.diags_array(chosen) @ matrix)
