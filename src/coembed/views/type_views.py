"""An item seen from several sides.

With T the coordinates of an item's own words, P the mean over an item and its links, S the mean over the
items that are like it, and R the mean over a relation with another type (or one way of a directed one):

    own T    linked P T, P^2 T, P^3 T    alike S T, S P T    position: the coordinates of its links
    own cells, and their mean over the links    R T, R cells, and two steps out: R P T, R R' T

Words also come as they are, sparse. A new item is seen the same way; the known ones keep their views.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from coembed.network.matrices import row_sums, unit_rows
from coembed.network.network import Network
from coembed.progress import Tell
from coembed.views.basis import averaging, scaled_rows
from coembed.views.budget import plan_views
from coembed.views.lens import Lens, TypeLens, find_lens, has_words, link_rows, word_rows
from coembed.views.nearest_neighbours import Neighbours, nearest_fellows, nearest_rows
from coembed.views.reach import Reading, Touch, touching

VOTERS = 50
"""Items alike that are kept, to vote for attributes and links; a view averages over fewer."""
FEW = 100
"""New items for which the words of the training items are kept transposed, to answer the next ones sooner."""
LONG_TO_LOOK_AT = 65_536
"""Items from which on making the views is worth a word on how far it is."""


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


def training_views(
    network: Network,
    lens: Lens,
    alike: Mapping[str, Neighbours | None] | None = None,
    steps: Tell | None = None,
    quick: bool = False,
) -> dict[str, TypeViews]:
    """The views of the training items of all types; the items alike are found here if not given."""
    reach = {
        name: touching(network, name, lambda relation: lens.readings[relation.name].inputs(relation.values))
        for name in lens.types
    }
    return views_of(lens, reach, None, alike, steps, quick)


def views_of(
    lens: Lens,
    reach: Mapping[str, Mapping[str, Touch]],
    known: Mapping[str, TypeViews] | None = None,
    alike: Mapping[str, Neighbours | None] | None = None,
    steps: Tell | None = None,
    quick: bool = False,
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
        near[name] = _alike(
            name, type_lens, own.get(name), dense[name], known, alike, lens.neighbours, steps, quick
        )
        operators[name] = _operators(type_lens, touch, near[name], known, name, lens.neighbours)
    _take_steps(lens, operators, dense, known)
    return {
        name: _views(lens.types[name], touch, own.get(name), dense[name], near[name])
        for name, touch in reach.items()
    }


def _alike(
    name: str,
    lens: TypeLens,
    own: sp.csr_array | None,
    dense: Mapping[str, np.ndarray],
    known: Mapping[str, TypeViews] | None,
    given: Mapping[str, Neighbours | None] | None,
    neighbours: int,
    steps: Tell | None,
    quick: bool,
) -> Neighbours | None:
    if given is not None and name in given:
        return given[name]
    if own is None or "own" not in dense:
        return None
    most = max(VOTERS, neighbours)
    if known is None:
        return nearest_fellows(own, dense["own"], most, steps, quick)
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
    places = np.arange(count + 1)
    itself = sp.csr_array((np.ones(count, dtype=np.float32), places[:-1], places), shape=(count, count))
    return Touch(links.known, itself if links.new is None else sp.csr_array(links.new + itself))


def _mean(touch: Touch) -> Touch:
    """Rows that sum to one over both parts."""
    if touch.known is None:
        assert touch.new is not None
        return Touch(None, averaging(touch.new))
    if touch.new is None:
        return Touch(averaging(touch.known), None)
    parts = [touch.known, touch.new]
    counts = [np.diff(part.indptr) for part in parts]
    places = np.tile(np.arange(len(counts[0])), 2)
    order = np.argsort(np.repeat(places, np.concatenate(counts)), kind="stable")
    values = np.concatenate([np.abs(part.data) for part in parts])[order]
    sums = row_sums(values, np.append(0, np.cumsum(counts[0] + counts[1])))
    return touch.map(lambda part: scaled_rows(part, 1 / np.where(sums > 0, sums, 1)))


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
    sparse = {"words": own} if own is not None and has_words(lens) else {}
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
    quick: bool = False,
) -> Seen:
    """The views of a training network; of a large one `steps` is told how far it is.

    With `quick`, items alike may be nearly those.
    """
    largest = max(len(items) for items in network.types.values())
    tell = steps if steps is not None and largest > LONG_TO_LOOK_AT else None
    plan = plan_views(network, rank)
    lens = find_lens(network, readings, plan.rank, neighbours, seed, tell, plan.second, plan.one_hot)
    types = training_views(network, lens, steps=tell, quick=quick)
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
