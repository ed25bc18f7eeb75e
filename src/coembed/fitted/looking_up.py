"""What the network of a model itself holds: items by what was typed, and what an item is joined to."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coembed.errors import no_such
from coembed.fitted.matches import Item, Match, position, type_of
from coembed.fitted.name_search import NameIndex
from coembed.fitted.questions import matches
from coembed.network.network import Network

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted

CANDIDATES = 1000
"""Names that a search looks at before it is narrowed to a type."""
_EXACT = np.zeros(1)


class Names(NamedTuple):
    """Ids and titles of all items of all types, to be searched, and whose each is."""

    searched: NameIndex
    types: list[str]
    rows: list[int]


def all_names(network: Network) -> Names:
    names: list[str] = []
    types: list[str] = []
    rows: list[int] = []
    for type, items in network.types.items():
        titles = [items.title(i) for i in range(len(items))] if items.titles is not None else []
        for listed in (titles, [str(id) for id in items.ids]):
            names += listed
            types += [type] * len(listed)
            rows += range(len(listed))
    return Names(NameIndex(names, np.zeros(len(names))), types, rows)


def search(fitted: Fitted, text: str, k: int = 10, type: str | None = None) -> list[Match]:
    """Items whose ids or titles fit what was typed, typing errors included; their score is how well."""
    if type is not None and type not in fitted.network.types:
        raise no_such("type", type, fitted.network.types)
    names = fitted.names
    found: dict[tuple[str, int], float] = {}
    for hit in names.searched.find(text, CANDIDATES):
        at = names.types[hit.position], names.rows[hit.position]
        if type in (None, at[0]):
            found.setdefault(at, hit.score)
    lines = (
        matches(fitted, name, np.array([row]), np.array([score]), _EXACT[:1], _EXACT[:0])
        for (name, row), score in list(found.items())[:k]
    )
    return [line for [line] in lines]


def neighbours(
    fitted: Fitted,
    item: Item,
    relation: str | None = None,
    *,
    type: str | None = None,
    backwards: bool = False,
    positions: bool = False,
) -> list[Match]:
    """What the network joins to an item by a relation (by default its first), the largest values first."""
    network = fitted.network
    type = type_of(network, item, type, positions)
    row = position(network, item, type, positions)
    ways = [*network.joining(type), *network.columns(type)]
    ways += [each for each in network.relations.values() if each.target == type and each.column is not None]
    names = [each.name for each in ways]
    if relation is not None and relation not in names:
        raise no_such(f"relation of {type}", relation, names)
    if not names:
        return []
    joined = network.relation(relation or names[0])
    forwards = type == joined.source and not (backwards and joined.source == joined.target)
    matrix = joined.values if forwards else joined.backwards
    part = slice(matrix.indptr[row], matrix.indptr[row + 1])
    values = matrix.data[part].astype(np.float64)
    if joined.column is not None and joined.column.numeric:
        values = joined.column.held(values)
    other = joined.target if forwards else joined.source
    order = np.argsort(-values, kind="stable")
    items = matrix.indices[part][order]
    return matches(fitted, other, items, values[order], np.zeros(len(items)), items)
