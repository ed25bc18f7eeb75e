"""Placing unseen nodes and attributes with the trained inference networks, in numpy alone.

With F = [A ; X], the hidden first product F W0 and Ã = D^-1/2 (A + I) D^-1/2, a node's Gaussian is

    [mean | log std] = Ã tanh(Ã F W0) W1 + p W_y,    p = softmax(tanh(F V0 + b0) V1 + b1)

and an attribute's is tanh(X^T U0 + c0) U1 + c1. A new node only reads from the known ones: their hidden
values and degrees stay those of the training network, so nothing known moves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax

from coembed.errors import InputError
from coembed.fitted.gaussians import Codes, from_log_std
from coembed.fitted.placing_by_views import (
    biases_of,
    infer_attributes_by_views,
    infer_nodes_by_views,
    known_views,
)
from coembed.network.matrices import root_mean_square, unit_rows
from coembed.network.names import NameArray
from coembed.network.network import UNKNOWN, Network
from coembed.views import NodeViews

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted


@dataclass(frozen=True, eq=False)
class Embedded:
    """A network's nodes and attributes in the space of a fitted model.

    Attributes
    ----------
    result
        Answers every question about the given network, as a fitted result does; rows are in its order.
    new_nodes, new_attributes
        True where the item was unknown to the model and has been placed.
    notices
        Which of them touch nothing that the model knows: they say nothing, and nothing is known of them.
    """

    result: Fitted
    new_nodes: np.ndarray
    new_attributes: np.ndarray
    notices: tuple[str, ...] = ()


class Trained(NamedTuple):
    """The layers at the training nodes: the first product, the hidden values, and the diagonal of D^-1/2."""

    first: np.ndarray
    hidden: np.ndarray
    scale: np.ndarray


class Reach(NamedTuple):
    """What some nodes touch: known nodes, one another, known attributes."""

    known: sp.csr_array
    fellows: sp.csr_array
    attributes: sp.csr_array


def embed(fitted: Fitted, network: Network) -> Embedded:
    """See :meth:`coembed.fitted.Fitted.embed`."""
    _check_weights(fitted)
    old = fitted.network
    node_at = _positions(old.node_names, network.node_names)
    attribute_at = _positions(old.attribute_names, network.attribute_names)
    new_nodes, new_attributes = node_at < 0, attribute_at < 0
    if new_nodes.all() and new_attributes.all():
        raise InputError(
            f"{network.name} shares no node and no attribute name with the model of {old.name}; "
            "names must be spelt as in the training data"
        )
    links = as_modelled(fitted, network.links, "links")
    owned = as_modelled(fitted, network.attributes, "attributes")
    to_nodes, to_attributes = _selector(node_at, old.n_nodes), _selector(attribute_at, old.n_attributes)

    reach = Reach(
        links[new_nodes] @ to_nodes, links[new_nodes][:, new_nodes], owned[new_nodes] @ to_attributes
    )
    placed, placed_probabilities = infer_nodes(fitted, reach)
    owners = (owned[:, new_attributes].T @ to_nodes).tocsr()
    placed_attributes = infer_attributes(fitted, owners)

    z = _merge(Codes(fitted.node_mean, fitted.node_std), node_at, placed)
    words = _merge(fitted.attributes, attribute_at, placed_attributes)
    probabilities = fitted.probabilities[node_at]
    probabilities[new_nodes] = placed_probabilities
    shown = Network.plain(
        links=network.links,
        attributes=network.attributes,
        labels=np.where(new_nodes, _given_labels(old, network), old.labels[node_at]),
        node_names=network.node_names,
        attribute_names=network.attribute_names,
        class_names=old.class_names,
        name=network.name,
        notices=network.notices,
    )
    # The first layers have one row a training item: they do not fit this network, so they stay behind. So do
    # the companions, whose votes come from the training network: here the model alone scores.
    result = replace(
        fitted,
        network=shown,
        node_mean=z.mean,
        node_std=z.std,
        probabilities=probabilities,
        attribute_mean=words.mean,
        attribute_std=words.std,
        biases=_biases(fitted, network, node_at, attribute_at),
        companions={},
        weights={},
    )
    touched = np.diff(reach.known.indptr) + np.diff(reach.attributes.indptr)
    notices = [
        *_unknown(
            "attribute", network.attribute_names[np.flatnonzero(new_attributes)[np.diff(owners.indptr) == 0]]
        ),
        *_unknown("node", network.node_names[np.flatnonzero(new_nodes)[touched == 0]]),
    ]
    return Embedded(result, new_nodes, new_attributes, tuple(notices))


def _unknown(kind: str, names: NameArray) -> list[str]:
    """A notice on items that touch nothing known."""
    if not len(names):
        return []
    some = ", ".join(repr(str(name)[:80]) for name in names[:3]) + (", ..." if len(names) > 3 else "")
    what = (
        "no known node has them" if kind == "attribute" else "they have no known link and no known attribute"
    )
    return [f"{len(names)} {kind}(s) are unknown to the model and {what}, so they say nothing: {some}"]


def infer_nodes(fitted: Fitted, reach: Reach) -> tuple[Codes, np.ndarray]:
    """Gaussians of z and label probabilities of nodes that touch the training network as `reach` says."""
    trained = fitted.trained
    if isinstance(trained, NodeViews):
        return infer_nodes_by_views(fitted, reach, trained)
    weights = fitted.weights
    row_scale = input_scale(fitted, "node_inputs", reach.known, reach.attributes)
    first = row_scale * (
        reach.known @ weights["node.links.0"] + reach.attributes @ weights["node.attributes.0"]
    )
    scale = _inverse_root_degree(sp.hstack([reach.known, reach.fellows], format="csr"))

    def propagate(at_known: np.ndarray, here: np.ndarray) -> np.ndarray:
        scaled = scale * here
        return scale * (reach.known @ (trained.scale * at_known) + reach.fellows @ scaled + scaled)

    hidden = np.tanh(propagate(trained.first, first))
    outputs = propagate(trained.hidden, hidden) @ weights["node.1"]
    probabilities = np.zeros((len(outputs), fitted.network.n_classes), dtype=np.float32)
    if fitted.network.n_classes:
        inner = row_scale * (
            reach.known @ weights["label.links.0"] + reach.attributes @ weights["label.attributes.0"]
        )
        logits = np.tanh(inner + weights["label.bias.0"]) @ weights["label.1"] + weights["label.bias.1"]
        probabilities = softmax(logits, axis=1)
        outputs = outputs + probabilities @ fitted.label_shift
    return from_log_std(outputs), probabilities


def infer_attributes(fitted: Fitted, owners: sp.csr_array) -> Codes:
    """Gaussians of attributes from the training nodes that own them, one row an attribute."""
    if not owners.shape[0]:
        empty = np.empty((0, fitted.code_dim), dtype=np.float32)
        return Codes(empty, empty)
    if "attribute.1" not in fitted.weights:
        raise InputError(
            f"the model of {fitted.network.name} was fitted without attributes; it cannot place any"
        )
    if isinstance(fitted.trained, NodeViews):
        return infer_attributes_by_views(fitted, owners, fitted.trained)
    weights = fitted.weights
    row_scale = input_scale(fitted, "attribute_inputs", owners)
    hidden = np.tanh(row_scale * (owners @ weights["attribute.0"]) + weights["attribute.bias.0"])
    return from_log_std(hidden @ weights["attribute.1"] + weights["attribute.bias.1"])


def trained_layers(fitted: Fitted) -> Trained | NodeViews:
    """The layers or the views at the training nodes, from the stored network and weights."""
    _check_weights(fitted)
    links = as_modelled(fitted, fitted.network.links, "links")
    owned = as_modelled(fitted, fitted.network.attributes, "attributes")
    if "alike.rows" in fitted.weights:
        return known_views(fitted, links, owned)
    first = input_scale(fitted, "node_inputs", links, owned) * (
        links @ fitted.weights["node.links.0"] + owned @ fitted.weights["node.attributes.0"]
    )
    scale = _inverse_root_degree(links)
    scaled = scale * first
    return Trained(first, np.tanh(scale * (links @ scaled + scaled)), scale)


def _biases(
    fitted: Fitted, network: Network, node_at: np.ndarray, attribute_at: np.ndarray
) -> dict[str, np.ndarray]:
    """The known items keep their biases, the new ones have them by their evidence."""
    counts = np.stack([np.diff(network.links.indptr), np.diff(network.attributes.indptr)], axis=1)
    owners = np.bincount(network.attributes.indices, minlength=network.n_attributes)[:, None]
    biases = {}
    for end, known in fitted.biases.items():
        at, evidence = (attribute_at, owners) if end == "attributes.target" else (node_at, counts)
        biases[end] = np.where(at >= 0, known[at], biases_of(fitted, end, np.log1p(evidence)))
    return biases


def as_modelled(fitted: Fitted, matrix: sp.csr_array, relation: str) -> sp.csr_array:
    """The values that the inference networks read: presence, or values in units of the training ones."""
    if fitted.settings.get(relation) == "gaussian":
        trained = fitted.network.links if relation == "links" else fitted.network.attributes
        values = matrix.data / np.float32(root_mean_square(trained))
    else:
        values = np.ones_like(matrix.data)
    return sp.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)


def input_scale(fitted: Fitted, setting: str, *matrices: sp.csr_array) -> np.ndarray:
    """One factor a row of what an inference network reads, which its setting may want at length one."""
    if fitted.settings.get(setting) == "unit":
        return unit_rows(matrices)[:, None]
    return np.ones((matrices[0].shape[0], 1), dtype=np.float32)


def _inverse_root_degree(links: sp.csr_array) -> np.ndarray:
    degrees: np.ndarray = abs(links).sum(axis=1)
    return ((degrees + 1) ** -0.5).astype(np.float32)[:, None]


def _positions(known: np.ndarray, names: np.ndarray) -> np.ndarray:
    at = {name: i for i, name in enumerate(known)}
    return np.fromiter((at.get(name, -1) for name in names), dtype=np.int64, count=len(names))


def _selector(at: np.ndarray, columns: int) -> sp.csr_array:
    """Moves columns to the training order; what is unknown there is dropped."""
    rows = np.flatnonzero(at >= 0)
    ones = np.ones(len(rows), dtype=np.float32)
    return sp.csr_array((ones, (rows, at[rows])), shape=(len(at), columns))


def _merge(known: Codes, at: np.ndarray, placed: Codes) -> Codes:
    """Rows of the known where there are, the placed ones elsewhere."""
    merged = Codes(*(np.empty((len(at), array.shape[1]), dtype=np.float32) for array in known))
    for into, old, new in zip(merged, known, placed, strict=True):
        into[at >= 0] = old[at[at >= 0]]
        into[at < 0] = new
    return merged


def _given_labels(old: Network, network: Network) -> np.ndarray:
    """Labels of the given network in the model's classes; classes it does not know are unknown."""
    class_at = np.append(_positions(old.class_names, network.class_names), UNKNOWN)
    return class_at[network.labels]


def _check_weights(fitted: Fitted) -> None:
    if "node.1" not in fitted.weights:
        raise InputError(
            f"the model of {fitted.network.name} has no inference networks, so it cannot place new items; "
            "use the model that was trained"
        )
