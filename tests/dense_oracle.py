"""A plain dense implementation of SCAN's loss: every pair a logit, everything through autograd.

Nothing is shared with the package but the weights: it is what the fast one is tested and timed against.
"""

import math

import torch
import torch.nn.functional as F


def dense_loss(model, settings, links, attributes, observed, noise, labels_of_unknown=None):
    """SCAN's loss from dense 0/1 matrices and given noise.

    `noise` holds standard normal draws "node" (N, D) and "attribute" (M, D + K); `labels_of_unknown` (N, K) the
    labels to use where none is observed, a function of the label logits.
    """
    n_nodes, n_attributes = attributes.shape
    node, attribute = model.inference["node"], model.inference["attribute"]
    hidden = node.second.shape[0]
    n_classes = len(model.label_shift["node"])

    inputs = torch.cat([links, attributes], dim=1)
    first = inputs @ torch.cat(list(node.inputs.weights))
    with_loops = links + torch.eye(n_nodes, dtype=links.dtype)
    scale = with_loops.sum(1) ** -0.5
    normalised = scale[:, None] * with_loops * scale
    output = normalised @ torch.tanh(normalised @ first[:, :hidden]) @ node.second
    logits = torch.tanh(first[:, hidden:] + node.label.bias) @ node.label.second.weight.T + node.label.second.bias

    known = observed >= 0
    one_hot = F.one_hot(observed.clamp_min(0), n_classes).to(links.dtype)
    y = torch.where(known[:, None], one_hot, labels_of_unknown(logits))
    z, kl_node = draw(output + y @ model.label_shift["node"], noise["node"])
    hidden_attribute = torch.tanh(attributes.T @ attribute.inputs.weights[0] + attribute.bias)
    codes_a, kl_attribute = draw(
        hidden_attribute @ attribute.second.weight.T + attribute.second.bias, noise["attribute"]
    )
    codes = torch.cat([z, y], dim=1)

    log_q = logits.log_softmax(1)
    prior = math.log(n_classes)
    label_cost = torch.where(known, prior, (log_q.exp() * (settings.entropy_weight * log_q + prior)).sum(1)).sum()

    off_diagonal = ~torch.eye(n_nodes, dtype=torch.bool)
    everything = torch.ones_like(attributes, dtype=torch.bool)
    edge = balanced_nll(codes @ codes.T, links, off_diagonal, settings.balance)
    has = balanced_nll(codes @ codes_a.T, attributes, everything, settings.balance)
    edge_pairs, has_pairs = n_nodes * (n_nodes - 1), n_nodes * n_attributes
    if settings.kl_accounting == "atomic":
        edge_times, node_times, attribute_times = 2 * (n_nodes - 1), n_attributes, n_nodes
    else:
        edge_times = node_times = attribute_times = 1
    kl = settings.kl_weight
    edge = edge + edge_times * (kl * kl_node + label_cost) / edge_pairs
    has = has + (node_times * (kl * kl_node + label_cost) + attribute_times * kl * kl_attribute) / has_pairs
    classification = F.cross_entropy(logits[known], observed[known])
    return settings.beta * edge + (1 - settings.beta) * has + settings.alpha * classification


def draw(output, noise):
    mean, log_std = output.chunk(2, dim=1)
    log_std = log_std.clamp(-10, 3)
    kl = 0.5 * (mean**2 + (2 * log_std).exp() - 2 * log_std - 1).sum()
    return mean + log_std.exp() * noise, kl


def balanced_nll(logits, target, counted, balance):
    ones = float(target[counted].sum())
    zeros = float(counted.sum()) - ones
    weight, norm = (zeros / ones, (zeros + ones) / (2 * zeros)) if balance else (1.0, 1.0)
    cost = target * weight * F.softplus(-logits) + (1 - target) * F.softplus(logits)
    return norm * (cost * counted).sum() / counted.sum()
