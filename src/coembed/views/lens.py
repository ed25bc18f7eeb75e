"""What views are made with, found in a training network: bases, layouts of cells, and steps to take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from coembed.network.network import Network
from coembed.network.ways import Way, ways_of
from coembed.progress import Tell
from coembed.views.basis import PositionBasis, WordBasis, find_position_basis, find_word_basis
from coembed.views.cells import CellLayout
from coembed.views.reach import Reading, Touch, summed, touching

SECOND_RANK = 64
"""Coordinates of what is two relations away."""
MOST_SECOND = 8
"""Views of a type that are two relations away: those that most items have."""


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
    second: int = MOST_SECOND,
    one_hot: int = 0,
) -> Lens:
    """The lens of a training network; `steps` is told what is being done.

    `rank`, `second` and `one_hot` are what is afforded: see :class:`~coembed.views.budget.ViewPlan`.

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
        types[name] = _type_lens(bare_lens(network, name, one_hot), network, name, touch, rank, seed)
    return Lens(dict(readings), neighbours, with_steps(network, types, second))


def with_steps(network: Network, types: Mapping[str, TypeLens], second: int) -> dict[str, TypeLens]:
    """The lenses of all types with the steps that lead from one to another."""
    first = {name: replace(lens, steps=_steps(network, name, types)) for name, lens in types.items()}
    return {
        name: replace(lens, steps=_with_second(network, name, first, second)) for name, lens in first.items()
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


def bare_lens(network: Network, type: str, one_hot: int = 0) -> TypeLens:
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
        cells=CellLayout.of(columns, one_hot),
        links=within,
        position=None,
        positions={},
        counted=tuple(way.name for way in (*apart, *(way for way in ways if way.other != type))),
        steps=(),
    )


def _type_lens(
    lens: TypeLens, network: Network, name: str, touch: Mapping[str, Touch], rank: int, seed: int
) -> TypeLens:
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


def has_words(lens: TypeLens) -> bool:
    return lens.words is not None and bool(lens.words.vectors.shape[1])


def _steps(network: Network, name: str, types: Mapping[str, TypeLens]) -> tuple[Step, ...]:
    """What is one step away, and along the links up to three."""
    lens = types[name]
    steps: list[Step] = []
    if has_words(lens):
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
        if has_words(other):
            steps.append(Step(f"{key}own", way.name, "own", way.other, about=way.relation))
        if other.cells is not None:
            steps.append(Step(f"{key}cells", way.name, "cells", way.other, about=way.relation))
    return tuple(steps)


def _with_second(network: Network, name: str, types: Mapping[str, TypeLens], most: int) -> tuple[Step, ...]:
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
    return lens.steps + tuple(step for _, step in found[:most])


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
