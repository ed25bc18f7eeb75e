"""One of several: p(v | s) = softmax of the scores with all values of the column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import softmax

from coembed.likelihoods.likelihood import Likelihood

if TYPE_CHECKING:
    from torch import Tensor


class Categorical(Likelihood):
    """The last axis is that of a column's values, of which an item has one.

    Examples
    --------
    >>> Categorical().expected(np.array([[0.0, 0.0]]), np.array([[0.0, 0.0]]))
    array([[0.5, 0.5]])
    """

    name = "categorical"
    of_presence = True
    grouped = True

    def cost(self, score: Tensor, value: Tensor, log_scale: Tensor | None = None) -> Tensor:
        """Of rows of scores with all values, where `value` says which of them it is."""
        from torch.nn.functional import cross_entropy

        return cross_entropy(score, value, reduction="none")

    def zero(self, score: Tensor) -> Tensor:
        raise TypeError("a category that is not stored is unknown, not absent")

    def absent(self, score: Tensor) -> tuple[Tensor, Tensor]:
        return self.zero(score), score

    def expected(self, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """Probabilities, drawn towards one another by the uncertainty, as in the binary case."""
        return softmax(mean / np.sqrt(1 + np.pi / 8 * variance), axis=-1)

    def spread(
        self, mean: np.ndarray, variance: np.ndarray, log_scale: np.ndarray | float = -np.inf
    ) -> np.ndarray:
        """To first order: p (1 - p) times the deviation of the score; never wider than between 0 and 1."""
        probability = self.expected(mean, variance)
        coin = probability * (1 - probability)
        return np.minimum(coin * np.sqrt(variance), np.sqrt(coin))
