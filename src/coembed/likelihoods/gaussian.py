"""A value around the score: p(v | s) = N(v; s, scale^2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coembed.likelihoods.likelihood import Likelihood

if TYPE_CHECKING:
    from torch import Tensor


class Gaussian(Likelihood):
    """Values have an error of their own, beside that of both ends.

    Examples
    --------
    >>> Gaussian().spread(np.zeros(1), np.array([9.0]), np.log(4.0))
    array([5.])
    """

    name = "gaussian"
    scaled = True

    def cost(self, score: Tensor, value: Tensor, log_scale: Tensor | None = None) -> Tensor:
        error = value - score
        if log_scale is None:
            return 0.5 * error**2
        return 0.5 * (error * (-log_scale).exp()) ** 2 + log_scale

    def zero(self, score: Tensor) -> Tensor:
        return 0.5 * score**2

    def absent(self, score: Tensor) -> tuple[Tensor, Tensor]:
        return self.zero(score), score

    def expected(self, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        return mean

    def spread(
        self, mean: np.ndarray, variance: np.ndarray, log_scale: np.ndarray | float = -np.inf
    ) -> np.ndarray:
        return np.sqrt(variance + np.exp(2 * np.asarray(log_scale)))
