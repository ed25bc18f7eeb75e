"""Placing unseen nodes and attributes with inference networks that read views, in numpy alone.

The views of a new item are made as those of the training items were, from what it touches among them; their
own views stay as they are. A branch is tanh(F_v W_v + b_v), and the last layer reads all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax

from coembed.fitted.gaussians import Codes, from_log_std
from coembed.views import (
    AttributeViews,
    Basis,
    Neighbours,
    NodeViews,
    attribute_views,
    new_views,
    training_views,
)

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted
    from coembed.fitted.placing import Reach


def known_views(fitted: Fitted, links: sp.csr_array, attributes: sp.csr_array) -> NodeViews:
    """The views of the training nodes, from the stored network and basis."""
    alike = Neighbours(fitted.weights["alike.rows"], fitted.weights["alike.cosines"])
    return training_views(links, attributes, basis_of(fitted), fitted.settings["neighbours"], alike)


def infer_nodes_by_views(fitted: Fitted, reach: Reach, known: NodeViews) -> tuple[Codes, np.ndarray]:
    """Gaussians of z and label probabilities of nodes that touch the training network as `reach` says."""
    views = new_views(
        reach.known, reach.fellows, reach.attributes, basis_of(fitted), known, fitted.settings["neighbours"]
    )
    weights = fitted.weights
    outputs = _outputs("node", views, weights)
    probabilities = np.zeros((len(outputs), fitted.network.n_classes), dtype=np.float32)
    if fitted.network.n_classes:
        logits = _hidden("label", views.all, weights) @ weights["label.1"] + weights["label.bias.1"]
        probabilities = softmax(logits, axis=1)
        outputs = outputs + probabilities @ fitted.label_shift
    return from_log_std(outputs), probabilities


def infer_attributes_by_views(fitted: Fitted, owners: sp.csr_array, known: NodeViews) -> Codes:
    """Gaussians of attributes from the training nodes that own them, one row an attribute."""
    return from_log_std(_outputs("attribute", attribute_views(owners, known), fitted.weights))


def biases_of(fitted: Fitted, end: str, evidence: np.ndarray) -> np.ndarray:
    """Biases of new items at an end of a relation (such as ``attributes.target``), from their evidence."""
    found = fitted.weights.get(f"bias.{end}")
    if found is None:
        return np.zeros(len(evidence), dtype=np.float32)
    return (evidence @ found[:-1] + found[-1]).astype(np.float32)


def basis_of(fitted: Fitted) -> Basis:
    return Basis(*(fitted.weights[f"basis.{name}"] for name in Basis._fields))


def _outputs(kind: str, views: NodeViews | AttributeViews, weights: Mapping[str, np.ndarray]) -> np.ndarray:
    by_evidence = (views.evidence - weights[f"{kind}.center"]) @ weights[f"{kind}.evidence"]
    return _hidden(kind, views.all, weights) @ weights[f"{kind}.1"] + weights[f"{kind}.bias.1"] + by_evidence


def _hidden(kind: str, views: Mapping[str, Any], weights: Mapping[str, np.ndarray]) -> np.ndarray:
    return np.hstack(
        [
            np.tanh(views[name] @ weights[f"{kind}.{name}.0"] + weights[f"{kind}.{name}.bias"])
            for name in views
        ]
    )
