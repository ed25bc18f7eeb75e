"""Which nodes belong together: by random walks along the links, or by their labels; and the loss of that."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn.functional import softplus


class Walker:
    """Uniform random walks along links, all walkers taking each step together.

    Examples
    --------
    >>> ring = sp.csr_array(np.roll(np.eye(4), 1, axis=1) + np.roll(np.eye(4), -1, axis=1))
    >>> walks = Walker(ring).walks(torch.tensor([0, 2]), steps=3)
    >>> walks.shape, walks[:, 0].tolist(), ((walks[:, 1:] - walks[:, :-1]).abs() % 2 == 1).all().item()
    (torch.Size([2, 4]), [0, 2], True)
    """

    def __init__(self, links: sp.csr_array) -> None:
        self.first = torch.as_tensor(links.indptr[:-1].astype(np.int64))
        self.ends = torch.as_tensor(links.indices.astype(np.int64))
        self.degree = torch.as_tensor(np.diff(links.indptr).astype(np.int64))
        self.linked = torch.as_tensor(np.flatnonzero(np.diff(links.indptr)))

    def starts(self, count: int) -> Tensor:
        """Nodes to start from, drawn from those that have a link."""
        return self.linked[torch.randint(len(self.linked), (count,))]

    def walks(self, starts: Tensor, steps: int) -> Tensor:
        """One walk a row, its start first."""
        path = [starts]
        for _ in range(steps):
            here = path[-1]
            # in float64, where u < 1 times a degree stays below the degree
            turn = (torch.rand(len(here), dtype=torch.float64) * self.degree[here]).long()
            path.append(self.ends[self.first[here] + turn])
        return torch.stack(path, dim=1)


def window_pairs(walks: Tensor, window: int, itself: bool = False) -> Tensor:
    """Ordered pairs of nodes at most `window` steps apart in a walk, ``(n, 2)``.

    `itself`: a node is its own context as well.

    Examples
    --------
    >>> window_pairs(torch.tensor([[0, 1, 2]]), window=1).tolist()
    [[0, 1], [1, 2], [1, 0], [2, 1]]
    """
    ahead = [
        torch.stack([walks[:, :-step].flatten(), walks[:, step:].flatten()], dim=1)
        for step in range(1, min(window, walks.shape[1] - 1) + 1)
    ]
    own = [walks.flatten()[:, None].expand(-1, 2)] if itself else []
    return torch.cat([*ahead, *(pairs.flip(1) for pairs in ahead), *own])


class Classmates:
    """Labelled nodes of one class, and of others.

    Examples
    --------
    >>> mates = Classmates(torch.tensor([5, 6, 7]), torch.tensor([1, 0, 1]))
    >>> nodes, same, others = mates.draw(100, others=2)
    >>> set(same[nodes == 6].tolist()), set(others[nodes == 6].flatten().tolist()) == {5, 7}
    ({6}, True)
    """

    def __init__(self, nodes: Tensor, labels: Tensor) -> None:
        order = labels.argsort(stable=True)
        self.nodes = nodes[order]
        _, self.code, self.sizes = labels[order].unique(return_inverse=True, return_counts=True)
        self.first = self.sizes.cumsum(0) - self.sizes

    def __bool__(self) -> bool:
        """Whether there are two classes to tell apart."""
        return len(self.sizes) > 1

    def draw(self, count: int, others: int) -> tuple[Tensor, Tensor, Tensor]:
        """Nodes, a node of the same class for each, and some of other classes for each."""
        place = torch.randint(len(self.nodes), (count,))
        first, size = self.first[self.code[place]], self.sizes[self.code[place]]
        same = first + _below(size, (count,))
        # a place among all but the class itself, then past the class if it lies behind it
        away = _below((len(self.nodes) - size)[:, None], (count, others))
        away = torch.where(away >= first[:, None], away + size[:, None], away)
        return self.nodes[place], self.nodes[same], self.nodes[away]


def _below(limit: Tensor, shape: tuple[int, ...]) -> Tensor:
    return (torch.rand(shape, dtype=torch.float64) * limit).long()


def context_loss(vectors: Tensor, contexts: Tensor, noise: Tensor) -> Tensor:
    """-log sigma(<c, v>) - sum over noise of log sigma(-<c, v>), averaged over pairs.

    Parameters
    ----------
    vectors, contexts
        One row a pair; taken by ``embedding``, whose gradient is ten times as fast as that of an index.
    noise
        Vectors of nodes that are no contexts, ``(pairs, negatives, D)``.
    """
    present = softplus(-(vectors * contexts).sum(dim=1))
    absent = softplus(torch.einsum("pd,pnd->pn", vectors, noise)).sum(dim=1)
    return (present + absent).mean()
