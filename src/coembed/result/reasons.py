"""Why an answer is as it is: the node is placed anew without one link or one attribute at a time.

What the score loses when a neighbour or an attribute is left out is what it contributed. All the variants of
a node are placed in one go, by :meth:`coembed.result.Fitted.embed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from coembed.network.data import Network
from coembed.result.answers import Item, ItemKind, position

if TYPE_CHECKING:
    from coembed.result.fitted import Fitted

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
    row = position(fitted.network, node, "node")
    columns = np.array([position(fitted.network, each, "attribute") for each in targets], dtype=np.int64)
    variants = _Variants(fitted, row, columns)
    pairs = np.column_stack(
        [
            np.repeat(np.arange(variants.count), len(columns)) + variants.first,
            np.tile(np.searchsorted(variants.attributes, columns), variants.count),
        ]
    )
    scores = variants.result.score_attributes(pairs).reshape(variants.count, len(columns))
    owned = _owners(fitted.network, variants.neighbours, columns)
    names = fitted.network.attribute_names
    return [
        variants.why(str(names[column]), scores[:, t], owned[:, t], k) for t, column in enumerate(columns)
    ]


def why_label(fitted: Fitted, node: Item, k: int = 4) -> Why:
    """The links and attributes of the node that speak most for its likeliest class."""
    row = position(fitted.network, node, "node")
    label = int(fitted.predict_proba()[row].argmax())
    variants = _Variants(fitted, row, np.empty(0, dtype=np.int64))
    scores = variants.result.probabilities[variants.first :, label]
    nobody = np.zeros(len(variants.neighbours), dtype=bool)
    return variants.why(str(fitted.network.class_names[label]), scores, nobody, k)


class _Variants:
    """The node as it is, without one link each, and without one attribute each, as new nodes of a model."""

    def __init__(self, fitted: Fitted, row: int, columns: np.ndarray) -> None:
        network = fitted.network
        self.network = network
        self.neighbours, weights = _row(network.links, row)
        owned, values = _row(network.attributes, row)
        self.without_links = _nearest(fitted, row, self.neighbours, "links")
        self.without_attributes = _nearest(fitted, row, owned, "attributes")
        self.attributes = np.union1d(owned, columns)
        self.first = len(self.neighbours) + 1
        self.count = 1 + len(self.without_links) + len(self.without_attributes)

        links = np.tile(np.append(weights, np.float32(0)), (self.count, 1))
        tried = np.searchsorted(self.neighbours, self.without_links)
        links[1 + np.arange(len(tried)), tried] = 0
        attributes = np.zeros((self.count, len(self.attributes)), dtype=np.float32)
        attributes[:, np.searchsorted(self.attributes, owned)] = values
        tried = np.searchsorted(self.attributes, self.without_attributes)
        attributes[1 + len(self.without_links) + np.arange(len(tried)), tried] = 0
        self.result = fitted.embed(self._small_network(links, attributes, row)).result

    def _small_network(self, links: np.ndarray, attributes: np.ndarray, row: int) -> Network:
        """The neighbours and the node itself, which may have none; then the variants, labelled as it is."""
        network, known = self.network, np.append(self.neighbours, row)
        block = sp.csr_array(links)
        empty = sp.csr_array((self.first, len(self.attributes)), dtype=np.float32)
        labels = np.append(network.labels[known], np.full(self.count, network.labels[row]))
        # no name of a file can be like this one: names hold no null character
        made_up = [f"\0{i}" for i in range(self.count)]
        return Network(
            links=sp.block_array([[None, block.T], [block, None]], format="csr").astype(np.float32),
            attributes=sp.vstack([empty, sp.csr_array(attributes)], format="csr"),
            labels=labels,
            node_names=np.append(network.node_names[known], np.array(made_up, dtype=object)),
            attribute_names=network.attribute_names[self.attributes],
            class_names=network.class_names,
            name=network.name,
        )

    def why(self, target: str, scores: np.ndarray, owned: np.ndarray, k: int) -> Why:
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
