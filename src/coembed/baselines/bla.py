"""BLA (Yang, Zhong, Li and Jie, 2017), reconstructed: links tell attributes, attributes tell links."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from coembed.baselines.factors import decompose
from coembed.baselines.features import idf_rows, nearest_nodes, presence
from coembed.baselines.gradient_training import report
from coembed.baselines.method_options import number, options
from coembed.baselines.rival_answers import KeptRows, csr_parts, keep_rows
from coembed.baselines.san import walk_with_restart
from coembed.evaluation.problem import Problem

PAIRS = 50_000
"""Pairs whose features are made at a time."""
PENALTY = 1e-2
REDUCED = 128
"""Directions of the attributes that smoothed nodes are compared in."""

Vectors = Any
"""One a row, of length one: sparse or dense."""


@dataclass(frozen=True)
class BLAOptions:
    rounds: int = number(2, 0, 1000)
    """Of either direction; none: attributes spread along the observed links only."""
    keep: float = number(0.2, 0.01, 0.99)
    """theta: how much of the observed attributes comes back in every step."""
    steps: int = number(3, 1, 1000)
    candidates: int = number(20, 1, 10_000)
    """Similar nodes that may be linked to a node."""
    observed: float = number(0.1, 0, 1)
    """eta: weight of an observed link against that of a predicted one."""


def fit(problem: Problem) -> KeptRows:
    """Alternate both directions; then score attributes by spreading them, and links by their probability."""
    network, chosen = problem.network, options(BLAOptions, problem)
    links, owned = presence(network.links), presence(network.attributes)
    rng = np.random.default_rng(problem.seed)
    vectors: Vectors = idf_rows(owned)
    weights = links.copy()
    weights.data = np.maximum(cosines(vectors, *_ends(links)), 1e-3)
    model = LinkModel.fit(links, vectors, rng)
    total = max(chosen.rounds, 1)
    for done in range(1, chosen.rounds + 1):
        if done > 1:  # what is known about a node by now is what has spread to it
            vectors = _spread_vectors(balanced(weights), owned, chosen, problem.seed)
            model = LinkModel.fit(links, vectors, rng)
        weights = _link_weights(model, chosen)
        report(problem, done, total)
    if not chosen.rounds:
        report(problem, 1, 1)
    if problem.asked.pairing.undirected:
        learnt = {"weights": model.weights, **csr_parts("common", model.common)}
        return keep_rows(model.rows, links.shape, learnt)
    step = balanced(weights)
    owners = sp.csr_array(owned.T)
    return keep_rows(
        partial(_attribute_rows, step, owners, chosen),
        owned.shape,
        csr_parts("step", step) | csr_parts("owned", owned),
        columns=partial(_attribute_columns, step, owners, chosen),
    )


@dataclass(frozen=True, eq=False)
class LinkModel:
    """p(i, j linked) = sigma(b + omega cos(f_i, f_j) + kappa log(1 + Adamic-Adar)), omega and kappa >= 0."""

    links: sp.csr_array
    vectors: Vectors
    common: sp.csr_array
    weights: np.ndarray

    @classmethod
    def fit(cls, links: sp.csr_array, vectors: Vectors, rng: np.random.Generator) -> LinkModel:
        """From the observed links and as many random pairs, which are hardly ever linked."""
        common = links.copy()
        degree = np.diff(links.indptr)
        common.data = (1 / np.log(np.maximum(degree, 2)))[links.indices].astype(np.float32)
        blank = cls(links, vectors, common, np.array([0.0, 1.0, 0.0]))
        first, second = _ends(sp.csr_array(sp.triu(links)))
        if not len(first):
            return blank
        random = rng.integers(links.shape[0], size=(2, len(first)))
        inputs = np.concatenate([blank.inputs(first, second), blank.inputs(*random)])
        truth = np.repeat([1, 0], len(first))
        model = LogisticRegression(C=1 / PENALTY).fit(inputs, truth)
        weights = np.append(model.intercept_, np.maximum(model.coef_[0], 0))
        return cls(links, vectors, common, weights)

    def inputs(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        shared = np.concatenate(
            [
                np.asarray(self.common[i].multiply(self.links[j]).sum(axis=1))
                for i, j in _chunks(first, second)
            ]
            or [np.empty(0)]
        )
        return np.stack([cosines(self.vectors, first, second), np.log1p(shared)], axis=1)

    def probability(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return expit(self.weights[0] + self.inputs(first, second) @ self.weights[1:])

    def rows(self, nodes: np.ndarray) -> np.ndarray:
        """Logits of some nodes with all nodes."""
        shared = (self.common[nodes] @ self.links).toarray()
        alike = self.vectors[nodes] @ self.vectors.T
        alike = alike.toarray() if sp.issparse(alike) else alike
        return self.weights[0] + self.weights[1] * alike + self.weights[2] * np.log1p(shared)


def balanced(weights: sp.csr_array) -> sp.csr_array:
    """G^-1/2 W G^-1/2 with G the row sums: a step of spreading that no node can flood.

    Examples
    --------
    >>> balanced(sp.csr_array([[0.0, 4.0], [4.0, 0.0]])).toarray()
    array([[0., 1.],
           [1., 0.]], dtype=float32)
    """
    sums = np.asarray(weights.sum(axis=1), dtype=np.float64)
    scale = sp.diags_array(1 / np.sqrt(np.where(sums > 0, sums, 1)))
    return sp.csr_array(scale @ weights @ scale, dtype=np.float32)


def cosines(vectors: Vectors, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Inner products of the vectors of each pair."""
    parts = [
        np.asarray(vectors[i].multiply(vectors[j]).sum(axis=1))
        if sp.issparse(vectors)
        else np.einsum("pd,pd->p", vectors[i], vectors[j])
        for i, j in _chunks(first, second)
    ]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.float32)


def _link_weights(model: LinkModel, chosen: BLAOptions) -> sp.csr_array:
    """eta A + (1 - eta) p at the observed links and at each node's most similar nodes, both ways."""
    similar = presence(nearest_nodes(model.vectors, chosen.candidates))
    possible = sp.csr_array(model.links + similar + similar.T)
    first, second = _ends(possible)
    predicted = model.probability(first, second).astype(np.float32)
    weights = sp.csr_array((predicted, possible.indices, possible.indptr), shape=possible.shape)
    return sp.csr_array(np.float32(chosen.observed) * model.links + np.float32(1 - chosen.observed) * weights)


def _spread_vectors(step: sp.csr_array, owned: sp.csr_array, chosen: BLAOptions, seed: int) -> np.ndarray:
    """Attributes that have spread along the weights, in their leading directions, of length one.

    Spreading and reducing are both linear, so that the few columns can be spread instead of all.
    """
    left, sizes, _ = decompose(idf_rows(owned), REDUCED, seed)
    spread = walk_with_restart(step, left * sizes, chosen.keep, chosen.steps)
    return spread / np.maximum(np.linalg.norm(spread, axis=1, keepdims=True), 1e-12)


def _attribute_rows(
    step: sp.csr_array, owners: sp.csr_array, chosen: BLAOptions, nodes: np.ndarray
) -> np.ndarray:
    """F <- (1 - theta) S F + theta X at some nodes; S is symmetric, so its rows are its columns."""
    start = np.zeros((step.shape[0], len(nodes)), dtype=np.float32)
    start[nodes, np.arange(len(nodes))] = 1
    return (owners @ walk_with_restart(step, start, chosen.keep, chosen.steps)).T


def _attribute_columns(
    step: sp.csr_array, owners: sp.csr_array, chosen: BLAOptions, items: np.ndarray
) -> np.ndarray:
    """The same for some attributes at all nodes."""
    return walk_with_restart(step, owners[items].toarray().T, chosen.keep, chosen.steps).T


def _ends(matrix: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices


def _chunks(first: np.ndarray, second: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    starts = range(0, len(first), PAIRS)
    return [(first[start : start + PAIRS], second[start : start + PAIRS]) for start in starts]
