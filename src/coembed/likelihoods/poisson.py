"""A count: p(v | s) = Poisson(v; exp(s))."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coembed.likelihoods.likelihood import Likelihood

if TYPE_CHECKING:
    from torch import Tensor

MOST = 15.0
"""Scores beyond it cost as if they grew no faster than linearly: exp of a first, wild guess overflows."""


class Poisson(Likelihood):
    """How often.

    Examples
    --------
    >>> Poisson().expected(np.log([3.0, 3.0]), np.array([0.0, 1.0])).round(2)
    array([3.  , 4.95])
    """

    name = "poisson"

    def cost(self, score: Tensor, value: Tensor, log_scale: Tensor | None = None) -> Tensor:
        return self.zero(score) - value * score

    def absent(self, score: Tensor) -> tuple[Tensor, Tensor]:
        return self.zero(score), score.clamp_max(MOST).exp()

    def zero(self, score: Tensor) -> Tensor:
        inside = score.clamp_max(MOST)
        return inside.exp() * (1 + score - inside)

    def expected(self, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        return np.exp(np.minimum(mean + variance / 2, MOST))

    def spread(
        self, mean: np.ndarray, variance: np.ndarray, log_scale: np.ndarray | float = -np.inf
    ) -> np.ndarray:
        """Of the rate, which is log-normal."""
        rate = self.expected(mean, variance)
        return rate * np.sqrt(np.expm1(np.minimum(variance, MOST)))
