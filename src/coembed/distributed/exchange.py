"""What processes tell each other, with gradients; for one process all of it is the identity.

Every process works out the same loss. So that gradients add up to those of one loss, each takes 1 / P of it
backwards: the adjoint of a sum over processes is then a sum again, and every other pair below is
adjoint, too (what one process shows to all, all return to it).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from coembed.distributed.partition import Partition, held_by

PairSum = Callable[[int, list[Tensor | None], list[Tensor | None]], Tensor]
"""A number from this process's tensors and those of process q, given as (q, own, theirs)."""


def total(part: Tensor, partition: Partition) -> Tensor:
    """The sum of what every process has."""
    if partition.processes == 1:
        return part
    summed: Tensor = _Total.apply(part)
    return summed


def gathered(own: Tensor, partition: Partition) -> Tensor:
    """All rows of a table that is dealt out: for tables that are small beside the nodes."""
    if partition.processes == 1:
        return own
    rows: Tensor = _Gathered.apply(own, partition)
    return rows


def chosen(own: Tensor, items: Tensor, partition: Partition) -> Tensor:
    """Some of all rows, in the order of `items`."""
    if partition.processes == 1:
        return own[items]
    here = (items >= partition.own.start) & (items < partition.own.stop)
    rows = own.new_zeros((len(items), *own.shape[1:]))
    return total(rows.index_copy(0, here.nonzero().squeeze(1), own[partition.mine(items)]), partition)


def collected(own: Tensor, partition: Partition | None) -> Tensor:
    """All rows in the first process; the others keep their own."""
    if partition is None or partition.processes == 1:
        return own
    own = own.detach().contiguous()
    if partition.rank:
        if own.numel():
            dist.send(own, 0)
        return own
    whole = own.new_empty((partition.total, *own.shape[1:]))
    for process in range(partition.processes):
        rows = partition.rows(process)
        share = whole[rows.start : rows.stop]
        if not process:
            share.copy_(own)
        elif share.numel():
            dist.recv(share, process)
    return whole


def in_turn(own: Tensor, partition: Partition) -> Iterator[tuple[int, Tensor]]:
    """The rows of one process after the other, so that never more than one share is held beside one's own."""
    own = own.detach().contiguous()
    for process in range(partition.processes):
        if process == partition.rank:
            share = own
        else:
            share = own.new_empty((partition.rows(process).size, *own.shape[1:]))
        if partition.processes > 1 and share.numel():
            dist.broadcast(share, process)
        yield process, share


def returned(part: Tensor, process: int, partition: Partition) -> None:
    """Add what all have for one process, in that process's tensor; the others' is spoilt."""
    if partition.processes > 1 and part.numel():
        dist.reduce(part, process)


def pair_sum(
    own: Sequence[Tensor | None], shown: Sequence[Tensor | None], partition: Partition, part: PairSum
) -> Tensor:
    """The sum over processes q of part(q, own, what q shows): pairs of own rows with the rows of all.

    The gradients are made on the way, so that rows of others are forgotten before those of the next come.
    The sum is this process's only; `shown` are rows of `partition`.
    """
    if partition.processes == 1:
        return part(0, list(own), list(shown))
    summed: Tensor = _PairSum.apply(part, partition, len(own), *own, *shown)
    return summed


def sum_of_all(part: np.ndarray | float, partition: Partition) -> np.ndarray:
    """The sum over processes of an array, in float64: for what is worked out once."""
    array = np.array(part, dtype=np.float64)
    if partition.processes > 1:
        device = "cuda" if dist.get_backend() == "nccl" else "cpu"
        shared = torch.as_tensor(array).to(device)
        dist.all_reduce(shared)
        array = shared.cpu().numpy()
    return array


def summed_gradients(weights: Iterable[torch.nn.Parameter], processes: int) -> None:
    """Add up the gradients of the weights that every process has; others are whole where they are."""
    if processes == 1:
        return
    common = [weight for weight in weights if weight.requires_grad and held_by(weight) is None]
    for weight in common:
        weight.grad = torch.zeros_like(weight) if weight.grad is None else weight.grad
    flat = torch.cat([weight.grad.flatten() for weight in common if weight.grad is not None])
    dist.all_reduce(flat)
    for weight, part in zip(common, flat.split([weight.numel() for weight in common]), strict=True):
        assert weight.grad is not None
        weight.grad.copy_(part.view_as(weight))


def all_true(here: bool, processes: int) -> bool:
    """Whether it is so in every process."""
    if processes == 1:
        return here
    flag = torch.tensor(float(here), device="cuda" if dist.get_backend() == "nccl" else "cpu")
    dist.all_reduce(flag, dist.ReduceOp.MIN)
    return bool(flag)


def mean_of_all(own: np.ndarray, partition: Partition) -> np.ndarray:
    """The mean row, of the rows of all processes."""
    return sum_of_all(own.sum(axis=0, dtype=np.float64), partition) / max(partition.total, 1)


class _Total(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, part: Tensor) -> Tensor:
        summed = part.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(summed)
        return summed

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        summed = gradients[0].clone(memory_format=torch.contiguous_format)
        dist.all_reduce(summed)
        return summed


class _Gathered(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, own: Tensor, partition: Partition) -> Tensor:
        ctx.partition = partition
        rows = own.new_empty((partition.total, *own.shape[1:]))
        for process, share in in_turn(own, partition):
            at = partition.rows(process)
            rows[at.start : at.stop] = share
        return rows

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        partition: Partition = ctx.partition
        summed = gradients[0].clone(memory_format=torch.contiguous_format)
        dist.all_reduce(summed)
        return summed[partition.own.start : partition.own.stop].clone(), None


class _PairSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, part: PairSum, partition: Partition, n_own: int, *tensors: Tensor | None) -> Tensor:
        own, shown = list(tensors[:n_own]), tensors[n_own:]
        # the same questions in all processes: what needs a gradient here needs it everywhere
        wanted = [place for place, needed in enumerate(ctx.needs_input_grad[3:]) if needed]
        gradients = [torch.zeros_like(t) if t is not None else None for t in tensors]
        summed: Tensor | None = None
        shares = [None if t is None else in_turn(t, partition) for t in shown]
        for process in range(partition.processes):
            theirs = [None if share is None else next(share)[1] for share in shares]
            leaves = [None if t is None else t.detach() for t in (*own, *theirs)]
            for place in wanted:
                leaf = leaves[place]
                assert leaf is not None
                leaves[place] = leaf.requires_grad_()
            with torch.enable_grad():
                found = part(process, leaves[:n_own], leaves[n_own:])
            slopes: list[Tensor | None] = [None] * len(wanted)
            if wanted and found.requires_grad:
                asked = [leaf for place in wanted if (leaf := leaves[place]) is not None]
                slopes = list(torch.autograd.grad(found, asked, allow_unused=True))
            for place, slope in zip(wanted, slopes, strict=True):
                gradient = gradients[place]
                assert gradient is not None
                if place < n_own:
                    if slope is not None:
                        gradient += slope
                    continue
                leaf = leaves[place]
                assert leaf is not None
                slope = torch.zeros_like(leaf) if slope is None else slope.contiguous()
                returned(slope, process, partition)
                if process == partition.rank:
                    gradients[place] = slope
            found = found.detach()
            summed = found if summed is None else summed + found
        ctx.gradients = gradients
        assert summed is not None
        return summed

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        scale = gradients[0]
        return None, None, None, *(None if g is None else g * scale.to(g.dtype) for g in ctx.gradients)
