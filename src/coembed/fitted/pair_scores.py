"""Closed-form scores of pairs beside the model's own: votes of similar and linked nodes, an item model.

Each is one of three things, which pairs and whole rows of scores can be read from without anything of the
size of all pairs:

    a vote        W V        sparse weights of nodes times what those nodes have
    a low rank    L R^T      the item model, popularity
    an overlap    W W^T      what two nodes have in common

The item model is ridge regression of every item on all others (EASE, Steck 2019). With G = X^T X and
P = (G + c I)^-1 its weights are -P_ab / P_bb off the diagonal and 0 on it; on the leading eigenvectors V of G
P is (I - V g V^T) / c with g = s^2 / (s^2 + c), so nothing quadratic is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from coembed.network.matrices import unit_rows
from coembed.network.network import Network
from coembed.network.pairs import by_row
from coembed.views.basis import averaging, rarity, scaled_rows
from coembed.views.decomposition import affordable_rank, leading_vectors
from coembed.views.nearest_neighbours import Neighbours, row_products

RANK = 256
RIDGES = (300.0, 1500.0)
ROWS = 1024
"""Nodes whose votes are counted at a time."""
STEP = 1 << 15
"""Pairs that are scored at a time, where each is by itself."""

Transform = Callable[[np.ndarray], np.ndarray]


class Vote(NamedTuple):
    """Scores W V: nodes x voters times voters x items."""

    weights: sp.csr_array
    has: sp.csr_array

    def rows(self, nodes: np.ndarray) -> np.ndarray:
        return (self.weights[nodes] @ self.has).toarray()

    def pairs(self, pairs: np.ndarray) -> np.ndarray:
        scores = np.empty(len(pairs), dtype=np.float32)
        for nodes, at, which in by_row(pairs, ROWS):
            votes = sp.csr_array(self.weights[nodes] @ self.has)
            scores[at] = votes[which, pairs[at, 1]]
        return scores


class LowRank(NamedTuple):
    """Scores L R^T."""

    left: np.ndarray
    right: np.ndarray

    def rows(self, nodes: np.ndarray) -> np.ndarray:
        return self.left[nodes] @ self.right.T

    def pairs(self, pairs: np.ndarray) -> np.ndarray:
        return _in_steps(pairs, lambda left, right: np.einsum("nr,nr->n", self.left[left], self.right[right]))


class Overlap(NamedTuple):
    """Scores W W^T: inner products of the rows of a sparse matrix."""

    weights: sp.csr_array

    def rows(self, nodes: np.ndarray) -> np.ndarray:
        return (self.weights @ self.weights[nodes].T.tocsr()).toarray().T

    def pairs(self, pairs: np.ndarray) -> np.ndarray:
        # not row by row, as votes are: an attribute that many have would bring them all in
        return _in_steps(pairs, lambda left, right: row_products(self.weights[left], self.weights[right]))


class ItemModel(NamedTuple):
    """Scores X V g V^T / d of the item model, or, if `turned`, the same seen from the other end.

    What has a row an item is kept once, for all ridges and both ends: of a million nodes it is large.
    """

    owned: sp.csr_array
    vectors: np.ndarray
    shrink: np.ndarray
    own: np.ndarray
    turned: bool = False

    def rows(self, nodes: np.ndarray) -> np.ndarray:
        if self.turned:
            there = self.vectors[nodes] / self.own[nodes, None] * self.shrink
            return (self.owned @ (self.vectors @ there.T)).T
        return self._left(nodes) @ self.vectors.T / self.own

    def pairs(self, pairs: np.ndarray) -> np.ndarray:
        def score(left: np.ndarray, right: np.ndarray) -> np.ndarray:
            return np.einsum("nr,nr->n", self._left(left), self.vectors[right]) / self.own[right]

        return _in_steps(pairs[:, ::-1] if self.turned else pairs, score)

    def _left(self, nodes: np.ndarray) -> np.ndarray:
        different, which = np.unique(nodes, return_inverse=True)
        return ((self.owned[different] @ self.vectors) * self.shrink)[which]


def _in_steps(pairs: np.ndarray, score: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
    scores = np.empty(len(pairs), dtype=np.float32)
    for start in range(0, len(pairs), STEP):
        scores[start : start + STEP] = score(*pairs[start : start + STEP].T)
    return scores


@dataclass(frozen=True, eq=False)
class Companion:
    """One score, by the sum of its terms, as the combination reads it."""

    name: str
    terms: tuple[Vote | LowRank | Overlap | ItemModel, ...]
    transform: Transform

    def rows(self, nodes: np.ndarray) -> np.ndarray:
        return self.transform(np.add.reduce([term.rows(nodes) for term in self.terms]))

    def pairs(self, pairs: np.ndarray) -> np.ndarray:
        return self.transform(np.add.reduce([term.pairs(pairs) for term in self.terms]))


def log_of_share(values: np.ndarray) -> np.ndarray:
    """For votes, most of which are 0: shares of one in a thousand still count as next to nothing."""
    return np.log(values + 1e-3)


def signed_root(values: np.ndarray) -> np.ndarray:
    return np.sign(values) * np.sqrt(np.abs(values))


def as_it_is(values: np.ndarray) -> np.ndarray:
    return values


def attribute_companions(
    network: Network, alike: Neighbours, arrays: Mapping[str, np.ndarray]
) -> list[Companion]:
    """What speaks for a node having an attribute, besides the model."""
    owned, links = presence(network.attributes), presence(network.links)
    popularity = np.log1p(np.bincount(owned.indices, minlength=owned.shape[1]))
    return [
        Companion("votes of nodes alike", (Vote(_voters(alike, owned.shape[0]), owned),), log_of_share),
        Companion("votes of links", (Vote(averaging(links), owned),), log_of_share),
        *(
            Companion(
                f"item model {ridge:g}", (_item_model(owned, arrays, "attributes", ridge),), signed_root
            )
            for ridge in RIDGES
        ),
        Companion("popularity", (_per_item(popularity, owned.shape[0]),), as_it_is),
        Companion(
            "number of attributes", (_per_node(np.log1p(np.diff(owned.indptr)), owned.shape[1]),), as_it_is
        ),
    ]


def link_companions(
    network: Network, alike: Neighbours, own: sp.csr_array, arrays: Mapping[str, np.ndarray]
) -> list[Companion]:
    """What speaks for a link between two nodes, the same from both ends."""
    links = presence(network.links)
    degrees = np.diff(links.indptr)
    shared = sp.csr_array(links * (1 / np.log(np.maximum(degrees, 2))).astype(np.float32))
    voters, back = _voters(alike, links.shape[0]), averaging(links)
    items = [_item_model(links, arrays, "links", ridge) for ridge in RIDGES]
    size = np.log1p(degrees).astype(np.float32)[:, None]
    return [
        Companion("shared links", (Vote(shared, links),), log_of_share),
        Companion(
            "votes of nodes alike", (Vote(voters, back.T.tocsr()), Vote(back, voters.T.tocsr())), log_of_share
        ),
        Companion("same attributes", (Overlap(own),), as_it_is),
        *(
            Companion(f"item model {ridge:g}", (item, item._replace(turned=True)), signed_root)
            for ridge, item in zip(RIDGES, items, strict=True)
        ),
        Companion("degrees added", (_per_item(size, len(size)), _per_node(size, len(size))), as_it_is),
        Companion("degrees multiplied", (LowRank(size, size),), as_it_is),
    ]


def all_companions(network: Network, arrays: Mapping[str, np.ndarray]) -> dict[str, list[Companion]]:
    """Those of both relations, from the arrays that a fitted result keeps."""
    alike = Neighbours(arrays["alike.rows"], arrays["alike.cosines"])
    return {
        "attributes": attribute_companions(network, alike, arrays),
        "links": link_companions(network, alike, weighted_rows(network.attributes), arrays),
    }


def item_vectors(matrix: sp.csr_array, seed: int = 0) -> dict[str, np.ndarray]:
    """Leading eigenvectors of the Gram matrix of the columns, and the roots of their eigenvalues."""
    owned = presence(matrix)
    if not owned.nnz:
        return {"vectors": np.zeros((owned.shape[1], 0), np.float32), "strength": np.zeros(0, np.float32)}
    rank = affordable_rank(RANK, max(owned.shape))
    vectors, strength = leading_vectors(owned, rank, seed)
    return {"vectors": vectors, "strength": strength}


def weighted_rows(attributes: sp.csr_array) -> sp.csr_array:
    """Presence of attributes weighted by rarity, rows of length one."""
    owned = presence(attributes)
    owners = np.bincount(owned.indices, minlength=owned.shape[1])
    weighted = sp.csr_array(owned * rarity(owners, owned.shape[0]))
    return scaled_rows(weighted, unit_rows([weighted]))


def presence(matrix: sp.csr_array) -> sp.csr_array:
    return sp.csr_array(
        (np.ones(matrix.nnz, dtype=np.float32), matrix.indices, matrix.indptr), shape=matrix.shape
    )


def _item_model(
    owned: sp.csr_array, arrays: Mapping[str, np.ndarray], relation: str, ridge: float
) -> ItemModel:
    vectors, strength = arrays[f"{relation}.vectors"], arrays[f"{relation}.strength"]
    shrink = strength**2 / (strength**2 + ridge)
    # c P_bb, never quite 0: an item that the others explain wholly would divide by nothing
    own = np.maximum(1 - np.einsum("ir,ir,r->i", vectors, vectors, shrink, optimize=False), 1e-3)
    return ItemModel(owned, vectors, shrink, own)


def _voters(alike: Neighbours, n_nodes: int) -> sp.csr_array:
    return averaging(alike.graph(n_nodes))


def _per_item(values: np.ndarray, n_nodes: int) -> LowRank:
    return LowRank(np.ones((n_nodes, 1), np.float32), values.reshape(-1, 1).astype(np.float32))


def _per_node(values: np.ndarray, n_items: int) -> LowRank:
    return LowRank(values.reshape(-1, 1).astype(np.float32), np.ones((n_items, 1), np.float32))
