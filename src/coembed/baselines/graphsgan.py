"""GraphSGAN (Ding, Tang and Zhang, 2018): made-up nodes in the gaps between classes sharpen their borders."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, elu, normalize, softplus

from coembed.baselines.classifiers import class_shares
from coembed.baselines.factors import decompose
from coembed.baselines.features import degree_scaled, mean_of_neighbours, presence
from coembed.baselines.gradient_training import labelled_nodes, node_features, report, seeded, to_numpy
from coembed.baselines.method_options import choice, number, options
from coembed.baselines.rival_answers import EmbeddedClasses
from coembed.evaluation.problem import Problem
from coembed.network import Network

WIDTHS = (500, 500, 250, 250, 250)
NOISE = 200
"""Numbers that a made-up node is made from."""
INPUT_NOISE, HIDDEN_NOISE = 0.05, 0.5


@dataclass(frozen=True)
class GraphSGANOptions:
    epochs: int = number(200, 1, 1_000_000)
    batches: int = number(5, 1, 100_000)
    """Steps of classifier and generator in an epoch."""
    batch: int = number(64, 2, 100_000)
    dim: int = number(64, 1, 4096)
    """Of the embedding of the links."""
    columns: int = number(512, 1, 100_000)
    """Most columns of attributes; of more the leading directions are read."""
    own: float = number(0.7, 0, 1)
    """A node's own share of its attributes, its neighbours having the rest."""
    real: float = number(0.5, 0, 1e6)
    """lambda 0: telling real from made up."""
    sure: float = number(1.0, 0, 1e6)
    """lambda 1: being sure about unlabelled nodes."""
    apart: float = number(1.0, 0, 1e6)
    """lambda 2: made-up nodes unlike one another."""
    learning_rate: float = number(0.003, 1e-9, 1e3)
    inputs: str = choice("idf", "unit", "values")


class WeightNorm(nn.Module):
    """A dense layer whose rows have length one, times a gain that is learnt or stays one."""

    def __init__(self, inputs: int, outputs: int, learn_gain: bool = False) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs) * 0.1)
        self.bias = nn.Parameter(torch.zeros(outputs))
        self.gain = nn.Parameter(torch.ones(outputs), requires_grad=learn_gain)

    def forward(self, rows: Tensor) -> Tensor:
        return nn.functional.linear(rows, normalize(self.weight, dim=1) * self.gain[:, None], self.bias)


class Classifier(nn.Module):
    """Logits of the true classes; a made-up node has the constant logit 0."""

    def __init__(self, inputs: int, n_classes: int) -> None:
        super().__init__()
        sizes = (inputs, *WIDTHS)
        self.hidden = nn.ModuleList(WeightNorm(a, b) for a, b in pairwise(sizes))
        self.output = WeightNorm(sizes[-1], n_classes, learn_gain=True)

    def forward(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """The last hidden layer before its noise, and the logits."""
        noisy = self._noise(rows, INPUT_NOISE)
        hidden = noisy
        for layer in self.hidden:
            hidden = elu(layer(noisy))
            noisy = self._noise(hidden, HIDDEN_NOISE)
        return hidden, self.output(noisy)

    def _noise(self, rows: Tensor, size: float) -> Tensor:
        return rows + size * torch.randn_like(rows) if self.training else rows


class Generator(nn.Module):
    """Made-up nodes from uniform noise, every column between -1 and 1."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, 500, bias=False) for a in (NOISE, 500))
        self.norms = nn.ModuleList(
            nn.BatchNorm1d(500, eps=1e-6, momentum=0.5, affine=False) for _ in range(2)
        )
        self.biases = nn.ParameterList(torch.zeros(500) for _ in range(2))
        self.output = WeightNorm(500, outputs, learn_gain=True)

    def forward(self, count: int) -> Tensor:
        rows = torch.rand(count, NOISE)
        for layer, norm, bias in zip(self.layers, self.norms, self.biases, strict=True):
            rows = elu(norm(layer(rows)) + bias)
        return self.output(rows).tanh()


def fit(problem: Problem) -> EmbeddedClasses:
    """One step of the classifier, one of the generator, and so on; the classifier's last state, noise off."""
    network, chosen = problem.network, options(GraphSGANOptions, problem)
    class_shares(network)  # refuses a network without labels
    inputs = torch.as_tensor(node_inputs(network, chosen, problem.seed))
    nodes, labels = labelled_nodes(network)
    unknown = torch.as_tensor(np.setdiff1d(np.arange(network.n_nodes), network.labelled))
    unknown = unknown if len(unknown) else nodes
    with seeded(problem.seed):
        classifier, generator = Classifier(inputs.shape[1], network.n_classes), Generator(inputs.shape[1])
        learns = [
            torch.optim.Adam(model.parameters(), lr=chosen.learning_rate, betas=(0.5, 0.999))
            for model in (classifier, generator)
        ]

        def some() -> Tensor:
            return inputs[unknown[torch.randint(len(unknown), (chosen.batch,))]]

        for epoch in range(1, chosen.epochs + 1):
            losses = []
            for _ in range(chosen.batches):
                drawn = torch.randint(len(nodes), (chosen.batch,))
                shown = inputs[nodes[drawn]], labels[drawn]
                with torch.no_grad():
                    made_up = generator(chosen.batch)
                loss = classifier_loss(classifier, *shown, some(), made_up, chosen)
                losses.append(_step(learns[0], loss))
                _step(learns[1], generator_loss(classifier, generator(chosen.batch), some(), chosen))
            report(problem, epoch, chosen.epochs, float(np.mean(losses)))
        classifier.eval()
        with torch.no_grad():
            vectors, logits = classifier(inputs)
    return EmbeddedClasses(to_numpy(logits.softmax(dim=1)), to_numpy(vectors))


def classifier_loss(
    classifier: Classifier,
    shown: Tensor,
    labels: Tensor,
    unknown: Tensor,
    made_up: Tensor,
    chosen: GraphSGANOptions,
) -> Tensor:
    """Right about labels, real from made up, sure about the unlabelled, and these unlike one another."""
    # one pass for all three: noise and weights are the same, and it is cheaper
    hidden, logits = classifier(torch.cat([shown, unknown, made_up]))
    sizes = [len(shown), len(unknown), len(made_up)]
    (by_label, about, fake), features = logits.split(sizes), hidden.split(sizes)[1]
    known, invented = about.logsumexp(dim=1), fake.logsumexp(dim=1)
    real = 0.5 * ((softplus(known) - known).mean() + softplus(invented).mean())
    # mean over classes, too, as in the release
    entropy = -(about.softmax(dim=1) * about.log_softmax(dim=1)).mean()
    return cross_entropy(by_label, labels) + chosen.real * real + chosen.sure * entropy + alike(features)


def generator_loss(
    classifier: Classifier, made_up: Tensor, unknown: Tensor, chosen: GraphSGANOptions
) -> Tensor:
    """Made-up nodes as central as the unlabelled ones, and unlike one another."""
    hidden, _ = classifier(torch.cat([made_up, unknown]))
    invented, real = hidden.split([len(made_up), len(unknown)])
    return (invented.mean(dim=0) - real.mean(dim=0)).abs().mean() + chosen.apart * alike(invented)


def alike(features: Tensor) -> Tensor:
    """Mean squared cosine of all pairs of different rows (the pull-away term).

    Examples
    --------
    >>> alike(torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])).item()
    0.3333333432674408
    """
    unit = normalize(features, dim=1)
    cosines = (unit @ unit.t()) ** 2
    count = len(features)
    return (cosines.sum() - cosines.diagonal().sum()) / (count * (count - 1))


def node_inputs(network: Network, chosen: GraphSGANOptions, seed: int) -> np.ndarray:
    """[attributes mixed with the neighbours' ; embedding of the links], every column within [-1, 1]."""
    rows = node_features(network, chosen.inputs)
    if rows.shape[1] > chosen.columns:
        left, sizes, _ = decompose(rows, chosen.columns, seed)
        own = left * sizes
    else:
        own = rows.toarray()
    degree = np.diff(network.links.indptr)[:, None]
    around = mean_of_neighbours(network.links) @ own
    mixed = np.where(degree > 0, chosen.own * own + (1 - chosen.own) * around, own)
    left, sizes, _ = decompose(degree_scaled(presence(network.links)), chosen.dim, seed)
    blocks = [_within_one(mixed), _within_one(left * np.sqrt(sizes))]
    return np.concatenate(blocks, axis=1).astype(np.float32)


def _within_one(block: np.ndarray) -> np.ndarray:
    """Columns between -1 and 1, those of small values half the way (in logarithms) up to the largest.

    All the way, as the release has it, would make as much of the last direction as of the first.
    """
    most = np.maximum(np.abs(block).max(axis=0), 1e-12)
    return block / np.sqrt(most * most.max())


def _step(optimiser: torch.optim.Optimizer, loss: Tensor) -> float:
    optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimiser.step()
    return float(loss.detach())
