"""Floors of telling which way a link goes: counting, and a linear model of what the two ends are like."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from coembed.baselines.features import frequency
from coembed.baselines.recommenders import Additive
from coembed.baselines.table_features import (
    coordinates,
    dense_rows,
    neighbour_means,
    own_features,
    relation_views,
)
from coembed.evaluation.problem import Problem
from coembed.network.pairs import entries

PENALTY = 0.1


def in_degree(problem: Problem) -> Additive:
    """A link goes to the end that more links go to."""
    matrix = problem.asked.values
    return Additive(np.zeros(matrix.shape[0]), frequency(matrix).astype(np.float64))


def out_degree(problem: Problem) -> Additive:
    """A link goes away from the end that more links leave: nothing to see where all of these are hidden."""
    matrix = problem.asked.values
    return Additive(np.diff(matrix.indptr).astype(np.float64), np.zeros(matrix.shape[1]))


def linear_direction(problem: Problem) -> Additive:
    """Logistic regression on the difference of the two ends, on columns, neighbours' means and in-degree.

    From links the way they go and the other way round; what leaves an item is left out of its features,
    since it is hidden of those in question.
    """
    network, relation = problem.network, problem.asked
    nothing = sp.csr_array(relation.values.shape, dtype=np.float32)
    blind = network.with_values({relation.name: nothing})
    around = dense_rows(relation_views(blind, problem.type, seed=problem.seed), np.arange(len(problem.items)))
    features = [
        coordinates(own_features(blind, problem.type), seed=problem.seed),
        around,
        neighbour_means(blind, problem.type),
    ]
    counts = frequency(relation.values)
    # a link in question is not among those that are counted, so one that is learnt from must not be, either
    incoming, without_itself = np.log1p(counts), np.log1p(np.maximum(counts - 1, 0))
    table = np.hstack([*features, incoming[:, None]])
    spread = np.maximum(table.std(axis=0), 1e-6)
    table = table / spread
    pairs = entries(relation.values)
    if not len(pairs):
        return Additive(np.zeros(len(table)), np.zeros(len(table)))
    # (i, j) is a link and (j, i) is none: both say the same, so that no constant is needed
    difference = table[pairs[:, 1]] - table[pairs[:, 0]]
    difference[:, -1] += (without_itself - incoming)[pairs[:, 1]] / spread[-1]
    truth = np.repeat([1, 0], len(pairs))
    model = LogisticRegression(C=PENALTY, fit_intercept=False, max_iter=300)
    model.fit(np.concatenate([difference, -difference]), truth)
    height = table @ model.coef_[0]
    return Additive(-height, height)
