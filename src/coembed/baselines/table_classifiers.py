"""Floors of classification on any network: own columns, neighbours' means, trees, and smoothing after."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from coembed.baselines.boosted_trees import tree_classes, tree_features
from coembed.baselines.classifiers import (
    AveragedFeatures,
    Classes,
    ViewsSideBySide,
    fit_linear,
    majority,
    one_hot,
    own_links,
    propagation,
    shares_of,
    spread_along,
)
from coembed.baselines.features import degree_scaled
from coembed.baselines.table_features import column_features, link_views, relation_means, relation_views
from coembed.evaluation.problem import Problem, no_nodes
from coembed.metrics import accuracy
from coembed.network import UNKNOWN

CORRECTED, SMOOTHED = 0.8, 0.8
"""How far errors and answers are carried along links, as in the paper of Huang and others."""
STEPS = 4
DOUBT = 0.01
"""Added to what labels say that were spread: a class that none has reached is not impossible."""
FEWEST = 10
"""Validation items that can choose between two."""


def linear_own(problem: Problem) -> Classes:
    """Logistic regression on the item's own columns."""
    return _linear(problem, _own_views(problem))


def linear_neighbours(problem: Problem) -> Classes:
    """Logistic regression on own columns, on who is related, and on the means of their columns.

    On means over links of the type with itself alone, or on those over all relations: whichever tells the
    validation items better, since with few labels many views that say little drown those that say much.
    """
    own = [*_own_views(problem), *link_views(problem.network, problem.type)]
    everything = [
        *own,
        *relation_views(problem.network, problem.type, seed=problem.seed),
        *relation_means(problem.network, problem.type),
    ]
    return _linear(problem, _best(problem, [own, everything]))


def linear_steps(problem: Problem) -> Classes:
    """Logistic regression on own columns and on their means one to four links away."""
    steps = link_views(problem.network, problem.type, steps=STEPS)
    return _linear(problem, [*_own_views(problem), *steps])


def trees_own(problem: Problem) -> Classes:
    """Gradient-boosted trees on the item's own columns."""
    return _trees(problem, neighbours=False)


def trees_neighbours(problem: Problem) -> Classes:
    """Gradient-boosted trees on own columns, on who is related, and on the means of their columns."""
    return _trees(problem, neighbours=True)


def correct_and_smooth(problem: Problem) -> Classes:
    """The linear model of four steps, corrected and smoothed along links (Huang and others, 2021).

    Errors of the labelled items, spread to the others and scaled to the size of those made, are taken off;
    then the answers, labels in their places, are spread.
    """
    values = linear_steps(problem).values
    step, known = degree_scaled(own_links(problem)), one_hot(problem)
    labelled = problem.labelled
    errors = np.zeros_like(values)
    errors[labelled] = known[labelled] - values[labelled]
    spread = spread_along(step, errors, CORRECTED)
    size = np.abs(errors[labelled]).sum() / max(len(labelled), 1)
    sums = np.abs(spread).sum(axis=1, keepdims=True)
    corrected = values + np.where(sums > 0, size * spread / np.where(sums > 0, sums, 1), 0)
    corrected[labelled] = known[labelled]
    smooth = np.clip(spread_along(step, corrected, SMOOTHED), 0, None)
    mass = smooth.sum(axis=1, keepdims=True)
    return Classes(np.where(mass > 0, smooth / np.where(mass > 0, mass, 1), shares_of(problem)))


def linear_and_propagation(problem: Problem) -> Classes:
    """The product of two opinions: the linear model of four steps, and the labels spread along links."""
    opinions = linear_steps(problem).values * (propagation(problem).values + DOUBT)
    return Classes(opinions / opinions.sum(axis=1, keepdims=True))


def _own_views(problem: Problem) -> list[AveragedFeatures]:
    return [AveragedFeatures((), column_features(each)) for each in problem.network.columns(problem.type)]


def _best(problem: Problem, candidates: list[list[AveragedFeatures]]) -> list[AveragedFeatures]:
    """The views from which the validation items are told best; the last without such items."""
    kept = problem.validation
    if len(kept) < FEWEST or len(np.unique(problem.labels[problem.training])) < 2:
        return candidates[-1]
    labels = problem.labels.copy()
    labels[kept] = UNKNOWN
    network = problem.network.with_labels(labels, problem.type)
    unseen = replace(problem, network=network, validation=no_nodes())
    right = [
        accuracy(problem.labels[kept], _linear(unseen, views).values[kept].argmax(axis=1))
        for views in candidates
    ]
    return candidates[int(np.argmax(right))]


def _linear(problem: Problem, views: list[AveragedFeatures]) -> Classes:
    return fit_linear(problem, ViewsSideBySide(views)) if views else majority(problem)


def _trees(problem: Problem, neighbours: bool) -> Classes:
    shares_of(problem)  # refuses a network without labels
    features = tree_features(problem.network, problem.type, neighbours, seed=problem.seed)
    labelled = problem.labelled
    everybody = np.arange(len(problem.items))
    classes = problem.labels[labelled]
    return Classes(
        tree_classes(features, labelled, classes, problem.items.n_classes, everybody, problem.seed)
    )
