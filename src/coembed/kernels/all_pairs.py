"""Sums over all pairs of rows, without ever holding all pairs.

The sum of a cost over all pairs is what the absent pairs of a relation cost. Value and gradient of a block
are made together in the forward pass, so that one block at a time is all the memory it takes. Sums of scores
and of their squares have closed forms, through two small Gram matrices: a Gaussian relation needs no more,
and of any other cost a random block need only tell what a parabola leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

Cost = Callable[[Tensor], tuple[Tensor, Tensor]]
"""What each score costs, and the slope of that; the scores may be written over."""

SHORT = 256
"""Values that are added up in their own precision."""


class Parabola(NamedTuple):
    """slope s + curve s^2: the part of a cost of which the sum over all pairs has a closed form."""

    slope: float
    curve: float

    def rest_of(self, cost: Cost) -> Cost:
        """What it leaves of a cost.

        Examples
        --------
        >>> def square(scores): return scores**2, 2 * scores
        >>> [float(part) for part in Parabola(0.0, 0.5).rest_of(square)(torch.tensor(3.0))]
        [4.5, 3.0]
        """

        def rest(scores: Tensor) -> tuple[Tensor, Tensor]:
            bent = self.curve * scores
            values, slopes = scores * (bent + self.slope), 2 * bent + self.slope
            whole, whole_slopes = cost(scores)
            return whole - values, whole_slopes - slopes

        return rest


class Block(NamedTuple):
    """A random block of the matrix of all pairs; `scale` makes its sum an unbiased estimate of the whole."""

    rows: Tensor
    columns: Tensor
    scale: float


def random_block(n_rows: int, n_columns: int, size: int, same: bool, generator: torch.Generator) -> Block:
    """At most `size` rows and columns drawn without replacement.

    With `same`, rows and columns are the same items, and the two draws are disjoint: every ordered pair
    i != j is as likely as any other and the diagonal never occurs.
    """
    if same:
        size = min(size, n_rows // 2)
        drawn = torch.randperm(n_rows, generator=generator)
        return Block(drawn[:size], drawn[size : 2 * size], n_rows * (n_rows - 1) / size**2)
    rows = torch.randperm(n_rows, generator=generator)[:size]
    columns = torch.randperm(n_columns, generator=generator)[:size]
    return Block(rows, columns, n_rows * n_columns / (len(rows) * len(columns)))


def exact_sum(values: Tensor) -> Tensor:
    """The sum in float64, without a copy of the values in it: short sums as they are, their sum in float64.

    Examples
    --------
    >>> exact_sum(torch.ones(3001))
    tensor(3001., dtype=torch.float64)
    """
    flat = values.flatten()
    whole = len(flat) // SHORT * SHORT
    total = flat[:whole].view(-1, SHORT).sum(dim=1).sum(dtype=torch.float64)
    return total if whole == len(flat) else total + flat[whole:].sum(dtype=torch.float64)


def pairwise_sum(
    cost: Cost,
    left: Tensor,
    right: Tensor,
    left_weight: Tensor | None = None,
    right_weight: Tensor | None = None,
    block: int = 1024,
) -> Tensor:
    """Sum over all (i, j) of weight_i weight_j cost(<left_i, right_j>), in float64.

    Examples
    --------
    >>> def square(scores): return scores**2, 2 * scores
    >>> float(pairwise_sum(square, torch.tensor([[1.0], [2.0]]), torch.tensor([[3.0]])))
    45.0
    """
    total: Tensor = _PairwiseSum.apply(cost, left, right, left_weight, right_weight, block, False)
    return total


def pairwise_sum_symmetric(
    cost: Cost, items: Tensor, weight: Tensor | None = None, block: int = 1024
) -> Tensor:
    """As :func:`pairwise_sum` of the items with themselves, diagonal included, at half the work."""
    total: Tensor = _PairwiseSum.apply(cost, items, items, weight, weight, block, True)
    return total


def square_sum(
    left: Tensor, right: Tensor, left_weight: Tensor | None = None, right_weight: Tensor | None = None
) -> Tensor:
    """Sum over all (i, j) of weight_i weight_j <left_i, right_j>^2, from the two Gram matrices.

    Examples
    --------
    >>> float(square_sum(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0], [0.0, 1.0]])))  # 11^2 + 2^2
    125.0
    """
    return (gram(left, left_weight).double() * gram(right, right_weight).double()).sum()


def weighted_sum(items: Tensor, weight: Tensor | None) -> Tensor:
    """Sum over i of weight_i items_i."""
    return items.sum(dim=0) if weight is None else weight @ items


def gram(items: Tensor, weight: Tensor | None) -> Tensor:
    """Sum over i of weight_i items_i items_i^T."""
    return items.t() @ (items if weight is None else items * weight[:, None])


class _PairwiseSum(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        cost: Cost,
        left: Tensor,
        right: Tensor,
        left_weight: Tensor | None,
        right_weight: Tensor | None,
        block: int,
        symmetric: bool,
    ) -> Tensor:
        total = left.new_zeros((), dtype=torch.float64)
        to_left, to_right = torch.zeros_like(left), torch.zeros_like(right)
        to_left_weight, to_right_weight = (
            None if w is None else torch.zeros_like(w) for w in (left_weight, right_weight)
        )
        for start in range(0, len(left), block):
            rows = slice(start, start + block)
            for first in range(start if symmetric else 0, len(right), block):
                columns = slice(first, first + block)
                # off the diagonal a block of a symmetric sum stands for its mirror image, too
                times = 2.0 if symmetric and first != start else 1.0
                logits = left[rows] @ right[columns].t()
                v = None if left_weight is None else left_weight[rows, None]
                w = None if right_weight is None else right_weight[columns]

                values, slopes = cost(logits)
                if to_left_weight is not None:
                    to_left_weight[rows] += times * (values.sum(dim=1) if w is None else values @ w)
                if v is not None:
                    values *= v
                if to_right_weight is not None and w is not None:
                    to_right_weight[columns] += times * values.sum(dim=0)
                    values *= w
                total += times * exact_sum(values)

                slopes = slopes if v is None else slopes.mul_(v)
                slopes = slopes if w is None else slopes.mul_(w)
                to_left[rows].add_(slopes @ right[columns], alpha=times)
                to_right[columns].add_(slopes.t() @ left[rows], alpha=times)
        ctx.gradients = (to_left, to_right, to_left_weight, to_right_weight)
        return total

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        scale = gradients[0]
        found = (None if g is None else g * scale.to(g.dtype) for g in ctx.gradients)
        return None, *found, None, None
