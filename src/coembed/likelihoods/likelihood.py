"""What every likelihood can say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor


class Likelihood(ABC):
    """p(value | score) of a pair, where the score is an inner product of codes and biases.

    Where absent means no, every pair has a value, and those that are not stored have the value zero: then
    the cost of a relation is the sum of :meth:`absent` over all pairs, and of :meth:`beyond_absent` over the
    stored ones. Where absent means unknown, it is the sum of :meth:`cost` over the stored ones.
    """

    name: ClassVar[str]
    of_presence: ClassVar[bool] = False
    """Whether it explains that a pair is there, whatever its value."""
    scaled: ClassVar[bool] = False
    """Whether values have a scale of their own, learnt for each target."""
    balanced: ClassVar[bool] = False
    """Whether present and absent pairs may be weighed alike."""
    grouped: ClassVar[bool] = False
    """Whether the targets of a column share one value among them."""

    @abstractmethod
    def cost(self, score: Tensor, value: Tensor, log_scale: Tensor | None = None) -> Tensor:
        """-log p(value | score), pair by pair, but for a constant of the value."""

    @abstractmethod
    def zero(self, score: Tensor) -> Tensor:
        """The cost of the value zero."""

    @abstractmethod
    def absent(self, score: Tensor) -> tuple[Tensor, Tensor]:
        """The cost of the value zero and its slope, without gradients; the scores may be written over."""

    def nearest_parabola(self, mean: float, variance: float) -> tuple[float, float]:
        """b and c of the b s + c s^2 that :meth:`absent` is nearest to, but for a constant, where scores are
        normal; zeros if there is none worth it."""
        return 0.0, 0.0

    def beyond_absent(self, score: Tensor, value: Tensor, weight: float = 1.0) -> Tensor:
        """How much more a stored value costs (times a weight) than the value zero."""
        return weight * self.cost(score, value) - self.zero(score)

    @abstractmethod
    def expected(self, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """The expected value, where the score is normal with that mean and variance."""

    @abstractmethod
    def spread(
        self, mean: np.ndarray, variance: np.ndarray, log_scale: np.ndarray | float = -np.inf
    ) -> np.ndarray:
        """Standard deviation of the expected value: how far the uncertainty of both ends can move it."""
