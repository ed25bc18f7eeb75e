"""Which pairs of a relation are worth a look, where not all can be looked at."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from coembed.fitted.moments import unit_length
from coembed.network.matrices import presence
from coembed.network.relations import Relation

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted

AT_ONCE = 1 << 24
"""Numbers that are held at a time."""
MOST_SCORES = 40_000_000_000
"""Scores up to which all pairs are compared, which takes minutes."""
PROPOSED, MOST_NEAR = 100, 60
"""Candidates of an item from the index, and from what is two steps away, at most."""
# of a million items 2,000 lists, 16 of which are looked into: 8,000 inner products
_LISTS, _PROBES, _LEARNT_FROM = 2, 16, 48


def too_many(fitted: Fitted, relation: Relation, n_rows: int) -> bool:
    """Whether so many items cannot be compared with all at the far end; without faiss they are, in hours."""
    return n_rows * len(fitted.span(relation)) > MOST_SCORES and find_spec("faiss") is not None


def parts_of(rows: np.ndarray, width: int) -> Iterator[np.ndarray]:
    """Rows, as many at a time as give about `AT_ONCE` numbers if each gives `width`."""
    step = max(AT_ONCE // max(width, 1), 1)
    for start in range(0, len(rows), step):
        yield rows[start : start + step]


class Candidates:
    """An index of the far end of a relation: by cosines, where the common space is ahead of the model, else
    by the model's own scores, biases included."""

    most = PROPOSED + MOST_NEAR

    def __init__(self, fitted: Fitted, relation: Relation) -> None:
        import faiss

        self.fitted, self.relation, self.span = fitted, relation, fitted.span(relation)
        self.fit, self.bias = fitted.relations[relation.name], fitted.bias(relation.name)[1]
        count, size = len(self.span), self._vectors(np.arange(1)).shape[1]
        n_lists = min(round(_LISTS * count**0.5), count)
        centres = faiss.IndexFlatIP(size)
        self.index = faiss.IndexIVFFlat(centres, size, n_lists, faiss.METRIC_INNER_PRODUCT)
        clustering = self.index.cp
        clustering.niter, clustering.min_points_per_centroid, clustering.seed = 8, 1, 0
        some = np.random.default_rng(0).choice(count, min(count, _LEARNT_FROM * n_lists), replace=False)
        self.index.train(self._vectors(np.sort(some)))
        for part in parts_of(np.arange(count), size):
            self.index.add(self._vectors(part))
        self.index.nprobe = _PROBES

    def of(self, rows: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Which of the rows, and a position at the far end that is worth a look, each once, in order."""
        width = self.relation.values.shape[1]
        found = self.index.search(self._queries(rows), min(PROPOSED + 2 * k, self.index.ntotal))[1]
        owner, place = np.nonzero(found >= 0)[0], self.span[found[found >= 0]]
        near = two_steps_away(self.relation, rows)
        owner = np.concatenate([owner, np.repeat(np.arange(len(rows)), np.diff(near.indptr))])
        both = np.sort(owner * width + np.concatenate([place, near.indices]))
        both = both[np.append(True, both[1:] != both[:-1])] if len(both) else both
        return both // width, both % width

    def _queries(self, rows: np.ndarray) -> np.ndarray:
        if "codes" in self.fit.blends:
            return unit_length(self.fitted.codes_at(self.relation.source, rows).mean).astype(np.float32)
        query = self.fit.query(self.fitted.latents_at(self.relation.source, rows))
        return np.hstack([query, np.ones((len(rows), 1))]).astype(np.float32)

    def _vectors(self, at: np.ndarray) -> np.ndarray:
        target, items = self.relation.target, self.span[at]
        if "codes" in self.fit.blends:
            return unit_length(self.fitted.codes_at(target, items).mean).astype(np.float32)
        latents = self.fitted.latents_at(target, items).mean
        return np.hstack([latents, self.bias[at, None]]).astype(np.float32)


def two_steps_away(relation: Relation, rows: np.ndarray) -> sp.csr_array:
    """What those have that an item shares most with: rows x items of the far end, at most `MOST_NEAR` each.

    Examples
    --------
    >>> path = Relation.build("links", "node", "node", [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> two_steps_away(path, np.array([0])).indices.tolist()
    [0, 2]
    """
    near = presence(sp.csr_array(relation.values[rows]))
    if relation.source != relation.target:
        near = near @ presence(relation.backwards)
    near = sp.csr_array(near @ presence(relation.values))
    owner = np.repeat(np.arange(len(rows)), np.diff(near.indptr))
    order = np.lexsort((near.indices, -near.data, owner))
    rank = np.arange(len(order)) - near.indptr[owner]
    kept = order[rank < MOST_NEAR]
    found = sp.coo_array((near.data[kept], (owner[kept], near.indices[kept])), shape=near.shape).tocsr()
    found.sort_indices()
    return found
