"""The Gaussian that an item is."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

# Adam at 0.01 can throw log_std far out in the first epochs; e^-10 and e^3 are beyond any use.
LOG_STD_RANGE = (-10.0, 3.0)


class Gaussian(NamedTuple):
    """Diagonal Gaussians, the last axis being the coordinates: q(z | F, y).

    Examples
    --------
    >>> import torch
    >>> Gaussian(torch.tensor([[1.0, 2.0]]), torch.zeros(1, 2)).kl_to_standard_normal()
    tensor([2.5000])
    """

    mean: Tensor
    log_std: Tensor

    @classmethod
    def from_output(cls, output: Tensor) -> Gaussian:
        """Split a network's last layer [mean | log_std]."""
        mean, log_std = output.chunk(2, dim=-1)
        return cls(mean, log_std.clamp(*LOG_STD_RANGE))

    def sample(self, noise: Tensor) -> Tensor:
        """Move standard normal noise to this Gaussian (the reparameterisation)."""
        return self.mean + noise * self.log_std.exp()

    def kl_to_standard_normal(self) -> Tensor:
        """KL(q || N(0, I)) of every item."""
        variance = (2 * self.log_std).exp()
        return 0.5 * (self.mean**2 + variance - 2 * self.log_std - 1).sum(dim=-1)
