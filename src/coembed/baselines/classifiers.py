"""Floors of classification: the commonest class, linear models, labels spread along links, nearest nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from coembed.baselines.features import (
    degree_scaled,
    idf_rows,
    mean_of_neighbours,
    nearest_nodes,
    presence,
    symmetric,
    unit_length_rows,
)
from coembed.errors import InputError
from coembed.evaluation.problem import Answer, Problem
from coembed.metrics import accuracy
from coembed.network import Network

PENALTIES = (1.0, 10.0, 100.0, 1000.0)
"""Inverse strengths of the L2 penalty, the strongest first, to choose from on the validation nodes."""
SPREAD, SPREAD_STEPS = 0.9, 50


@dataclass(frozen=True, eq=False)
class Classes(Answer):
    """Class probabilities and nothing else."""

    values: np.ndarray

    def probabilities(self) -> np.ndarray:
        return self.values

    def arrays(self) -> Mapping[str, np.ndarray]:
        return {"probabilities": self.values}


def majority(problem: Problem) -> Classes:
    """Every item has the class that is commonest among the labelled.

    Examples
    --------
    >>> network = Network.build(np.zeros((4, 4)), labels=[1, 1, 0, -1])
    >>> majority(Problem("classification", network)).values[3].round(2)
    array([0.33, 0.67])
    """
    return Classes(np.tile(shares_of(problem), (len(problem.items), 1)))


def propagation(problem: Problem) -> Classes:
    """Labels spread along the links, a tenth of them always coming back to where they are known.

    Y <- 0.9 S Y + 0.1 Y0 with S = D^-1/2 A D^-1/2, of all relations of the type with itself, whichever way
    they go. An item that nothing reaches has the class shares.
    """
    shares = shares_of(problem)
    spread = spread_along(degree_scaled(own_links(problem)), one_hot(problem), SPREAD)
    mass = spread.sum(axis=1, keepdims=True)
    return Classes(np.where(mass > 0, spread / np.where(mass > 0, mass, 1), shares))


def spread_along(step: sp.csr_array, known: np.ndarray, kept: float) -> np.ndarray:
    """kept S Y + (1 - kept) Y0, again and again."""
    spread = known
    for _ in range(SPREAD_STEPS):
        spread = kept * (step @ spread) + (1 - kept) * known
    return spread


def one_hot(problem: Problem) -> np.ndarray:
    """The labels that may be seen, a column a class."""
    known = np.zeros((len(problem.items), problem.items.n_classes), dtype=np.float32)
    known[problem.labelled, problem.labels[problem.labelled]] = 1
    return known


def own_links(problem: Problem) -> sp.csr_array:
    """Presence of a link in any relation of the type in question with itself, whichever way it goes."""
    own = [each for each in problem.network.joining(problem.type) if each.source == each.target]
    links = sp.csr_array((len(problem.items), len(problem.items)), dtype=np.float32)
    for each in own:
        one = presence(each.values) if each.pairing.undirected else symmetric(each.values)
        links = sp.csr_array(links + one)
    return presence(links)


def linear_x(problem: Problem) -> Classes:
    """Logistic regression on the node's own attributes, rare ones weighing more."""
    network = problem.network
    return fit_linear(problem, Hops(idf_rows(network.attributes), network.links, hops=0))


def linear_ax(problem: Problem) -> Classes:
    """Logistic regression on the node's links and attributes side by side."""
    network = problem.network
    own = [unit_length_rows(degree_scaled(network.links)), idf_rows(network.attributes)]
    return fit_linear(problem, Hops(sp.hstack(own, format="csr"), network.links, hops=0))


def linear_smooth(problem: Problem) -> Classes:
    """Logistic regression on the attributes of the node, of its neighbours, and of theirs."""
    network = problem.network
    return fit_linear(problem, Hops(idf_rows(network.attributes), mean_of_neighbours(network.links), hops=2))


def linear_views(problem: Problem) -> Classes:
    """Logistic regression on all views of a node side by side.

    Its attributes, its links, its neighbours' attributes up to two hops, and the attributes of the 20 nodes
    that are most similar to it, and of the 20 most similar to those.
    """
    network = problem.network
    own = idf_rows(network.attributes)
    linked = mean_of_neighbours(network.links)
    similar = _averaging(nearest_nodes(own))
    views: tuple[AveragedFeatures, ...] = (
        AveragedFeatures((), own),
        AveragedFeatures((), unit_length_rows(degree_scaled(network.links))),
        AveragedFeatures((linked,), own),
        AveragedFeatures((linked, linked), own),
        AveragedFeatures((similar,), own),
        AveragedFeatures((similar, similar), own),
    )
    return fit_linear(problem, ViewsSideBySide(views))


def nearest_vote(problem: Problem) -> Classes:
    """The 20 labelled nodes with the most similar attributes vote, each with its similarity.

    A node that resembles nobody has the class shares.
    """
    network = problem.network
    shares = class_shares(network)
    labelled = network.labelled
    known = np.zeros((len(labelled), network.n_classes), dtype=np.float32)
    known[np.arange(len(labelled)), network.labels[labelled]] = 1
    # asking itself would tell a labelled node its own label, which it has already
    near = nearest_nodes(idf_rows(network.attributes), among=labelled)
    votes = near[:, labelled] @ known
    mass = votes.sum(axis=1, keepdims=True)
    return Classes(np.where(mass > 0, votes / np.where(mass > 0, mass, 1), shares))


def _averaging(weights: sp.csr_array) -> sp.csr_array:
    sums = np.asarray(weights.sum(axis=1))
    scale = np.divide(1, sums, out=np.zeros_like(sums), where=sums > 0)
    return sp.csr_array(sp.diags_array(scale) @ weights)


class Blocks(Protocol):
    """Features in blocks, of which a linear model needs a few rows, and products with its weights."""

    def rows(self, nodes: np.ndarray) -> list[sp.csr_array]:
        """One block of features after the other, at the given nodes."""

    def times(self, weights: list[np.ndarray]) -> np.ndarray:
        """All nodes' features times the weights of every block."""


@dataclass(frozen=True, eq=False)
class AveragedFeatures:
    """Features, sparse or dense, after some averaging steps, the first of the tuple being applied last."""

    steps: tuple[sp.csr_array, ...]
    features: Any

    def rows(self, items: np.ndarray) -> Any:
        """Those of some items."""
        chain = (*self.steps, self.features)
        block = chain[0][items]
        for factor in chain[1:]:
            block = block @ factor
        return block

    def times(self, weight: np.ndarray) -> np.ndarray:
        """Those of all items, times weights."""
        product = self.features @ weight
        for step in reversed(self.steps):
            product = step @ product
        return product


@dataclass(frozen=True, eq=False)
class ViewsSideBySide:
    """Any views side by side, never written down where they are averages."""

    views: Sequence[AveragedFeatures]

    def rows(self, nodes: np.ndarray) -> list[sp.csr_array]:
        return [sp.csr_array(view.rows(nodes)) for view in self.views]

    def times(self, weights: list[np.ndarray]) -> np.ndarray:
        first = self.views[0]
        total = np.zeros(((*first.steps, first.features)[0].shape[0], weights[0].shape[1]))
        for view, weight in zip(self.views, weights, strict=True):
            total += view.times(weight)
        return total


@dataclass(frozen=True, eq=False)
class Hops:
    """The features F, PF, P(PF) ... side by side, without ever writing the smoothed ones down.

    A linear model needs them at the labelled nodes alone, which are few rows, and elsewhere only times its
    weights, where P(P(F w)) is a product from the right.
    """

    features: sp.csr_array
    step: sp.csr_array
    hops: int

    def rows(self, nodes: np.ndarray) -> list[sp.csr_array]:
        """One block of features for every number of hops, at the given nodes."""
        blocks = [self.features[nodes]]
        walk = self.step[nodes]
        for _ in range(self.hops):
            blocks.append(sp.csr_array(walk @ self.features))
            walk = walk @ self.step
        return blocks

    def times(self, weights: list[np.ndarray]) -> np.ndarray:
        """All nodes' features times the weights of every block."""
        total = self.features @ weights[-1]
        for block in reversed(weights[:-1]):
            total = self.step @ total + self.features @ block
        return total


def fit_linear(problem: Problem, hops: Blocks) -> Classes:
    """Logistic regression on blocks of features, its penalty chosen on the validation items."""
    shares_of(problem)  # refuses a network without labels
    labelled, labels = problem.labelled, problem.labels
    blocks = hops.rows(labelled)
    # averages are shorter than what they average: bring all blocks to one length, by the labelled rows only
    scales = [np.sqrt(max(len(labelled), 1) / max(float(block.power(2).sum()), 1e-12)) for block in blocks]
    rows = sp.hstack([block * scale for block, scale in zip(blocks, scales, strict=True)], format="csr")
    if rows.nnz == 0 or len(np.unique(labels[labelled])) == 1:
        return majority(problem)  # nothing to tell items apart by, or nothing to tell apart

    penalty = _choose_penalty(rows, labels[labelled], np.isin(labelled, problem.validation))
    model = _logistic(penalty).fit(rows, labels[labelled])
    weights, bias = _both_classes(model)
    widths = np.cumsum([block.shape[1] for block in blocks])[:-1]
    by_block = np.split(weights, widths, axis=1)
    logits = hops.times([part.T * scale for part, scale in zip(by_block, scales, strict=True)]) + bias
    values = np.zeros((len(problem.items), problem.items.n_classes))
    values[:, model.classes_] = softmax(logits, axis=1)
    return Classes(values)


def _choose_penalty(rows: sp.csr_array, labels: np.ndarray, kept: np.ndarray) -> float:
    """The penalty that does best on the nodes kept for it; a middle one if there are none."""
    if not kept.any() or len(np.unique(labels[~kept])) < 2:
        return PENALTIES[1]
    right = [
        accuracy(labels[kept], _logistic(penalty).fit(rows[~kept], labels[~kept]).predict(rows[kept]))
        for penalty in PENALTIES
    ]
    return PENALTIES[int(np.argmax(right))]


def _logistic(penalty: float) -> LogisticRegression:
    return LogisticRegression(C=penalty, max_iter=500)


def _both_classes(model: LogisticRegression) -> tuple[np.ndarray, np.ndarray]:
    """Weights and bias of every class; of two classes scikit-learn keeps those of the second only."""
    if len(model.classes_) > 2:
        return model.coef_, model.intercept_
    zero = np.zeros_like(model.coef_)
    return np.vstack([zero, model.coef_]), np.append(0.0, model.intercept_)


def shares_of(problem: Problem) -> np.ndarray:
    """Shares of the classes among the items in question whose label may be seen."""
    return class_shares(problem.network, problem.type)


def class_shares(network: Network, type: str | None = None) -> np.ndarray:
    """Shares of the classes of a type, the main one unless said, among those whose label is known."""
    labels = network.items(type).labels
    if labels is None or not len(labels.known):
        raise InputError(f"{network.name} shows no labels to learn from; give a larger share of them")
    counts = np.bincount(labels.values[labels.known], minlength=labels.n_classes)
    return counts / counts.sum()
