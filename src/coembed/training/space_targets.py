"""What should lie near what in the common space: for every item a distribution over the items of all types.

An item's neighbours there are what it is known to have and what the combined answer (the model and the
closed-form scores) proposes for it, in every relation and column, in both directions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import logit

from coembed.fitted import Fitted
from coembed.network.network import Network
from coembed.network.relations import Relation
from coembed.progress import Tell
from coembed.views.basis import averaging, scaled_rows

PROPOSED = 100
"""Proposals that are kept of an item in one relation."""
SHARPNESS = 2.0
"""Proposals count as their odds to this power: lists that people look at are short."""
TAIL = 0.25
"""Share of proposals drawn by their odds from all, so that what comes far behind has an order too."""
KNOWN_LINKS, KNOWN_WORDS = 0.2, 0.5
"""Shares of what is known, beside what is proposed: of links, and of an item's words."""
MANY_WORDS = 100.0
"""Words of an item that halve their share: each of many holds it by less."""
OWNERS = 10.0
"""Owners of a word that weigh as much as all those proposed: of thousands none stands behind a guess."""
ROWS, AT_ONCE = 512, 10_000_000
"""Items whose scores are held at a time, and how many scores: what these are made of takes tenfold room."""
MOST_SCORED = 400_000_000
"""Pairs of a relation that are looked at; of more, those of some items drawn at random."""


@dataclass(frozen=True, eq=False)
class Stack:
    """Some items of all types, one after the other.

    Attributes
    ----------
    taken
        By type, positions of the items.
    """

    taken: Mapping[str, np.ndarray]

    @property
    def sizes(self) -> list[int]:
        return [len(rows) for rows in self.taken.values()]

    @property
    def count(self) -> int:
        return sum(self.sizes)

    def start(self, type: str) -> int:
        return sum(self.sizes[: list(self.taken).index(type)])

    def part(self, type: str) -> slice:
        return slice(self.start(type), self.start(type) + len(self.taken[type]))

    def cut(self, matrix: sp.csr_array, source: str, target: str) -> sp.csr_array:
        """The entries between taken items."""
        rows, columns = self.taken[source], self.taken[target]
        if len(rows) < matrix.shape[0]:
            matrix = sp.csr_array(matrix[rows])
        return matrix if len(columns) == matrix.shape[1] else sp.csr_array(matrix[:, columns])


def speaking_for(relation: Relation) -> sp.csr_array:
    """What an entry says for its two ends being near: presence, or how far a number is above its middle."""
    values = relation.values.copy()
    if relation.column is not None and relation.column.has_cells:
        values.data = np.maximum(values.data, 0)  # a known no, and what is below the middle, say nothing
    else:
        values.data = np.ones_like(values.data)
    values.eliminate_zeros()
    return sp.csr_array(values)


def neighbours_wanted(fitted: Fitted, stack: Stack, tell: Tell, seed: int = 0) -> sp.csr_array:
    """One row an item of the stack, which sums to one; empty where nothing is known of an item."""
    network, rng = fitted.network, np.random.default_rng([seed, 17])
    blocks: dict[tuple[str, str], sp.csr_array] = {}

    def add(source: str, target: str, block: sp.csr_array, weight: float) -> None:
        found = sp.csr_array(averaging(block) * np.float32(weight))
        blocks[source, target] = found + blocks[source, target] if (source, target) in blocks else found

    for name, relation in network.relations.items():
        known = stack.cut(speaking_for(relation), relation.source, relation.target)
        if not known.nnz:
            continue
        # as in the objective: a relation counts with the root of its entries
        weight = float(np.sqrt(known.nnz))
        forwards, backwards = averaging(known), averaging(sp.csr_array(known.T))
        if fitted.relations[name].blends:
            tell(f"the common space: what {name} proposes")
            proposed = _proposals(fitted, relation, stack, rng)
            owners = np.diff(backwards.indptr)
            near, far = np.full(forwards.shape[0], KNOWN_LINKS), np.full(len(owners), KNOWN_LINKS)
            if relation.column is not None:
                words = np.diff(forwards.indptr)
                near, far = KNOWN_WORDS * MANY_WORDS / (words + MANY_WORDS), owners / (owners + OWNERS)
            forwards = scaled_rows(forwards, near) + scaled_rows(proposed[0], 1 - near)
            backwards = scaled_rows(backwards, far) + scaled_rows(proposed[1], 1 - far)
        add(relation.source, relation.target, forwards, weight)
        if not relation.pairing.undirected:
            add(relation.target, relation.source, backwards, weight)
    return averaging(_assembled(network, stack, blocks))


def _assembled(
    network: Network, stack: Stack, blocks: Mapping[tuple[str, str], sp.csr_array]
) -> sp.csr_array:
    types = list(network.types)
    grid = [
        [
            blocks.get((here, there), sp.csr_array((len(stack.taken[here]), len(stack.taken[there]))))
            for there in types
        ]
        for here in types
    ]
    found = sp.csr_array(sp.block_array(grid).tocsr().astype(np.float32))
    found.setdiag(0)
    found.eliminate_zeros()
    return found


def _proposals(
    fitted: Fitted, relation: Relation, stack: Stack, rng: np.random.Generator
) -> tuple[sp.csr_array, sp.csr_array]:
    """What the combined answer proposes beyond what is known, seen from either end of a relation."""
    rows, span = stack.taken[relation.source], fitted.span(relation)
    place = np.full(relation.values.shape[1], -1)
    place[stack.taken[relation.target]] = np.arange(len(stack.taken[relation.target]))
    columns = np.flatnonzero(place[span] >= 0)
    at = place[span[columns]]
    most = max(ROWS, MOST_SCORED // max(1, len(span)))
    asked = np.arange(len(rows))
    if len(rows) > most:
        asked = np.sort(rng.choice(len(rows), most, replace=False))
    shape = len(rows), len(place[place >= 0])
    forwards, best = [], _Best(len(columns), PROPOSED)
    step = min(ROWS, max(1, AT_ONCE // max(1, len(span))))
    for first in range(0, len(asked), step):
        part = asked[first : first + step]
        scores = fitted.score_rows(rows[part], relation.name)[:, columns]
        scores = logit(np.clip(scores, 1e-6, 1 - 1e-6)).astype(np.float32)
        held = relation.values[rows[part]][:, span[columns]]
        scores[np.repeat(np.arange(len(part)), np.diff(held.indptr)), held.indices] = -np.inf
        if relation.pairing.same:
            own = np.searchsorted(at, part)
            scores[np.arange(len(part)), own] = -np.inf
        chosen, weights = _listed(scores, rng)
        forwards.append((np.repeat(part, chosen.shape[1]), at[chosen].ravel(), weights.ravel()))
        best.see(scores, part)
    row, column, weight = (np.concatenate(each) for each in zip(*forwards, strict=True))
    out = sp.csr_array((weight, (row, column)), shape=shape)
    if relation.pairing.undirected:
        return out, out
    chosen, weights = best.listed()
    back = sp.csr_array(
        (weights.ravel(), (np.repeat(at, chosen.shape[1]), chosen.ravel())), shape=(shape[1], shape[0])
    )
    return out, back


def _listed(scores: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Of each row the best, by their odds, and some of all the others, drawn by their odds."""
    count = min(PROPOSED, scores.shape[1])
    best = _largest(scores, count)
    found = _by_odds(np.take_along_axis(scores, best, axis=1))
    if count == scores.shape[1]:
        return best, found
    noise = -np.log(-np.log(rng.random(scores.shape, dtype=np.float32) + 1e-12) + 1e-12)
    drawn = _largest(scores + noise, count)
    there = np.isfinite(np.take_along_axis(scores, drawn, axis=1))
    tail = there / np.maximum(there.sum(axis=1, keepdims=True), 1)
    return np.hstack([best, drawn]), np.hstack([(1 - TAIL) * found, TAIL * tail]).astype(np.float32)


def _by_odds(scores: np.ndarray) -> np.ndarray:
    """Shares of the scores of a row, which are logits: odds to some power."""
    highest = scores.max(axis=1, keepdims=True)
    odds = np.exp(SHARPNESS * (scores - np.where(np.isfinite(highest), highest, 0)))
    sums = odds.sum(axis=1, keepdims=True)
    return (odds / np.where(sums > 0, sums, 1)).astype(np.float32)


def _largest(scores: np.ndarray, count: int) -> np.ndarray:
    return np.argpartition(-scores, count - 1, axis=1)[:, :count]


class _Best:
    """The best rows of every column, while the rows go by."""

    def __init__(self, columns: int, count: int) -> None:
        self.rows = np.zeros((columns, 0), dtype=np.int64)
        self.scores = np.zeros((columns, 0), dtype=np.float32)
        self.count = count

    def see(self, scores: np.ndarray, rows: np.ndarray) -> None:
        chosen = _largest(np.ascontiguousarray(scores.T), min(self.count, len(rows)))
        self.scores = np.hstack([self.scores, np.take_along_axis(scores.T, chosen, axis=1)])
        self.rows = np.hstack([self.rows, rows[chosen]])
        if self.rows.shape[1] > self.count:
            kept = _largest(self.scores, self.count)
            self.scores = np.take_along_axis(self.scores, kept, axis=1)
            self.rows = np.take_along_axis(self.rows, kept, axis=1)

    def listed(self) -> tuple[np.ndarray, np.ndarray]:
        return self.rows, _by_odds(self.scores)
