"""Inference from views: one small branch for each, their outputs added.

    [mean | log_std] = sum over views v of tanh(F_v W_v + b_v) U_v  + evidence G

and the same with weights of their own for the label. How much there is to go by (evidence: the logarithms of
degree and number of attributes) enters linearly, so that the width of a Gaussian can fall with it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from coembed.kernels import SparseMatrix
from coembed.model.inference import Evidence, dense_layer, glorot

# Root mean square length of the rows of a view: with it tanh is neither linear nor saturated at the start.
ROW_LENGTH = 4.0


class View(nn.Module):
    """A matrix of fixed features, scaled, and the first layers that read it.

    In training a share of its *columns* is left out in every epoch, for all rows alike: it costs nothing,
    being a matter of the weights.
    """

    def __init__(
        self,
        features: sp.csr_array | np.ndarray,
        hidden: int,
        labelled: bool,
        dropout: float,
        device: torch.device | str,
        dtype: torch.dtype,
    ) -> None:
        super().__init__()
        values = np.asarray(features.data if sp.issparse(features) else features)
        length = float(np.sqrt((values.astype(np.float64) ** 2).sum() / max(features.shape[0], 1)))
        self.scale = ROW_LENGTH / length if length else 1.0
        self.matrix: SparseMatrix | Tensor
        if sp.issparse(features):
            self.matrix = SparseMatrix(sp.csr_array(features * self.scale), device=device, dtype=dtype)
        else:
            self.matrix = torch.as_tensor(features * self.scale, device=device, dtype=dtype)
        self.weight = nn.Parameter(glorot(features.shape[1], hidden))
        self.bias = nn.Parameter(torch.zeros(hidden))
        # apart from the others, as they decay faster
        self.label_weight = nn.Parameter(glorot(features.shape[1], hidden)) if labelled else None
        self.label_bias = nn.Parameter(torch.zeros(hidden)) if labelled else None
        self.columns = nn.Dropout(dropout)

    def forward(self) -> tuple[Tensor, Tensor | None]:
        """The hidden layers for the Gaussian and for the label."""
        weight: Tensor = self.weight
        bias: Tensor = self.bias
        if self.label_weight is not None and self.label_bias is not None:
            weight = torch.cat([weight, self.label_weight], dim=1)
            bias = torch.cat([bias, self.label_bias])
        kept = self.columns(weight.new_ones(len(weight), 1))
        hidden = torch.tanh(self.matrix @ (weight * kept) + bias)
        size = len(self.bias)
        return hidden[:, :size], None if self.label_weight is None else hidden[:, size:]


class ViewsInference(nn.Module):
    """The inference networks of a type whose items are seen in several views."""

    def __init__(
        self,
        views: Mapping[str, sp.csr_array | np.ndarray],
        evidence: np.ndarray,
        hidden: int,
        latent: int,
        n_classes: int = 0,
        *,
        dropout: float = 0.0,
        encoder_dropout: float = 0.0,
        input_dropout: float = 0.0,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.views = nn.ModuleDict(
            {
                name: View(view, hidden, n_classes > 0, input_dropout, device, dtype)
                for name, view in views.items()
            }
        )
        self.center = evidence.mean(axis=0)
        self.evidence = torch.as_tensor(evidence - self.center, device=device, dtype=dtype)
        self.by_evidence = nn.Parameter(torch.zeros(evidence.shape[1], 2 * latent))
        self.second = dense_layer(hidden * len(views), 2 * latent)
        self.dropout = nn.Dropout(encoder_dropout)
        self.label = dense_layer(hidden * len(views), n_classes) if n_classes else None
        self.label_dropout = nn.Dropout(dropout)

    def forward(self) -> Evidence:
        hidden, label_hidden = zip(*(view() for view in self.views.values()), strict=True)
        output = self.second(self.dropout(torch.cat(hidden, dim=1))) + self.evidence @ self.by_evidence
        if self.label is None:
            return Evidence(output, None)
        return Evidence(output, self.label(self.label_dropout(torch.cat(label_hidden, dim=1))))

    def label_shares(self) -> dict[str, float]:
        """How much each view has to say in the label logits: its share of their variance."""
        if self.label is None:
            return {}
        hidden = [view()[1] for view in self.views.values()]
        weights = self.label.weight.chunk(len(hidden), dim=1)
        said = [_deviations(values @ weight.T) for values, weight in zip(hidden, weights, strict=True)]
        total = torch.stack(said).sum(dim=0)
        whole = float((total**2).sum()) or 1.0
        return {
            name: float((part * total).sum()) / whole for name, part in zip(self.views, said, strict=True)
        }


def _deviations(logits: Tensor) -> Tensor:
    """Without what decides nothing: a class's constant over nodes, a node's constant over classes."""
    centred = logits - logits.mean(dim=0)
    return centred - centred.mean(dim=1, keepdim=True)
