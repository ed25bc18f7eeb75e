"""How the rows of all items are dealt out to the processes of a job."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from coembed.distributed.row_range import Rows


@dataclass(frozen=True)
class Partition:
    """Process p has the rows from ``bounds[p]`` to ``bounds[p + 1]``; this one is process `rank`.

    Examples
    --------
    >>> part = Partition.even(10, processes=3, rank=1)
    >>> part.bounds, part.own
    ((0, 3, 7, 10), Rows(start=3, stop=7, total=10))
    >>> part.mine(torch.tensor([6, 9, 3]))
    tensor([3, 0])
    """

    bounds: tuple[int, ...]
    rank: int = 0

    @classmethod
    def whole(cls, total: int) -> Partition:
        """All rows in one process."""
        return cls((0, total))

    @classmethod
    def even(cls, total: int, processes: int, rank: int) -> Partition:
        """As many rows for every process as for any other, up to one."""
        return cls(tuple(round(total * p / processes) for p in range(processes + 1)), rank)

    @classmethod
    def balanced(cls, costs: np.ndarray, processes: int, rank: int) -> Partition:
        """As much work for every process: `costs` are those of all rows before each, from 0 to the total.

        Examples
        --------
        >>> Partition.balanced(np.array([0, 6, 7, 8, 9, 12]), processes=2, rank=0).bounds
        (0, 1, 5)
        """
        shares = costs[-1] * np.arange(1, processes) / processes
        cuts = np.searchsorted(costs, shares)
        return cls((0, *(int(cut) for cut in cuts), len(costs) - 1), rank)

    def restricted(self, items: np.ndarray) -> Partition:
        """How some of the rows, in their order, are dealt out.

        Examples
        --------
        >>> Partition((0, 4, 10), 1).restricted(np.array([1, 5, 6])).bounds
        (0, 1, 3)
        """
        return Partition(tuple(int(cut) for cut in np.searchsorted(items, self.bounds)), self.rank)

    @property
    def processes(self) -> int:
        return len(self.bounds) - 1

    @property
    def total(self) -> int:
        return self.bounds[-1]

    @property
    def own(self) -> Rows:
        return self.rows(self.rank)

    def rows(self, process: int) -> Rows:
        return Rows(self.bounds[process], self.bounds[process + 1], self.total)

    def mine(self, items: Tensor) -> Tensor:
        """Those of some items that this process has, counted from its first."""
        if self.processes == 1:
            return items
        own = self.own
        return items[(items >= own.start) & (items < own.stop)] - own.start


def rows_of(partition: Partition | None, count: int) -> Rows:
    """The rows that a process has; all, if nothing is dealt out."""
    return Rows.all(count) if partition is None else partition.own


def held_by(parameter: Tensor) -> Partition | None:
    """How the rows of a weight are dealt out; None for a weight that every process has."""
    partition = getattr(parameter, "partition", None)
    return partition if isinstance(partition, Partition) else None


def table(rows: Tensor, partition: Partition) -> torch.nn.Parameter:
    """A weight of which each process has its rows, with the optimiser's state of these."""
    weight = torch.nn.Parameter(rows)
    if partition.processes > 1:
        weight.partition = partition  # type: ignore[attr-defined]
    return weight
