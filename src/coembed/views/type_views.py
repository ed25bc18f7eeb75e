"""An item seen from several sides.

With T the coordinates of an item's own words, P the mean over an item and its links, S the mean over the
items that are like it, and R the mean over a relation with another type (or one way of a directed one):

    own T    linked P T, P^2 T, P^3 T    alike S T, S P T    position: the coordinates of its links
    own cells, and their mean over the links    R T, R cells, and two steps out: R P T, R R' T

Words also come as they are, sparse. A new item is seen the same way; the known ones keep their views.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from coembed.network.matrices import unit_rows
from coembed.network.network import Network
from coembed.network.ways import Way, ways_of
from coembed.progress import Tell
from coembed.views.basis import (
    PositionBasis,
    WordBasis,
    averaging,
    find_position_basis,
    find_word_basis,
    scaled_rows,
)
from coembed.views.cells import CellLayout
from coembed.views.nearest_neighbours import Neighbours, nearest_fellows, nearest_rows
from coembed.views.reach import Reading, Touch, summed, touching

VOTERS = 50
"""Items alike that are kept, to vote for attributes and links; a view averages over fewer."""
FEW = 100
"""New items for which the words of the training items are kept transposed, to answer the next ones sooner."""
SECOND_RANK = 64
"""Coordinates of what is two relations away."""
MOST_SECOND = 8
"""Views of a type that are two relations away: those that most items have."""
LONG_TO_LOOK_AT = 65_536
"""Items from which on making the views is worth a word on how far it is."""


@dataclass(frozen=True)
class Step:
    """A dense view that is the mean, over one step, of another view of the type that the step leads to.

    Attributes
    ----------
    over
        ``links`` (an item and its links of any relation within the type), ``others`` (its links without
        itself), ``alike``, or the name of a way.
    of, type
        The view that is averaged, and whose it is.
    width
        Its leading coordinates that count; 0: all.
    about
        What it speaks for, for people to read.
    """

    name: str
    over: str
    of: str
    type: str
    width: int = 0
    about: str = "links"


@dataclass(frozen=True, eq=False)
class TypeViews:
    """The views of some items of a type, each a matrix of one row an item.

    Attributes
    ----------
    sparse, dense
        By name. A view of which the training network has nothing (no links, no words) is left out.
    evidence
        Logarithms of how many links, words, ... an item has: how much there is to go by.
    alike
        The training items nearest by their words, if they have any.
    columns
        Of sparse views: the type whose items their columns are.
    place
        Of the view ``cells``: for each feature, the number of its column in the table.
    """

    sparse: dict[str, sp.csr_array]
    dense: dict[str, np.ndarray]
    evidence: np.ndarray
    alike: Neighbours | None = None
    columns: dict[str, str] = field(default_factory=dict)
    place: np.ndarray | None = None

    @property
    def all(self) -> dict[str, sp.csr_array | np.ndarray]:
        return {**self.sparse, **self.dense}

    @cached_property
    def word_owners(self) -> sp.csr_array:
        """The words the other way round, one row an attribute."""
        return self.sparse["words"].T.tocsr()


@dataclass(frozen=True, eq=False)
class TypeLens:
    """What the views of one type are made with; all of it from the training network.

    Attributes
    ----------
    words, word_columns
        The basis of its words, and the columns that these are from.
    links
        Its ways into itself, whose union are its links; `position` the basis of that union.
    positions
        By name of a way to another type, the basis of that relation.
    counted
        The names of the ways whose entries are counted as evidence, beside links and words.
    """

    attributes: str | None
    words: WordBasis | None
    word_columns: tuple[str, ...]
    cells: CellLayout | None
    links: tuple[str, ...]
    position: PositionBasis | None
    positions: dict[str, PositionBasis]
    counted: tuple[str, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True, eq=False)
class Lens:
    """What the views of a network are made with, to be kept for items that are new to it."""

    readings: dict[str, Reading]
    neighbours: int
    types: dict[str, TypeLens]


def find_lens(
    network: Network,
    readings: Mapping[str, Reading],
    rank: int,
    neighbours: int,
    seed: int = 0,
    steps: Tell | None = None,
) -> Lens:
    """The lens of a training network; `steps` is told what is being done.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> from coembed.views.reach import readings
    >>> lens = find_lens(demo_network(), readings(demo_network()), rank=4, neighbours=3)
    >>> [step.name for step in lens.types["node"].steps]
    ['linked', 'linked2', 'linked3', 'alike', 'alike_linked']
    """
    tell = steps or (lambda step: None)
    types: dict[str, TypeLens] = {}
    for name in network.entity_types:
        tell(f"{rank} directions of the words and links of {name}")
        touch = touching(network, name, lambda relation: readings[relation.name].inputs(relation.values))
        types[name] = _type_lens(network, name, touch, readings, rank, seed)
    for name in types:
        types[name] = replace(types[name], steps=_steps(network, name, types))
    for name in types:
        types[name] = replace(types[name], steps=_with_second(network, name, types))
    return Lens(dict(readings), neighbours, types)


def training_views(
    network: Network,
    lens: Lens,
    alike: Mapping[str, Neighbours | None] | None = None,
    steps: Tell | None = None,
) -> dict[str, TypeViews]:
    """The views of the training items of all types; the items alike are found here if not given."""
    reach = {
        name: touching(network, name, lambda relation: lens.readings[relation.name].inputs(relation.values))
        for name in lens.types
    }
    return views_of(lens, reach, None, alike, steps)


def views_of(
    lens: Lens,
    reach: Mapping[str, Mapping[str, Touch]],
    known: Mapping[str, TypeViews] | None = None,
    alike: Mapping[str, Neighbours | None] | None = None,
    steps: Tell | None = None,
) -> dict[str, TypeViews]:
    """The views of items of some types, by what they touch; `known`: those of the training items.

    Without `known`, the items are the training items themselves.
    """
    own: dict[str, sp.csr_array] = {}
    dense: dict[str, dict[str, np.ndarray]] = {}
    near: dict[str, Neighbours | None] = {}
    operators: dict[str, dict[str, Touch]] = {}
    for name, touch in reach.items():
        type_lens = lens.types[name]
        dense[name] = {}
        if type_lens.words is not None:
            own[name] = type_lens.words.own(word_rows(type_lens, touch))
            dense[name]["own"] = own[name] @ type_lens.words.vectors
        if type_lens.cells is not None:
            rows = {way: part.known for way, part in touch.items() if part.known is not None}
            dense[name]["cells"] = type_lens.cells.features(rows)
        near[name] = _alike(name, type_lens, own.get(name), dense[name], known, alike, lens.neighbours, steps)
        operators[name] = _operators(type_lens, touch, near[name], known, name, lens.neighbours)
    _take_steps(lens, operators, dense, known)
    return {
        name: _views(lens.types[name], touch, own.get(name), dense[name], near[name])
        for name, touch in reach.items()
    }


def word_rows(lens: TypeLens, touch: Mapping[str, Touch]) -> sp.csr_array:
    """The words of items, from all columns of words."""
    found = {name: touch[f"{name}>"].known for name in lens.word_columns}
    return summed({name: rows for name, rows in found.items() if rows is not None})


def link_rows(lens: TypeLens, touch: Mapping[str, Touch]) -> Touch:
    """All links of items within their type, of whatever relation, in one matrix."""
    parts = [touch[name] for name in lens.links]
    known = {str(i): part.known for i, part in enumerate(parts) if part.known is not None}
    new = {str(i): part.new for i, part in enumerate(parts) if part.new is not None}
    return Touch(summed(known) if known else None, summed(new) if new else None)


def bare_lens(network: Network, type: str) -> TypeLens:
    """What a type has, without anything that is learnt from it."""
    columns = network.columns(type)
    ways = ways_of(network, type)
    within = tuple(way.name for way in ways if way.other == type)
    # one way there and back is the relation itself: then both ways of it say nothing more
    apart = [way for way in ways if way.other == type] if len(within) > 1 else []
    return TypeLens(
        attributes=network.attribute_type(type),
        words=None,
        word_columns=tuple(each.name for each in columns if each.column and not each.column.has_cells),
        cells=CellLayout.of(columns),
        links=within,
        position=None,
        positions={},
        counted=tuple(way.name for way in (*apart, *(way for way in ways if way.other != type))),
        steps=(),
    )


def _type_lens(
    network: Network,
    name: str,
    touch: Mapping[str, Touch],
    readings: Mapping[str, Reading],
    rank: int,
    seed: int,
) -> TypeLens:
    lens = bare_lens(network, name)
    words, within = lens.word_columns, lens.links
    across = [way for way in ways_of(network, name) if way.other != name]
    if words:
        rows = word_rows(lens, touch)
        lens = replace(lens, words=find_word_basis(rows, rank, seed))
    if within:
        matrix = link_rows(lens, touch).new
        assert matrix is not None
        lens = replace(lens, position=find_position_basis(matrix, rank, seed))
    positions = {}
    for way in across:
        matrix = touch[way.name].new
        assert matrix is not None
        basis_of_way = find_position_basis(matrix, min(rank, SECOND_RANK), seed)
        if basis_of_way.vectors.shape[1]:
            positions[way.name] = basis_of_way
    return replace(lens, positions=positions)


def _has_words(lens: TypeLens) -> bool:
    return lens.words is not None and bool(lens.words.vectors.shape[1])


def _steps(network: Network, name: str, types: Mapping[str, TypeLens]) -> tuple[Step, ...]:
    """What is one step away, and along the links up to three."""
    lens = types[name]
    steps: list[Step] = []
    if _has_words(lens):
        if lens.links or network.is_plain:
            steps += [
                Step("linked", "links", "own", name),
                Step("linked2", "links", "linked", name),
                Step("linked3", "links", "linked2", name),
            ]
        steps.append(Step("alike", "alike", "own", name, about="items alike"))
        if lens.links or network.is_plain:
            steps.append(Step("alike_linked", "alike", "linked", name, about="items alike"))
    if lens.cells is not None and lens.links:
        steps.append(Step("cells_linked", "others", "cells", name))
    for way in _counted_ways(network, name, lens):
        other = types.get(way.other)
        if other is None:
            continue
        key = _key(network, way)
        if _has_words(other):
            steps.append(Step(f"{key}own", way.name, "own", way.other, about=way.relation))
        if other.cells is not None:
            steps.append(Step(f"{key}cells", way.name, "cells", way.other, about=way.relation))
    return tuple(steps)


def _with_second(network: Network, name: str, types: Mapping[str, TypeLens]) -> tuple[Step, ...]:
    """And what is two relations away: of all such means those that most items have."""
    lens = types[name]
    found: list[tuple[float, Step]] = []
    for way in _counted_ways(network, name, lens):
        other = types.get(way.other)
        if other is None:
            continue
        share = _share_with(network, name, way)
        for step in other.steps:
            first = (step.over == "links" and step.of == "own") or (
                step.over in other.counted and step.of == "own"
            )
            if first and step.over not in ("alike", "others"):
                second = Step(
                    f"{_key(network, way)}{step.name}",
                    way.name,
                    step.name,
                    way.other,
                    SECOND_RANK,
                    way.relation,
                )
                found.append((share, second))
    found.sort(key=lambda each: -each[0])
    return lens.steps + tuple(step for _, step in found[:MOST_SECOND])


def _counted_ways(network: Network, name: str, lens: TypeLens) -> list[Way]:
    return [way for way in ways_of(network, name) if way.name in lens.counted]


def _key(network: Network, way: Way) -> str:
    """A name for views that no name of a user can spoil."""
    place = list(network.relations).index(way.relation)
    return f"r{place}{'out' if way.forwards else 'in'}_"


def _share_with(network: Network, name: str, way: Way) -> float:
    relation = network.relation(way.relation)
    matrix = relation.values if way.forwards else relation.backwards
    return float(np.count_nonzero(np.diff(matrix.indptr)) / max(matrix.shape[0], 1))


def _alike(
    name: str,
    lens: TypeLens,
    own: sp.csr_array | None,
    dense: Mapping[str, np.ndarray],
    known: Mapping[str, TypeViews] | None,
    given: Mapping[str, Neighbours | None] | None,
    neighbours: int,
    steps: Tell | None,
) -> Neighbours | None:
    if given is not None and name in given:
        return given[name]
    if own is None or "own" not in dense:
        return None
    most = max(VOTERS, neighbours)
    if known is None:
        return nearest_fellows(own, dense["own"], most, steps)
    seen = known[name]
    words = seen.sparse.get("words", own[:0])
    columns = seen.word_owners if own.shape[0] <= FEW and "words" in seen.sparse else None
    return nearest_rows(own, words, most, columns)


def _operators(
    lens: TypeLens,
    touch: Mapping[str, Touch],
    near: Neighbours | None,
    known: Mapping[str, TypeViews] | None,
    name: str,
    neighbours: int,
) -> dict[str, Touch]:
    """Means over what items touch, by the names that steps give them."""
    found = {way: _mean(touch[way]) for way in lens.counted}
    if lens.links:
        links = link_rows(lens, touch).map(abs)
        found["others"] = _mean(links)
        found["links"] = _mean(_closed(links))
    if near is not None:
        n_known = len(near.rows) if known is None else len(known[name].evidence)
        similar = averaging(near.graph(n_known, neighbours))
        found["alike"] = Touch(None, similar) if known is None else Touch(similar, None)
    return found


def _closed(links: Touch) -> Touch:
    """The links of items, and themselves."""
    count = (links.known if links.known is not None else links.new).shape[0]  # type: ignore[union-attr]
    itself = sp.eye_array(count, dtype=np.float32)
    return Touch(links.known, sp.csr_array(itself if links.new is None else links.new + itself))


def _mean(touch: Touch) -> Touch:
    """Rows that sum to one over both parts."""
    if touch.known is None:
        assert touch.new is not None
        return Touch(None, averaging(touch.new))
    if touch.new is None:
        return Touch(averaging(touch.known), None)
    both = averaging(sp.csr_array(sp.hstack([touch.known, touch.new])))
    width = touch.known.shape[1]
    return Touch(sp.csr_array(both[:, :width]), sp.csr_array(both[:, width:]))


def _take_steps(
    lens: Lens,
    operators: Mapping[str, Mapping[str, Touch]],
    dense: dict[str, dict[str, np.ndarray]],
    known: Mapping[str, TypeViews] | None,
) -> None:
    """Make the means, those of means after what they are means of."""
    waiting = [(name, step) for name in operators for step in lens.types[name].steps]
    while waiting:
        later = []
        for name, step in waiting:
            operator = operators[name].get(step.over)
            here = dense.get(step.type, {}).get(step.of)
            there = None if known is None else known[step.type].dense.get(step.of)
            if operator is None or (operator.known is not None and there is None):
                continue
            if here is None and operator.known is None:
                if any(step.type == other and step.of == each.name for other, each in waiting):
                    later.append((name, step))
                continue
            cut = slice(0, step.width or None)
            dense[name][step.name] = operator.times(
                None if there is None else there[:, cut], None if here is None else here[:, cut]
            )
        if len(later) == len(waiting):
            break
        waiting = later


def _views(
    lens: TypeLens,
    touch: Mapping[str, Touch],
    own: sp.csr_array | None,
    dense: dict[str, np.ndarray],
    alike: Neighbours | None,
) -> TypeViews:
    ordered: dict[str, np.ndarray] = {name: dense[name] for name in ("own", "cells") if name in dense}
    ordered |= {step.name: dense[step.name] for step in lens.steps if step.name in dense}
    counts = []
    if lens.links:
        links = link_rows(lens, touch)
        if lens.position is not None:
            ordered["position"] = lens.position.position(links)
        counts.append(links.counts)
    for way, basis in lens.positions.items():
        ordered[f"position{list(lens.positions).index(way)}"] = basis.position(touch[way])
    if lens.word_columns:
        counts.append(np.diff(word_rows(lens, touch).indptr))
    counts += [touch[way].counts for way in lens.counted]
    if lens.cells is not None:
        counts.append(sum(touch[f"{name}>"].counts for name in lens.cells.relations))  # type: ignore[arg-type]
    n_items = next(iter(touch.values())).counts.shape[0] if touch else 0
    evidence = np.log1p(np.stack(counts, axis=1)) if counts else np.zeros((n_items, 1))
    evidence = evidence.astype(np.float32)
    # a basis of rank zero: the training network has no such thing
    sparse = {"words": own} if own is not None and _has_words(lens) else {}
    kept = {name: view for name, view in ordered.items() if view.shape[1]}
    if not sparse and not kept:
        kept = {"evidence": evidence}  # a network of nothing still needs something to read
    return TypeViews(
        sparse,
        kept,
        evidence,
        alike,
        {"words": lens.attributes or ""} if sparse else {},
        None if lens.cells is None else lens.cells.place,
    )


def attribute_views(owners: sp.csr_array, items: TypeViews, owner_type: str = "") -> TypeViews:
    """The views of attributes from `owners` (attributes x training items) and the views of those items."""
    rows = scaled_rows(owners, unit_rows([owners]))
    dense = {}
    names = [name for name in ("own", "linked", "cells") if name in items.dense] or list(items.dense)[:2]
    for name in names:
        # with columns of length one: where the owners stand, not how far the common directions reach
        lengths = np.linalg.norm(items.dense[name], axis=0)
        dense[f"owners_{name}"] = (rows @ items.dense[name]) / np.maximum(lengths, 1e-6)
    evidence = np.log1p(np.diff(owners.indptr))[:, None].astype(np.float32)
    return TypeViews({"owners": rows}, dense, evidence, columns={"owners": owner_type})


@dataclass(frozen=True, eq=False)
class Seen:
    """The views of all types of a network, and the lens that they were made with."""

    lens: Lens
    types: dict[str, TypeViews]


def look(
    network: Network,
    readings: Mapping[str, Reading],
    rank: int,
    neighbours: int,
    seed: int = 0,
    steps: Tell | None = None,
) -> Seen:
    """The views of a training network; of a large one `steps` is told how far it is."""
    largest = max(len(items) for items in network.types.values())
    tell = steps if steps is not None and largest > LONG_TO_LOOK_AT else None
    lens = find_lens(network, readings, rank, neighbours, seed, tell)
    types = training_views(network, lens, steps=tell)
    for name in network.entity_types:
        attributes = network.attribute_type(name)
        if attributes is not None:
            types[attributes] = attribute_views(owners_of(network, name, readings), types[name], name)
    return Seen(lens, {name: types[name] for name in network.types})


def owners_of(network: Network, type: str, readings: Mapping[str, Reading]) -> sp.csr_array:
    """The attributes of a type, a row each, by who has them: presence, numbers by their values."""
    columns = sorted(network.columns(type), key=lambda each: each.column.start if each.column else 0)
    parts = []
    for relation in columns:
        matrix = readings[relation.name].target(relation.values)
        if relation.column is not None and relation.column.has_cells:
            values = relation.values.data
            data = 2 * values - 1 if relation.column.kind == "yes/no" else values
            matrix = sp.csr_array((data, relation.values.indices, relation.values.indptr), matrix.shape)
        if relation.column is not None and len(columns) > 1:
            matrix = matrix[:, relation.column.start : relation.column.stop]
        parts.append(matrix.T.tocsr())
    return parts[0] if len(parts) == 1 else sp.csr_array(sp.vstack(parts))
