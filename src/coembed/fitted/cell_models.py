"""What an item's views, but for the cell itself, say of a cell: a linear model and boosted trees.

They stand beside the model's own expectation; how much each counts was found on cells that were kept aside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coembed.network.relations import Column
from coembed.views import TypeViews

COORDINATES = 32
"""Leading coordinates of views other than cells that are read."""
LEAST = 1e-3
"""Nothing is less probable."""
ROWS = 256
"""Items that trees are asked about at a time."""


@dataclass(frozen=True, eq=False)
class Trees:
    """Regression trees whose values add up, the nodes of all of them side by side.

    Attributes
    ----------
    roots
        Where each begins.
    feature, threshold, children
        Of every node: what is compared with what, and where to go if it is at most that, and if it is more. A
        leaf leads to itself.
    value
        Of every node, a row: what a leaf adds.
    depth
        Steps from a root to a leaf, at most.

    Examples
    --------
    >>> stump = Trees(np.array([0]), np.array([1, 0, 0]), np.array([0.5, 0.0, 0.0]),
    ...     np.array([[1, 2], [1, 1], [2, 2]]), np.array([[0.0], [-1.0], [1.0]]), depth=1)
    >>> stump(np.array([[9.0, 0.5], [9.0, 0.6]])).tolist()
    [[-1.0], [1.0]]
    """

    roots: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    children: np.ndarray
    value: np.ndarray
    depth: int

    def __call__(self, features: np.ndarray) -> np.ndarray:
        found = np.empty((len(features), self.value.shape[1]), dtype=self.value.dtype)
        for start in range(0, len(features), ROWS):
            part = features[start : start + ROWS]
            at = np.broadcast_to(self.roots, (len(part), len(self.roots)))
            for _ in range(self.depth):
                more = np.take_along_axis(part, self.feature[at], axis=1) > self.threshold[at]
                at = self.children[at, more.astype(np.int64)]
            found[start : start + ROWS] = self.value[at].sum(axis=1)
        return found


@dataclass(frozen=True, eq=False)
class CellModel:
    """The models of one column.

    Attributes
    ----------
    views, widths
        The views that are read, and how many columns of each.
    weight, bias
        The linear model; nothing of the column itself has a weight.
    trees
        None of a column of very many values.
    shares
        What counts how much: the expectation of the space, the linear model, the trees.
    """

    views: tuple[str, ...]
    widths: tuple[int, ...]
    weight: np.ndarray
    bias: np.ndarray
    trees: Trees | None
    shares: np.ndarray

    def members(self, features: np.ndarray, column: Column) -> list[np.ndarray]:
        """What the linear model and the trees expect, a row an item: numbers, or probabilities."""
        linear = features @ self.weight + self.bias
        grown = linear if self.trees is None else self.trees(features)
        return [as_expectation(each, column) for each in (linear, grown)]

    def blended(self, own: np.ndarray, features: np.ndarray, column: Column) -> np.ndarray:
        """The model's own expectations with those of the others."""
        every = np.stack([own, *self.members(features, column)])
        return np.tensordot(self.shares, every, axes=1).astype(own.dtype)


def readable(views: TypeViews) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The views that models of cells read, and how wide: not what labels say, as that is shown by folds."""
    names = tuple(name for name in views.dense if not name.startswith(("spread", "labels")))
    widths = [views.dense[name].shape[1] for name in names]
    return names, tuple(
        width if "cells" in name else min(width, COORDINATES)
        for name, width in zip(names, widths, strict=True)
    )


def cell_features(
    views: TypeViews, names: Sequence[str], widths: Sequence[int], rows: np.ndarray
) -> np.ndarray:
    """The features of some items."""
    parts = [views.dense[name][rows, :width] for name, width in zip(names, widths, strict=True)]
    return np.hstack(parts).astype(np.float32)


def as_expectation(values: np.ndarray, column: Column) -> np.ndarray:
    """Numbers as they are; of yes or no and of categories probabilities."""
    if column.numeric:
        return values
    values = np.clip(values, LEAST, 1 - LEAST)
    return values / values.sum(axis=1, keepdims=True) if column.kind == "category" else values
