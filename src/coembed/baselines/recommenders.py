"""Floors of attribute inference and link prediction: counting, and asking the nearest nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from coembed.baselines.features import frequency, idf_rows, presence
from coembed.tasks.problem import Answer, Problem

NEAREST = 20
ROWS = 512


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
    """How frequent the attribute is; of a link, how many links its two ends have.

    Examples
    --------
    >>> from coembed.network import Network
    >>> network = Network.build(np.zeros((2, 2)), attributes=[[1, 0], [1, 1]])
    >>> popularity(Problem("attributes", network)).row_scores(np.array([0])).tolist()
    [[2.0, 1.0]]
    """
    counts = frequency(_matrix(problem)).astype(np.float64)
    own = counts if problem.task == "links" else np.zeros(problem.network.n_nodes)
    return Additive(own, counts)


def degree(problem: Problem) -> Additive:
    """Product of the counts at both ends: frequency times the node's attributes, or degree times degree.

    As a sum of logarithms, which orders pairs alike; one is added where nothing has been seen yet.
    """
    matrix = _matrix(problem)
    return Additive(np.log1p(np.diff(matrix.indptr)), np.log1p(frequency(matrix)))


def neighbours(problem: Problem) -> Votes:
    """Votes of those who are near.

    Attributes: the 20 nodes with the most similar attributes (cosine, rare ones weighing more), each with its
    similarity.
    Links: common neighbours, those with few links counting more (Adamic and Adar).
    """
    matrix = presence(_matrix(problem))
    if problem.task == "attributes":
        return Votes(nearest_nodes(idf_rows(matrix)), matrix)
    # an adviser with one link advises nobody else, so its weight does not matter; log 1 = 0 must not divide
    weight = 1 / np.log(np.maximum(np.diff(matrix.indptr), 2))
    advisers = matrix.copy()
    advisers.data = weight[matrix.indices].astype(np.float32)
    return Votes(advisers, matrix)


def nearest_nodes(unit: sp.csr_array, k: int = NEAREST) -> sp.csr_array:
    """The k nodes with the largest cosine to each node (itself left out), N x N with k entries a row at most.

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
    columns = unit.T.tocsr()
    blocks = []
    for start in range(0, n_nodes, ROWS):
        near = (unit[start : start + ROWS] @ columns).toarray()
        rows = np.arange(len(near))
        near[rows, start + rows] = 0
        # of equal similarities the lowest index first, whatever the library's partition does
        floor = np.partition(near, n_nodes - k, axis=1)[:, n_nodes - k, None] if k else np.inf
        candidate = sp.csr_array(np.where((near >= floor) & (near > 0), near, 0))
        blocks.append(_first_largest(candidate, k))
    return sp.vstack(blocks, format="csr")


def _first_largest(matrix: sp.csr_array, k: int) -> sp.csr_array:
    """At most k entries of every row: the largest, among equals the first."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((matrix.indices, -matrix.data, rows))
    place = np.arange(matrix.nnz) - matrix.indptr[rows]
    kept = order[place < k]
    return sp.csr_array((matrix.data[kept], (rows[kept], matrix.indices[kept])), shape=matrix.shape)


def _matrix(problem: Problem) -> sp.csr_array:
    return problem.network.links if problem.task == "links" else problem.network.attributes
