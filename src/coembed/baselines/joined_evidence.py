"""Floors of pairs that join two kinds of evidence: attributes that links carry; a linear model of links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from coembed.baselines.features import mean_of_neighbours, presence, symmetric
from coembed.baselines.recommenders import popularity
from coembed.baselines.table_features import joined, own_features
from coembed.evaluation.problem import Answer, Problem
from coembed.network.pairs import UNDIRECTED, true_pairs, uniform_negatives, without

STEPS = 4
"""Links that an attribute is carried along."""
LEARNT, KEPT = 0.1, 20_000
"""Share of the links that the linear model learns from, without them as evidence; and how many at most."""


@dataclass(frozen=True, eq=False)
class Carried(Answer):
    """Score of a pair: how much of the attribute the links bring."""

    step: sp.csr_array
    owned: sp.csr_array

    def row_scores(self, nodes: np.ndarray) -> np.ndarray:
        weights = sp.csr_array(sp.eye_array(self.step.shape[0], format="csr")[nodes])
        found = np.zeros((len(nodes), self.owned.shape[1]))
        for far in range(1, STEPS + 1):
            weights = sp.csr_array(weights @ self.step)
            found += 0.5**far * (weights @ self.owned).toarray()
        return found

    def arrays(self) -> Mapping[str, np.ndarray]:
        return {"step": self.step.data, "owned": self.owned.data}


def feature_propagation(problem: Problem) -> Answer:
    """Attributes that the links bring: means over one to four links, each half as much as the one before.

    Feature propagation (Rossi and others, 2022) fills what is missing by what the links carry, again and
    again; where any entry may be missing, this is its sum of steps. Without links, popularity.

    Examples
    --------
    >>> from coembed.network import Network
    >>> network = Network.build([[0, 1, 0], [1, 0, 1], [0, 1, 0]], attributes=[[1, 0], [0, 0], [0, 1]])
    >>> feature_propagation(Problem("attributes", network)).row_scores(np.array([1])).round(2).tolist()
    [[0.31, 0.31]]
    """
    links = joined(problem.network, problem.asked.source, problem.asked.source)
    if links is None or not links.nnz:
        return popularity(problem)
    return Carried(mean_of_neighbours(links), presence(problem.asked.values))


@dataclass(frozen=True, eq=False)
class LinkEvidence:
    """What speaks for a link of two items: common neighbours, common attributes, degrees."""

    links: sp.csr_array
    words: sp.csr_array

    @property
    def degrees(self) -> np.ndarray:
        return np.diff(self.links.indptr)

    @property
    def weights(self) -> tuple[np.ndarray, ...]:
        """Of a common neighbour: one, Adamic and Adar's, resource allocation's."""
        counted = np.maximum(self.degrees, 1)
        return np.ones(len(counted)), 1 / np.log(np.maximum(counted, 2)), 1 / counted

    def of_pairs(self, pairs: np.ndarray) -> list[np.ndarray]:
        """One array a kind of evidence."""
        one, other = pairs.T
        shared = self.links[one].multiply(self.links[other]).tocsr()
        alike = np.asarray(self.words[one].multiply(self.words[other]).sum(axis=1)).ravel()
        popular = np.log1p(self.degrees)
        return [*(np.log1p(shared @ weight) for weight in self.weights), alike, popular[one] + popular[other]]

    def of_rows(self, items: np.ndarray) -> list[np.ndarray]:
        """The same of some items with all, a matrix a kind."""
        own = self.links[items]
        shared = [(own * weight) @ self.links for weight in self.weights]
        popular = np.log1p(self.degrees)
        return [
            *(np.log1p(each.toarray()) for each in shared),
            (self.words[items] @ self.words.T).toarray(),
            popular[items, None] + popular,
        ]


@dataclass(frozen=True, eq=False)
class LinearLinks(Answer):
    """Score of a pair: a linear model of what speaks for it."""

    evidence: LinkEvidence
    weights: np.ndarray

    def pair_scores(self, pairs: np.ndarray) -> np.ndarray:
        return np.tensordot(self.weights, self.evidence.of_pairs(pairs), axes=1)

    def row_scores(self, nodes: np.ndarray) -> np.ndarray:
        return np.tensordot(self.weights, self.evidence.of_rows(nodes), axes=1)

    def arrays(self) -> Mapping[str, np.ndarray]:
        return {"weights": self.weights}


def linear_links(problem: Problem) -> Answer:
    """Logistic regression on common neighbours (plain, Adamic-Adar, resource allocation), alike attributes
    and degrees.

    It learns from a tenth of the links, which its evidence lacks meanwhile: a link must not speak for itself.
    With fewer than ten links, popularity.
    """
    rng = np.random.default_rng(problem.seed)
    links = symmetric(problem.asked.values)
    words = own_features(problem.network, problem.asked.source)
    every = true_pairs(links, UNDIRECTED)
    count = min(int(LEARNT * len(every)), KEPT, UNDIRECTED.possible(*links.shape) - len(every))
    if count < 1:  # nothing to learn from
        return popularity(problem)
    present = every[np.sort(rng.permutation(len(every))[:count])]
    absent = uniform_negatives(links, UNDIRECTED, count, rng)
    meanwhile = LinkEvidence(without(links, present, UNDIRECTED), words)
    told = np.column_stack(meanwhile.of_pairs(np.concatenate([present, absent])))
    size = np.maximum(told.std(axis=0), 1e-9)
    model = LogisticRegression(C=10.0, max_iter=500).fit(told / size, np.repeat([1, 0], count))
    return LinearLinks(LinkEvidence(links, words), model.coef_[0] / size)
