"""What all items of a type should have, the best k of each: block by block, so that memory stays bounded.

Where every item can be compared with every other at the far end, the answers are those of
:meth:`coembed.fitted.Fitted.complete`. Where that would take hours, candidates come from an index of the
model's own scores and from what is two steps away; these are scored exactly, and how many of the true best
they hold is measured on some items.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.fitted.cell_texts import date_texts
from coembed.fitted.class_answers import class_texts
from coembed.fitted.matches import Item, position
from coembed.fitted.pair_candidates import Candidates, parts_of, too_many
from coembed.fitted.questions import COVERAGE, cell_answers, in_unit, intervals, named_relation, sure_from
from coembed.network.cell_values import cell_values
from coembed.network.relations import Column, Relation

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted

MEASURED = 50
"""Items on which it is measured how many of the best candidates hold."""


@dataclass(frozen=True, eq=False)
class Ranked:
    """Answers for some items, one after the other, best first.

    Attributes
    ----------
    rows, targets
        Positions of the item and of what it should have.
    rank
        From 1 on.
    score, std, known, cell, low, high
        As in a :class:`~coembed.fitted.matches.Match`.
    """

    type: str
    target: str
    rows: np.ndarray
    rank: np.ndarray
    targets: np.ndarray
    score: np.ndarray
    std: np.ndarray
    known: np.ndarray
    cell: np.ndarray | None = None
    low: np.ndarray | None = None
    high: np.ndarray | None = None


class Batch:
    """The best k of a relation or column for all items of a type, or some, in parts.

    Attributes
    ----------
    note
        What is to be told of answers that may miss some; empty where they are exact.
    """

    def __init__(
        self,
        fitted: Fitted,
        relation: str | None = None,
        k: int = 10,
        *,
        type: str | None = None,
        items: Sequence[Item] | None = None,
        known: bool = False,
        backwards: bool = False,
        fdr: float | None = None,
        coverage: float = COVERAGE,
    ) -> None:
        if k < 1:
            raise InputError(f"k must be at least 1, got {k}")
        network = fitted.network
        if type is None and relation in network.relations:
            joined = network.relation(str(relation))
            type = joined.target if backwards and not joined.pairing.same else joined.source
        self.fitted, self.k, self.known, self.coverage = fitted, k, known, coverage
        self.type = network.items(type).name
        self.relation = network.relation(named_relation(fitted, relation, self.type))
        if self.type not in (self.relation.source, self.relation.target):
            raise InputError(
                f"{self.relation.name} joins {self.relation.source} and {self.relation.target}, "
                f"not {self.type}"
            )
        self.backwards = self.type != self.relation.source or (
            backwards and not self.relation.pairing.undirected
        )
        column = self.relation.column
        self.of_cells = column is not None and column.has_cells
        if self.of_cells and self.backwards:
            raise InputError(f"{self.relation.name} is a column: ask for the cells of its items")
        self.rows = self._asked(items)
        self.far = self.relation.source if self.backwards else self.relation.target
        self.candidates: Candidates | None = None
        if not (self.of_cells or self.backwards) and too_many(fitted, self.relation, len(self.rows)):
            self.candidates = Candidates(fitted, self.relation)
        self.least = -np.inf if fdr is None else sure_from(fitted, self.relation, fdr)
        self.note = self._recall() if self.candidates is not None else ""

    def _asked(self, items: Sequence[Item] | None) -> np.ndarray:
        """Positions of the items in question, each once."""
        network, type = self.fitted.network, self.type
        every = self.fitted.span(self.relation) if self.backwards else np.arange(len(network.items(type)))
        if items is None:
            return every
        rows = [position(network, each, type) for each in dict.fromkeys(items)]
        strange = next((row for row in rows if self.backwards and row not in every), None)
        if strange is not None:
            name = str(network.items(type).ids[strange])[:80]
            raise InputError(f"{name!r} is no value of the column {self.relation.name}")
        return np.array(rows, dtype=np.int64)

    def __iter__(self) -> Iterator[Ranked]:
        if self.of_cells:
            return self._cells()
        if self.backwards:
            return self._from_the_far_end()
        return self._by_all(self.rows) if self.candidates is None else self._by_candidates(self.rows)

    def _sure(self, scores: np.ndarray) -> np.ndarray:
        """Which of the scores are answers at all."""
        return np.isfinite(scores) & (scores >= self.least)

    # All pairs

    def _by_all(self, rows: np.ndarray) -> Iterator[Ranked]:
        span = self.fitted.span(self.relation)
        for part in parts_of(rows, len(span)):
            scores = self.fitted.score_rows(part, self.relation.name)
            here, there = self._excluded(part)
            scores[here, there - (span[0] if len(span) else 0)] = -np.inf
            best = top_of_rows(scores, self.k)
            yield self._ranked(part, span[best], np.take_along_axis(scores, best, axis=1))

    def _from_the_far_end(self) -> Iterator[Ranked]:
        """The best items of the near end for each of the far end, as the near ones go by."""
        relation = self.relation
        start = 0 if relation.column is None else relation.column.start
        count = relation.values.shape[0]
        columns = self.rows - start
        width = len(self.fitted.span(relation))
        held = sp.csr_array(relation.backwards[self.rows])
        best: np.ndarray = np.empty((len(columns), 0), dtype=np.int64)
        scores: np.ndarray = np.empty((len(columns), 0), dtype=np.float32)
        for part in parts_of(np.arange(count), width + len(columns)):
            new = self.fitted.score_rows(part, relation.name)[:, columns].T.copy()
            inside = held[:, part[0] : part[-1] + 1].tocoo()
            if not self.known:
                new[inside.row, inside.col] = -np.inf
            if relation.pairing.same:
                own = np.flatnonzero((self.rows >= part[0]) & (self.rows <= part[-1]))
                new[own, self.rows[own] - part[0]] = -np.inf
            best = np.hstack([best, np.broadcast_to(part, new.shape)])
            scores = np.hstack([scores, new])
            kept = top_of_rows(scores, self.k)
            best, scores = (np.take_along_axis(each, kept, axis=1) for each in (best, scores))
        for part in parts_of(np.arange(len(columns)), self.k):
            yield self._ranked(self.rows[part], best[part], scores[part])

    # Candidates

    def _by_candidates(self, rows: np.ndarray) -> Iterator[Ranked]:
        assert self.candidates is not None
        for part in parts_of(rows, 64 * self.candidates.most):
            owner, places = self.candidates.of(part, self.k)
            scores = self.fitted.score(self.relation.name, np.column_stack([part[owner], places]))
            here, there = self._excluded(part)
            out = np.isin(owner * self.relation.values.shape[1] + places, _keys(here, there, self.relation))
            scores[out] = -np.inf
            order = np.lexsort((-scores, owner))  # places are in order already
            first = np.searchsorted(owner, np.arange(len(part)))
            rank = np.arange(len(order)) - first[owner]
            kept = order[(rank < self.k) & self._sure(scores[order])]
            yield self._lines(part[owner[kept]], places[kept], scores[kept])

    def _recall(self) -> str:
        """What candidates are worth, on some of the items."""
        rows = np.sort(
            np.random.default_rng(0).choice(self.rows, min(MEASURED, len(self.rows)), replace=False)
        )
        right = {(r, t) for part in self._by_all(rows) for r, t in zip(part.rows, part.targets, strict=True)}
        found = {
            (r, t) for part in self._by_candidates(rows) for r, t in zip(part.rows, part.targets, strict=True)
        }
        share = len(right & found) / max(len(right), 1)
        return f"approximate: of {len(rows)} items, {share:.1%} of the true best {self.k} were found"

    # Cells

    def _cells(self) -> Iterator[Ranked]:
        relation, column = self.relation, self.relation.column
        assert column is not None
        span = self.fitted.span(relation)
        for part in parts_of(self.rows, 4 * len(span) + 64):
            expected, spread = cell_answers(
                self.fitted,
                relation,
                self.fitted.latents_at(self.type, part),
                self.fitted.cell_features(self.type, part),
            )
            ends = intervals(self.fitted, relation, expected, spread, self.coverage)
            if column.numeric:
                expected, spread = in_unit(column, expected, spread)
            best = top_of_rows(expected, self.k)
            # what is known is said, however unlikely
            held = sp.csr_array(relation.values[part])
            owner, place = np.repeat(np.arange(len(part)), np.diff(held.indptr)), held.indices - span[0]
            more = (best[owner] != place[:, None]).all(axis=1)
            at = np.append(np.repeat(np.arange(len(part)), best.shape[1]), owner[more])
            which = np.append(best.ravel(), place[more])
            order = np.argsort(at, kind="stable")
            at, which = at[order], which[order]
            lines = self._lines(part[at], span[which], expected[at, which])
            cells = None if column.kind == "category" else column.held(cell_values(relation)[part[at]])
            low, high = (None, None) if ends is None else (end[at, which] for end in ends)
            yield replace(lines, std=spread[at, which], cell=cells, low=low, high=high)

    # Lines

    def _excluded(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What is no answer: what an item has, unless that is asked for, and itself."""
        held = sp.csr_array(self.relation.values[rows])
        here, there = np.repeat(np.arange(len(rows)), np.diff(held.indptr)), held.indices
        if self.known:
            here, there = here[:0], there[:0]
        if self.relation.pairing.same:
            here, there = np.append(here, np.arange(len(rows))), np.append(there, rows)
        return here, there

    def _ranked(self, rows: np.ndarray, targets: np.ndarray, scores: np.ndarray) -> Ranked:
        """From a matrix of answers, of which some rows have fewer, to lines."""
        there = self._sure(scores)
        here = np.repeat(rows, scores.shape[1]).reshape(scores.shape)
        return self._lines(here[there], targets[there], scores[there])

    def _lines(self, rows: np.ndarray, targets: np.ndarray, scores: np.ndarray) -> Ranked:
        relation = self.relation
        near, far = (targets, rows) if self.backwards else (rows, targets)
        begins = np.flatnonzero(np.append(True, rows[1:] != rows[:-1])) if len(rows) else rows
        rank = 1 + np.arange(len(rows)) - np.repeat(begins, np.diff(np.append(begins, len(rows))))
        std = np.zeros(len(rows))
        if not self.of_cells:
            scores, std = self.fitted.answer(relation.name, np.column_stack([near, far]))
        known = np.isin(
            near * relation.values.shape[1] + far, _keys(*_entries(relation, np.unique(near)), relation)
        )
        return Ranked(self.type, self.far, rows, rank, targets, scores, std, known)

    def table(self, part: Ranked) -> pa.Table:
        """Answers by names, as a table."""
        network, column = self.fitted.network, self.relation.column
        items, others = network.items(part.type), network.items(part.target)
        columns: dict[str, Any] = {"item": _texts(items.ids, part.rows)}
        if items.titles is not None:
            columns["item_title"] = _texts(items.titles, part.rows)
        numeric = column is not None and column.numeric
        if not numeric:
            columns |= {"rank": pa.array(part.rank), "name": _texts(others.ids, part.targets)}
            if others.titles is not None:
                columns["title"] = _texts(others.titles, part.targets)
        columns[column.name if column is not None and numeric else "score"] = _cells(column, part.score)
        columns["std"] = pa.array(part.std)
        if part.low is not None and part.high is not None:
            columns |= {"low": _cells(column, part.low), "high": _cells(column, part.high)}
        columns["known"] = pa.array(part.known)
        if part.cell is not None:
            columns["cell"] = _cells(column, part.cell)
        labels = class_texts(self.fitted, part.target, part.targets)
        if labels is not None:
            columns["label"] = pa.array(labels, pa.large_string())
        return pa.table(columns)


def top_of_rows(scores: np.ndarray, k: int) -> np.ndarray:
    """Columns of the k largest of each row, best first, ties in order of position.

    Examples
    --------
    >>> top_of_rows(np.array([[0.1, 0.9, 0.5, 0.5], [0.2, 0.2, 0.2, 0.1]]), 2).tolist()
    [[1, 2], [0, 1]]
    """
    if scores.shape[1] <= k:
        return np.argsort(-scores, axis=1, kind="stable")
    border = np.partition(scores, -k, axis=1)[:, [-k]]
    chosen = scores >= border
    tied = np.flatnonzero(np.count_nonzero(chosen, axis=1) > k)
    if len(tied):  # at the border the first by position
        above, level = scores[tied] > border[tied], scores[tied] == border[tied]
        left = k - np.count_nonzero(above, axis=1)[:, None]
        chosen[tied] = above | (level & (np.cumsum(level, axis=1, dtype=np.int32) <= left))
    best = np.nonzero(chosen)[1].reshape(len(scores), k)
    order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1, kind="stable")
    return np.take_along_axis(best, order, axis=1)


def _entries(relation: Relation, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    held = relation.values[rows]
    return np.repeat(rows, np.diff(held.indptr)), held.indices


def _keys(rows: np.ndarray, columns: np.ndarray, relation: Relation) -> np.ndarray:
    return rows.astype(np.int64) * relation.values.shape[1] + columns


def _cells(column: Column | None, values: np.ndarray) -> pa.Array:
    """Answers in the unit of the column: dates as dates, nothing where there is none."""
    values = values.astype(np.float64)
    if column is not None and column.kind == "date":
        return pa.array(date_texts(values, column.whole), pa.string())
    return pa.array(values, mask=np.isnan(values))


def _texts(names: Any, places: np.ndarray) -> pa.Array:
    """Names of some items, each different one written once."""
    different, which = np.unique(places, return_inverse=True)
    return pa.array([str(names[i]) for i in different], pa.large_string()).take(pa.array(which))
