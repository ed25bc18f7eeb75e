"""Present or absent: p(1 | s) = sigmoid(s)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from coembed.likelihoods.likelihood import Likelihood

if TYPE_CHECKING:
    from torch import Tensor

_POINTS, _POINT_WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
_POINT_WEIGHTS = _POINT_WEIGHTS / _POINT_WEIGHTS.sum()


class Bernoulli(Likelihood):
    """A pair is there or not.

    Examples
    --------
    >>> Bernoulli().expected(np.array([2.0, 2.0]), np.array([0.0, 50.0])).round(2)
    array([0.88, 0.61])
    """

    name = "bernoulli"
    of_presence = True
    balanced = True

    def cost(self, score: Tensor, value: Tensor, log_scale: Tensor | None = None) -> Tensor:
        from torch.nn.functional import softplus

        return softplus(score) - value * score

    def zero(self, score: Tensor) -> Tensor:
        from torch.nn.functional import softplus

        return softplus(score)

    def absent(self, score: Tensor) -> tuple[Tensor, Tensor]:
        return self.zero(score), score.sigmoid_()

    def nearest_parabola(self, mean: float, variance: float) -> tuple[float, float]:
        # by Stein's lemma b + 2 c mean and 2 c are the means of the first and the second derivative
        slopes = expit(mean + np.sqrt(variance) * _POINTS)
        curve = float((slopes * (1 - slopes)) @ _POINT_WEIGHTS) / 2
        return float(slopes @ _POINT_WEIGHTS) - 2 * curve * mean, curve

    def beyond_absent(self, score: Tensor, value: Tensor, weight: float = 1.0) -> Tensor:
        from torch.nn.functional import softplus

        # w softplus(-s) - softplus(s), with softplus(s) = s + softplus(-s)
        return (weight - 1) * softplus(-score) - score

    def expected(self, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """E[sigmoid(s)] in the probit-style closed form sigmoid(m / sqrt(1 + pi v / 8))."""
        return expit(mean / np.sqrt(1 + np.pi / 8 * variance))

    def spread(
        self, mean: np.ndarray, variance: np.ndarray, log_scale: np.ndarray | float = -np.inf
    ) -> np.ndarray:
        """Of sigmoid(s), by Gauss-Hermite quadrature; meant for a few pairs."""
        values = expit(mean[..., None] + np.sqrt(variance)[..., None] * _POINTS)
        expected = values @ _POINT_WEIGHTS
        return np.sqrt(np.maximum(values**2 @ _POINT_WEIGHTS - expected**2, 0))
