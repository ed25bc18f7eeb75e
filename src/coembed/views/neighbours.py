"""The nodes most like a node: nearest rows by cosine."""

from __future__ import annotations

from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError

EXACT_ROWS = 20_000
"""Rows up to which all are compared with all; beyond, usearch is asked, if it is installed."""
MOST_ROWS = 200_000
"""Rows beyond which comparing all with all takes hours: then usearch must be there."""

# similarities held at a time: bounds the memory whatever the number of rows
CELLS = 16_000_000
SEARCHED = 4096
# above this share of stored values a dense product is faster than a sparse one
DENSE = 0.02


class Neighbours(NamedTuple):
    """For every row its nearest ones, best first: positions and cosines (0 where there is no more)."""

    rows: np.ndarray
    cosines: np.ndarray

    def graph(self, n_known: int, most: int | None = None) -> sp.csr_array:
        """The `most` nearest as a sparse matrix of cosines, one column a known row."""
        rows, cosines = self.rows[:, :most], self.cosines[:, :most]
        count, k = rows.shape
        matrix = sp.csr_array(
            (cosines.flatten(), rows.flatten(), k * np.arange(count + 1, dtype=np.int64)),
            shape=(count, n_known),
        )
        # on copies: both of these reorder what they are given
        matrix.eliminate_zeros()
        matrix.sort_indices()
        return matrix


def nearest_fellows(rows: sp.csr_array, coordinates: np.ndarray, k: int) -> Neighbours:
    """The `k` nearest fellows of each row: exactly, or, of very many rows, nearly, by their coordinates.

    An approximate index (HNSW) proposes twice as many, whose cosines are then taken exactly.
    """
    count = rows.shape[0]
    if count <= EXACT_ROWS:
        return nearest_rows(rows, k=k)
    if find_spec("usearch") is None:
        if count <= MOST_ROWS:
            return nearest_rows(rows, k=k)
        raise InputError(
            f"finding the nodes alike among {count:,} needs usearch; install coembed[large], "
            "or train with --preset paper"
        )
    from usearch.index import Index

    units = coordinates / np.maximum(np.linalg.norm(coordinates, axis=1, keepdims=True), 1e-9)
    index = Index(ndim=units.shape[1], metric="ip", dtype="f16", connectivity=16, expansion_add=96)
    # one thread: the order in which rows are added decides what is found, and a fit must repeat
    index.add(np.arange(count), units, threads=1)
    found = Neighbours(np.zeros((count, k), np.int32), np.zeros((count, k), np.float32))
    for start in range(0, count, SEARCHED):
        proposed = index.search(units[start : start + SEARCHED], 2 * k + 1).keys.astype(np.int64)
        here = start + np.arange(len(proposed))
        near = np.repeat(here, proposed.shape[1])
        cosines = np.asarray(rows[near].multiply(rows[proposed.ravel()]).sum(axis=1)).reshape(proposed.shape)
        cosines[proposed == here[:, None]] = -1
        best = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
        found.rows[here] = np.take_along_axis(proposed, best, axis=1)
        found.cosines[here] = np.maximum(np.take_along_axis(cosines, best, axis=1), 0)
    return found


def nearest_rows(
    rows: sp.csr_array,
    known: sp.csr_array | None = None,
    k: int = 10,
    columns: sp.csr_array | None = None,
) -> Neighbours:
    """The `k` rows of `known` nearest to each row, exactly; by default its fellows, without itself.

    Rows must have length one (or zero: such a row is near to nothing). `columns` is `known` transposed, if
    that is at hand: a question about one row then touches only what the row has.

    Examples
    --------
    >>> rows = sp.csr_array(np.array([[1, 0], [0.8, 0.6], [0, 1]], dtype=np.float32))
    >>> nearest_rows(rows, k=1).rows.ravel()
    array([1, 0, 1], dtype=int32)
    """
    fellows = known is None
    known = rows if known is None else known
    n_known = known.shape[0]
    k = max(min(k, n_known - fellows), 0)
    found = Neighbours(np.zeros((rows.shape[0], k), np.int32), np.zeros((rows.shape[0], k), np.float32))
    if not k:
        return found
    dense = columns is None and known.nnz > DENSE * n_known * max(known.shape[1], 1)
    if columns is None:
        columns = known.toarray().T if dense else known.T.tocsr()
    step = max(1, CELLS // n_known)
    for start in range(0, rows.shape[0], step):
        part = rows[start : start + step]
        cosines = part.toarray() @ columns if dense else (part @ columns).toarray()
        if fellows:
            here = np.arange(len(cosines))
            cosines[here, start + here] = -1
        best = np.argpartition(cosines, n_known - k, axis=1)[:, n_known - k :]
        values = np.take_along_axis(cosines, best, axis=1)
        order = np.argsort(-values, axis=1, kind="stable")
        found.rows[start : start + step] = np.take_along_axis(best, order, axis=1)
        found.cosines[start : start + step] = np.take_along_axis(values, order, axis=1)
    np.maximum(found.cosines, 0, out=found.cosines)
    return found
