"""What is kept aside during a fit to choose the epoch by: nodes with hidden labels, hidden pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor

from coembed.distributed.exchange import chosen
from coembed.distributed.partition import Partition
from coembed.fitted.score_blend import FEWEST
from coembed.model import SVAE
from coembed.model.relation_term import Bias
from coembed.model.scan import ATTRIBUTE, ATTRIBUTES, LINKS, NODE
from coembed.network import UNKNOWN, Network, split_attributes, split_labels, split_links
from coembed.settings import Settings

Pairs = tuple[np.ndarray, np.ndarray]
"""Pairs (n, 2) that are present though hidden, and pairs that are absent."""


MOST_PAIRS = 100_000
"""Stored pairs of a relation of which no more are kept aside: they tell an AUC to three digits."""


Dealt = tuple[Tensor, Partition]
"""Rows of this process, and how all are dealt out."""


@dataclass(frozen=True, eq=False)
class Holdout:
    """Nodes whose known labels, and pairs whose presence, the fit must not learn from."""

    nodes: np.ndarray | None = None
    links: Pairs | None = None
    attributes: Pairs | None = None

    def __bool__(self) -> bool:
        return bool(self.nodes is not None and len(self.nodes)) or bool(self.links or self.attributes)


def hold_out(network: Network, settings: Settings) -> tuple[Network, Holdout]:
    """Take the shares that the settings name out of the network."""
    nodes: np.ndarray | None = None
    held: dict[str, Pairs] = {}
    if settings.validation and len(network.labelled) > 1:
        nodes = split_labels(network, 1 - settings.validation, validation=0.0, seed=settings.seed).test
    if settings.validation_pairs:
        for name, split_pairs in ((LINKS, split_links), (ATTRIBUTES, split_attributes)):
            matrix = getattr(network, name)
            height, width = matrix.shape
            possible = height * (width - 1) if name == LINKS else height * width
            if 2 * matrix.nnz > possible:
                continue  # there are hardly any absent pairs to tell the present ones from
            share = min(settings.validation_pairs, MOST_PAIRS / max(matrix.nnz, 1))
            split = split_pairs(network, validation=share, test=0.0, seed=settings.seed)
            # a handful of pairs cannot weigh companions, and a small network cannot spare them
            if len(split.validation) >= (FEWEST if settings.companions else 1):
                held[name] = (split.validation, split.validation_negatives)
                network = split.visible(network)
    return network, Holdout(nodes, held.get(LINKS), held.get(ATTRIBUTES))


def without_labels_of(network: Network, nodes: np.ndarray | None) -> Network:
    """The network with the labels of some nodes hidden."""
    if nodes is None or not len(nodes):
        return network
    labels = network.labels.copy()
    labels[nodes] = UNKNOWN
    return network.with_labels(labels)


def validation_figures(model: SVAE, holdout: Holdout, labels: np.ndarray) -> dict[str, float]:
    """Accuracy on the held-out nodes, AUC of the held-out pairs, from the means."""
    figures: dict[str, float] = {}
    nodes = model.types[NODE].partition
    codes, probabilities = model.mean_codes(NODE)
    if holdout.nodes is not None and len(holdout.nodes) and probabilities is not None:
        asked = torch.as_tensor(np.array(holdout.nodes), device=codes.device)
        predicted = chosen(probabilities, asked, nodes).argmax(dim=1).cpu().numpy()
        figures["accuracy"] = float(np.mean(predicted == labels[holdout.nodes]))
    if holdout.links is not None:
        figures["link AUC"] = _auc((codes, nodes), (codes, nodes), model.bias(LINKS), holdout.links)
    if holdout.attributes is not None:
        figures["attribute AUC"] = _auc(
            (codes, nodes),
            (model.mean_codes(ATTRIBUTE)[0], model.types[ATTRIBUTE].partition),
            model.bias(ATTRIBUTES),
            holdout.attributes,
        )
    return figures


def _auc(left: Dealt, right: Dealt, biases: tuple[Bias, Bias] | None, pairs: Pairs) -> float:
    def score(pairs: np.ndarray) -> np.ndarray:
        rows, columns = (torch.as_tensor(np.array(end), device=left[0].device) for end in pairs.T)
        ends = chosen(left[0], rows, left[1]), chosen(right[0], columns, right[1])
        scores = (ends[0] * ends[1]).sum(dim=1)
        if biases is not None:
            scores = scores + chosen(biases[0](), rows, left[1]) + chosen(biases[1](), columns, right[1])
        return scores.cpu().numpy()

    truth = np.repeat([1, 0], [len(pairs[0]), len(pairs[1])])
    return float(roc_auc_score(truth, np.concatenate([score(part) for part in pairs])))
