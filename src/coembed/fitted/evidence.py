"""An item as new, with any part of what is known of it: all the parts are placed in one go.

Everything an item has (links, attributes, cells, a known class) is a piece of evidence. What a piece is worth
is what the score loses when it is left out, on average over the orders in which all pieces can be left out
one after the other (Shapley). In each order the losses add up, exactly, to the score with everything minus
that with nothing; so do their averages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.fitted.newcomers import place_newcomers
from coembed.network.items import UNKNOWN
from coembed.network.matrices import row_of
from coembed.network.relations import Relation
from coembed.network.ways import ways_of

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted

MOST_TRIED = 24
"""Entries of an item in each relation and column that are pieces by themselves: those it is nearest to."""
ORDERS = 8
"""Orders of leaving out, half of them the others turned round."""
MOST_PLACED = 2000
"""Placed variants from which on fewer orders must do."""


@dataclass(frozen=True, eq=False)
class Entries:
    """What an item has in a relation or column, walked from its end; `tried` are pieces by themselves."""

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


class Piece(NamedTuple):
    """A piece of evidence: the places in `entries.items` that go with it; without entries the known class."""

    entries: Entries | None
    places: np.ndarray


class Worth(NamedTuple):
    """What the pieces of evidence are worth to one score.

    Attributes
    ----------
    everything, nothing
        The score with all pieces, and with none.
    shares
        Of each piece, by leaving out in many orders: they sum to ``everything - nothing``.
    without
        The score without this piece alone.
    """

    everything: float
    nothing: float
    shares: np.ndarray
    without: np.ndarray


class Evidence:
    """The pieces of evidence of a known item, and the item placed anew with parts of them.

    Attributes
    ----------
    pieces
        One for every entry that is tried, one for the others of each relation, one for a known class.
    placed
        The item as newcomers: with everything, with nothing, without each piece, and half-way of each order.
    """

    def __init__(self, fitted: Fitted, type: str, row: int) -> None:
        network = fitted.network
        if network.owner_type(type) is not None:
            name = str(network.items(type).ids[row])[:80]
            raise InputError(f"{name!r} is an attribute; reasons are given for the items that have it")
        self.fitted, self.type, self.row = fitted, type, row
        self.entries = _entries(fitted, type, row)
        label = fitted.labels_of(type)[[row]]
        self.pieces = [piece for each in self.entries for piece in _pieces(each)]
        if (label != UNKNOWN).any():
            self.pieces.append(Piece(None, np.empty(0, dtype=np.int64)))
        count = len(self.pieces)
        self._rank = _orders(count)
        kept = _variants(self._rank)
        rows = {}
        for each in self.entries:
            mask = np.zeros((len(kept), len(each.items)), dtype=bool)
            for number, piece in enumerate(self.pieces):
                if piece.entries is each:
                    mask[:, piece.places] = kept[:, [number]]
            rows[each.way] = _copies(each.items, each.values, mask, len(network.items(each.other)))
        labels = np.repeat(label, len(kept), axis=0)
        if count and self.pieces[-1].entries is None:
            labels[~kept[:, -1]] = UNKNOWN
        self.placed = place_newcomers(fitted, type, rows, labels)

    def worth(self, scores: np.ndarray) -> Worth:
        """From a score of every variant to what each piece is worth."""
        count, scores = len(self.pieces), np.asarray(scores, dtype=np.float64)
        everything, nothing, without = scores[0], scores[1], scores[2 : 2 + count]
        if not count:
            return Worth(float(everything), float(nothing), np.zeros(0), without)
        between = scores[2 + count :].reshape(len(self._rank), count - 1)
        ends = np.ones((len(self._rank), 1))
        along = np.hstack([everything * ends, between, nothing * ends])
        lost = along[:, :-1] - along[:, 1:]
        shares = np.take_along_axis(lost, self._rank, axis=1).mean(axis=0)
        return Worth(float(everything), float(nothing), shares, without)

    def linked(self) -> np.ndarray:
        """The items of its own type that it is joined to."""
        near = [each.items for each in self.entries if each.other == self.type]
        return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *near]))


def _orders(count: int) -> np.ndarray:
    """When each piece is left out, a row an order; an order and the same turned round go together.

    Examples
    --------
    >>> orders = _orders(3)
    >>> orders.shape, bool((orders[0] + orders[len(orders) // 2] == 2).all())
    ((8, 3), True)
    """
    half = max(1, min(ORDERS, MOST_PLACED // max(count, 1)) // 2)
    rng = np.random.default_rng(0)
    first = np.stack([rng.permutation(count) for _ in range(half)])
    return np.concatenate([first, count - 1 - first])


def _variants(rank: np.ndarray) -> np.ndarray:
    """Which pieces each variant has: all, none, all but one, and what is left on the way of each order."""
    count = rank.shape[1]
    steps = np.arange(1, count)[None, :, None]
    along = (rank[:, None, :] >= steps).reshape(len(rank) * max(count - 1, 0), count)
    everything, nothing = np.ones((1, count), dtype=bool), np.zeros((1, count), dtype=bool)
    return np.concatenate([everything, nothing, ~np.eye(count, dtype=bool), along])


def _pieces(entries: Entries) -> list[Piece]:
    single = np.searchsorted(entries.items, entries.tried)
    rest = np.setdiff1d(np.arange(len(entries.items)), single)
    found = [Piece(entries, np.array([place])) for place in single]
    return [*found, Piece(entries, rest)] if len(rest) else found


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
    places, values = row_of(matrix, row)
    order = np.argsort(places)
    return places[order].astype(np.int64), values[order]


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
