"""Boosted trees as arrays, and the features of items that they and linear models read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coembed.views import TypeViews

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


def readable(views: TypeViews, coordinates: int) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The views to read, and how much of each: cells, and so many leading coordinates of others.

    Not what labels say, as that is shown by folds.
    """
    names = tuple(name for name in views.dense if not name.startswith(("spread", "labels")))
    widths = [views.dense[name].shape[1] for name in names]
    return names, tuple(
        width if "cells" in name else min(width, coordinates)
        for name, width in zip(names, widths, strict=True)
    )


def view_features(
    views: TypeViews, names: Sequence[str], widths: Sequence[int], rows: np.ndarray
) -> np.ndarray:
    """Some views of some items side by side."""
    parts = [views.dense[name][rows, :width] for name, width in zip(names, widths, strict=True)]
    return np.hstack(parts).astype(np.float32)
