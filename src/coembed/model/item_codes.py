"""Codes of items as a relation reads them, and what it adds of its own: biases, gains, a direction."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from coembed.distributed.exchange import chosen, mean_of_all
from coembed.distributed.partition import Partition


class ItemCodes(NamedTuple):
    """Codes of the items of a type: `values` (items, choices, C), `weights` (items, choices) or None."""

    values: Tensor
    weights: Tensor | None

    def with_more(self, *columns: Tensor) -> ItemCodes:
        """The codes with more coordinates, the same for all choices of an item or one a choice."""
        more = [c[:, None].expand(-1, self.values.shape[1]) if c.dim() == 1 else c for c in columns]
        return ItemCodes(torch.cat([self.values, torch.stack(more, dim=-1)], dim=2), self.weights)

    def flat(self) -> tuple[Tensor, Tensor | None]:
        """Every choice as a row of its own, with its weight."""
        return self.values.flatten(0, 1), None if self.weights is None else self.weights.flatten()

    def of(self, items: Tensor) -> ItemCodes:
        """The codes of some of these items."""
        return ItemCodes(self.values[items], None if self.weights is None else self.weights[items])

    def chosen(self, items: Tensor, partition: Partition) -> ItemCodes:
        """The codes of some of all items, whoever has them."""
        weights = None if self.weights is None else chosen(self.weights, items, partition)
        return ItemCodes(chosen(self.values, items, partition), weights)


class Bias(nn.Module):
    """A number for every item, linear in its evidence."""

    def __init__(
        self, evidence: np.ndarray, rows: Partition, device: torch.device | str, dtype: torch.dtype
    ) -> None:
        super().__init__()
        self.center = mean_of_all(evidence, rows)
        self.evidence = torch.as_tensor(evidence - self.center, device=device, dtype=dtype)
        self.weight = nn.Parameter(torch.zeros(evidence.shape[1]))
        self.constant = nn.Parameter(torch.zeros(()))

    def forward(self) -> Tensor:
        return self.evidence @ self.weight + self.constant


class Direction(nn.Module):
    """What a relation makes of the codes of its ends: gains and, if it is directed, a turn and a lean."""

    def __init__(self, size: int, directed: bool) -> None:
        super().__init__()
        self.gains = nn.Parameter(torch.ones(size))
        self.turn = nn.Parameter(torch.zeros(size, size)) if directed else None
        self.lean = nn.Parameter(torch.zeros(size)) if directed else None

    @property
    def matrix(self) -> Tensor:
        """diag g + S - S'."""
        straight = torch.diag(self.gains)
        return straight if self.turn is None else straight + self.turn - self.turn.t()

    def ways(self, codes: ItemCodes, lean: Tensor | None) -> tuple[ItemCodes, ItemCodes]:
        """Codes whose inner product is s_ij - s_ji; `lean` is what biases add to it for each item."""
        assert self.turn is not None
        assert self.lean is not None
        own = 2 * (codes.values @ self.lean)
        own = own if lean is None else own + lean[:, None]
        turned = ItemCodes(2 * codes.values @ (self.turn - self.turn.t()), codes.weights)
        ones = torch.ones_like(own)
        return turned.with_more(own, ones), codes.with_more(ones, -own)

    def forward(self, left: ItemCodes, right: ItemCodes) -> tuple[ItemCodes, ItemCodes]:
        if self.turn is None or self.lean is None:
            return ItemCodes(left.values * self.gains, left.weights), right
        out, back = left.values @ self.lean, -(right.values @ self.lean)
        turned = ItemCodes(left.values @ self.matrix, left.weights)
        return turned.with_more(out, torch.ones_like(out)), right.with_more(torch.ones_like(back), back)
