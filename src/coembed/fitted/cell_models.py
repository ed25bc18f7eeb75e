"""What an item's views, but for the cell itself, say of a cell: a linear model and boosted trees.

They stand beside the model's own expectation; how much each counts was found on cells that were kept aside.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coembed.fitted.trees import Trees
from coembed.network.relations import Column

LEAST = 1e-3
"""Nothing is less probable."""


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


def as_expectation(values: np.ndarray, column: Column) -> np.ndarray:
    """Numbers as they are; of yes or no and of categories probabilities."""
    if column.numeric:
        return values
    values = np.clip(values, LEAST, 1 - LEAST)
    return values / values.sum(axis=1, keepdims=True) if column.kind == "category" else values
