"""A number has two poles: its code points to where it is high, and the other way to where it is low."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coembed.network.network import Network
from coembed.network.relations import Column

WORDS = {"date": ("late", "early")}
"""What the poles are called, by kind of column."""
USUAL = ("high", "low")


class Pole(NamedTuple):
    """One end of a number: whose code, and 1, or -1 for the other way."""

    type: str
    row: int
    sign: int


def numbers_of(network: Network, type: str) -> dict[int, Column]:
    """The attributes of a type that are numbers, by position."""
    columns = (each.column for each in network.relations.values() if each.target == type)
    return {column.start: column for column in columns if column is not None and column.numeric}


def pole_name(name: str, column: Column, sign: float) -> str:
    """
    >>> pole_name("income", Column("income", "number"), -0.3), pole_name("born", Column("born", "date"), 1)
    ('income low', 'born late')
    """
    return f"{name} {WORDS.get(column.kind, USUAL)[int(sign < 0)]}"


def find_pole(network: Network, name: str, type: str | None = None) -> Pole | None:
    """What a name such as ``income low`` means, if an item is not called so itself."""
    title, _, word = str(name).rpartition(" ")
    for each in network.types if type is None else [type]:
        items = network.items(each)
        row = items.find(title)
        column = None if row is None or items.find(name) is not None else numbers_of(network, each).get(row)
        if row is not None and column is not None and word in WORDS.get(column.kind, USUAL):
            return Pole(each, row, -1 if word == WORDS.get(column.kind, USUAL)[1] else 1)
    return None


def nearer_poles(network: Network, type: str, cosines: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cosines with the items of a type, of its numbers with the pole that is nearer; and their signs."""
    numbers = np.array(list(numbers_of(network, type)), dtype=np.int64)
    signs = np.ones(len(cosines), dtype=np.int64)
    signs[numbers] = np.where(cosines[numbers] < 0, -1, 1)
    return cosines * signs, signs
