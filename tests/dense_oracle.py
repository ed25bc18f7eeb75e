"""A plain dense implementation of SCAN's loss: every pair a logit, everything through autograd.

Nothing is shared with the package but the weights: it is what the fast one is tested and timed against.
"""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F


class DenseNetwork(NamedTuple):
    """Dense 0/1 matrices and what never changes between two evaluations of the loss."""

    links: torch.Tensor
    attributes: torch.Tensor
    observed: torch.Tensor
    inputs: torch.Tensor
    owners: torch.Tensor
    normalised: torch.Tensor
    off_diagonal: torch.Tensor

    @classmethod
    def of(cls, network, settings, dtype=torch.float64):
        links, attributes = (
            torch.as_tensor(matrix.toarray() != 0).to(dtype) for matrix in (network.links, network.attributes)
        )
        identity = torch.eye(len(links), dtype=dtype)
        scale = (links + identity).sum(1) ** -0.5
        return cls(
            links,
            attributes,
            torch.as_tensor(network.labels),
            as_read(torch.cat([links, attributes], dim=1), settings.node_inputs),
            as_read(attributes.T, settings.attribute_inputs),
            scale[:, None] * (links + identity) * scale,
            1 - identity,
        )


def as_read(rows, inputs):
    """Rows as an inference network reads them: as they are, or of length one (to single precision)."""
    if inputs == "raw":
        return rows
    return rows * (1 / rows.norm(dim=1, keepdim=True).float().clamp_min(1e-6))


def dense_loss(model, settings, network, noise, labels_of_unknown):
    """SCAN's loss of a :class:`DenseNetwork` from given noise, without dropout.

    `noise` holds standard normal draws "node" (N, D) and "attribute" (M, D + K); `labels_of_unknown` gives
    the labels (N, K) to use where none is observed, from the label logits.
    """
    n_nodes, n_attributes = network.attributes.shape
    node, attribute = model.inference["node"], model.inference["attribute"]
    hidden = node.second.shape[0]
    n_classes = len(model.label_shift["node"])

    first = network.inputs @ torch.cat(list(node.inputs.weights))
    output = network.normalised @ (torch.tanh(network.normalised @ first[:, :hidden]) @ node.second)
    logits = (
        torch.tanh(first[:, hidden:] + node.label.bias) @ node.label.second.weight.T + node.label.second.bias
    )

    known = network.observed >= 0
    one_hot = F.one_hot(network.observed.clamp_min(0), n_classes).to(output.dtype)
    y = torch.where(known[:, None], one_hot, labels_of_unknown(logits))
    z, kl_node = draw(output + y @ model.label_shift["node"], noise["node"])
    hidden_attribute = torch.tanh(network.owners @ attribute.inputs.weights[0] + attribute.bias)
    codes_a, kl_attribute = draw(
        hidden_attribute @ attribute.second.weight.T + attribute.second.bias, noise["attribute"]
    )
    codes = torch.cat([z, y], dim=1)

    log_q = logits.log_softmax(1)
    prior = math.log(n_classes)
    label_cost = torch.where(
        known, prior, (log_q.exp() * (settings.entropy_weight * log_q + prior)).sum(1)
    ).sum()

    edge_pairs, has_pairs = n_nodes * (n_nodes - 1), n_nodes * n_attributes
    edge = balanced_nll(codes @ codes.T, network.links, edge_pairs, settings.balance, network.off_diagonal)
    has = balanced_nll(codes @ codes_a.T, network.attributes, has_pairs, settings.balance)
    if settings.kl_accounting == "atomic":
        edge_times, node_times, attribute_times = 2 * (n_nodes - 1), n_attributes, n_nodes
    else:
        edge_times = node_times = attribute_times = 1
    kl = settings.kl_weight
    edge = edge + edge_times * (kl * kl_node + label_cost) / edge_pairs
    has = has + (node_times * (kl * kl_node + label_cost) + attribute_times * kl * kl_attribute) / has_pairs
    classification = F.cross_entropy(logits[known], network.observed[known])
    return settings.beta * edge + (1 - settings.beta) * has + settings.alpha * classification


def relaxed_labels(uniform, tau):
    """Gumbel-softmax samples from uniform draws, as a function of the label logits."""
    gumbel = -(-uniform.clamp_min(1e-20).log()).clamp_min(1e-20).log()
    return lambda logits: ((logits.log_softmax(1) + gumbel) / tau).softmax(1)


def draw(output, noise):
    mean, log_std = output.chunk(2, dim=1)
    log_std = log_std.clamp(-10, 3)
    kl = 0.5 * (mean**2 + (2 * log_std).exp() - 2 * log_std - 1).sum()
    return mean + log_std.exp() * noise, kl


def balanced_nll(logits, target, n_pairs, balance, counted=None):
    ones = float(target.sum(dtype=torch.float64))
    zeros = n_pairs - ones
    weight, norm = (zeros / ones, n_pairs / (2 * zeros)) if balance else (1.0, 1.0)
    # torch's own binary cross-entropy: of the ways to write it densely the fastest, hence the fairest to time
    cost = F.binary_cross_entropy_with_logits(
        logits, target, counted, reduction="sum", pos_weight=logits.new_tensor(weight)
    )
    return norm * cost / n_pairs
