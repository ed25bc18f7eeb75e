"""What a question is answered with, and how an item of a network is named in a question."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

import numpy as np

from coembed.errors import InputError
from coembed.network.network import Network

ItemKind = Literal["node", "attribute"]
Item = str | int
KINDS: tuple[ItemKind, ItemKind] = ("node", "attribute")


@dataclass(frozen=True, slots=True)
class Match:
    """One line of an answer.

    Attributes
    ----------
    name, kind
        The item found: a ``node`` or an ``attribute``.
    score
        A cosine, a probability, or a value of a Gaussian relation, as the question says.
    std
        Standard deviation of the score: how far the uncertainty of both ends can move it.
    known
        Whether the network already held this pair when the model was fitted.
    label
        Class of a node, observed or else predicted; None for attributes and without classes.
    """

    name: str
    kind: ItemKind
    score: float
    std: float
    known: bool
    label: str | None = None

    def as_dict(self) -> dict[str, Any]:
        # written out: dataclasses.asdict copies every value, which takes longer than finding them
        return {
            "name": self.name,
            "kind": self.kind,
            "score": self.score,
            "std": self.std,
            "known": self.known,
            "label": self.label,
        }


def position(network: Network, item: Item, kind: ItemKind) -> int:
    """Position of an item given by name or position.

    Examples
    --------
    >>> network = Network.build([[0, 1], [1, 0]], node_names=["ann", "bob"])
    >>> position(network, "bob", "node"), position(network, 0, "node")
    (1, 0)
    >>> position(network, 2, "node")
    Traceback (most recent call last):
    coembed.errors.InputError: network has 2 nodes, there is no position 2; count from 0 to 1
    """
    if kind not in KINDS:
        raise InputError(f"there is no kind {kind!r}; known: node, attribute")
    if isinstance(item, (int, np.integer)):
        count = network.n_nodes if kind == "node" else network.n_attributes
        if not 0 <= item < count:
            raise InputError(
                f"{network.name} has {count} {kind}s, there is no position {item}; "
                f"count from 0 to {count - 1}"
            )
        return int(item)
    return network.node_index(item) if kind == "node" else network.attribute_index(item)


def kind_of(network: Network, item: Item, kind: ItemKind | None = None) -> ItemKind:
    """The kind that was named, or that of the one item of that name; positions count nodes.

    Examples
    --------
    >>> network = Network.build([[0]], [[1]], node_names=["ann"], attribute_names=["runs"])
    >>> kind_of(network, "runs"), kind_of(network, 0)
    ('attribute', 'node')
    """
    if kind is not None:
        if kind not in KINDS:
            raise InputError(f"there is no kind {kind!r}; known: node, attribute")
        return kind
    if not isinstance(item, str):
        return "node"
    is_node, is_attribute = ((names == item).any() for names in (network.node_names, network.attribute_names))
    if is_node and is_attribute:
        raise InputError(
            f"{item!r} is a node and an attribute of {network.name}; say which with kind (--kind)"
        )
    if not is_node and not is_attribute:
        near = get_close_matches(item, [*network.node_names[:50_000], *network.attribute_names[:50_000]], n=3)
        hint = f"did you mean {', '.join(map(repr, near))}?" if near else "check the spelling"
        raise InputError(f"{network.name} has no node and no attribute {item[:80]!r}; {hint}")
    return "attribute" if is_attribute else "node"
