"""How much of their views the items of a network can afford: a budget of bytes over all types."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from coembed.network.network import Network
from coembed.network.ways import ways_of
from coembed.views.basis import PositionBasis, WordBasis
from coembed.views.decomposition import LEAST_RANK, NUMBERS, affordable_rank
from coembed.views.lens import MOST_SECOND, SECOND_RANK, TypeLens, bare_lens, with_steps

PLAIN_VIEWS = 7
"""Dense views of the nodes of a plain network."""
BYTES = 4 * PLAIN_VIEWS * NUMBERS
"""Bytes of the dense views of all types: what the nodes of a plain network may have."""
UNITS = 32_000_000
"""Hidden units of a view, which cost time: from 500,000 items on, layers are narrower."""
LEAST_UNITS = 16
EPOCHS, EPOCH_ENTRIES = (100, 150), 30_000_000
"""The fewest and the most epochs, and epochs x entries of all relations between them: up to 200,000 entries
there are the most, from 300,000 on the fewest."""
CODED = 64
"""Features of a category that has more values than the budget leaves room for."""


@dataclass(frozen=True)
class ViewPlan:
    """What is afforded.

    Attributes
    ----------
    rank
        Coordinates of a view.
    second
        Views of a type that are two relations away, at most.
    one_hot
        Values up to which a category has a feature each; 0: however many.
    """

    rank: int
    second: int = MOST_SECOND
    one_hot: int = 0


def plan_views(network: Network, rank: int) -> ViewPlan:
    """The rank asked for, and all that there is to see; or as much of it as fits.

    First the values of wide categories have to share features, if cells would take a quarter of the budget;
    then what is two relations away is left out, if there is no room for it at rank 64; then ranks shrink.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> plan_views(demo_network(), 256)
    ViewPlan(rank=256, second=8, one_hot=0)
    """
    sizes = {name: len(network.items(name)) for name in network.entity_types}
    plan = ViewPlan(rank)

    def bytes_of(plan: ViewPlan, only: str = "") -> int:
        columns = dense_columns(planned_lenses(network, plan))
        return 4 * sum(
            sizes[name] * sum(width for view, width in views.items() if only in view)
            for name, views in columns.items()
        )

    if bytes_of(plan, "cells") > BYTES / 4:
        plan = replace(plan, one_hot=CODED)
    while plan.second and bytes_of(replace(plan, rank=SECOND_RANK)) > BYTES:
        plan = replace(plan, second=plan.second - 1)
    most = affordable_rank(rank, max(sizes.values()))
    ranks = range(min(LEAST_RANK, most), most + 1)
    fitting = bisect_right(ranks, BYTES, key=lambda each: bytes_of(replace(plan, rank=each)))
    return replace(plan, rank=ranks[max(fitting - 1, 0)])


def affordable_hidden(network: Network, hidden: int, plan: ViewPlan) -> int:
    """The width of hidden layers asked for, or as much of it as is worked out in half a minute an epoch."""
    sizes = {name: len(network.items(name)) for name in network.entity_types}
    views = {name: len(each) for name, each in dense_columns(planned_lenses(network, plan)).items()}
    at_once = sum(sizes[name] * views[name] for name in sizes) / PLAIN_VIEWS
    return min(hidden, max(int(UNITS / max(*sizes.values(), at_once, 1)), LEAST_UNITS))


def suitable_epochs(network: Network) -> int:
    """How many epochs a network has if nobody says: more where they are cheap, and there is less in each.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> suitable_epochs(demo_network())
    150
    """
    entries = sum(relation.values.nnz for relation in network.relations.values())
    return int(np.clip(EPOCH_ENTRIES // max(entries, 1), *EPOCHS))


def planned_lenses(network: Network, plan: ViewPlan) -> dict[str, TypeLens]:
    """The lenses of all types as they would be: bases have their widths, and nothing in them."""

    def empty(most: int) -> np.ndarray:
        return np.empty((0, min(plan.rank, most)), dtype=np.float32)

    nothing = np.empty(0, dtype=np.float32)
    found = {}
    for name in network.entity_types:
        lens = bare_lens(network, name, plan.one_hot)
        words = len(network.items(lens.attributes)) if lens.word_columns else 0
        across = [way for way in ways_of(network, name) if way.other != name]
        found[name] = replace(
            lens,
            words=WordBasis(nothing, empty(words)) if words else None,
            position=PositionBasis(empty(len(network.items(name))), nothing) if lens.links else None,
            positions={
                way.name: PositionBasis(empty(min(SECOND_RANK, len(network.items(way.other)))), nothing)
                for way in across
            },
        )
    return with_steps(network, found, plan.second)


def dense_columns(lenses: Mapping[str, TypeLens]) -> dict[str, dict[str, int]]:
    """By type and name, how many columns every dense view has."""
    found: dict[str, dict[str, int]] = {}
    for name, lens in lenses.items():
        found[name] = {f"position of {way}": basis.vectors.shape[1] for way, basis in lens.positions.items()}
        if lens.words is not None:
            found[name]["own"] = lens.words.vectors.shape[1]
        if lens.cells is not None:
            found[name]["cells"] = lens.cells.width
        if lens.position is not None:
            found[name]["position"] = lens.position.vectors.shape[1]
    waiting = [(name, step) for name, lens in lenses.items() for step in lens.steps]
    while waiting:
        ready = [(name, step) for name, step in waiting if step.of in found[step.type]]
        for name, step in ready:
            width = found[step.type][step.of]
            found[name][step.name] = min(width, step.width or width)
        if not ready:
            break
        waiting = [each for each in waiting if each not in ready]
    return found
