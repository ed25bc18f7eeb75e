"""Planetoid-T (Yang, Cohen and Salakhutdinov, 2016): a free vector a node that predicts its contexts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from coembed.baselines.answers import EmbeddedClasses
from coembed.baselines.classifiers import class_shares
from coembed.baselines.contexts import Classmates, Walker, context_loss, window_pairs
from coembed.baselines.learning import labelled_nodes, node_features, report, seeded, to_numpy
from coembed.baselines.options import choice, number, options
from coembed.kernels.sparse import SparseMatrix
from coembed.network import Network
from coembed.tasks.problem import Problem

PULL = 0.1
"""Learning rate of the labels on the vectors."""


@dataclass(frozen=True)
class PlanetoidOptions:
    dim: int = number(64, 1, 4096)
    epochs: int = number(200, 1, 1_000_000)
    """The first half learns contexts, the second half labels."""
    passes: int = number(10, 1, 100_000)
    """How often a node is the start of a walk in the first half, on average."""
    walks: int = number(200, 1, 1_000_000)
    """Walks in a batch."""
    steps: int = number(10, 1, 10_000)
    """Of a walk."""
    window: int = number(3, 1, 10_000)
    negatives: int = number(5, 1, 1000)
    label_batches: int = number(5, 0, 100_000)
    """Of 100 pairs each, in an epoch of the first half."""
    label_steps: int = number(5, 1, 100_000)
    """Steps on the labels in an epoch of the second half."""
    learning_rate: float = number(0.01, 1e-9, 1e3)
    weight_decay: float = number(0.0, 0, 1e3)
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
        for layer in (self.by_vector, self.by_both):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def logits(self, features: SparseMatrix, vectors: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Of both together, and of either alone."""
        by_attributes = features @ self.by_attributes + self.attribute_bias
        by_vector = self.by_vector(vectors)
        both = torch.cat([by_attributes.softmax(dim=1), by_vector.softmax(dim=1)], dim=1)
        return self.by_both(both), by_attributes, by_vector

    def context_loss(self, nodes: Tensor, contexts: Tensor, noise: Tensor) -> Tensor:
        return context_loss(self.vectors[nodes], self.contexts[contexts], self.contexts[noise])


def fit(problem: Problem) -> EmbeddedClasses:
    """Contexts first, then the labels that are seen; class probabilities and vectors of the last state."""
    network, chosen = problem.network, options(PlanetoidOptions, problem)
    class_shares(network)  # refuses a network without labels
    rows = node_features(network, chosen.inputs)
    features, shown = SparseMatrix(rows), SparseMatrix(rows[network.labelled])
    nodes, labels = labelled_nodes(network)
    with seeded(problem.seed):
        model = Planetoid(network.n_nodes, rows.shape[1], network.n_classes, chosen.dim)
        tables = [model.vectors, model.contexts]
        classifier = [each for each in model.parameters() if all(each is not table for table in tables)]
        contexts = torch.optim.Adam(tables, lr=chosen.learning_rate)
        supervised = torch.optim.Adam(classifier, chosen.learning_rate, weight_decay=chosen.weight_decay)
        # labels move the vectors by plain steps, as in the release: Adam would carry the few labelled ones
        # away from all others
        pulled = torch.optim.SGD([model.vectors], lr=PULL)
        first = chosen.epochs // 2
        batches = _batches(model, network, chosen, first)
        for epoch in range(1, chosen.epochs + 1):
            if epoch <= first:
                losses = [_step(loss, contexts) for loss in batches.epoch()]
            else:
                losses = []
                for _ in range(chosen.label_steps):
                    logits = model.logits(shown, model.vectors[nodes])
                    total = torch.stack([cross_entropy(each, labels) for each in logits]).sum()
                    losses.append(_step(total, supervised, pulled))
            report(problem, epoch, chosen.epochs, float(np.mean(losses)) if losses else None)
        with torch.no_grad():
            values = model.logits(features, model.vectors)[0].softmax(dim=1)
    return EmbeddedClasses(to_numpy(values), to_numpy(model.vectors))


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
