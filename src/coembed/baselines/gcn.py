"""GCN (Kipf and Welling, 2017): two layers that each average over a node and its neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from coembed.baselines.classifiers import class_shares
from coembed.baselines.features import degree_scaled
from coembed.baselines.gradient_training import (
    ThinnedMatrix,
    labelled_nodes,
    minimise,
    node_features,
    seeded,
    to_numpy,
)
from coembed.baselines.method_options import choice, number, options
from coembed.baselines.rival_answers import EmbeddedClasses
from coembed.errors import InputError
from coembed.evaluation.problem import Problem
from coembed.kernels.sparse import csr_tensor


@dataclass(frozen=True)
class GCNOptions:
    """The reference's values; those of the social networks differ, see its page."""

    hidden: int = number(64, 1, 65536)
    dropout: float = number(0.5, 0, 0.99)
    epochs: int = number(200, 1, 1_000_000)
    learning_rate: float = number(0.01, 1e-9, 1e3)
    weight_decay: float = number(5e-4, 0, 1e3)
    inputs: str = choice("values", "unit", "idf")


def fit(problem: Problem) -> EmbeddedClasses:
    """softmax(Â ReLU(Â X W0) W1) from all labels that are seen, full batch, the last state.

    The embedding is the hidden layer, ReLU(Â X W0).
    """
    layers = _layers()
    network, chosen = problem.network, options(GCNOptions, problem)
    class_shares(network)  # refuses a network without labels
    features = ThinnedMatrix(node_features(network, chosen.inputs))
    # Â = D^-1/2 (A + I) D^-1/2; the diagonal of our links is empty, so this adds each self-loop once
    loops = network.links + sp.eye_array(network.n_nodes, format="csr", dtype=np.float32)
    step = csr_tensor(degree_scaled(sp.csr_array(loops)), "cpu", torch.float32)
    nodes, labels = labelled_nodes(network)
    with seeded(problem.seed):
        first = torch.nn.Parameter(torch.empty(features.shape[1], chosen.hidden))
        torch.nn.init.xavier_uniform_(first)
        propagate = layers.SimpleConv(aggr="sum")
        second = layers.GCNConv(chosen.hidden, network.n_classes, bias=False, normalize=False)

        def hidden(dropout: float) -> Tensor:
            # W0 first: the product with Â then has 64 columns instead of as many as there are attributes
            return propagate(features.thinned(dropout) @ first, step).relu()

        def loss() -> Tensor:
            kept = torch.nn.functional.dropout(hidden(chosen.dropout), chosen.dropout)
            return torch.nn.functional.cross_entropy(second(kept, step)[nodes], labels)

        groups = [
            {"params": [first], "weight_decay": chosen.weight_decay},  # of the first layer only
            {"params": second.parameters(), "weight_decay": 0.0},
        ]
        minimise(problem, torch.optim.Adam(groups, lr=chosen.learning_rate), loss, chosen.epochs)
        with torch.no_grad():
            vectors = hidden(0.0)
            values = second(vectors, step).softmax(dim=1)
    return EmbeddedClasses(to_numpy(values), to_numpy(vectors))


def _layers():  # type: ignore[no-untyped-def]
    try:
        from torch_geometric import nn
    except ImportError:
        raise InputError(
            "method gcn needs torch_geometric, which is not installed; run: pip install 'coembed[rivals]'"
        ) from None
    return nn
