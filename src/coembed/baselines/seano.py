"""SEANO (Liang, Jacobs, Sun and Parthasarathy, 2018): a node's attributes and its neighbours', weighed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, dropout, embedding, softsign

from coembed.baselines.classifiers import class_shares
from coembed.baselines.contexts import Classmates, Walker, context_loss, window_pairs
from coembed.baselines.features import mean_of_neighbours
from coembed.baselines.gradient_training import (
    Part,
    ThinnedMatrix,
    kept_aside,
    labelled_nodes,
    minimise,
    node_features,
    seeded,
    to_numpy,
)
from coembed.baselines.method_options import choice, number, options
from coembed.baselines.rival_answers import EmbeddedClasses
from coembed.evaluation.problem import Problem
from coembed.kernels.sparse import SparseMatrix
from coembed.metrics import accuracy
from coembed.network import Network
from coembed.training.holdout import without_labels_of

ROWS = 1024
OWN = (0.5, 0.7, 0.9)
"""Shares to choose from."""


@dataclass(frozen=True)
class SeanoOptions:
    dim: int = number(64, 1, 4096)
    hidden: int = number(200, 1, 65536)
    epochs: int = number(40, 1, 1_000_000)
    walks: int = number(5, 0, 1_000_000)
    """Walks an epoch; none: no contexts from the links."""
    steps: int = number(20, 1, 10_000)
    """Of a walk."""
    window: int = number(5, 1, 10_000)
    negatives: int = number(5, 1, 1000)
    label_pairs: int = number(5000, 0, 1_000_000)
    """Pairs of one class, an epoch."""
    context: float = number(0.003, 0, 1e6)
    """Weight of the contexts of both kinds against the labels."""
    own: float = number(0.0, 0, 0.99)
    """lambda of every node at first; 0: 0.5, 0.7 or 0.9, whichever does best on labels kept aside."""
    kept: float = number(0.2, 0, 0.9)
    """Share of the labels that are kept aside for that."""
    dropout: float = number(0.2, 0, 0.99)
    learning_rate: float = number(0.01, 1e-9, 1e3)
    weight_decay: float = number(0.0, 0, 1e3)
    inputs: str = choice("idf", "unit", "values")


class Seano(nn.Module):
    """e_i = lambda_i h(x_i) + (1 - lambda_i) h(mean of x_j over neighbours j), one h for both."""

    def __init__(self, network: Network, chosen: SeanoOptions) -> None:
        super().__init__()
        rows = node_features(network, chosen.inputs)
        step = mean_of_neighbours(network.links)
        self.dropout = chosen.dropout
        self.own, self.step = ThinnedMatrix(rows), SparseMatrix(step)
        self.scale = torch.as_tensor(_scales(step, rows))[:, None]
        self.first = nn.Parameter(nn.init.xavier_uniform_(torch.empty(rows.shape[1], chosen.hidden)))
        self.first_bias = nn.Parameter(torch.zeros(chosen.hidden))
        self.second = nn.Linear(chosen.hidden, chosen.dim)
        self.trust = nn.Parameter(torch.full((network.n_nodes,), log(chosen.own / (1 - chosen.own))))
        self.contexts = nn.Parameter(torch.randn(network.n_nodes, chosen.dim) * 0.01)
        self.classifier = nn.Linear(chosen.dim, network.n_classes)
        alone = np.diff(network.links.indptr) == 0
        bare = (np.diff(rows.indptr) == 0) & ~alone
        self.alone, self.bare = torch.as_tensor(alone), torch.as_tensor(bare)

    def own_share(self) -> Tensor:
        """lambda, of every node: 1 where there are no neighbours, 0 where there are no attributes."""
        share = self.trust.sigmoid()
        share = torch.where(self.alone, torch.ones_like(share), share)
        return torch.where(self.bare, torch.zeros_like(share), share)

    def vectors(self) -> Tensor:
        thin = self.dropout if self.training else 0.0
        # the first layer is linear, so that the neighbours' mean can be taken behind it, over fewer columns
        own = self.own.thinned(thin) @ self.first
        around = (self.step @ own) * self.scale
        share = self.own_share()[:, None]
        return share * self._deeper(own) + (1 - share) * self._deeper(around)

    def context_losses(
        self, vectors: Tensor, walker: Walker, classmates: Classmates, chosen: SeanoOptions
    ) -> list[tuple[int, Tensor]]:
        """A batch of contexts along links and one among classmates: number of pairs, and their mean loss."""
        losses = []
        if chosen.walks and len(walker.linked):
            walks = walker.walks(walker.starts(chosen.walks), chosen.steps)
            pairs = window_pairs(walks, chosen.window)
            noise = torch.randint(len(vectors), (len(pairs), chosen.negatives))
            losses.append((len(pairs), self._context_loss(vectors, pairs[:, 0], pairs[:, 1], noise)))
        if chosen.label_pairs and classmates:
            some, same, others = classmates.draw(chosen.label_pairs, chosen.negatives)
            losses.append((len(some), self._context_loss(vectors, some, same, others)))
        return losses

    def _context_loss(self, vectors: Tensor, nodes: Tensor, contexts: Tensor, noise: Tensor) -> Tensor:
        return context_loss(
            embedding(nodes, vectors), embedding(contexts, self.contexts), embedding(noise, self.contexts)
        )

    def _deeper(self, first: Tensor) -> Tensor:
        hidden = dropout(softsign(first + self.first_bias), self.dropout, self.training)
        return softsign(self.second(hidden))


def fit(problem: Problem) -> EmbeddedClasses:
    """Labels, contexts along links and contexts among classmates, learnt together; the last state.

    How much of a node is its own attributes is a matter of the network. If it is not given, models with
    different shares learn from most labels, and those kept aside choose.
    """
    network, chosen = problem.network, options(SeanoOptions, problem)
    class_shares(network)  # refuses a network without labels
    kept = kept_aside(network, chosen.kept, problem.seed)
    trials = OWN if not chosen.own and len(kept) else ()
    epochs = (len(trials) + 1) * chosen.epochs
    most, right = without_labels_of(network, {network.main.name: kept}), []
    for done, own in enumerate(trials):
        part = Part(done * chosen.epochs, epochs)
        values, _ = _learn(problem, most, replace(chosen, own=own), part)
        right.append(accuracy(network.labels[kept], values[kept].argmax(axis=1)))
    if not chosen.own:
        chosen = replace(chosen, own=trials[int(np.argmax(right))] if trials else OWN[0])
    return EmbeddedClasses(*_learn(problem, network, chosen, Part(epochs - chosen.epochs, epochs)))


def _learn(
    problem: Problem, network: Network, chosen: SeanoOptions, part: Part
) -> tuple[np.ndarray, np.ndarray]:
    """Class probabilities and vectors from the labels of a network."""
    nodes, labels = labelled_nodes(network)
    walker, classmates = Walker(network.links), Classmates(nodes, labels)
    with seeded(problem.seed):
        model = Seano(network, chosen)

        def loss() -> Tensor:
            vectors = model.vectors()
            total = cross_entropy(model.classifier(vectors[nodes]), labels)
            contexts = model.context_losses(vectors, walker, classmates, chosen)
            # every pair counts alike, so that the two sizes of batch decide about the share of either kind
            pairs = sum(count for count, _ in contexts)
            for count, each in contexts:
                total = total + chosen.context * count / pairs * each
            return total

        dense = [model.first, model.first_bias, *model.second.parameters(), *model.classifier.parameters()]
        groups: list[dict[str, Any]] = [
            {"params": dense, "weight_decay": chosen.weight_decay},
            {"params": [model.contexts]},
            # one number a node, met by few batches: it needs larger steps, and no decay towards one half
            {"params": [model.trust], "lr": 10 * chosen.learning_rate},
        ]
        minimise(problem, torch.optim.Adam(groups, lr=chosen.learning_rate), loss, chosen.epochs, part)
        model.eval()
        with torch.no_grad():
            vectors = model.vectors()
            values = model.classifier(vectors).softmax(dim=1)
    return to_numpy(values), to_numpy(vectors)


def _scales(step: sp.csr_array, rows: sp.csr_array) -> np.ndarray:
    """What brings the mean of the neighbours' rows to length one, block by block."""
    squares = np.zeros(rows.shape[0], dtype=np.float32)
    for start in range(0, rows.shape[0], ROWS):
        block = slice(start, start + ROWS)
        squares[block] = np.asarray((step[block] @ rows).power(2).sum(axis=1))
    return np.divide(1, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0)
