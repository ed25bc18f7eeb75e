"""Linear models and boosted trees beside the model's own expectations of cells, where they earn it.

A column is told from an item's views without its own cell. Cells that were kept aside, those of all columns
of a kind together, say what each counts: the shares, none negative and one in sum, with which the squared
error is least.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from coembed.fitted import Fitted
from coembed.fitted.cell_models import CellModel, Trees, cell_features, readable
from coembed.network.cell_values import cell_values
from coembed.network.relations import Relation
from coembed.training.holdout import Holdout
from coembed.views import TypeViews

MOST_ITEMS = 200_000
"""Of larger types the views are not worked out again for every question."""
MOST_ROWS = 20_000
FEWEST_ROWS = 30
PENALTY = 10.0
MOST_OUTPUTS = 64
"""Values of a category that trees tell."""
TREES, DEPTH, RATE, LEAF = 100, 4, 0.1, 5
SUBSAMPLE, FEATURES = 0.5, 1 / 3
"""What a tree sees of the rows, and each of its splits of the features."""
MOST_TREES = 6_000
WORK = 300_000_000
"""Rows times features times trees, of all columns of a type: half a minute."""
STEPS = 20
"""Shares are multiples of a twentieth."""
CAUTION = 10.0
"""Cells that would have to say something before shares differ much."""
EARNED = 0.01
"""Part of the squared error that has to go."""


def with_cell_models(fitted: Fitted, holdout: Holdout) -> Fitted:
    """The result with models of the columns of every type for which cells were kept aside."""
    fits = dict(fitted.relations)
    for type in fitted.network.entity_types:
        columns = [each for each in fitted.network.columns(type) if each.column and each.column.has_cells]
        held = [each for each in columns if each.name in holdout.cells]
        if not held or len(fitted.network.items(type)) > MOST_ITEMS:
            continue
        learner = _Learner.of(fitted.trained.views[type], columns, int(fitted.settings["seed"]))
        models = {each.name: learner.model(each) for each in columns}
        for numeric in (True, False):
            judged = [each for each in held if each.column and each.column.numeric == numeric]
            errors = [
                _errors(fitted, each, model, learner, holdout)
                for each in judged
                if (model := models[each.name]) is not None
            ]
            shares = best_shares(errors)
            if shares is None:
                continue
            for each in columns:
                model = models[each.name]
                if model is not None and each.column and each.column.numeric == numeric:
                    fits[each.name] = replace(fits[each.name], cells=replace(model, shares=shares))
    return replace(fitted, relations=fits)


@dataclass(frozen=True, eq=False)
class _Learner:
    """What all columns of a type are told from."""

    views: TypeViews
    names: tuple[str, ...]
    widths: tuple[int, ...]
    columns: tuple[str, ...]
    seed: int

    @classmethod
    def of(cls, views: TypeViews, columns: Sequence[Relation], seed: int) -> _Learner:
        return cls(views, *readable(views), tuple(each.name for each in columns), seed)

    def features(self, rows: np.ndarray) -> np.ndarray:
        return cell_features(self.views, self.names, self.widths, rows)

    def own(self, relation: str) -> np.ndarray:
        """Which features are those of the column itself."""
        assert self.views.place is not None
        start = sum(self.widths[: self.names.index("cells")])
        found = np.zeros(sum(self.widths), dtype=bool)
        found[start : start + len(self.views.place)] = self.views.place == self.columns.index(relation)
        return found

    def model(self, relation: Relation) -> CellModel | None:
        """Of a column of which enough is known."""
        cells = cell_values(relation)
        rows = np.flatnonzero(~np.isnan(cells))
        if len(rows) < FEWEST_ROWS:
            return None
        rng = np.random.default_rng([self.seed, self.columns.index(relation.name)])
        rows = np.sort(rng.permutation(rows)[:MOST_ROWS])
        wanted = targets(relation, cells[rows])
        features = self.features(rows)
        features[:, self.own(relation.name)] = 0
        weight, bias = linear_model(features, wanted)
        trees = None
        if wanted.shape[1] <= MOST_OUTPUTS:
            n_trees = int(np.clip(MOST_TREES // len(self.columns), 10, TREES))
            work = features.size * FEATURES * n_trees * len(self.columns)
            some = rng.permutation(len(rows))[: max(int(len(rows) * min(WORK / work, 1)), FEWEST_ROWS)]
            trees = boosted_trees(features[some], wanted[some], n_trees, rng)
        return CellModel(self.names, self.widths, weight, bias, trees, np.array([1.0, 0.0, 0.0]))


def targets(relation: Relation, cells: np.ndarray) -> np.ndarray:
    """Cells as what is to be told, a row each: a number, one or zero, or which of the values."""
    column = relation.column
    assert column is not None
    if column.kind != "category":
        return cells[:, None]
    return np.eye(column.stop - column.start)[cells.astype(np.int64)]


def linear_model(features: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ridge regression on standardised features, said of features as they are: weights, and a constant."""
    center, scale = features.mean(axis=0, dtype=np.float64), features.std(axis=0, dtype=np.float64)
    moving = scale > 1e-6
    weight = np.zeros((features.shape[1], wanted.shape[1]))
    if moving.any():
        standard = (features[:, moving] - center[moving]) / scale[moving]
        gram = standard.T @ standard
        gram[np.diag_indices(len(gram))] += max(PENALTY, len(gram) / 2)
        weight[moving] = np.linalg.solve(gram, standard.T @ (wanted - wanted.mean(axis=0)))
        weight[moving] /= scale[moving, None]
    bias = wanted.mean(axis=0) - center @ weight
    return weight.astype(np.float32), bias.astype(np.float32)


def boosted_trees(features: np.ndarray, wanted: np.ndarray, count: int, rng: np.random.Generator) -> Trees:
    """Trees for all targets at once, each of what those before it leave, beginning with a leaf: the mean."""
    from sklearn.tree import DecisionTreeRegressor

    mean = wanted.mean(axis=0)
    left = wanted - mean
    parts = [_Grown(np.zeros(1, np.int64), np.zeros(1), np.zeros((1, 2), np.int64), mean[None])]
    for _ in range(count):
        rows = rng.permutation(len(features))[: max(int(SUBSAMPLE * len(features)), 2)]
        tree = DecisionTreeRegressor(
            max_depth=DEPTH,
            min_samples_leaf=LEAF,
            max_features=FEATURES,
            random_state=int(rng.integers(2**31)),
        ).fit(features[rows], left[rows])
        left = left - RATE * tree.predict(features).reshape(left.shape)
        parts.append(_Grown.of(tree))
    starts = np.cumsum([0, *(len(part.feature) for part in parts)])[:-1]
    return Trees(
        starts,
        np.concatenate([part.feature for part in parts]),
        np.concatenate([part.threshold for part in parts]),
        np.concatenate([part.children + start for part, start in zip(parts, starts, strict=True)]),
        np.concatenate([part.value for part in parts]).astype(np.float32),
        DEPTH,
    )


@dataclass(frozen=True, eq=False)
class _Grown:
    """The nodes of one tree, as :class:`~coembed.fitted.cell_models.Trees` has them."""

    feature: np.ndarray
    threshold: np.ndarray
    children: np.ndarray
    value: np.ndarray

    @classmethod
    def of(cls, fitted_tree: object) -> _Grown:
        tree = fitted_tree.tree_  # type: ignore[attr-defined]
        itself = np.arange(tree.node_count)
        leaf = tree.children_left < 0
        children = np.stack([tree.children_left, tree.children_right], axis=1)
        return cls(
            np.where(leaf, 0, tree.feature).astype(np.int64),
            np.where(leaf, 0.0, tree.threshold),
            np.where(leaf[:, None], itself[:, None], children).astype(np.int64),
            RATE * tree.value[:, :, 0],
        )


def _errors(
    fitted: Fitted, relation: Relation, model: CellModel, learner: _Learner, holdout: Holdout
) -> np.ndarray:
    """How far off each of the three is at cells that were kept aside, members x targets, in usual errors."""
    column, (pairs, values) = relation.column, holdout.cells[relation.name]
    assert column is not None
    rows = pairs[:, 0]
    truth = targets(relation, pairs[:, 1] - column.start if column.kind == "category" else values)
    own = fitted.cells(relation.name, rows).reshape(truth.shape)
    told = np.stack([own, *model.members(learner.features(rows), column)])
    usual = targets(relation, cell_values(relation)[~np.isnan(cell_values(relation))])
    size = np.sqrt(np.mean((usual - usual.mean(axis=0)) ** 2, axis=0).sum())
    return ((told - truth) / max(size, 1e-6)).reshape(3, -1) / np.sqrt(len(rows))


def best_shares(errors: Sequence[np.ndarray]) -> np.ndarray | None:
    """The shares with which the squared error is least, over all columns; None if they are not worth it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> best_shares([rng.normal(size=(3, 1000)) * [[1.0], [1.0], [9.0]] / 30])
    array([0.5, 0.5, 0. ])
    >>> best_shares([rng.normal(size=(3, 1000)) * [[1.0], [9.0], [9.0]] / 30]) is None
    True
    """
    if not errors:
        return None
    products = np.mean([each @ each.T for each in errors], axis=0)
    count = sum(each.shape[1] for each in errors)
    cautious = products + np.eye(3) * np.trace(products) / 3 * CAUTION / (CAUTION + count)
    grid = np.array(
        [
            (STEPS - one - other, one, other)
            for one, other in product(range(STEPS + 1), repeat=2)
            if one + other <= STEPS
        ]
    )
    grid = grid / STEPS
    best = grid[np.einsum("ni,ij,nj->n", grid, cautious, grid).argmin()]
    return best if best @ products @ best < (1 - EARNED) * products[0, 0] else None
