"""The old model plus newcomers: a known network and another one that shares some of its items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.fitted.common_placing import grown_directions
from coembed.fitted.gaussians import Gaussians
from coembed.fitted.placing import entry_counts, infer, infer_attributes, placing_of, reading_of
from coembed.fitted.space import RelationFit, TypeSpace, bias_of_new
from coembed.network.items import UNKNOWN, Items, Labels
from coembed.network.names import NameArray
from coembed.network.network import Network
from coembed.network.relations import Relation
from coembed.network.ways import ways_of
from coembed.views import Touch
from coembed.views.reach import NOTHING, touching_nothing

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted


@dataclass(frozen=True, eq=False)
class Embedded:
    """A fitted model and the items that were placed in it.

    Attributes
    ----------
    result
        The old model plus the newcomers: answers every question about either.
    new
        By type, the positions of the items that were placed.
    notices
        What could not be placed, and which newcomers touch nothing that the model knows.
    """

    result: Fitted
    new: dict[str, np.ndarray]
    notices: tuple[str, ...] = ()


def embed(fitted: Fitted, network: Network) -> Embedded:
    """See :meth:`coembed.fitted.Fitted.embed`."""
    placing_of(fitted)
    old, notices = fitted.network, []
    strange = [name for name in network.types if name not in old.types]
    if strange:
        notices.append(f"the model has no type {', '.join(map(repr, strange))}: left out")
    meeting = Meeting.of(old, network)
    if not any((at >= 0).any() for at in meeting.known.values()):
        raise InputError(
            f"{network.name} shares no node and no attribute name with the model of {old.name}; "
            "names must be spelt as in the training data"
        )
    reach = {type: meeting.reach(fitted, type) for type in old.entity_types if len(meeting.new_ids(type))}
    placed = infer(fitted, reach) if reach else {}
    spaces: dict[str, TypeSpace] = {}
    for type in old.types:
        space = fitted.types[type]
        if type in placed:
            z, probabilities = placed[type]
            spaces[type] = _grown(space, z, probabilities)
            notices += _said(
                "item of type " + type,
                meeting.new_ids(type),
                _touched(reach[type]) == 0,
                "they touch nothing known",
            )
        elif old.owner_type(type) is not None:
            owners = meeting.owners(fitted, type)
            spaces[type] = _grown(space, infer_attributes(fitted, type, owners), None)
            notices += _said(
                "attribute", meeting.new_ids(type), np.diff(owners.indptr) == 0, "no known item has them"
            )
        else:
            spaces[type] = space
    notices += meeting.left_out
    grown = meeting.joined_network()
    directions = grown_directions(fitted, grown)
    result = replace(
        fitted,
        network=grown,
        types={type: replace(space, direction=directions[type]) for type, space in spaces.items()},
        relations={name: meeting.relation_fit(fitted, grown, name) for name in old.relations},
        placing=None,
    )
    new = {type: len(old.items(type)) + np.arange(len(meeting.new_ids(type))) for type in old.types}
    return Embedded(result, new, tuple(notices))


@dataclass(frozen=True, eq=False)
class Meeting:
    """A known network and another one, some of whose items it knows.

    Attributes
    ----------
    known
        By type, for every item of the other network its position in the known one, or -1.
    added
        By type, which items of the other network are new and can be placed.
    """

    old: Network
    other: Network
    known: dict[str, np.ndarray]
    added: dict[str, np.ndarray]
    left_out: list[str]

    @classmethod
    def of(cls, old: Network, other: Network) -> Meeting:
        known, added, left_out = {}, {}, []
        for type, items in old.types.items():
            ids = other.types[type].ids if type in other.types else np.empty(0, dtype=object)
            known[type] = _positions(items.ids, ids)
            fresh = np.flatnonzero(known[type] < 0)
            owner = old.owner_type(type)
            if owner is not None and len(old.columns(owner)) > 1 and len(fresh):
                left_out.append(
                    f"{len(fresh)} value(s) of {owner} that the model has not seen are left out, such as "
                    f"{str(ids[fresh[0]])[:80]!r}"
                )
                fresh = fresh[:0]
            added[type] = fresh
        return cls(old, other, known, added, left_out)

    def new_ids(self, type: str) -> NameArray:
        if type not in self.other.types:
            return np.empty(0, dtype=object)
        return self.other.types[type].ids[self.added[type]]

    def reach(self, fitted: Fitted, type: str) -> dict[str, Touch]:
        """What the new items of a type touch."""
        found = {}
        for way in ways_of(self.old, type):
            matrix = self._matrix(way.relation)
            matrix = matrix if way.forwards else sp.csr_array(matrix.T)
            rows = matrix[self.added[type]]
            touch = Touch(rows @ self._to_old(way.other), rows[:, self.added[way.other]])
            found[way.name] = touch.map(partial(reading_of, fitted, way.relation))
        for relation in self.old.columns(type):
            rows = self._matrix(relation.name)[self.added[type]]
            known = _moved(rows, self.known[relation.target], len(self.old.items(relation.target)))
            found[f"{relation.name}>"] = Touch(reading_of(fitted, relation.name, known), None)
        return found or {NOTHING: touching_nothing(len(self.added[type]))}

    def owners(self, fitted: Fitted, attributes: str) -> sp.csr_array:
        """Of the new attributes of a type, the known items that have them."""
        owner = self.old.owner_type(attributes) or ""
        shape = len(self.added[attributes]), len(self.old.items(owner))
        found = sp.csr_array(shape, dtype=np.float32)
        for relation in self.old.columns(owner):
            matrix = self._matrix(relation.name)[:, self.added[attributes]]
            rows = sp.csr_array(matrix.T @ self._to_old(owner))
            found = sp.csr_array(found + placing_of(fitted).readings[relation.name].target(rows))
        return found

    def joined_network(self) -> Network:
        """The known network with the new items."""
        types = [self._items(items) for items in self.old.types.values()]
        relations = [self._relation(relation) for relation in self.old.relations.values()]
        return Network.of(types, relations, self.old.name, self.old.notices)

    def relation_fit(self, fitted: Fitted, grown: Network, name: str) -> RelationFit:
        """What was learnt of a relation, with the biases of the new items."""
        fit, relation = fitted.relations[name].without_pair_scores(), grown.relation(name)
        changes: dict[str, Any] = {}
        for end, bias, weights in (
            ("source", fit.source_bias, fit.source_evidence),
            ("target", fit.target_bias, fit.target_evidence),
        ):
            type = getattr(relation, end)
            count = len(self.added[type])
            if bias is None or not count:
                continue
            if grown.owner_type(type) is not None:
                owners = np.bincount(relation.values.indices, minlength=relation.values.shape[1])[:, None]
                counts = owners[-count:]
            else:
                rows = {
                    way.name: _ends(grown, way.relation, way.forwards) for way in ways_of(grown, type)
                } | {f"{each.name}>": each.values for each in grown.columns(type)}
                counts = entry_counts(grown, type, rows, len(grown.items(type)))[-count:]
            changes[f"{end}_bias"] = np.concatenate([bias, bias_of_new(weights, counts)])
        return replace(fit, **changes)

    def _matrix(self, relation: str) -> sp.csr_array:
        """A relation of the other network, numbers in the unit of the known one; empty if it has none."""
        joined = self.old.relation(relation)
        if relation in self.other.relations:
            given = self.other.relations[relation]
            if (given.source, given.target) == (joined.source, joined.target):
                return _in_old_unit(given, joined)
        shape = tuple(len(self.known[end]) for end in (joined.source, joined.target))
        return sp.csr_array(shape, dtype=np.float32)

    def _to_old(self, type: str) -> sp.csr_array:
        """Moves columns to the known order; what is unknown there is dropped."""
        at = self.known[type]
        rows = np.flatnonzero(at >= 0)
        ones = np.ones(len(rows), dtype=np.float32)
        return sp.csr_array((ones, (rows, at[rows])), shape=(len(at), len(self.old.items(type))))

    def _items(self, items: Items) -> Items:
        fresh = self.added[items.name]
        if not len(fresh):
            return items
        theirs = self.other.types[items.name]
        titles = items.titles
        if titles is not None:
            more = [theirs.title(int(i)) for i in fresh]
            titles = np.concatenate([np.asarray(titles, dtype=object), np.array(more, dtype=object)])
        ids = np.concatenate([_objects(items.ids), _objects(theirs.ids[fresh])])
        return Items(items.name, ids, titles, self._labels(items, theirs, fresh), items.id_column)

    def _labels(self, items: Items, theirs: Items, fresh: np.ndarray) -> Labels | None:
        """The known labels; of the new items those in classes that are known."""
        if items.labels is None:
            return None
        given = np.full((len(fresh), *items.labels.values.shape[1:]), UNKNOWN)
        if theirs.labels is not None and items.labels.several:
            class_at = _positions(theirs.labels.classes, items.labels.classes)
            if theirs.labels.several:
                given = np.where(class_at < 0, UNKNOWN, theirs.labels.values[fresh][:, class_at])
        elif theirs.labels is not None and not theirs.labels.several:
            class_at = np.append(_positions(items.labels.classes, theirs.labels.classes), UNKNOWN)
            given = class_at[theirs.labels.values[fresh]]
        both = np.concatenate([items.labels.values, given.astype(items.labels.values.dtype)])
        return replace(items.labels, values=both)

    def _relation(self, relation: Relation) -> Relation:
        """The known entries, and those of the other network that a new item is part of."""
        sizes = {end: len(self.old.items(end)) for end in (relation.source, relation.target)}
        places = []
        for end in (relation.source, relation.target):
            place = self.known[end].copy()
            place[self.added[end]] = sizes[end] + np.arange(len(self.added[end]))
            places.append(place)
        matrix = self._matrix(relation.name).tocoo()
        rows, columns = places[0][matrix.row], places[1][matrix.col]
        fresh = (rows >= sizes[relation.source]) | (columns >= sizes[relation.target])
        fresh &= (rows >= 0) & (columns >= 0)
        shape = tuple(sizes[end] + len(self.added[end]) for end in (relation.source, relation.target))
        old = relation.values.tocoo()
        values = sp.coo_array(
            (
                np.concatenate([old.data, matrix.data[fresh]]),
                (np.concatenate([old.row, rows[fresh]]), np.concatenate([old.col, columns[fresh]])),
            ),
            shape=shape,
        ).tocsr()
        values.sort_indices()
        column = relation.column
        if column is not None and len(self.added[relation.target]):
            column = replace(column, stop=shape[1])
        return replace(relation, values=values.astype(np.float32), column=column)


def _ends(network: Network, relation: str, forwards: bool) -> sp.csr_array:
    joined = network.relation(relation)
    return joined.values if forwards else joined.backwards


def _positions(known: NameArray, names: NameArray) -> np.ndarray:
    at = {name: i for i, name in enumerate(known)}
    return np.fromiter((at.get(name, -1) for name in names), dtype=np.int64, count=len(names))


def _moved(rows: sp.csr_array, at: np.ndarray, width: int) -> sp.csr_array:
    """Rows with their columns in another order, stored zeros and all; what has no place there is dropped."""
    given = rows.tocoo()
    columns = at[given.col]
    kept = columns >= 0
    moved = sp.coo_array(
        (given.data[kept], (given.row[kept], columns[kept])), shape=(rows.shape[0], width)
    ).tocsr()
    moved.sort_indices()
    return moved


def _in_old_unit(given: Relation, known: Relation) -> sp.csr_array:
    if given.column is None or known.column is None or not known.column.numeric:
        return given.values
    cells = known.column.value(given.column.cell(given.values.data.astype(np.float64)))
    return sp.csr_array(
        (cells.astype(np.float32), given.values.indices, given.values.indptr), given.values.shape
    )


def _grown(space: TypeSpace, z: Gaussians, probabilities: np.ndarray | None) -> TypeSpace:
    both = space.probabilities
    if probabilities is not None and both is not None:
        both = np.concatenate([both, probabilities]).astype(np.float32)
    doubt = space.doubt
    if probabilities is not None and doubt is not None:
        both_values = np.concatenate([doubt.p_values, doubt.of_new(probabilities)])
        doubt = replace(doubt, p_values=both_values)
    return replace(
        space,
        mean=np.concatenate([space.mean, z.mean]).astype(np.float32),
        std=np.concatenate([space.std, z.std]).astype(np.float32),
        probabilities=both,
        doubt=doubt,
    )


def _touched(touch: Mapping[str, Touch]) -> np.ndarray:
    return sum(np.diff(part.known.indptr) for part in touch.values() if part.known is not None)  # type: ignore[return-value]


def _objects(names: NameArray) -> np.ndarray:
    found = np.empty(len(names), dtype=object)
    found[:] = list(names)
    return found


def _said(kind: str, names: NameArray, which: np.ndarray, why: str) -> list[str]:
    """A notice on items that touch nothing known."""
    lost = np.flatnonzero(which)
    if not len(lost):
        return []
    some = ", ".join(repr(str(names[i])[:80]) for i in lost[:3]) + (", ..." if len(lost) > 3 else "")
    return [f"{len(lost)} {kind}(s) are unknown to the model and {why}, so they say nothing: {some}"]
