"""Why a model answers as it does: what each link, attribute, cell and neighbour of the item contributes.

    claimed = nothing + contributions + the rest + beyond

`nothing` is what the model would say of an item of which nothing is known, the contributions are found by
leaving out (:mod:`coembed.fitted.evidence`), and `beyond` is what the answer holds that the item placed anew
does not: what training has learnt of the item itself, and closed-form scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coembed.errors import InputError, no_such
from coembed.fitted.evidence import Evidence, Piece, Worth
from coembed.fitted.matches import Item, position, type_of
from coembed.fitted.questions import cell_answers, named_relation
from coembed.network.matrices import entries_of
from coembed.network.relations import Relation

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted

CLASS = ""
"""In the place of a relation where a class is explained, or is a reason: no relation has that name."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A piece of evidence.

    Attributes
    ----------
    name, kind, title
        The id and the type of what the item is joined to, and what people call it.
    relation
        The relation or the column; empty if the item's known class is what speaks.
    contribution
        What it adds to the answer; all contributions add up.
    without
        The score of the item placed without this alone.
    owns
        Whether it is a linked item that has what is explained.
    """

    name: str
    kind: str
    contribution: float
    without: float
    owns: bool = False
    relation: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Why:
    """The reasons for one answer: ``claimed = nothing + sum of contributions + others + beyond``.

    Attributes
    ----------
    item, type
        Of whom something is claimed.
    relation, target, title
        What: the relation or column (empty for a class), the id at its far end and what people call it.
    claimed
        What the model answers: a probability, or a number in its unit.
    nothing
        What it would say of an item of which nothing is known.
    reasons
        What contributes most, whether it speaks for the answer or against it.
    others, others_count
        What all further pieces of evidence contribute together, and how many entries they are.
    beyond
        What is claimed beyond the item placed anew: what training learnt of it itself, closed-form scores.
    owners
        Ids of linked items of the same type that have the target; empty for a class.
    """

    item: str
    type: str
    relation: str
    target: str
    title: str
    claimed: float
    nothing: float
    reasons: list[Reason]
    others: float
    others_count: int
    beyond: float
    owners: list[str]

    def as_dict(self) -> dict[str, Any]:
        # slot by slot: dataclasses.asdict copies every value, which takes longer than finding them
        told = {name: getattr(self, name) for name in self.__slots__}
        reasons = [{name: getattr(each, name) for name in each.__slots__} for each in self.reasons]
        return {**told, "reasons": reasons, "owners": list(self.owners)}


def why(
    fitted: Fitted,
    item: Item,
    *,
    type: str | None = None,
    label: str | None = None,
    relation: str | None = None,
    column: str | None = None,
    target: Item | None = None,
    backwards: bool = False,
    k: int = 10,
    positions: bool = False,
) -> Why:
    """See :meth:`Fitted.why`."""
    if sum(each is not None for each in (label, relation, column)) > 1:
        raise InputError("ask about a class, a relation or a column, one at a time")
    joined = relation if relation is not None else column
    ends = fitted.network.relations.get(joined or "")
    if type is None and ends is not None and not positions:
        for end in (ends.target, ends.source):  # the near one, if both have it
            type = end if fitted.network.items(end).find(item) is not None else type
    reasons = Reasons(fitted, item, type, positions)
    if joined is None and target is None:
        return reasons.label(k, label)
    if label is not None:
        raise InputError("a class has no target; leave it out, or name a relation or column")
    targets = None if target is None else [target]
    return reasons.explain(joined, targets, k, backwards=backwards, positions=positions)[0]


class Reasons:
    """All that is asked about one item, from one placing of its evidence."""

    def __init__(self, fitted: Fitted, item: Item, type: str | None = None, positions: bool = False) -> None:
        self.fitted, self.network = fitted, fitted.network
        self.type = type_of(self.network, item, type, positions)
        self.row = position(self.network, item, self.type, positions)
        self.evidence = Evidence(fitted, self.type, self.row)

    def label(self, k: int = 4, name: str | None = None) -> Why:
        """What speaks for a class, by default the likeliest."""
        told, known = self.fitted.predict_proba(self.type)[self.row], self.network.items(self.type).labels
        probabilities = self.evidence.placed.probabilities
        assert known is not None
        assert probabilities is not None
        names = [str(each) for each in known.classes]
        if name is not None and name not in names:
            raise no_such(f"class of {self.type}", name, names)
        at = int(told.argmax()) if name is None else names.index(name)
        worth = self.evidence.worth(probabilities[:, at])
        return self._why(CLASS, names[at], names[at], float(told[at]), worth, np.empty(0, dtype=np.int64), k)

    def explain(
        self,
        relation: str | None,
        targets: Sequence[Item] | None,
        k: int = 4,
        *,
        backwards: bool = False,
        positions: bool = False,
    ) -> list[Why]:
        """What speaks for each of some items at the far end of a relation, or values of a column.

        Without targets for the likeliest one that the item does not have; of a cell for the likeliest.
        """
        joined = self.network.relation(named_relation(self.fitted, relation, self.type))
        if self.type not in (joined.source, joined.target):
            raise InputError(f"{joined.name} joins {joined.source} to {joined.target}, not {self.type}")
        backwards = self.type != joined.source or (backwards and not joined.pairing.undirected)
        far = joined.source if backwards else joined.target
        if targets is None:
            best = self.fitted.complete(
                self.row, joined.name, 1, type=self.type, backwards=backwards, positions=True
            )
            if not best:
                raise InputError(f"{joined.name} has nothing at its far end that could be explained")
            targets, positions = [best[0].name], False
        at = np.array([self._target(joined, far, each, positions) for each in targets], dtype=np.int64)
        claimed, scores = self._scores(joined, at, backwards)
        owned = self._owned(joined, at, backwards)
        others = self.network.items(far)
        return [
            self._why(
                joined.name,
                str(others.ids[target]),
                others.title(int(target)),
                float(claimed[t]),
                self.evidence.worth(scores[:, t]),
                owned[t],
                k,
            )
            for t, target in enumerate(at)
        ]

    def _target(self, joined: Relation, far: str, given: Item, positions: bool) -> int:
        """Position of what is explained; a value of a column also by what its cells say."""
        items, column = self.network.items(far), joined.column
        if column is None or far != joined.target:
            return position(self.network, given, far, positions)
        own = range(column.start, column.stop)
        found = int(given) if positions else items.find(given)
        if found is None or found not in own:
            titles = [items.title(each) for each in own]
            if str(given) not in titles:
                raise no_such(f"value of {column.name}", str(given), titles)
            found = own[titles.index(str(given))]
        return found

    def _scores(self, joined: Relation, at: np.ndarray, backwards: bool) -> tuple[np.ndarray, np.ndarray]:
        """What the model claims of each target, and the same of all variants: variants x targets."""
        fitted, placed, column = self.fitted, self.evidence.placed, joined.column
        here = np.array([self.row])
        if column is not None and column.has_cells:
            own = at - column.start
            features = fitted.cell_features(self.type, here)
            claimed = cell_answers(fitted, joined, fitted.latents_at(self.type, here), features)[0][0]
            everybody = np.arange(len(placed.latents.mean))
            scores = cell_answers(fitted, joined, placed.latents, placed.cell_features(everybody))[0]
            if column.numeric:
                claimed, scores = column.cell(claimed), column.cell(scores)
            return claimed[own], scores[:, own]
        one = np.full(len(at), self.row)
        pairs = np.column_stack([at, one] if backwards else [one, at])
        return fitted.answer(joined.name, pairs)[0], placed.answer(joined.name, at, backwards)[0]

    def _owned(self, joined: Relation, at: np.ndarray, backwards: bool) -> list[np.ndarray]:
        """Of each target, the linked items of the same type that have it; every item has a number."""
        column, linked = joined.column, self.evidence.linked()
        if backwards or (column is not None and column.numeric):
            return [linked[:0]] * len(at)
        where, counts = entries_of(joined.values, linked)
        owner = np.repeat(linked, counts)[joined.values.data[where] != 0]
        owned = joined.values.indices[where[joined.values.data[where] != 0]]
        return [owner[owned == target] for target in at]

    def _why(
        self,
        relation: str,
        target: str,
        title: str,
        claimed: float,
        worth: Worth,
        owners: np.ndarray,
        k: int,
    ) -> Why:
        pieces = self.evidence.pieces
        # those that stand for several entries are told together, whatever they are worth
        single = np.array([each.entries is None or len(each.places) == 1 for each in pieces], dtype=bool)
        order = np.argsort(-np.abs(worth.shares), kind="stable")
        best = [int(i) for i in order if single[i] and worth.shares[i] != 0][:k]
        rest = np.setdiff1d(np.arange(len(pieces)), best)
        items = self.network.items(self.type)
        return Why(
            str(items.ids[self.row]),
            self.type,
            relation,
            target,
            title,
            claimed,
            worth.nothing,
            [self._reason(pieces[i], worth, i, owners) for i in best],
            float(worth.shares[rest].sum()),
            int(sum(max(1, len(pieces[i].places)) for i in rest if worth.shares[i] != 0)),
            claimed - worth.everything,
            [str(items.ids[i]) for i in owners],
        )

    def _reason(self, piece: Piece, worth: Worth, at: int, owners: np.ndarray) -> Reason:
        share, without = float(worth.shares[at]), float(worth.without[at])
        if piece.entries is None:
            labels = self.network.items(self.type).labels
            assert labels is not None
            name = labels.texts(np.array([self.row]))[0].as_py()
            return Reason(name, self.type, share, without, False, CLASS, name)
        entries, item = piece.entries, int(piece.entries.items[piece.places[0]])
        kind, items = entries.other, self.network.items(entries.other)
        owns = kind == self.type and bool((owners == item).any())
        name, title = str(items.ids[item]), items.title(item)
        return Reason(name, kind, share, without, owns, entries.relation.name, title)
