"""What the rivals that learn by gradients share: seeds, steps, labelled nodes, sparse rows with gaps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from coembed.baselines.features import idf_rows, unit_length_rows
from coembed.evaluation.problem import Problem
from coembed.kernels.sparse import SparseMatrix
from coembed.network import Network

FEWEST_KEPT = 5
"""Fewer labels do not tell which of two to trust."""


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Random numbers of torch from a seed of our own, and those of everybody else as they were."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def report(problem: Problem, epoch: int, epochs: int, loss: float | None = None) -> None:
    """Tell whoever watches how far the method is."""
    if problem.progress is not None:
        problem.progress(epoch, epochs, {} if loss is None else {"loss": loss})


def node_features(network: Network, inputs: str) -> sp.csr_array:
    """The rows that a rival reads about every node.

    `values`: attributes as they are, divided by the sum of the row; `unit`: the same, of length one; `idf`:
    presence only, rare attributes weighing more, of length one. A network without attributes has the
    identity, as usual: then every node is known by itself.

    Examples
    --------
    >>> network = Network.build(np.zeros((2, 2)), attributes=[[3.0, 1.0], [0.0, 0.0]])
    >>> node_features(network, "values").toarray().tolist()
    [[0.75, 0.25], [0.0, 0.0]]
    """
    attributes = network.attributes
    if not attributes.shape[1]:
        return sp.eye_array(network.n_nodes, format="csr", dtype=np.float32)
    if inputs == "idf":
        return idf_rows(attributes)
    if inputs == "unit":
        return unit_length_rows(attributes)
    sizes = np.asarray(abs(attributes).sum(axis=1))
    scale = np.divide(1, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    return sp.csr_array(sp.diags_array(scale.astype(np.float32)) @ attributes)


def labelled_nodes(network: Network) -> tuple[Tensor, Tensor]:
    """Indices of the nodes whose label is seen, and those labels."""
    labelled = network.labelled
    return torch.as_tensor(labelled), torch.as_tensor(network.labels[labelled])


class ThinnedMatrix(SparseMatrix):
    """A sparse matrix whose entries can be left out at random, the others growing to make up for it.

    Examples
    --------
    >>> matrix = ThinnedMatrix(sp.eye_array(1000, format="csr"))
    >>> with seeded(0):
    ...     thin = matrix.thinned(0.5) @ torch.ones(1000, 1)
    >>> sorted(set(thin.flatten().tolist())), 0.9 < float(thin.mean()) < 1.1
    ([0.0, 2.0], True)
    """

    def thinned(self, share: float) -> SparseMatrix:
        """The matrix without this share of its entries, drawn anew."""
        if not share:
            return self
        (whole,) = self.blocks
        thin, block = copy(self), copy(whole)
        block.stored = _with_values(whole.stored, torch.nn.functional.dropout(whole.stored.values(), share))
        # drawn for one step: its transpose is not worth making, and that of the whole would be another
        block.alone = True
        block.__dict__.pop("transposed", None)
        thin.blocks = [block]
        return thin


def _with_values(pattern: Tensor, values: Tensor) -> Tensor:
    return torch.sparse_csr_tensor(
        pattern.crow_indices(), pattern.col_indices(), values, size=pattern.shape, check_invariants=False
    )


class Part(NamedTuple):
    """Where the steps of one model stand among those of all that a method learns: how many before, in all."""

    before: int
    total: int


def minimise(
    problem: Problem,
    optimiser: torch.optim.Optimizer,
    loss: Callable[[], Tensor],
    epochs: int,
    part: Part | None = None,
) -> None:
    """So many steps of the optimiser on the loss, one an epoch."""
    before, total = part or Part(0, epochs)
    for epoch in range(1, epochs + 1):
        optimiser.zero_grad()
        value = loss()
        value.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        report(problem, before + epoch, total, float(value.detach()))


def kept_aside(network: Network, share: float, seed: int) -> np.ndarray:
    """Some of the labelled nodes, to choose by; none where they are too few to tell anything.

    Examples
    --------
    >>> network = Network.build(np.zeros((50, 50)), labels=[0, 1] * 20 + [-1] * 10)
    >>> len(kept_aside(network, 0.2, seed=0)), len(kept_aside(network, 0.1, seed=0))
    (8, 0)
    """
    labelled = network.labelled
    count = int(len(labelled) * share)
    return np.sort(np.random.default_rng(seed).permutation(labelled)[: count if count >= FEWEST_KEPT else 0])


def to_numpy(tensor: Tensor) -> np.ndarray:
    return np.ascontiguousarray(tensor.detach().numpy())
