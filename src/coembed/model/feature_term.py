"""A type's own features, decoded from its codes: what alone makes a type Kingma's model M2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coembed.model.inference import dense_layer
from coembed.model.item_codes import ItemCodes


@dataclass(frozen=True, eq=False)
class Features:
    """Features of a type's own, to be decoded from the code by an MLP: p(x | z, y)."""

    matrix: np.ndarray
    likelihood: Literal["bernoulli", "gaussian"] = "gaussian"
    hidden: int = 128
    weight: float = 1.0


class FeatureTerm(nn.Module):
    """-log p(x | z, y) of a type's own features, summed over its items."""

    def __init__(
        self, features: Features, code_size: int, device: torch.device | str, dtype: torch.dtype
    ) -> None:
        super().__init__()
        self.likelihood = features.likelihood
        self.weight = features.weight
        self.target = torch.as_tensor(features.matrix, device=device, dtype=dtype)
        n_features = features.matrix.shape[1]
        self.decoder = nn.Sequential(
            dense_layer(code_size, features.hidden), nn.Tanh(), dense_layer(features.hidden, n_features)
        )
        self.log_scale = nn.Parameter(torch.zeros(n_features))

    def forward(self, codes: ItemCodes) -> Tensor:
        decoded = self.decoder(codes.values)
        target = self.target[:, None].expand_as(decoded)
        if self.likelihood == "bernoulli":
            cost = F.binary_cross_entropy_with_logits(decoded, target, reduction="none")
        else:
            error = (target - decoded) * (-self.log_scale).exp()
            cost = 0.5 * error**2 + self.log_scale + 0.5 * float(np.log(2 * np.pi))
        cost = cost.sum(dim=-1)
        return (cost if codes.weights is None else cost * codes.weights).sum()
