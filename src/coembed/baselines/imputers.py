"""Floors of telling cells: the mean or commonest value, the nearest items, linear models and trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import NearestNeighbors

from coembed.baselines.boosted_trees import tree_classes, tree_features, tree_numbers
from coembed.baselines.classifiers import AveragedFeatures
from coembed.baselines.table_features import (
    coordinates,
    dense_rows,
    link_views,
    own_features,
    relation_means,
    relation_views,
)
from coembed.evaluation.problem import Answer, Problem
from coembed.network import Relation
from coembed.network.cell_values import attribute_range, cell_values

NEAREST = 20
MOST_ASKED = 20_000
"""Items among which the nearest are looked for, and from which linear models learn, at most."""
DIMENSIONS = 32
PENALTY = 10.0
"""Of ridge regression on standardised features; its inverse half of logistic regression."""

Learn = Callable[["Cells"], np.ndarray]


@dataclass(frozen=True, eq=False)
class Told(Answer):
    """All cells of some columns: what is known, and elsewhere what is expected."""

    values: Mapping[str, np.ndarray]

    def cells(self, relation: str, rows: np.ndarray) -> np.ndarray:
        return self.values[relation][rows]

    def arrays(self) -> Mapping[str, np.ndarray]:
        return self.values


@dataclass(frozen=True, eq=False)
class Cells:
    """One column to be completed.

    Attributes
    ----------
    cells
        What is in it, NaN where that is not known.
    n_values
        Of a category; 0: a number; 2 for yes and no, which are the values 1 and 0.
    """

    problem: Problem
    relation: Relation
    cells: np.ndarray
    n_values: int

    @property
    def known(self) -> np.ndarray:
        return np.flatnonzero(~np.isnan(self.cells))

    @property
    def empty(self) -> np.ndarray:
        return np.flatnonzero(np.isnan(self.cells))

    @property
    def targets(self) -> np.ndarray:
        """What is known, as numbers or as which value."""
        told = self.cells[self.known]
        return told.astype(np.int64) if self.n_values else told

    def usual(self) -> np.ndarray:
        """Mean of a number (one entry), shares of values."""
        if not self.n_values:
            return np.array([self.targets.mean() if len(self.known) else 0.0])
        # one of each value is added, so that a column of which nothing is known has an answer, too
        counts = np.bincount(self.targets, minlength=self.n_values) + (1e-9 if len(self.known) else 1.0)
        return counts / counts.sum()


def mean_or_mode(problem: Problem) -> Told:
    """Every empty cell has the mean of its column, or its commonest value."""
    return _complete(problem, lambda column: np.tile(column.usual(), (len(column.empty), 1)))


def nearest_cells(problem: Problem) -> Told:
    """The mean over the 20 items that are nearest by their other columns, all of these standardised."""

    def learn(column: Cells) -> np.ndarray:
        features = _standardised(
            coordinates(own_features(problem.network, problem.type, column.relation.name), seed=problem.seed)
        )
        known, targets = _some(column)
        if not len(known) or not features.shape[1]:
            return np.tile(column.usual(), (len(column.empty), 1))
        near = NearestNeighbors(n_neighbors=min(NEAREST, len(known)), algorithm="brute").fit(features[known])
        found = near.kneighbors(features[column.empty], return_distance=False)
        if not column.n_values:
            return targets[found].mean(axis=1, keepdims=True)
        return np.eye(column.n_values)[targets[found]].mean(axis=1)

    return _complete(problem, learn)


def ridge_cells(problem: Problem) -> Told:
    """Ridge or logistic regression on the other columns, on who is related, and on neighbours' means."""
    network, type, seed = problem.network, problem.type, problem.seed
    around = relation_views(network, type, DIMENSIONS, seed)
    around += link_views(network, type, dimensions=DIMENSIONS, seed=seed)
    around += relation_means(network, type, DIMENSIONS, seed)

    def learn(column: Cells) -> np.ndarray:
        own = coordinates(own_features(network, type, column.relation.name), seed=seed)
        return _linear(column, [AveragedFeatures((), own), *around])

    return _complete(problem, learn)


def tree_cells(problem: Problem) -> Told:
    """Gradient-boosted trees on the other columns, on who is related, and on neighbours' means."""
    network, type, seed = problem.network, problem.type, problem.seed

    def learn(column: Cells) -> np.ndarray:
        features = tree_features(network, type, True, column.relation.name, seed)
        known, empty, targets = column.known, column.empty, column.targets
        if column.n_values:
            return tree_classes(features, known, targets, column.n_values, empty, seed)
        return tree_numbers(features, known, targets, empty, seed)[:, None]

    return _complete(problem, learn)


def _complete(problem: Problem, learn: Learn) -> Told:
    """The columns of the type in question; `learn` tells their empty cells, numbers or shares, a row each."""
    told: dict[str, np.ndarray] = {}
    for relation in problem.network.columns(problem.type):
        column = relation.column
        if column is None or not column.has_cells:
            continue
        own = attribute_range(relation)
        n_values = {"category": own.stop - own.start, "yes/no": 2}.get(column.kind, 0)
        cells = Cells(problem, relation, cell_values(relation), n_values)
        values = np.zeros((len(cells.cells), max(n_values, 1)))
        if n_values:
            values[cells.known, cells.targets] = 1
        else:
            values[cells.known, 0] = cells.targets
        values[cells.empty] = learn(cells)
        told[relation.name] = values if column.kind == "category" else values[:, -1]
    return Told(told)


def _linear(column: Cells, views: list[AveragedFeatures]) -> np.ndarray:
    known, targets = _some(column)
    if len(np.unique(targets)) < 2:
        return np.tile(column.usual(), (len(column.empty), 1))
    rows = dense_rows(views, known)
    center, scale = rows.mean(axis=0), rows.std(axis=0)
    moving = scale > 1e-6
    if not moving.any():
        return np.tile(column.usual(), (len(column.empty), 1))

    def standard(block: np.ndarray) -> np.ndarray:
        return (block[:, moving] - center[moving]) / scale[moving]

    # a hundred columns that all say the same must not count a hundred times
    size = np.sqrt(moving.sum())
    asked = standard(dense_rows(views, column.empty)) / size
    if not column.n_values:
        model = Ridge(alpha=PENALTY / moving.sum()).fit(standard(rows) / size, targets)
        return np.asarray(model.predict(asked))[:, None]
    values = np.zeros((len(asked), column.n_values))
    classifier = LogisticRegression(C=moving.sum() / PENALTY, max_iter=300).fit(
        standard(rows) / size, targets
    )
    values[:, classifier.classes_] = classifier.predict_proba(asked)
    return values


def _some(column: Cells) -> tuple[np.ndarray, np.ndarray]:
    """Items whose cell is known, and what is in it; of very many some, in an order that means nothing."""
    chosen = np.random.default_rng(column.problem.seed).permutation(len(column.known))[:MOST_ASKED]
    return column.known[chosen], column.targets[chosen]


def _standardised(features: np.ndarray) -> np.ndarray:
    spread = features.std(axis=0)
    return ((features - features.mean(axis=0)) / np.where(spread > 0, spread, 1)).astype(np.float32)
