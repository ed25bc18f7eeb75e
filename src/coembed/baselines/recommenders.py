"""Floors of attribute inference and link prediction: counting, and asking the nearest nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from coembed.baselines.features import frequency, idf_rows, nearest_nodes, presence, symmetric
from coembed.evaluation.problem import Answer, Problem


@dataclass(frozen=True, eq=False)
class Additive(Answer):
    """Score of a pair: what its node brings plus what its item brings."""

    node: np.ndarray
    item: np.ndarray

    def row_scores(self, nodes: np.ndarray) -> np.ndarray:
        return self.node[nodes, None] + self.item

    def pair_scores(self, pairs: np.ndarray) -> np.ndarray:
        return self.node[pairs[:, 0]] + self.item[pairs[:, 1]]

    def arrays(self) -> Mapping[str, np.ndarray]:
        return {"node": self.node, "item": self.item}


@dataclass(frozen=True, eq=False)
class Votes(Answer):
    """Score of a pair: how many of the node's advisers, by weight, have the item."""

    advisers: sp.csr_array
    owned: sp.csr_array

    def row_scores(self, nodes: np.ndarray) -> np.ndarray:
        return (self.advisers[nodes] @ self.owned).toarray()

    def arrays(self) -> Mapping[str, np.ndarray]:
        return {
            f"{name}.{part}": getattr(matrix, part)
            for name, matrix in (("advisers", self.advisers), ("owned", self.owned))
            for part in ("data", "indices", "indptr")
        }


def popularity(problem: Problem) -> Additive:
    """How often the item at the far end occurs; where a relation has no far end, both ends count.

    Examples
    --------
    >>> from coembed.network import Network
    >>> network = Network.build(np.zeros((2, 2)), attributes=[[1, 0], [1, 1]])
    >>> popularity(Problem("attributes", network)).row_scores(np.array([0])).tolist()
    [[2.0, 1.0]]
    """
    matrix = problem.asked.values
    counts = frequency(matrix).astype(np.float64)
    own = counts if problem.asked.pairing.undirected else np.zeros(matrix.shape[0])
    return Additive(own, counts)


def degree(problem: Problem) -> Additive:
    """Product of the counts at both ends: frequency times the node's attributes, or degree times degree.

    As a sum of logarithms, which orders pairs alike; one is added where nothing has been seen yet.
    """
    matrix = problem.asked.values
    return Additive(np.log1p(np.diff(matrix.indptr)), np.log1p(frequency(matrix)))


def neighbours(problem: Problem) -> Votes:
    """Votes of those who are near.

    Between two types: the 20 items whose far ends are most similar (cosine, rare ones weighing more), each
    with its similarity.
    Of a type with itself: common neighbours, those with few links counting more (Adamic and Adar).
    """
    if problem.asked.pairing.same:
        return adamic_adar(problem)
    matrix = presence(problem.asked.values)
    return Votes(nearest_nodes(idf_rows(matrix)), matrix)


def adamic_adar(problem: Problem) -> Votes:
    """Links: common neighbours, whichever way, each counting 1 / log of its number of links."""
    links = symmetric(problem.asked.values)
    # an adviser with one link advises nobody else, so its weight does not matter; log 1 = 0 must not divide
    return _common_neighbours(links, 1 / np.log(np.maximum(np.diff(links.indptr), 2)))


def resource_allocation(problem: Problem) -> Votes:
    """Links: common neighbours, each counting 1 / its number of links (Zhou, Lü and Zhang, 2009)."""
    links = symmetric(problem.asked.values)
    return _common_neighbours(links, 1 / np.maximum(np.diff(links.indptr), 1))


def _common_neighbours(links: sp.csr_array, weight: np.ndarray) -> Votes:
    advisers = links.copy()
    advisers.data = weight[links.indices].astype(np.float32)
    return Votes(advisers, links)
