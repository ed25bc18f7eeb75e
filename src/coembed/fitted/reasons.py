"""Why an answer is as it is: the item is placed anew without one of its entries at a time.

What the score loses when a neighbour, an attribute or a cell is left out is what it contributed. All the
variants of an item are placed in one go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.fitted.matches import Item, position, type_of
from coembed.fitted.newcomers import place_newcomers
from coembed.fitted.questions import named_relation
from coembed.network.relations import Relation
from coembed.network.ways import ways_of

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted

MOST_TRIED = 24
"""Entries of an item in each relation and column that are left out in turn: those that it is nearest to."""


@dataclass(frozen=True, slots=True)
class Reason:
    """An entry of the item, and what the score loses without it.

    Attributes
    ----------
    name, kind, title
        The id and the type of what the item is joined to, and what people call it.
    relation
        The relation, or the column, of the entry.
    owns
        Whether it is a linked item that has what is explained.
    """

    name: str
    kind: str
    contribution: float
    owns: bool = False
    relation: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Why:
    """The reasons for one answer.

    Attributes
    ----------
    target
        The id of what is explained, or the class.
    score
        Of the item placed with all it has.
    reasons
        What contributes most, best first; nothing that speaks against it (of a number: what moves it most).
    owners
        Ids of linked items of the same type that have the target; empty for a class.
    title
        What people call the target.
    """

    target: str
    score: float
    reasons: list[Reason]
    owners: list[str]
    title: str = ""


def why_attributes(
    fitted: Fitted,
    item: Item,
    targets: Sequence[Item],
    k: int = 4,
    *,
    type: str | None = None,
    positions: bool = False,
) -> list[Why]:
    """For each attribute: the entries of the item that speak most for it."""
    return Variants(fitted, item, type, positions).explain(None, targets, k, positions=positions)


def why_label(
    fitted: Fitted, item: Item, k: int = 4, *, type: str | None = None, positions: bool = False
) -> Why:
    """The entries of the item that speak most for its likeliest class."""
    return Variants(fitted, item, type, positions).label(k)


@dataclass(frozen=True, eq=False)
class Entries:
    """What an item has in a relation or column, walked from its end, and which of it is left out in turn."""

    relation: Relation
    forwards: bool
    items: np.ndarray
    values: np.ndarray
    tried: np.ndarray

    @property
    def way(self) -> str:
        return f"{self.relation.name}{'>' if self.forwards else '<'}"

    @property
    def other(self) -> str:
        return self.relation.target if self.forwards else self.relation.source


class Variants:
    """The item as it is, and without one of its entries each, as new items of a model."""

    def __init__(self, fitted: Fitted, item: Item, type: str | None = None, positions: bool = False) -> None:
        self.fitted, self.network = fitted, fitted.network
        self.type = type_of(
            self.network, item, type or (self.network.main.name if positions else None), positions
        )
        if self.network.owner_type(self.type) is not None:
            raise InputError(
                f"{str(item)[:80]!r} is an attribute; reasons are given for the items that have it"
            )
        self.row = position(self.network, item, self.type, positions)
        self.entries = _entries(fitted, self.type, self.row)
        count = 1 + sum(len(each.tried) for each in self.entries)
        rows, start = {}, 1
        for each in self.entries:
            kept = np.ones((count, len(each.items)), dtype=bool)
            kept[start + np.arange(len(each.tried)), np.searchsorted(each.items, each.tried)] = False
            rows[each.way] = _copies(each.items, each.values, kept, len(self.network.items(each.other)))
            start += len(each.tried)
        label = fitted.labels_of(self.type)[[self.row]]
        self.placed = place_newcomers(fitted, self.type, rows, np.repeat(label, count, axis=0))

    def attributes(self, targets: Sequence[Item], k: int = 4) -> list[Why]:
        """What speaks for each of some attributes."""
        return self.explain(None, targets, k)

    def explain(
        self, relation: str | None, targets: Sequence[Item], k: int = 4, *, positions: bool = False
    ) -> list[Why]:
        """What speaks for each of some items at the far end of a relation, or values of a column."""
        network = self.network
        joined = network.relation(named_relation(self.fitted, relation, self.type))
        if joined.source != self.type:
            raise InputError(
                f"{joined.name} joins {joined.source} to {joined.target}; ask about the {joined.source}"
            )
        others = network.items(joined.target)
        at = np.array([position(network, each, joined.target, positions) for each in targets], dtype=np.int64)
        column = joined.column
        if column is not None and not all(column.start <= each < column.stop for each in at):
            raise InputError(f"{column.name} has no such value; name one of its own")
        scores = self.placed.score(joined.name, at)
        if column is not None and column.numeric:
            scores = column.cell(scores)
        linked = self._linked()
        owned = (joined.values[linked][:, at] != 0).toarray().astype(bool)
        if column is not None and column.numeric:  # every item has a number: that says nothing
            owned[:] = False
        return [
            self._why(
                str(others.ids[target]),
                others.title(int(target)),
                scores[:, t],
                linked[owned[:, t]],
                k,
                signed=column is not None and column.numeric,
            )
            for t, target in enumerate(at)
        ]

    def label(self, k: int = 4) -> Why:
        """What speaks for the likeliest class."""
        label = int(self.fitted.predict_proba(self.type)[self.row].argmax())
        known, probabilities = self.network.items(self.type).labels, self.placed.probabilities
        assert known is not None
        assert probabilities is not None
        name = str(known.classes[label])
        return self._why(name, name, probabilities[:, label], np.empty(0, dtype=np.int64), k)

    def _linked(self) -> np.ndarray:
        """The items of its own type that it is joined to."""
        near = [each.items for each in self.entries if each.other == self.type]
        return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *near]))

    def _why(
        self, target: str, title: str, scores: np.ndarray, owners: np.ndarray, k: int, signed: bool = False
    ) -> Why:
        lost = scores[0] - scores[1:]
        weight = np.abs(lost) if signed else lost
        best = np.argsort(-weight, kind="stable")[:k]
        tried = [(each, item) for each in self.entries for item in each.tried]
        reasons = []
        for i in best[weight[best] > 0]:
            entry, item = tried[i]
            items = self.network.items(entry.other)
            owns = entry.other == self.type and bool((owners == item).any())
            name = str(items.ids[item])
            reasons.append(
                Reason(name, entry.other, float(lost[i]), owns, entry.relation.name, items.title(int(item)))
            )
        ids = self.network.items(self.type).ids
        return Why(target, float(scores[0]), reasons, [str(ids[i]) for i in owners], title)


def _entries(fitted: Fitted, type: str, row: int) -> list[Entries]:
    network = fitted.network
    walked = [(way.relation, way.forwards) for way in ways_of(network, type)]
    walked += [(each.name, True) for each in network.columns(type)]
    found = []
    for name, forwards in walked:
        relation = network.relation(name)
        items, values = _row(relation.values if forwards else relation.backwards, row)
        found.append(Entries(relation, forwards, items, values, _nearest(fitted, row, items, name, forwards)))
    return found


def _row(matrix: sp.csr_array, row: int) -> tuple[np.ndarray, np.ndarray]:
    part = slice(matrix.indptr[row], matrix.indptr[row + 1])
    order = np.argsort(matrix.indices[part])
    return matrix.indices[part][order].astype(np.int64), matrix.data[part][order]


def _copies(columns: np.ndarray, values: np.ndarray, kept: np.ndarray, width: int) -> sp.csr_array:
    """A row of a matrix as often as `kept` has rows, each time with the entries that it marks."""
    ends = np.append(0, np.cumsum(kept.sum(axis=1)))
    which = np.nonzero(kept)[1]
    return sp.csr_array((values[which], columns[which], ends), shape=(len(kept), width))


def _nearest(fitted: Fitted, row: int, items: np.ndarray, relation: str, forwards: bool) -> np.ndarray:
    """At most `MOST_TRIED` of the items, those with the highest scores, in order of position."""
    if len(items) <= MOST_TRIED:
        return items
    here = np.full(len(items), row)
    scores = fitted.score(relation, np.column_stack([here, items] if forwards else [items, here]))
    return np.sort(items[np.argsort(-scores, kind="stable")[:MOST_TRIED]])
