"""Planetoid-T (Yang, Cohen and Salakhutdinov, 2016): a free vector a node that predicts its contexts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, embedding

from coembed.baselines.classifiers import class_shares
from coembed.baselines.contexts import Classmates, Walker, context_loss, window_pairs
from coembed.baselines.gradient_training import (
    kept_aside,
    labelled_nodes,
    node_features,
    report,
    seeded,
    to_numpy,
)
from coembed.baselines.method_options import choice, number, options
from coembed.baselines.rival_answers import EmbeddedClasses
from coembed.evaluation.problem import Problem
from coembed.kernels.sparse import SparseMatrix
from coembed.network import Network
from coembed.training.holdout import without_labels_of

PULL = 0.1
"""Learning rate of the labels on the vectors."""
TRUST, TRUST_RATE, TRUST_STEPS = 4.0, 0.1, 300
"""What either branch is multiplied by at first; and how better factors are looked for."""


@dataclass(frozen=True)
class PlanetoidOptions:
    dim: int = number(64, 1, 4096)
    epochs: int = number(200, 1, 1_000_000)
    """The first half learns contexts, the second half labels, its first half without those kept aside."""
    passes: int = number(10, 1, 100_000)
    """How often a node is the start of a walk in the first half, on average."""
    walks: int = number(200, 1, 1_000_000)
    """Walks in a batch."""
    steps: int = number(10, 1, 10_000)
    """Of a walk."""
    window: int = number(3, 1, 10_000)
    negatives: int = number(5, 1, 1000)
    label_batches: int = number(1, 0, 100_000)
    """Of 100 pairs each, in an epoch of the first half."""
    label_steps: int = number(5, 1, 100_000)
    """Steps on the labels in an epoch of the second half."""
    context_rate: float = number(0.03, 1e-9, 1e3)
    """Learning rate of the contexts."""
    learning_rate: float = number(0.03, 1e-9, 1e3)
    """Learning rate of the labels."""
    kept: float = number(0.2, 0, 0.9)
    """Share of the labels that are kept aside at first, to learn how far to trust either branch."""
    weight_decay: float = number(3e-4, 0, 1e3)
    """Of the branch that reads attributes."""
    vector_decay: float = number(0.1, 0, 1e3)
    """Of the branch that reads vectors, which can tell any few nodes apart."""
    inputs: str = choice("idf", "unit", "values")


class Planetoid(nn.Module):
    """softmax([u ; v] W) with u = softmax(x W_x) of the attributes and v = softmax(e W_e) of the vector."""

    def __init__(self, n_nodes: int, n_features: int, n_classes: int, dim: int) -> None:
        super().__init__()
        self.vectors = nn.Parameter(torch.randn(n_nodes, dim) * 0.01)
        self.contexts = nn.Parameter(torch.randn(n_nodes, dim) * 0.01)
        self.by_attributes = nn.Parameter(nn.init.xavier_uniform_(torch.empty(n_features, n_classes)))
        self.attribute_bias = nn.Parameter(torch.zeros(n_classes))
        self.by_vector = nn.Linear(dim, n_classes)
        self.by_both = nn.Linear(2 * n_classes, n_classes)
        nn.init.xavier_uniform_(self.by_vector.weight)
        nn.init.zeros_(self.by_vector.bias)
        # not learnt with the rest: on the labels that they learn from, both branches are always right
        self.by_both.requires_grad_(False)
        nn.init.zeros_(self.by_both.bias)
        self.trust(torch.full((2,), TRUST))

    def branches(self, features: SparseMatrix, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """Logits by the attributes alone, and by the vector alone."""
        return features @ self.by_attributes + self.attribute_bias, self.by_vector(vectors)

    def together(self, by_attributes: Tensor, by_vector: Tensor) -> Tensor:
        """Logits by both."""
        return self.by_both(torch.cat([by_attributes.softmax(dim=1), by_vector.softmax(dim=1)], dim=1))

    def trust(self, factors: Tensor) -> None:
        """Believe the two branches as far as that; one factor each, as labels are few for 2 K x K numbers."""
        n_classes = len(self.by_both.bias)
        self.by_both.weight.data = torch.cat([each * torch.eye(n_classes) for each in factors], dim=1)

    def context_loss(self, nodes: Tensor, contexts: Tensor, noise: Tensor) -> Tensor:
        return context_loss(
            embedding(nodes, self.vectors),
            embedding(contexts, self.contexts),
            embedding(noise, self.contexts),
        )


def fit(problem: Problem) -> EmbeddedClasses:
    """Contexts first, then the labels that are seen; class probabilities and vectors of the last state.

    Some labels are kept aside until the branches have learnt from the others: they tell how far either can be
    trusted on nodes that it has not learnt from. Then the branches learn from these labels as well.
    """
    network, chosen = problem.network, options(PlanetoidOptions, problem)
    class_shares(network)  # refuses a network without labels
    rows = node_features(network, chosen.inputs)
    kept = kept_aside(network, chosen.kept, problem.seed)
    most = without_labels_of(network, {network.main.name: kept})
    with seeded(problem.seed):
        model = Planetoid(network.n_nodes, rows.shape[1], network.n_classes, chosen.dim)
        first, second = chosen.epochs // 2, chosen.epochs * 3 // 4
        batches = _batches(model, most, chosen, first)
        contexts = torch.optim.Adam([model.vectors, model.contexts], lr=chosen.context_rate)
        taught = _Labels(model, rows, most, chosen)
        for epoch in range(1, chosen.epochs + 1):
            if epoch <= first:
                losses = [_step(loss, contexts) for loss in batches.epoch()]
            else:
                losses = [taught.step() for _ in range(chosen.label_steps)]
            if epoch == second and len(kept):
                _learn_trust(model, rows, network, kept)
                taught = _Labels(model, rows, network, chosen)
            report(problem, epoch, chosen.epochs, float(np.mean(losses)) if losses else None)
        with torch.no_grad():
            values = model.together(*model.branches(SparseMatrix(rows), model.vectors)).softmax(dim=1)
    return EmbeddedClasses(to_numpy(values), to_numpy(model.vectors))


def _learn_trust(model: Planetoid, rows: sp.csr_array, network: Network, kept: np.ndarray) -> None:
    """How far to believe either branch, by labels that neither has seen."""
    nodes, labels = torch.as_tensor(kept), torch.as_tensor(network.labels[kept])
    with torch.no_grad():
        branches = model.branches(SparseMatrix(rows[kept]), model.vectors[nodes])
        first, second = (logits.softmax(dim=1) for logits in branches)
    factors = torch.full((2,), TRUST, requires_grad=True)
    learns = torch.optim.Adam([factors], lr=TRUST_RATE)
    for _ in range(TRUST_STEPS):
        _step(cross_entropy(factors[0] * first + factors[1] * second, labels), learns)
    model.trust(factors.detach().clamp(min=0))


class _Labels:
    """Steps on the labels of a network: both branches, alone and together."""

    def __init__(
        self, model: Planetoid, rows: sp.csr_array, network: Network, chosen: PlanetoidOptions
    ) -> None:
        self.model, self.shown = model, SparseMatrix(rows[network.labelled])
        self.nodes, self.labels = labelled_nodes(network)
        self.optimisers = _supervised(model, chosen)

    def step(self) -> float:
        branches = self.model.branches(self.shown, self.model.vectors[self.nodes])
        logits = (self.model.together(*branches), *branches)
        loss = torch.stack([cross_entropy(each, self.labels) for each in logits]).sum()
        return _step(loss, *self.optimisers)


def _supervised(model: Planetoid, chosen: PlanetoidOptions) -> tuple[torch.optim.Optimizer, ...]:
    groups: list[dict[str, Any]] = [
        {"params": [model.by_attributes, model.attribute_bias], "weight_decay": chosen.weight_decay},
        {"params": model.by_vector.parameters(), "weight_decay": chosen.vector_decay},
    ]
    # labels move the vectors by plain steps, as in the release: Adam would carry the few labelled ones away
    # from all others
    pulled = torch.optim.SGD([model.vectors], lr=PULL)
    return torch.optim.Adam(groups, lr=chosen.learning_rate), pulled


@dataclass(frozen=True)
class _Batches:
    """The losses of an epoch of contexts, one batch after the other."""

    model: Planetoid
    walker: Walker
    classmates: Classmates
    options: PlanetoidOptions
    graph_batches: int

    def epoch(self) -> Iterator[Tensor]:
        if self.classmates:
            for _ in range(self.options.label_batches):
                yield self.model.context_loss(*self.classmates.draw(100, self.options.negatives))
        for _ in range(self.graph_batches):
            walks = self.walker.walks(self.walker.starts(self.options.walks), self.options.steps)
            pairs = window_pairs(walks, self.options.window, itself=True)
            noise = torch.randint(len(self.model.vectors), (len(pairs), self.options.negatives))
            yield self.model.context_loss(pairs[:, 0], pairs[:, 1], noise)


def _batches(model: Planetoid, network: Network, chosen: PlanetoidOptions, epochs: int) -> _Batches:
    walker = Walker(network.links)
    batches = ceil(chosen.passes * len(walker.linked) / chosen.walks / max(epochs, 1))
    return _Batches(model, walker, Classmates(*labelled_nodes(network)), chosen, batches)


def _step(loss: Tensor, *optimisers: torch.optim.Optimizer) -> float:
    for optimiser in optimisers:
        optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    for optimiser in optimisers:
        optimiser.step()
    return float(loss.detach())
