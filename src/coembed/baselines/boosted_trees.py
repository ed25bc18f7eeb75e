"""Gradient-boosted trees on the columns of a type, and on those of its neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from coembed.baselines.classifiers import AveragedFeatures
from coembed.baselines.features import frequency, mean_of_neighbours, presence
from coembed.baselines.table_features import (
    coordinates,
    dense_rows,
    joined,
    link_views,
    rare_counts_more,
    relation_means,
    relation_views,
)
from coembed.network import Network, Relation
from coembed.network.cell_values import attribute_range, cell_values

COORDINATES = 16
"""Of tags, words and relations that have more, beside the commonest themselves: trees look at each column."""
COMMONEST = 64
MOST_VALUES = 250
"""Values of a category that trees tell apart; the rarest beyond are one."""
MOST_WORDS = 1000
"""Counts or weights of words that are read one by one, as they are."""
ITERATIONS, RATE, LEAVES, LEAF = 60, 0.1, 15, 5
"""Few labels: small trees, and leaves of five."""
PENALTY = 1.0
"""Of a leaf. Without it many classes with few labels diverge: 26 classes of WordNet .11, with it .56."""
LOOKED_AT, FEWEST_LOOKED_AT = 0.3, 4
"""Share of the columns among which a split chooses, and how many at least."""
FEWEST_A_LEAF = 2
ROWS = 8192


@dataclass(frozen=True, eq=False)
class TreeFeatures:
    """Columns as trees like them: an empty cell is NaN, a category the number of its value.

    Attributes
    ----------
    own
        A row an item.
    categories
        Which columns of `own` are categories.
    views
        Further features, made for the rows that are read.
    """

    own: np.ndarray
    categories: np.ndarray
    views: tuple[AveragedFeatures, ...] = ()

    def rows(self, items: np.ndarray) -> np.ndarray:
        return np.hstack([self.own[items], dense_rows(self.views, items)])

    def categorical(self, width: int) -> np.ndarray:
        return np.concatenate([self.categories, np.zeros(width - len(self.categories), dtype=bool)])


def tree_features(
    network: Network, type: str, neighbours: bool, without: str | None = None, seed: int = 0
) -> TreeFeatures:
    """Of own columns, one of which may be left out; and of relations and neighbours if wanted."""
    blocks = [np.zeros((len(network.items(type)), 0), dtype=np.float32)]
    categories = [np.zeros(0, dtype=bool)]
    for relation in network.columns(type):
        if relation.name != without:
            block, category = _column(relation, seed)
            blocks.append(block)
            categories.append(np.full(block.shape[1], category))
    views: list[AveragedFeatures] = []
    if neighbours:
        views += relation_views(network, type, COORDINATES, seed)
        views += link_views(network, type, dimensions=COORDINATES, seed=seed)
        views += _value_means(network, type, without)
        views += relation_means(network, type, COORDINATES, seed)
    return TreeFeatures(np.hstack(blocks), np.concatenate(categories), tuple(views))


def tree_classes(
    features: TreeFeatures,
    items: np.ndarray,
    classes: np.ndarray,
    n_classes: int,
    asked: np.ndarray,
    seed: int,
) -> np.ndarray:
    """Class probabilities of the items that are asked for, learnt from those whose class is given."""
    found = np.unique(classes)
    values = np.zeros((len(asked), n_classes))
    rows = features.rows(items)
    if len(found) < 2 or not rows.shape[1]:
        counts = np.bincount(classes, minlength=n_classes) + (0.0 if len(classes) else 1.0)
        values[:] = counts / counts.sum()
        return values
    model = HistGradientBoostingClassifier(
        **_options(rows, seed), categorical_features=features.categorical(rows.shape[1])
    )
    model.fit(rows, classes)
    for start in range(0, len(asked), ROWS):
        part = slice(start, start + ROWS)
        values[part, model.classes_.astype(np.int64)] = model.predict_proba(features.rows(asked[part]))
    return values


def tree_numbers(
    features: TreeFeatures, items: np.ndarray, numbers: np.ndarray, asked: np.ndarray, seed: int
) -> np.ndarray:
    """A number for every item that is asked for, learnt from those of which it is given."""
    values = np.full(len(asked), numbers.mean() if len(numbers) else 0.0)
    rows = features.rows(items)
    if len(items) < 2 or not rows.shape[1]:
        return values
    model = HistGradientBoostingRegressor(
        **_options(rows, seed), categorical_features=features.categorical(rows.shape[1])
    )
    model.fit(rows, numbers)
    for start in range(0, len(asked), ROWS):
        part = slice(start, start + ROWS)
        values[part] = model.predict(features.rows(asked[part]))
    return values


def _options(rows: np.ndarray, seed: int) -> dict[str, Any]:
    n_items, width = rows.shape
    return {
        "max_iter": ITERATIONS,
        "learning_rate": RATE,
        "max_leaf_nodes": LEAVES,
        "min_samples_leaf": min(LEAF, max(FEWEST_A_LEAF, n_items // 10)),
        "l2_regularization": PENALTY,
        "max_features": min(1.0, max(LOOKED_AT, FEWEST_LOOKED_AT / width)),
        "early_stopping": False,
        "random_state": seed,
    }


def _column(relation: Relation, seed: int) -> tuple[np.ndarray, bool]:
    """What trees read of a column, and whether that is a category."""
    assert relation.column is not None
    if relation.column.has_cells:
        cells = cell_values(relation)
        category = relation.column.kind == "category"
        return (_common_first(cells) if category else cells)[:, None].astype(np.float32), category
    values = relation.values[:, attribute_range(relation)]
    if _worth_reading(relation):
        return values.toarray(), False
    commonest = np.argsort(-frequency(values), kind="stable")[:COMMONEST]
    raw = presence(values[:, np.sort(commonest)]).toarray()
    if values.shape[1] <= COMMONEST:
        return raw, False
    return np.hstack([raw, coordinates(rare_counts_more(values), COORDINATES, seed)]), False


def _worth_reading(relation: Relation) -> bool:
    """Whether the values of a column of words say more than presence, and are not too many for trees."""
    assert relation.column is not None
    words = relation.column.stop - relation.column.start
    return not relation.column.has_cells and relation.weighted and words <= MOST_WORDS


def _value_means(network: Network, type: str, without: str | None) -> list[AveragedFeatures]:
    """Means of such values one and two links away."""
    links = joined(network, type, type)
    if links is None:
        return []
    step = mean_of_neighbours(links)
    told = [each for each in network.columns(type) if each.name != without and _worth_reading(each)]
    return [
        AveragedFeatures((step,) * steps, each.values[:, attribute_range(each)])
        for each in told
        for steps in (1, 2)
    ]


def _common_first(cells: np.ndarray) -> np.ndarray:
    """Values of a category by how common they are, the rarest as one.

    Examples
    --------
    >>> _common_first(np.array([7.0, 3.0, 3.0, np.nan])).tolist()
    [1.0, 0.0, 0.0, nan]
    """
    known = ~np.isnan(cells)
    _, codes, counts = np.unique(cells[known], return_inverse=True, return_counts=True)
    place = np.empty(len(counts))
    place[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    found = np.full(len(cells), np.nan)
    found[known] = np.minimum(place[codes], MOST_VALUES)
    return found
