"""Inference networks: from the inputs of a type's items to their Gaussians and labels.

The first layers of the Gaussian's and the label's network read the same sparse inputs, so they are one
product: [H | H'] = F [W0 | W0'].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from coembed.distributed.partition import Partition, rows_of, table
from coembed.distributed.row_range import Rows
from coembed.kernels import Noise, SparseMatrix, TransposedMatrix, dropped, hidden_cells, tanh_of

Matrix = SparseMatrix | TransposedMatrix | Tensor


class Evidence(NamedTuple):
    """What the inputs say of each item: [mean | log_std] before the label's own shift, and label logits."""

    output: Tensor
    label_logits: Tensor | None


class CellMask(NamedTuple):
    """Of features made of cells: the table, and the column that each is of."""

    table: str
    place: Tensor

    def __call__(self, features: Tensor, rows: Rows, noise: Noise | None) -> Tensor:
        """The features of some rows without the cells that are to be told in this step, if it is one."""
        if noise is None:
            return features
        hidden = hidden_cells(noise, self.table, rows, int(self.place.max()) + 1, features)
        return features * ~hidden[:, self.place]


class Inputs(nn.Module):
    """A linear layer on the concatenation of matrices that need not be concatenated.

    `row_scale` multiplies the rows of all of them, after the product, where it costs next to nothing. The
    weights of sparse matrices are dealt out as the columns of these are. `cells` by position are of cells.
    """

    def __init__(
        self,
        matrices: Sequence[Matrix],
        outputs: Sequence[int],
        row_scale: Tensor | None = None,
        cells: Mapping[int, CellMask] | None = None,
    ) -> None:
        super().__init__()
        self.matrices = list(matrices)
        self.cells = cells or {}
        self.row_scale = row_scale
        self.outputs = list(outputs)
        fan_in = sum(matrix.shape[1] for matrix in matrices)
        self.weights = nn.ParameterList(_first_layer(matrix, fan_in, outputs) for matrix in matrices)

    def forward(self, noise: Noise | None = None, rows: Rows | None = None) -> tuple[Tensor, ...]:
        matrices = list(self.matrices)
        for place, mask in self.cells.items():
            cells = matrices[place]
            assert isinstance(cells, Tensor)
            matrices[place] = mask(cells, rows or Rows.all(len(cells)), noise)
        total = matrices[0] @ self.weights[0]
        for matrix, weight in zip(matrices[1:], list(self.weights)[1:], strict=True):
            total += matrix @ weight
        if self.row_scale is not None:
            total = total * self.row_scale[:, None]
        return total.split(self.outputs, dim=1)


class DenseInference(nn.Module):
    """Two dense layers with tanh; a second pair of layers for the label, if there is one.

    Only with noise, in training, are hidden units and cells left out. `names` tell the inputs apart.
    """

    def __init__(
        self,
        matrices: Sequence[Matrix],
        hidden: int,
        latent: int,
        n_classes: int = 0,
        dropout: float = 0.0,
        row_scale: Tensor | None = None,
        encoder_dropout: float = 0.0,
        rows: Partition | None = None,
        names: Sequence[str] = (),
        cells: Mapping[int, CellMask] | None = None,
    ) -> None:
        super().__init__()
        self.rows = rows
        self.names = tuple(names)
        self.encoder_dropout = encoder_dropout
        self.inputs = Inputs(matrices, [hidden, hidden] if n_classes else [hidden], row_scale, cells)
        self.bias = nn.Parameter(torch.zeros(hidden))
        self.second = dense_layer(hidden, 2 * latent)
        self.label = LabelHead(hidden, n_classes, dropout) if n_classes else None

    def forward(self, noise: Noise | None = None) -> Evidence:
        rows = rows_of(self.rows, self.inputs.matrices[0].shape[0])
        first, *for_label = self.inputs(noise, rows)
        hidden = dropped(tanh_of(first + self.bias), self.encoder_dropout, noise, "hidden", rows)
        return Evidence(self.second(hidden), self.label(for_label[0], noise, rows) if self.label else None)


class GraphInference(nn.Module):
    """Two layers of propagation, Ã tanh(Ã F W0) W1, beside the label's dense layers on F."""

    def __init__(
        self,
        matrices: Sequence[Matrix],
        graph: Propagation,
        hidden: int,
        latent: int,
        n_classes: int = 0,
        dropout: float = 0.0,
        row_scale: Tensor | None = None,
        encoder_dropout: float = 0.0,
        rows: Partition | None = None,
        names: Sequence[str] = (),
        cells: Mapping[int, CellMask] | None = None,
    ) -> None:
        super().__init__()
        self.rows = rows
        self.names = tuple(names)
        self.encoder_dropout = encoder_dropout
        self.inputs = Inputs(matrices, [hidden, hidden] if n_classes else [hidden], row_scale, cells)
        self.graph = graph
        self.second = nn.Parameter(glorot(hidden, 2 * latent))
        self.label = LabelHead(hidden, n_classes, dropout) if n_classes else None

    def forward(self, noise: Noise | None = None) -> Evidence:
        rows = rows_of(self.rows, self.inputs.matrices[0].shape[0])
        first, *for_label = self.inputs(noise, rows)
        hidden = dropped(tanh_of(self.graph(first)), self.encoder_dropout, noise, "hidden", rows)
        output = self.graph(hidden @ self.second)
        return Evidence(output, self.label(for_label[0], noise, rows) if self.label else None)


class LabelHead(nn.Module):
    """The discriminator after its first product: tanh, then one dense layer to the logits."""

    def __init__(self, hidden: int, n_classes: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = dropout
        self.bias = nn.Parameter(torch.zeros(hidden))
        self.second = dense_layer(hidden, n_classes)

    def forward(self, first: Tensor, noise: Noise | None, rows: Rows) -> Tensor:
        hidden = dropped(tanh_of(first + self.bias), self.dropout, noise, "label hidden", rows)
        logits: Tensor = self.second(hidden)
        return logits


class Propagation:
    """Ã = D^-1/2 (A + I) D^-1/2, from the one stored A: scale, multiply, scale.

    Where rows are dealt out, `degrees` are those of a process's own.
    """

    def __init__(self, links: SparseMatrix, degrees: Tensor) -> None:
        self.links = links
        self.scale = (degrees + 1).rsqrt()[:, None]

    def __call__(self, items: Tensor) -> Tensor:
        moved: Tensor = _Propagated.apply(items, self.links, self.scale)
        return moved


class _Propagated(torch.autograd.Function):
    """Ã is symmetric: its gradient is the same product."""

    @staticmethod
    def forward(ctx: Any, items: Tensor, links: SparseMatrix, scale: Tensor) -> Tensor:
        ctx.links, ctx.scale = links, scale
        scaled = items * scale
        return links.times(scaled).add_(scaled).mul_(scale)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        scaled = gradients[0] * ctx.scale
        return ctx.links.times(scaled).add_(scaled).mul_(ctx.scale), None, None


def _first_layer(matrix: Matrix, fan_in: int, outputs: Sequence[int]) -> nn.Parameter:
    if isinstance(matrix, Tensor):
        return nn.Parameter(torch.cat([glorot(matrix.shape[1], width, fan_in) for width in outputs], dim=1))
    parts = [glorot_rows(matrix.columns, width, fan_in) for width in outputs]
    return table(torch.cat([part.detach() for part in parts], dim=1), matrix.columns)


def glorot(n_in: int, n_out: int, fan_in: int | None = None) -> Tensor:
    """Uniform weights that keep the variance of a layer with `fan_in` inputs in all."""
    bound = (6 / ((fan_in or n_in) + n_out)) ** 0.5
    return torch.empty(n_in, n_out).uniform_(-bound, bound)


def glorot_rows(partition: Partition, width: int, fan_in: int | None = None) -> nn.Parameter:
    """A table of such weights of which each process has its rows, and draws no others."""
    # the same number in every process, as all have drawn the same so far
    seed = int(torch.randint(2**31, ()))
    bound = (6 / ((fan_in or partition.total) + width)) ** 0.5
    rows = Noise(seed).uniform("weights", partition.own, width, torch.empty(0))
    return table(rows.mul_(2 * bound).sub_(bound), partition)


def dense_layer(n_in: int, n_out: int) -> nn.Linear:
    layer = nn.Linear(n_in, n_out)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer
