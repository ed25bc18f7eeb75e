"""Why an answer is as it is: the node is placed anew without one link or one attribute at a time.

What the score loses when a neighbour or an attribute is left out is what it contributed. All the variants of
a node are placed in one go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from coembed.fitted.matches import Item, ItemKind, position
from coembed.fitted.newcomers import place_newcomers
from coembed.network.network import Network

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted

MOST_TRIED = 24
"""Neighbours, and attributes, of a node that are left out in turn: the ones that it is nearest to."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A neighbour or an attribute of the node, and what the score loses without it."""

    name: str
    kind: ItemKind
    contribution: float
    owns: bool = False


@dataclass(frozen=True, slots=True)
class Why:
    """The reasons for one answer.

    Attributes
    ----------
    target
        The attribute, or the class, that is explained.
    score
        Of the node placed with all it has.
    reasons
        What contributes most, best first; nothing that speaks against it.
    owners
        Names of linked nodes that own the attribute; empty for a class.
    """

    target: str
    score: float
    reasons: list[Reason]
    owners: list[str]


def why_attributes(fitted: Fitted, node: Item, targets: Sequence[Item], k: int = 4) -> list[Why]:
    """For each attribute: the links and attributes of the node that speak most for it."""
    return Variants(fitted, node).attributes(targets, k)


def why_label(fitted: Fitted, node: Item, k: int = 4) -> Why:
    """The links and attributes of the node that speak most for its likeliest class."""
    fitted.predict_proba()
    return Variants(fitted, node).label(k)


class Variants:
    """The node as it is, without one link each, and without one attribute each, as new nodes of a model."""

    def __init__(self, fitted: Fitted, node: Item) -> None:
        self.fitted, self.network = fitted, fitted.network
        self.row = position(self.network, node, "node")
        self.neighbours, weights = _row(self.network.links, self.row)
        owned, values = _row(self.network.attributes, self.row)
        self.without_links = _nearest(fitted, self.row, self.neighbours, "links")
        self.without_attributes = _nearest(fitted, self.row, owned, "attributes")
        links, attributes = len(self.without_links), len(self.without_attributes)
        count = 1 + links + attributes
        linked = np.ones((count, len(weights)), dtype=bool)
        linked[1 + np.arange(links), np.searchsorted(self.neighbours, self.without_links)] = False
        kept = np.ones((count, len(values)), dtype=bool)
        kept[1 + links + np.arange(attributes), np.searchsorted(owned, self.without_attributes)] = False
        self.placed = place_newcomers(
            fitted,
            _copies(self.neighbours, weights, linked, self.network.n_nodes),
            _copies(owned, values, kept, self.network.n_attributes),
            int(self.network.labels[self.row]),
        )

    def attributes(self, targets: Sequence[Item], k: int = 4) -> list[Why]:
        """What speaks for each of some attributes."""
        network = self.network
        columns = np.array([position(network, each, "attribute") for each in targets], dtype=np.int64)
        scores = self.placed.score_attributes(columns)
        owned = _owners(network, self.neighbours, columns)
        names = network.attribute_names
        return [
            self._why(str(names[column]), scores[:, t], owned[:, t], k) for t, column in enumerate(columns)
        ]

    def label(self, k: int = 4) -> Why:
        """What speaks for the likeliest class."""
        label = int(self.fitted.predict_proba()[self.row].argmax())
        nobody = np.zeros(len(self.neighbours), dtype=bool)
        name = str(self.network.class_names[label])
        return self._why(name, self.placed.probabilities[:, label], nobody, k)

    def _why(self, target: str, scores: np.ndarray, owned: np.ndarray, k: int) -> Why:
        network = self.network
        lost = scores[0] - scores[1:]
        links = len(self.without_links)
        best = np.argsort(-lost, kind="stable")[:k]
        owners = self.neighbours[owned]
        reasons = []
        for i in best[lost[best] > 0]:
            if i < links:
                item = self.without_links[i]
                owns = bool((owners == item).any())
                reasons.append(Reason(str(network.node_names[item]), "node", float(lost[i]), owns))
            else:
                name = network.attribute_names[self.without_attributes[i - links]]
                reasons.append(Reason(str(name), "attribute", float(lost[i])))
        return Why(target, float(scores[0]), reasons, [str(name) for name in network.node_names[owners]])


def _row(matrix: sp.csr_array, row: int) -> tuple[np.ndarray, np.ndarray]:
    part = slice(matrix.indptr[row], matrix.indptr[row + 1])
    order = np.argsort(matrix.indices[part])
    return matrix.indices[part][order].astype(np.int64), matrix.data[part][order]


def _copies(columns: np.ndarray, values: np.ndarray, kept: np.ndarray, width: int) -> sp.csr_array:
    """A row of a matrix as often as `kept` has rows, each time with the entries that it marks."""
    ends = np.append(0, np.cumsum(kept.sum(axis=1)))
    which = np.nonzero(kept)[1]
    return sp.csr_array((values[which], columns[which], ends), shape=(len(kept), width))


def _nearest(fitted: Fitted, row: int, items: np.ndarray, relation: str) -> np.ndarray:
    """At most `MOST_TRIED` of the items, those with the highest scores, in order of position."""
    if len(items) <= MOST_TRIED:
        return items
    pairs = np.column_stack([np.full(len(items), row), items])
    scores = fitted.score_links(pairs) if relation == "links" else fitted.score_attributes(pairs)
    return np.sort(items[np.argsort(-scores, kind="stable")[:MOST_TRIED]])


def _owners(network: Network, neighbours: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Which neighbour owns which of the attributes."""
    return (network.attributes[neighbours][:, columns] != 0).toarray().astype(bool)
