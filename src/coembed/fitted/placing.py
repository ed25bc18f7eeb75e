"""Placing unseen items with the trained inference networks, in numpy alone.

A new item only reads from the known ones, whose hidden values, views and degrees stay those of the training
network: so nothing known moves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax

from coembed.errors import InputError
from coembed.fitted.gaussians import Gaussians, from_log_std
from coembed.fitted.layers import Layers, RowLayers, ViewsLayers
from coembed.fitted.space import RelationFit, TypeSpace, bias_of_new
from coembed.network.items import UNKNOWN, Items, Labels
from coembed.network.matrices import unit_rows
from coembed.network.names import NameArray
from coembed.network.network import Network
from coembed.network.relations import Relation
from coembed.network.ways import ways_of
from coembed.views import (
    Lens,
    Neighbours,
    Reading,
    Touch,
    TypeViews,
    attribute_views,
    bare_lens,
    touching,
    training_views,
    views_of,
)
from coembed.views.basis import averaging
from coembed.views.type_views import link_rows, word_rows

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted


@dataclass(frozen=True, eq=False)
class Placing:
    """All that a fit writes for items that it has not seen.

    Attributes
    ----------
    readings
        How the values of each relation are read.
    layers
        The inference networks, by type.
    lens
        What views are made with; None if the networks read rows.
    alike
        The training items nearest to each training item, by type.
    mass
        What newcomers are shown of the classes of known items, by type.
    """

    readings: dict[str, Reading]
    layers: dict[str, Layers]
    lens: Lens | None = None
    alike: dict[str, Neighbours | None] = field(default_factory=dict)
    mass: dict[str, np.ndarray] = field(default_factory=dict)


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


class TrainedRows(NamedTuple):
    """The layers at the training items: the first product, the hidden values, and the diagonal of D^-1/2."""

    first: np.ndarray
    hidden: np.ndarray
    scale: np.ndarray


class Trained(NamedTuple):
    """What new items lean on: the views of the training items, or their layers."""

    views: dict[str, TypeViews]
    rows: dict[str, TrainedRows]


Reach = Mapping[str, Mapping[str, Touch]]


def infer(fitted: Fitted, reach: Reach) -> dict[str, tuple[Gaussians, np.ndarray | None]]:
    """Gaussians of z and label probabilities of items that touch the training network as `reach` says."""
    placing = _placing(fitted)
    views = {}
    if placing.lens is not None:
        views = {
            name: _with_shares(each, placing.mass.get(name))
            for name, each in views_of(placing.lens, reach, fitted.trained.views).items()
        }
    found = {}
    for type, touch in reach.items():
        layers = placing.layers[type]
        if isinstance(layers, ViewsLayers):
            outputs, probabilities = layers.outputs(views[type]), layers.probabilities(views[type])
        else:
            outputs, probabilities = _by_rows(fitted, type, layers, touch)
        space = fitted.types[type]
        if probabilities is not None and space.strength:
            probabilities = _leaning(fitted, type, touch, probabilities)
        if probabilities is not None and space.label_shift is not None:
            outputs = outputs + probabilities @ space.label_shift
        found[type] = from_log_std(outputs), probabilities
    return found


def infer_attributes(fitted: Fitted, type: str, owners: sp.csr_array) -> Gaussians:
    """Gaussians of attributes from the training items that have them, one row an attribute."""
    if not owners.shape[0]:
        empty = np.empty((0, fitted.code_dim), dtype=np.float32)
        return Gaussians(empty, empty)
    layers = _placing(fitted).layers.get(type)
    if layers is None:
        raise InputError(
            f"the model of {fitted.network.name} was fitted without attributes; it cannot place any"
        )
    if isinstance(layers, ViewsLayers):
        owner = fitted.network.owner_type(type)
        return from_log_std(layers.outputs(attribute_views(owners, fitted.trained.views[owner or ""])))
    scale = _row_scale(fitted, "attribute_inputs", [owners])
    hidden = np.tanh(scale * (owners @ layers.first["owners"]) + layers.bias)
    return from_log_std(hidden @ layers.last + layers.last_bias)


def trained_layers(fitted: Fitted) -> Trained:
    """The layers or the views at the training items, from the stored network and weights."""
    placing, network = _placing(fitted), fitted.network
    if placing.lens is not None:
        views = training_views(network, placing.lens, placing.alike)
        for name, mass in placing.mass.items():
            views[name] = replace(views[name], dense={**views[name].dense, "labels": mass})
        return Trained(views, {})
    rows = {}
    for type, layers in placing.layers.items():
        if isinstance(layers, RowLayers) and layers.propagates:
            touch = touching(network, type, lambda each: reading_of(fitted, each.name, each.values))
            known = {
                name: Touch(part.known if part.known is not None else part.new, None)
                for name, part in touch.items()
            }
            first = _first(fitted, type, layers.first, known)
            links = link_rows(bare_lens(network, type), known).known
            assert links is not None
            scale = _inverse_root_degree(links)
            scaled = scale * first
            rows[type] = TrainedRows(first, np.tanh(scale * (links @ scaled + scaled)), scale)
    return Trained({}, rows)


def reading_of(fitted: Fitted, relation: str, matrix: sp.csr_array) -> sp.csr_array:
    """The values of a relation as the inference networks read them."""
    placing = _placing(fitted)
    joined = fitted.network.relation(relation)
    if joined.absent == "unknown" and joined.column is not None:
        return matrix
    reading = placing.readings[relation]
    return reading.inputs(matrix) if placing.lens is not None else reading.target(matrix)


def entry_counts(network: Network, type: str, rows: Mapping[str, sp.csr_array], count: int) -> np.ndarray:
    """How many entries items have in each relation that gives a bias, one column each."""
    found = []
    for relation in network.relations.values():
        if relation.column is not None and relation.column.has_cells:
            continue
        if relation.source == type:
            found.append(np.diff(rows[f"{relation.name}>"].indptr))
        if relation.target == type and not relation.pairing.undirected:
            found.append(np.diff(rows[f"{relation.name}<"].indptr))
    return np.stack(found, axis=1) if found else np.zeros((count, 0))


def embed(fitted: Fitted, network: Network) -> Embedded:
    """See :meth:`coembed.fitted.Fitted.embed`."""
    _placing(fitted)
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
    result = replace(
        fitted,
        network=grown,
        types=spaces,
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
        return found

    def owners(self, fitted: Fitted, attributes: str) -> sp.csr_array:
        """Of the new attributes of a type, the known items that have them."""
        owner = self.old.owner_type(attributes) or ""
        shape = len(self.added[attributes]), len(self.old.items(owner))
        found = sp.csr_array(shape, dtype=np.float32)
        for relation in self.old.columns(owner):
            matrix = self._matrix(relation.name)[:, self.added[attributes]]
            rows = sp.csr_array(matrix.T @ self._to_old(owner))
            found = sp.csr_array(found + _placing(fitted).readings[relation.name].target(rows))
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
        return Items(items.name, ids, titles, self._labels(items, theirs, fresh))

    def _labels(self, items: Items, theirs: Items, fresh: np.ndarray) -> Labels | None:
        """The known labels; of the new items those in classes that are known."""
        if items.labels is None:
            return None
        given = np.full(len(fresh), UNKNOWN)
        if theirs.labels is not None:
            class_at = np.append(_positions(items.labels.classes, theirs.labels.classes), UNKNOWN)
            given = class_at[theirs.labels.values[fresh]]
        return replace(items.labels, values=np.concatenate([items.labels.values, given]))

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


def _with_shares(views: TypeViews, mass: np.ndarray | None) -> TypeViews:
    """To whom no labels spread, those that all have: as it was in training."""
    spread = views.dense.get("spread")
    if mass is None or spread is None:
        return views
    nowhere = np.flatnonzero(spread.sum(axis=1) == 0)
    filled = spread.copy()
    filled[nowhere] = mass.mean(axis=0)
    return replace(views, dense={**views.dense, "spread": filled})


def _leaning(fitted: Fitted, type: str, touch: Mapping[str, Touch], probabilities: np.ndarray) -> np.ndarray:
    """Class probabilities of newcomers that lean towards those of the known items they are linked to."""
    space, labels = fitted.types[type], fitted.labels_of(type)
    links = link_rows(bare_lens(fitted.network, type), touch).known
    if links is None or space.probabilities is None:
        return probabilities
    there = space.probabilities.copy()
    known = np.flatnonzero(labels != UNKNOWN)
    there[known] = 0
    there[known, labels[known]] = 1
    linked = np.diff(links.indptr) > 0
    found = probabilities.copy()
    mean = averaging(abs(links)) @ there
    found[linked] += space.strength * (mean[linked] - found[linked])
    return found


def _by_rows(
    fitted: Fitted, type: str, layers: RowLayers, touch: Mapping[str, Touch]
) -> tuple[np.ndarray, np.ndarray | None]:
    first = _first(fitted, type, layers.first, touch)
    if layers.propagates:
        trained = fitted.trained.rows[type]
        links = link_rows(bare_lens(fitted.network, type), touch)
        known, fellows = links.known, links.new
        assert known is not None
        everything = known if fellows is None else sp.csr_array(sp.hstack([known, fellows]))
        scale = _inverse_root_degree(everything)

        def propagate(at_known: np.ndarray, here: np.ndarray) -> np.ndarray:
            scaled = scale * here
            moved = known @ (trained.scale * at_known) + scaled
            return scale * (moved if fellows is None else moved + fellows @ scaled)

        hidden = np.tanh(propagate(trained.first, first))
        outputs = propagate(trained.hidden, hidden) @ layers.last
    else:
        outputs = np.tanh(first + layers.bias) @ layers.last + layers.last_bias
    if layers.label is None or layers.label_first is None:
        return outputs, None
    inner = _first(fitted, type, layers.label_first, touch)
    return outputs, softmax(layers.label.of(np.tanh(inner + layers.label_bias)), axis=1)


def _first(
    fitted: Fitted, type: str, weights: Mapping[str, np.ndarray], touch: Mapping[str, Touch]
) -> np.ndarray:
    """The first product: what items touch among the known, times weights."""
    rows = _rows_read(fitted.network, type, touch)
    read = [rows[name] for name in weights]
    total = sum(part @ weight for part, weight in zip(read, weights.values(), strict=True))
    return _row_scale(fitted, "node_inputs", [sp.csr_array(part) for part in read]) * total


def _rows_read(
    network: Network, type: str, touch: Mapping[str, Touch]
) -> dict[str, sp.csr_array | np.ndarray]:
    lens = bare_lens(network, type)
    known = {name: part.known for name, part in touch.items() if part.known is not None}
    found: dict[str, sp.csr_array | np.ndarray] = dict(known)
    if lens.links:
        found["links"] = link_rows(lens, touch).known
    if lens.word_columns:
        found["words"] = word_rows(lens, touch)
    if lens.cells is not None:
        found["cells"] = lens.cells.features(known)
    return found


def _row_scale(fitted: Fitted, setting: str, matrices: list[sp.csr_array]) -> np.ndarray:
    """One factor a row of what an inference network reads, which its setting may want at length one."""
    if fitted.settings.get(setting) == "unit":
        return unit_rows(matrices)[:, None]
    return np.ones((matrices[0].shape[0], 1), dtype=np.float32)


def _inverse_root_degree(links: sp.csr_array) -> np.ndarray:
    degrees: np.ndarray = abs(links).sum(axis=1)
    return ((degrees + 1) ** -0.5).astype(np.float32)[:, None]


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
    return replace(
        space,
        mean=np.concatenate([space.mean, z.mean]).astype(np.float32),
        std=np.concatenate([space.std, z.std]).astype(np.float32),
        probabilities=both,
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


def _placing(fitted: Fitted) -> Placing:
    if fitted.placing is None:
        raise InputError(
            f"the model of {fitted.network.name} has no inference networks, so it cannot place new items; "
            "use the model that was trained"
        )
    return fitted.placing
