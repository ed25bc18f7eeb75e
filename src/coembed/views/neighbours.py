"""The nodes most like a node: nearest rows by cosine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError

EXACT_ROWS = 20_000
"""Rows up to which all are compared with all; beyond, faiss is asked, if it is installed."""
MOST_ROWS = 200_000
"""Rows beyond which comparing all with all takes hours: then faiss must be there."""
MOST_FELLOWS = 20
"""Fellows that are kept beyond that number of rows."""
# an inverted file of 2 sqrt(N) lists of which 12 are looked at: about 6 sqrt(N) comparisons a row
LISTS, PROBES = 2, 12

# similarities held at a time: bounds the memory whatever the number of rows
CELLS = 16_000_000
SEARCHED = 4096
TOLD = 25
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


def nearest_fellows(
    rows: sp.csr_array, coordinates: np.ndarray, k: int, steps: Callable[[str], None] | None = None
) -> Neighbours:
    """The `k` nearest fellows of each row: exactly, or, of very many rows, nearly, by their coordinates.

    An inverted file (faiss) proposes them: rows are gathered around centres, and a row is compared with those
    around the centres nearest to it. Cosines of the proposed are then taken exactly.
    """
    count = rows.shape[0]
    if count <= EXACT_ROWS:
        return nearest_rows(rows, k=k)
    if find_spec("faiss") is None:
        if count <= MOST_ROWS:
            return nearest_rows(rows, k=k)
        raise InputError(
            f"finding the nodes alike among {count:,} needs faiss; install coembed[large], "
            "or train with --preset paper"
        )
    k, spare = (min(k, MOST_FELLOWS), 0) if count > MOST_ROWS else (k, k)
    found = Neighbours(np.zeros((count, k), np.int32), np.zeros((count, k), np.float32))
    if not rows.nnz:
        return found
    for block, (start, proposed) in enumerate(_proposed(coordinates, k + spare + 1)):
        if steps is not None and block % TOLD == 0:
            steps(f"nodes alike: {start:,} of {count:,}")
        here = start + np.arange(len(proposed))
        cosines = row_products(rows[here], rows[proposed.ravel()], proposed.shape[1]).reshape(proposed.shape)
        cosines[(proposed == here[:, None]) | (proposed < 0)] = -1
        best = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
        found.rows[here] = np.maximum(np.take_along_axis(proposed, best, axis=1), 0)
        found.cosines[here] = np.maximum(np.take_along_axis(cosines, best, axis=1), 0)
    return found


def row_products(left: sp.csr_array, right: sp.csr_array, times: int = 1) -> np.ndarray:
    """Inner products of rows: each row of `left` with the next `times` rows of `right`.

    Examples
    --------
    >>> row_products(sp.csr_array([[1.0, 2.0]]), sp.csr_array([[3.0, 0.0], [1.0, 1.0]]), times=2)
    array([3., 3.])
    """
    repeated = left if times == 1 else left[np.repeat(np.arange(left.shape[0]), times)]
    return np.asarray(repeated.multiply(right).sum(axis=1)).ravel()


def _proposed(coordinates: np.ndarray, count: int) -> Iterator[tuple[int, np.ndarray]]:
    """Positions of about the nearest rows, block by block, with the first row of each block."""
    import faiss

    units = coordinates / np.maximum(np.linalg.norm(coordinates, axis=1, keepdims=True), 1e-9)
    units = np.ascontiguousarray(units, dtype=np.float32)
    n_lists = round(LISTS * np.sqrt(len(units)))
    index = faiss.IndexIVFFlat(
        faiss.IndexFlatIP(units.shape[1]), units.shape[1], n_lists, faiss.METRIC_INNER_PRODUCT
    )
    index.cp.niter, index.cp.max_points_per_centroid, index.cp.seed = 8, 64, 0
    index.train(units)
    index.add(units)
    index.nprobe = PROBES
    for start in range(0, len(units), SEARCHED):
        yield start, index.search(units[start : start + SEARCHED], count)[1]


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
