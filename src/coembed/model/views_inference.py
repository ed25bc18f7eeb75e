"""Inference from views: one small branch for each, their outputs added.

    [mean | log_std] = sum over views v of tanh(F_v W_v + b_v) U_v  + evidence G

and the same with weights of their own for the label. How much there is to go by (evidence: the logarithms of
degree and number of attributes) enters linearly, so that the width of a Gaussian can fall with it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from coembed.distributed.exchange import gathered, mean_of_all, sum_of_all, total
from coembed.distributed.partition import Partition
from coembed.kernels import Noise, SparseMatrix, TransposedMatrix, kept_scale, tanh_
from coembed.model.inference import CellMask, Evidence, dense_layer, glorot, glorot_rows
from coembed.model.row_chunks import row_parts

# Root mean square length of the rows of a view: with it tanh is neither linear nor saturated at the start.
ROW_LENGTH = 4.0

# the two networks that read the views, by the names of what is random in their hidden layers
GAUSSIAN, LABEL = "hidden", "label hidden"
AT_ONCE = 512
"""Rows whose hidden units stay in the processor's cache."""


class View(nn.Module):
    """A matrix of fixed features, scaled, and the first layers that read it.

    In training a share of its *columns* is left out in every epoch, for all rows alike: it costs nothing,
    being a matter of the weights.

    Where `place` says which column of a `table` each feature is of, some cells are left out in every epoch:
    those that are to be told in it.

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
        table: str = "",
        place: np.ndarray | None = None,
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
        self.rows = every.own
        self.cells = None if place is None else CellMask(table, torch.as_tensor(place, device=device))

    def first_layer(self, noise: Noise | None = None, label_only: bool = False) -> tuple[Tensor, Tensor]:
        """Weights for the features as they are, without the columns that are left out this time; biases.

        Those of the Gaussian's network and those of the label's, side by side; or the label's alone.
        Where the process has only its columns: what all make of the rows that are its own.
        """
        weight: Tensor = self.weight
        bias: Tensor = self.bias
        if self.label_weight is not None and self.label_bias is not None:
            if label_only:
                weight, bias = self.label_weight, self.label_bias
            else:
                weight = torch.cat([weight, self.label_weight], dim=1)
                bias = torch.cat([bias, self.label_bias])
        weight = weight * self.scale
        if noise is not None and self.dropout and self.cells is None:
            weight = weight * noise.kept("columns", self.dropout, self.columns.own, 1, weight)
        return gathered(weight, self.columns) if self.owned is None else self.owned @ weight, bias

    def before_tanh(self, place: int, weight: Tensor, bias: Tensor, noise: Noise | None = None) -> Tensor:
        """The hidden layers for the Gaussian and for the label, side by side, of a part of the rows."""
        if self.owned is not None:
            return weight[self.parts[place]] + bias
        matrix = self.matrices[place]
        if self.cells is not None and isinstance(matrix, Tensor):
            matrix = self.cells(matrix, self.rows.part(self.parts[place]), noise)
        return torch.addmm(bias, matrix, weight) if isinstance(matrix, Tensor) else matrix @ weight + bias


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
        table: str = "",
        place: np.ndarray | None = None,
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
                    table,
                    place if name == "cells" else None,
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

    def label_logits(self, noise: Noise | None = None) -> Tensor:
        """What all views say of the label, without the work for the Gaussian."""
        assert self.label is not None
        layers = [view.first_layer(noise and noise.of(name), label_only=True) for name, view in self._each()]
        hidden = [self._hidden(place, layers, noise, LABEL)[0] for place in range(len(self.parts))]
        return _joined([self.label(units) for units in hidden])

    def _part(self, place: int, layers: Sequence[tuple[Tensor, Tensor]], noise: Noise | None) -> Evidence:
        names = (GAUSSIAN,) if self.label is None else (GAUSSIAN, LABEL)
        hidden, *for_label = self._hidden(place, layers, noise, *names)
        output = self.second(hidden) + self.evidence[self.parts[place]] @ self.by_evidence
        return Evidence(output, self.label(for_label[0]) if self.label is not None else None)

    def _hidden(
        self, place: int, layers: Sequence[tuple[Tensor, Tensor]], noise: Noise | None, *networks: str
    ) -> tuple[Tensor, ...]:
        """The hidden units of some of the networks, those of all views side by side."""
        both = [
            view.before_tanh(place, *layer, noise)
            for (_, view), layer in zip(self._each(), layers, strict=True)
        ]
        rows = self.rows.own.part(self.parts[place])
        width = both[0].shape[1] * len(both) // len(networks)
        shares = [self.dropout if network == GAUSSIAN else self.label_dropout for network in networks]
        masks = [
            noise.kept(network, share, rows, width, both[0]) if noise and share else None
            for network, share in zip(networks, shares, strict=True)
        ]
        found: tuple[Tensor, ...] = _Hidden.apply(masks, shares, *both)
        return found

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
            hidden = (view.before_tanh(place, *layer).tanh() for place in range(len(self.parts)))
            parts = [both[:, size:] @ weight.T for both in hidden]
            said.append(_deviations(_joined(parts), self.rows))
        together = torch.stack(said).sum(dim=0)
        agreement = total(torch.stack([(part * together).sum() for part in said]), self.rows)
        whole = float(agreement.sum()) or 1.0
        return {name: float(part) / whole for name, part in zip(self.views, agreement, strict=True)}


class _Hidden(torch.autograd.Function):
    """tanh of each view's units, times what is kept of them: all views' of one network side by side.

    Of a view comes a matrix with a share of its columns for each network; the first network takes the
    first share of all. `masks` are those of :meth:`Noise.kept`, of which nothing is left afterwards; None
    leaves nothing out. What this costs is the way to the memory, so some rows at a time are gone through.
    """

    @staticmethod
    def forward(
        ctx: Any, masks: Sequence[Tensor | None], left_out: Sequence[float], *views: Tensor
    ) -> tuple[Tensor, ...]:
        ctx.size = size = views[0].shape[1] // len(masks)
        found = [views[0].new_empty(len(views[0]), size * len(views)) for _ in masks]
        slopes = [torch.ones_like(units) if m is None else m for m, units in zip(masks, found, strict=True)]
        for start in range(0, len(views[0]), AT_ONCE):
            rows = slice(start, start + AT_ONCE)
            for network, (mask, share) in enumerate(zip(masks, left_out, strict=True)):
                units, slope = found[network][rows], slopes[network][rows]
                own = slice(network * size, (network + 1) * size)
                torch.cat([view[rows, own] for view in views], dim=1, out=units)
                tanh_(units)
                # the slope of m tanh is m (1 - tanh^2) = m - (m tanh)^2 / m, for one m > 0 and for m = 0
                if mask is not None:
                    units *= slope
                slope.addcmul_(units, units, value=-1.0 if mask is None else -1 / kept_scale(share))
        ctx.save_for_backward(*slopes)
        return tuple(found)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        slopes = ctx.saved_tensors
        views = [
            slopes[0].new_empty(len(slopes[0]), ctx.size * len(slopes))
            for _ in range(slopes[0].shape[1] // ctx.size)
        ]
        for network, (gradient, slope) in enumerate(zip(gradients, slopes, strict=True)):
            shares = gradient.split(ctx.size, dim=1), slope.split(ctx.size, dim=1)
            for view, share, by in zip(views, *shares, strict=True):
                torch.mul(share, by, out=view.split(ctx.size, dim=1)[network])
        return None, None, *views


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
