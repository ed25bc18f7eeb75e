"""Gradient boosting of regression trees, kept as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coembed.fitted.trees import Trees

DEPTH, RATE, LEAF = 4, 0.1, 5
SUBSAMPLE, FEATURES = 0.5, 1 / 3
"""What a tree sees of the rows, and each of its splits of the features."""


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
    """The nodes of one tree, as :class:`~coembed.fitted.trees.Trees` has them."""

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
