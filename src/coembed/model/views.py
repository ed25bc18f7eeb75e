"""Inference from views: one small branch for each, their outputs added.

    [mean | log_std] = sum over views v of tanh(F_v W_v + b_v) U_v  + evidence G

and the same with weights of their own for the label. How much there is to go by (evidence: the logarithms of
degree and number of attributes) enters linearly, so that the width of a Gaussian can fall with it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from coembed.kernels import (
    Noise,
    Partition,
    SparseMatrix,
    TransposedMatrix,
    dropped,
    gathered,
    mean_of_all,
    sum_of_all,
    total,
)
from coembed.model.inference import Evidence, dense_layer, glorot, glorot_rows
from coembed.model.parts import row_parts

# Root mean square length of the rows of a view: with it tanh is neither linear nor saturated at the start.
ROW_LENGTH = 4.0


class View(nn.Module):
    """A matrix of fixed features, scaled, and the first layers that read it.

    In training a share of its *columns* is left out in every epoch, for all rows alike: it costs nothing,
    being a matter of the weights.

    Where the items are dealt out by `rows`, the features are one process's; a sparse view has a large table
    of weights, which is dealt out by `columns`. With `by_columns` the process has its columns of all rows.
    """

    def __init__(
        self,
        features: sp.csr_array | np.ndarray,
        hidden: int,
        labelled: bool,
        dropout: float,
        device: torch.device | str,
        dtype: torch.dtype,
        rows: Partition | None = None,
        columns: Partition | None = None,
        by_columns: bool = False,
    ) -> None:
        super().__init__()
        every = rows or Partition.whole(features.shape[0])
        values = np.asarray(features.data if sp.issparse(features) else features)
        length = np.sqrt(float(sum_of_all(_square_sum(values), every)) / max(every.total, 1))
        self.scale = ROW_LENGTH / length if length else 1.0
        self.parts = row_parts(every.own.size)
        self.owned: TransposedMatrix | None = None
        self.matrices: list[SparseMatrix | Tensor] = []
        if by_columns:
            turned = sp.csr_array(features.T)
            self.owned = SparseMatrix(turned, rows=columns, columns=rows, device=device, dtype=dtype).T
        else:
            self.matrices = [_matrix(features, rows, device, dtype) for rows in self.parts]
        self.columns = columns or Partition.whole(features.shape[1])

        def weight() -> nn.Parameter:
            if sp.issparse(features):
                return glorot_rows(self.columns, hidden)
            return nn.Parameter(glorot(features.shape[1], hidden))

        self.weight = weight()
        self.bias = nn.Parameter(torch.zeros(hidden))
        # apart from the others, as they decay faster
        self.label_weight = weight() if labelled else None
        self.label_bias = nn.Parameter(torch.zeros(hidden)) if labelled else None
        self.dropout = dropout

    def first_layer(self, noise: Noise | None = None) -> tuple[Tensor, Tensor]:
        """Weights for the features as they are, without the columns that are left out this time; biases.

        Where the process has only its columns: what all make of the rows that are its own.
        """
        weight: Tensor = self.weight
        bias: Tensor = self.bias
        if self.label_weight is not None and self.label_bias is not None:
            weight = torch.cat([weight, self.label_weight], dim=1)
            bias = torch.cat([bias, self.label_bias])
        weight = weight * self.scale
        if noise is not None and self.dropout:
            weight = weight * noise.kept("columns", self.dropout, self.columns.own, 1, weight)
        return gathered(weight, self.columns) if self.owned is None else self.owned @ weight, bias

    def hidden(self, place: int, weight: Tensor, bias: Tensor) -> Tensor:
        """The hidden layers for the Gaussian and for the label, side by side, of a part of the rows."""
        first = self.matrices[place] @ weight if self.owned is None else weight[self.parts[place]]
        return torch.tanh(first + bias)


class ViewsInference(nn.Module):
    """The inference networks of a type whose items are seen in several views.

    Where items are dealt out to processes: `rows` are those of the type, `columns` by name those of sparse
    views, and `by_columns` the views of which a process has its columns of all rows.
    """

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
        rows: Partition | None = None,
        columns: Mapping[str, Partition] | None = None,
        by_columns: Collection[str] = (),
    ) -> None:
        super().__init__()
        self.rows = rows or Partition.whole(len(evidence))
        own = columns or {}
        self.views = nn.ModuleDict(
            {
                name: View(
                    view,
                    hidden,
                    n_classes > 0,
                    input_dropout,
                    device,
                    dtype,
                    rows,
                    own.get(name),
                    name in by_columns,
                )
                for name, view in views.items()
            }
        )
        self.parts = row_parts(len(evidence))
        self.center = mean_of_all(evidence, self.rows)
        self.evidence = torch.as_tensor(evidence - self.center, device=device, dtype=dtype)
        self.by_evidence = nn.Parameter(torch.zeros(evidence.shape[1], 2 * latent))
        self.second = dense_layer(hidden * len(views), 2 * latent)
        self.dropout = encoder_dropout
        self.label = dense_layer(hidden * len(views), n_classes) if n_classes else None
        self.label_dropout = dropout

    def forward(self, noise: Noise | None = None) -> Evidence:
        """What all views say; with noise, in training, columns and hidden units are left out."""
        read = self.reader(noise)
        output, logits = zip(*(read(place) for place in range(len(self.parts))), strict=True)
        return Evidence(_joined(output), None if self.label is None else _joined(logits))

    def reader(self, noise: Noise | None = None) -> Callable[[int], Evidence]:
        """What works out a part of the rows; the same columns are left out in all of them."""
        layers = [view.first_layer(noise and noise.of(name)) for name, view in self._each()]
        return lambda place: self._part(place, layers, noise)

    def _part(self, place: int, layers: Sequence[tuple[Tensor, Tensor]], noise: Noise | None) -> Evidence:
        both = [view.hidden(place, *layer) for (_, view), layer in zip(self._each(), layers, strict=True)]
        size = both[0].shape[1] // (1 if self.label is None else 2)
        rows = self.rows.own.part(self.parts[place])
        hidden = torch.cat([each[:, :size] for each in both], dim=1)
        hidden = dropped(hidden, self.dropout, noise, "hidden", rows)
        output = self.second(hidden) + self.evidence[self.parts[place]] @ self.by_evidence
        if self.label is None:
            return Evidence(output, None)
        hidden = torch.cat([each[:, size:] for each in both], dim=1)
        hidden = dropped(hidden, self.label_dropout, noise, "label hidden", rows)
        return Evidence(output, self.label(hidden))

    def _each(self) -> list[tuple[str, View]]:
        return [(name, view) for name, view in self.views.items() if isinstance(view, View)]

    def label_shares(self) -> dict[str, float]:
        """How much each view has to say in the label logits: its share of their variance."""
        if self.label is None:
            return {}
        weights = self.label.weight.chunk(len(self.views), dim=1)
        said = []
        for (_, view), weight in zip(self._each(), weights, strict=True):
            layer, size = view.first_layer(), len(view.bias)
            hidden = (view.hidden(place, *layer) for place in range(len(self.parts)))
            parts = [both[:, size:] @ weight.T for both in hidden]
            said.append(_deviations(_joined(parts), self.rows))
        together = torch.stack(said).sum(dim=0)
        agreement = total(torch.stack([(part * together).sum() for part in said]), self.rows)
        whole = float(agreement.sum()) or 1.0
        return {name: float(part) / whole for name, part in zip(self.views, agreement, strict=True)}


def _deviations(logits: Tensor, rows: Partition) -> Tensor:
    """Without what decides nothing: a class's constant over nodes, a node's constant over classes."""
    centred = logits - total(logits.sum(dim=0), rows) / rows.total
    return centred - centred.mean(dim=1, keepdim=True)


def _matrix(
    features: sp.csr_array | np.ndarray, rows: slice, device: torch.device | str, dtype: torch.dtype
) -> SparseMatrix | Tensor:
    if sp.issparse(features):
        whole = rows == slice(0, features.shape[0])
        return SparseMatrix(features if whole else features[rows], device=device, dtype=dtype)
    return torch.as_tensor(features[rows], device=device, dtype=dtype)


def _joined(parts: Sequence[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(list(parts))


def _square_sum(values: np.ndarray) -> float:
    """In float64, without a copy of that size."""
    step = 1 << 16
    return float(
        sum(np.square(values[at : at + step], dtype=np.float64).sum() for at in range(0, len(values), step))
    )
