"""What a question is answered with, and how an item of a network is named in a question."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from coembed.errors import InputError, no_such
from coembed.network.items import SEARCHED
from coembed.network.network import Network

Item = str | int
"""An item by its id; or, where positions are asked for, by its position."""


@dataclass(frozen=True, slots=True)
class Match:
    """One line of an answer.

    Attributes
    ----------
    name, kind
        The id of the item found, and its type.
    score
        A cosine, a probability, or a value, as the question says.
    std
        Standard deviation of the score: how far the uncertainty of both ends can move it.
    known
        Whether the network already held this pair when the model was fitted.
    label
        Class of the item, observed or else predicted; None for types without classes.
    title
        What people call the item.
    low, high
        Of a number whose errors are known: between what the cell is, as often as was asked for.
    cell
        Of a number, a date (in days) or yes or no (1 or 0) that is known: what the cell holds.
    """

    name: str
    kind: str
    score: float
    std: float
    known: bool
    label: str | None = None
    title: str = ""
    cell: float | None = None
    low: float | None = None
    high: float | None = None

    def as_dict(self) -> dict[str, Any]:
        # written out: dataclasses.asdict copies every value, which takes longer than finding them
        return {
            "name": self.name,
            "type": self.kind,
            "kind": self.kind,
            "score": self.score,
            "std": self.std,
            "known": self.known,
            "label": self.label,
            "title": self.title or self.name,
            **({} if self.cell is None else {"cell": self.cell}),
            **({} if self.low is None else {"low": self.low, "high": self.high}),
        }


def position(network: Network, item: Item, type: str, positions: bool = False) -> int:
    """Position of an item given by its id; a number is an id, too, unless positions are asked for.

    Examples
    --------
    >>> network = Network.build([[0, 1], [1, 0]], node_names=["ann", "1"])
    >>> position(network, 1, "node"), position(network, 0, "node", positions=True)
    (1, 0)
    >>> position(network, 2, "node", positions=True)
    Traceback (most recent call last):
    coembed.errors.InputError: network has 2 items of type node, there is no position 2; count from 0 to 1
    """
    items = network.items(type)
    if not positions:
        return network.node_index(str(item)) if _plain_node(network, type) else items.position(item)
    if not isinstance(item, (int, np.integer)):
        raise InputError(f"a position must be a whole number, got {item!r}")
    if not 0 <= item < len(items):
        raise InputError(
            f"{network.name} has {len(items)} items of type {type}, there is no position {item}; "
            f"count from 0 to {len(items) - 1}"
        )
    return int(item)


def _plain_node(network: Network, type: str) -> bool:
    """Whether a name that is an attribute's deserves to be told so."""
    return network.is_plain and type == "node"


def type_of(network: Network, item: Item, type: str | None = None, positions: bool = False) -> str:
    """The type that was named, or that of the one item of that id; positions count the main type.

    Examples
    --------
    >>> network = Network.build([[0]], [[1]], node_names=["ann"], attribute_names=["runs"])
    >>> type_of(network, "runs"), type_of(network, 0, positions=True)
    ('attribute', 'node')
    """
    if type is not None:
        if type not in network.types:
            raise no_such("type", type, network.types)
        return type
    if positions:
        return network.main.name
    found = [name for name, items in network.types.items() if items.find(item) is not None]
    if len(found) > 1:
        raise InputError(
            f"{str(item)[:80]!r} is one of several types of {network.name} ({', '.join(found)}); "
            "say which with type (--type)"
        )
    if not found:
        every = [str(each) for items in network.types.values() for each in items.ids[:SEARCHED]]
        near = get_close_matches(str(item), every, n=3)
        hint = f"did you mean {', '.join(map(repr, near))}?" if near else "check the spelling"
        kinds = " and no ".join(network.types)
        raise InputError(f"{network.name} has no {kinds} {str(item)[:80]!r}; {hint}")
    return found[0]
