"""The nodes most like a node: nearest rows by cosine."""

from __future__ import annotations

from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.progress import Tell

EXACT_ROWS = 20_000
"""Rows up to which all are compared with all; beyond, candidates are, if faiss is installed."""
QUICK_ROWS, FEW_COLUMNS = 8000, 1024
"""Rows from which on, and columns up to which, not all are compared where it should be quick."""
MOST_ROWS = 200_000
"""Rows beyond which comparing all with all takes hours: then faiss must be there."""
MOST_FELLOWS = 20
"""Fellows that are kept beyond that number of rows."""
COMPARED = 4000
"""Pairs of rows that share a rare column, for each row on average: as many columns count as rare."""
PROPOSED = 40
"""Fellows that are proposed, and compared exactly, beyond those that are kept."""
# an inverted file of 2 sqrt(N) lists of which 12 are looked at: about 6 sqrt(N) comparisons a row
LISTS, PROBES = 2, 12

# similarities held at a time: bounds the memory whatever the number of rows
CELLS = 16_000_000
SEARCHED = 2048
TOLD = 50
# above this share of stored values a dense product is faster than a sparse one
DENSE = 0.02
# of each row every so many cosines tell from which on the others are worth looking at
SAMPLED = 16


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
    rows: sp.csr_array, coordinates: np.ndarray, k: int, steps: Tell | None = None, quick: bool = False
) -> Neighbours:
    """The `k` nearest fellows of each row: exactly, or, of very many rows, or of many that are to be found
    quickly, nearly.

    Then those that share rare columns with it are proposed: rare columns weigh most, and two rows that share
    one are few. To a row that has no such fellows an inverted file (faiss) proposes some by the coordinates:
    rows are gathered around centres, and a row is compared with those around the centres nearest to it.
    Cosines of the proposed are taken exactly.
    """
    count, columns = rows.shape
    if (
        quick
        and columns <= FEW_COLUMNS
        and QUICK_ROWS < count <= EXACT_ROWS
        and find_spec("faiss") is not None
    ):
        # products of rows with few columns are dense: most of them need not be taken
        whole = _Lists(rows.toarray())
        return _without_oneself(*whole.search(whole.units, k + 1), k)
    if count <= EXACT_ROWS:
        return nearest_rows(rows, k=k)
    if find_spec("faiss") is None:
        if count <= MOST_ROWS:
            return nearest_rows(rows, k=k)
        raise InputError(
            f"finding the nodes alike among {count:,} needs faiss; install coembed[large], "
            "or train with --preset paper"
        )
    k = min(k, MOST_FELLOWS) if count > MOST_ROWS else k
    found = Neighbours(np.zeros((count, k), np.int32), np.zeros((count, k), np.float32))
    if not rows.nnz:
        return found
    rare = rare_columns(rows)
    by_column = rare.T.tocsr()
    lists: _Lists | None = None
    for block, start in enumerate(range(0, count, SEARCHED)):
        if steps is not None and block % TOLD == 0:
            steps(f"nodes alike: {start:,} of {count:,}")
        here = np.arange(start, min(start + SEARCHED, count))
        proposed = _largest(rare[here] @ by_column, k + PROPOSED + 1)
        lonely = np.flatnonzero((proposed >= 0).sum(axis=1) <= k)
        if len(lonely):
            lists = lists or _Lists(coordinates)
            proposed[lonely] = lists.nearest(here[lonely], proposed.shape[1])
        cosines = row_products(rows[here], rows[proposed.ravel()], proposed.shape[1]).reshape(proposed.shape)
        cosines[(proposed == here[:, None]) | (proposed < 0)] = -1
        best = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
        found.rows[here] = np.maximum(np.take_along_axis(proposed, best, axis=1), 0)
        found.cosines[here] = np.maximum(np.take_along_axis(cosines, best, axis=1), 0)
    return found


def rare_columns(rows: sp.csr_array) -> sp.csr_array:
    """The rows without their common columns: at most `COMPARED` pairs a row share one of the others.

    Examples
    --------
    >>> rows = sp.csr_array(np.array([[1.0, 2.0], [0.0, 3.0]]).repeat(4000, axis=0))
    >>> rare_columns(rows).sum(axis=0)  # of the first column 2,000 pairs a row, of the second 8,000
    array([4000.,    0.])
    """
    owners = np.bincount(rows.indices, minlength=rows.shape[1])
    order = np.argsort(owners, kind="stable")
    pairs = np.cumsum(owners[order].astype(np.float64) ** 2)
    rare = np.zeros(rows.shape[1], dtype=rows.dtype)
    rare[order[: np.searchsorted(pairs, COMPARED * rows.shape[0], side="right")]] = 1
    kept = sp.csr_array((rows.data * rare[rows.indices], rows.indices.copy(), rows.indptr.copy()), rows.shape)
    kept.eliminate_zeros()
    return kept


def _largest(products: sp.csr_array, count: int) -> np.ndarray:
    """Columns of the `count` largest entries of each row, -1 where there are no more."""
    found = np.full((products.shape[0], count), -1, dtype=np.int32)
    for row, (start, stop) in enumerate(zip(products.indptr[:-1], products.indptr[1:], strict=True)):
        columns = products.indices[start:stop]
        if len(columns) > count:
            columns = columns[np.argpartition(products.data[start:stop], -count)[-count:]]
        found[row, : len(columns)] = columns
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


class _Lists:
    """An inverted file of coordinates."""

    def __init__(self, coordinates: np.ndarray) -> None:
        import faiss

        units = coordinates / np.maximum(np.linalg.norm(coordinates, axis=1, keepdims=True), 1e-9)
        self.units = np.ascontiguousarray(units, dtype=np.float32)
        size, n_lists = units.shape[1], round(LISTS * np.sqrt(len(units)))
        self.index = faiss.IndexIVFFlat(faiss.IndexFlatIP(size), size, n_lists, faiss.METRIC_INNER_PRODUCT)
        clustering = self.index.cp
        clustering.niter, clustering.max_points_per_centroid, clustering.seed = 8, 64, 0
        self.index.train(self.units)
        self.index.add(self.units)
        self.index.nprobe = PROBES

    def search(self, units: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        """About the largest products with unit rows, and whose they are; -1 where there are no more."""
        found: tuple[np.ndarray, np.ndarray] = self.index.search(units, count)
        return found

    def nearest(self, rows: np.ndarray, count: int) -> np.ndarray:
        """About the nearest rows of some, themselves included."""
        return self.search(self.units[rows], count)[1]


def _without_oneself(cosines: np.ndarray, rows: np.ndarray, k: int) -> Neighbours:
    """Of neighbours, oneself mostly among them, the `k` best others."""
    cosines = np.where((rows == np.arange(len(rows))[:, None]) | (rows < 0), -1, cosines)
    best = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
    found = np.take_along_axis(np.maximum(rows, 0), best, axis=1).astype(np.int32)
    return Neighbours(found, np.maximum(np.take_along_axis(cosines, best, axis=1), 0).astype(np.float32))


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
        best = largest_positive(cosines, k)
        found.rows[start : start + step], found.cosines[start : start + step] = best
    return found


def largest_positive(values: np.ndarray, k: int) -> Neighbours:
    """Columns and values of the `k` largest of each row above zero, best first; 0 where there are no more.

    Exact, without putting whole rows in order: of most only what is above the first of a sample is looked at.

    Examples
    --------
    >>> largest_positive(np.array([[0.1, 0.0, 0.3], [0.0, -1.0, 0.2]]), 2)
    Neighbours(rows=array([[2, 0],
           [2, 0]]), cosines=array([[0.3, 0.1],
           [0.2, 0. ]]))
    """
    count = values.shape[1]
    least = np.zeros(len(values), dtype=values.dtype)
    if count > 4 * SAMPLED * k:
        sample = values[:, ::SAMPLED]
        enough = sample.shape[1] - (3 * k) // (2 * SAMPLED) - 4
        least = np.maximum(np.partition(np.ascontiguousarray(sample), enough, axis=1)[:, enough], 0)
    above = values > least[:, None]
    short = np.flatnonzero((above.sum(axis=1) < k) & (least > 0))
    above[short] = values[short] > 0
    row, column = np.divmod(np.flatnonzero(above), count)  # a quarter of the time of nonzero
    sizes = np.bincount(row, minlength=len(values))
    kept = np.zeros((len(values), max(int(sizes.max(initial=0)), k)), dtype=values.dtype)
    where = np.zeros(kept.shape, dtype=np.int64)
    place = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    kept[row, place], where[row, place] = values[row, column], column
    best = np.argpartition(-kept, k - 1, axis=1)[:, :k]
    best = np.take_along_axis(best, np.argsort(-np.take_along_axis(kept, best, 1), axis=1, kind="stable"), 1)
    return Neighbours(np.take_along_axis(where, best, axis=1), np.take_along_axis(kept, best, axis=1))
