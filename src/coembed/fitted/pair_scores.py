"""Closed-form scores of pairs beside the model's own: votes of similar and linked items, an item model.

Each is one of three things, which pairs and whole rows of scores can be read from without anything of the
size of all pairs:

    a vote        W V        sparse weights of items times what those items have
    a low rank    L R^T      the item model, popularity
    an overlap    W W^T      what two items have in common

The item model is ridge regression of every item on all others (EASE, Steck 2019). With G = X^T X and
P = (G + c I)^-1 its weights are -P_ab / P_bb off the diagonal and 0 on it; on the leading eigenvectors V of G
P is (I - V g V^T) / c with g = s^2 / (s^2 + c), so nothing quadratic is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp

from coembed.fitted.space import ItemVectors
from coembed.network.matrices import entries_of, presence, row_of, unit_rows
from coembed.network.network import Network
from coembed.network.pairs import by_row
from coembed.network.ways import links_within
from coembed.views.basis import averaging, rarity, scaled_rows
from coembed.views.decomposition import ROUNDS, affordable_rank, leading_vectors
from coembed.views.nearest_neighbours import Neighbours, row_products

if TYPE_CHECKING:
    from coembed.fitted.learnt import Learnt

RANK = 256
RIDGES = (300.0, 1500.0)
ROWS = 1024
"""Items whose votes are counted at a time."""
SEVERAL = 4
"""Pairs an item from which on all its votes are counted at once; of fewer, those of each pair."""
STEP = 1 << 15
"""Pairs that are scored at a time, where each is by itself."""

Transform = Callable[[np.ndarray], np.ndarray]


class Vote(NamedTuple):
    """Scores W V: items x voters times voters x what they have."""

    weights: sp.csr_array
    has: sp.csr_array

    def rows(self, items: np.ndarray) -> np.ndarray:
        if len(items) == 1:
            return self._row(int(items[0]))[None]
        return (self.weights[items] @ self.has).toarray()

    def _row(self, item: int) -> np.ndarray:
        """The same of one item, in the same order: what sparse products cost is mostly their beginning."""
        voters, weights = row_of(self.weights, item)
        at, counts = entries_of(self.has, voters)
        votes = np.zeros(self.has.shape[1], dtype=np.result_type(weights, self.has.data))
        np.add.at(votes, self.has.indices[at], np.repeat(weights, counts) * self.has.data[at])
        return votes

    def pairs(self, pairs: np.ndarray) -> np.ndarray:
        if _of_one(pairs[:, 0]):
            return self._row(int(pairs[0, 0]))[pairs[:, 1]]
        if len(pairs) < SEVERAL * len(np.unique(pairs[:, 0])):
            return _in_steps(pairs, self._each)
        scores = np.empty(len(pairs), dtype=np.float32)
        for items, at, which in by_row(pairs, ROWS):
            votes = sp.csr_array(self.weights[items] @ self.has)
            scores[at] = votes[which, pairs[at, 1]]
        return scores

    def _each(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Voter by voter: those who have what is asked about may be very many, an item's voters are few."""
        at, counts = entries_of(self.weights, left)
        asked = np.repeat(np.arange(len(left)), counts)
        votes = self.weights.data[at] * self.has[self.weights.indices[at], right[asked]]
        return np.bincount(asked, votes, minlength=len(left))


class LowRank(NamedTuple):
    """Scores L R^T."""

    left: np.ndarray
    right: np.ndarray

    def rows(self, items: np.ndarray) -> np.ndarray:
        return self.left[items] @ self.right.T

    def pairs(self, pairs: np.ndarray) -> np.ndarray:
        return _in_steps(pairs, lambda left, right: np.einsum("nr,nr->n", self.left[left], self.right[right]))


class Overlap(NamedTuple):
    """Scores W W^T: inner products of the rows of a sparse matrix."""

    weights: sp.csr_array

    def rows(self, items: np.ndarray) -> np.ndarray:
        if len(items) == 1:
            places, values = row_of(self.weights, int(items[0]))
            own = np.zeros(self.weights.shape[1], dtype=values.dtype)
            own[places] = values
            return (self.weights @ own)[None]
        return (self.weights @ self.weights[items].T.tocsr()).toarray().T

    def pairs(self, pairs: np.ndarray) -> np.ndarray:
        # not row by row, as votes are: an attribute that many have would bring them all in
        return _in_steps(pairs, lambda left, right: row_products(self.weights[left], self.weights[right]))


class ItemModel(NamedTuple):
    """Scores X V g V^T / d of the item model, or, if `turned`, the same seen from the other end.

    What has a row an item is kept once, for all ridges and both ends: of a million items it is large.
    """

    owned: sp.csr_array
    vectors: np.ndarray
    shrink: np.ndarray
    own: np.ndarray
    turned: bool = False

    def rows(self, items: np.ndarray) -> np.ndarray:
        if self.turned:
            there = self.vectors[items] / self.own[items, None] * self.shrink
            return (self.owned @ (self.vectors @ there.T)).T
        return self._left(items) @ self.vectors.T / self.own

    def pairs(self, pairs: np.ndarray) -> np.ndarray:
        def score(left: np.ndarray, right: np.ndarray) -> np.ndarray:
            return np.einsum("nr,nr->n", self._left(left), self.vectors[right]) / self.own[right]

        return _in_steps(pairs[:, ::-1] if self.turned else pairs, score)

    def _left(self, items: np.ndarray) -> np.ndarray:
        if _of_one(items):
            owned, values = row_of(self.owned, int(items[0]))
            return np.broadcast_to(values @ self.vectors[owned] * self.shrink, (len(items), len(self.shrink)))
        different, which = np.unique(items, return_inverse=True)
        return ((self.owned[different] @ self.vectors) * self.shrink)[which]


def _of_one(items: np.ndarray) -> bool:
    return len(items) > 0 and bool((items == items[0]).all())


def _in_steps(pairs: np.ndarray, score: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
    scores = np.empty(len(pairs), dtype=np.float32)
    for start in range(0, len(pairs), STEP):
        scores[start : start + STEP] = score(*pairs[start : start + STEP].T)
    return scores


@dataclass(frozen=True, eq=False)
class PairScore:
    """One score, by the sum of its terms, as the combination reads it; `first` is where targets begin."""

    name: str
    terms: tuple[Vote | LowRank | Overlap | ItemModel, ...]
    transform: Transform
    first: int = 0

    def rows(self, items: np.ndarray) -> np.ndarray:
        return self.transform(np.add.reduce([term.rows(items) for term in self.terms]))

    def pairs(self, pairs: np.ndarray) -> np.ndarray:
        moved = pairs - np.array([0, self.first]) if self.first else pairs
        return self.transform(np.add.reduce([term.pairs(moved) for term in self.terms]))


def log_of_share(values: np.ndarray) -> np.ndarray:
    """For votes, most of which are 0: shares of one in a thousand still count as next to nothing."""
    return np.log(values + 1e-3)


def signed_root(values: np.ndarray) -> np.ndarray:
    return np.sign(values) * np.sqrt(np.abs(values))


def as_it_is(values: np.ndarray) -> np.ndarray:
    return values


def pair_scores(fitted: Learnt, relation: str) -> list[PairScore]:
    """All that speaks for a pair of a relation, besides the model."""
    network, joined = fitted.network, fitted.network.relation(relation)
    vectors = fitted.relations[relation].vectors
    assert vectors is not None
    alike = None if fitted.placing is None else fitted.placing.alike.get(joined.source)
    owned = presence(joined.values)
    if joined.pairing.undirected:
        return _within(owned, alike, weighted_words(network, joined.source), vectors)
    first = 0
    if joined.column is not None:
        first = joined.column.start
        if owned.shape[1] > joined.column.stop - joined.column.start:
            owned = sp.csr_array(owned[:, joined.column.start : joined.column.stop])
    links = links_within(network, joined.source)
    return _across(owned, None if links is None else presence(links), alike, vectors, first)


def _across(
    owned: sp.csr_array,
    links: sp.csr_array | None,
    alike: Neighbours | None,
    vectors: ItemVectors,
    first: int,
) -> list[PairScore]:
    """What speaks for an item having another: what those like it have, and those that it is linked to."""
    popularity = np.log1p(np.bincount(owned.indices, minlength=owned.shape[1]))
    found = []
    if alike is not None:
        votes = Vote(_voters(alike, owned.shape[0]), owned)
        found.append(PairScore("votes of items alike", (votes,), log_of_share, first))
    if links is not None:
        found.append(PairScore("votes of links", (Vote(averaging(links), owned),), log_of_share, first))
    found += [
        PairScore(f"item model {ridge:g}", (_item_model(owned, vectors, ridge),), signed_root, first)
        for ridge in RIDGES
    ]
    counts = np.log1p(np.diff(owned.indptr))
    found.append(PairScore("popularity", (_per_target(popularity, owned.shape[0]),), as_it_is, first))
    found.append(PairScore("number of entries", (_per_item(counts, owned.shape[1]),), as_it_is, first))
    return found


def _within(
    links: sp.csr_array, alike: Neighbours | None, words: sp.csr_array | None, vectors: ItemVectors
) -> list[PairScore]:
    """What speaks for a link between two items, the same from both ends."""
    degrees = np.diff(links.indptr)
    shared = sp.csr_array(links * (1 / np.log(np.maximum(degrees, 2))).astype(np.float32))
    back = averaging(links)
    items = [_item_model(links, vectors, ridge) for ridge in RIDGES]
    size = np.log1p(degrees).astype(np.float32)[:, None]
    found = [PairScore("shared links", (Vote(shared, links),), log_of_share)]
    if alike is not None:
        voters = _voters(alike, links.shape[0])
        both = Vote(voters, back.T.tocsr()), Vote(back, voters.T.tocsr())
        found.append(PairScore("votes of items alike", both, log_of_share))
    if words is not None:
        found.append(PairScore("same words", (Overlap(words),), as_it_is))
    found += [
        PairScore(f"item model {ridge:g}", (item, item._replace(turned=True)), signed_root)
        for ridge, item in zip(RIDGES, items, strict=True)
    ]
    both_sizes = _per_target(size, len(size)), _per_item(size, len(size))
    found.append(PairScore("degrees added", both_sizes, as_it_is))
    found.append(PairScore("degrees multiplied", (LowRank(size, size),), as_it_is))
    return found


def item_vectors(matrix: sp.csr_array, seed: int = 0, rank: int = RANK, rounds: int = ROUNDS) -> ItemVectors:
    """Leading eigenvectors of the Gram matrix of the columns, and the roots of their eigenvalues."""
    owned = presence(matrix)
    if not owned.nnz:
        return ItemVectors(np.zeros((owned.shape[1], 0), np.float32), np.zeros(0, np.float32))
    rank = affordable_rank(rank, max(owned.shape))
    return ItemVectors(*leading_vectors(owned, rank, seed, rounds))


def weighted_words(network: Network, type: str) -> sp.csr_array | None:
    """Presence of words weighted by rarity, rows of length one; None if the type has no words."""
    words = [each.values for each in network.columns(type) if each.column and not each.column.has_cells]
    if not words:
        return None
    owned = presence(sp.csr_array(sum(words[1:], words[0])))
    owners = np.bincount(owned.indices, minlength=owned.shape[1])
    weighted = sp.csr_array(owned * rarity(owners, owned.shape[0]))
    return scaled_rows(weighted, unit_rows([weighted]))


def _item_model(owned: sp.csr_array, found: ItemVectors, ridge: float) -> ItemModel:
    vectors, strength = found
    shrink = strength**2 / (strength**2 + ridge)
    # c P_bb, never quite 0: an item that the others explain wholly would divide by nothing
    own = np.maximum(1 - np.einsum("ir,ir,r->i", vectors, vectors, shrink, optimize=False), 1e-3)
    return ItemModel(owned, vectors, shrink, own)


def _voters(alike: Neighbours, n_items: int) -> sp.csr_array:
    return averaging(alike.graph(n_items))


def _per_target(values: np.ndarray, n_items: int) -> LowRank:
    return LowRank(np.ones((n_items, 1), np.float32), values.reshape(-1, 1).astype(np.float32))


def _per_item(values: np.ndarray, n_targets: int) -> LowRank:
    return LowRank(values.reshape(-1, 1).astype(np.float32), np.ones((n_targets, 1), np.float32))
