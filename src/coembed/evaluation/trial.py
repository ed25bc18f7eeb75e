"""One trial of an evaluation: a part of the network is hidden, the rest is the problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from coembed.errors import InputError
from coembed.evaluation.asked import Asked, what_is_asked
from coembed.evaluation.direction_split import DirectionSplit, split_direction
from coembed.evaluation.problem import Pairs, Problem, no_nodes
from coembed.network import (
    UNKNOWN,
    CellSplit,
    LabelSplit,
    Network,
    PairSplit,
    hide,
    published_masks,
    split_cells,
    split_labels,
    split_pairs,
)
from coembed.network.honest_splits import Sides, split_cells_by, split_labels_by
from coembed.network.splits import check_labels
from coembed.settings import Task

Inputs = Literal["full", "masked"]
Part = Literal["test", "validation"]

MASKED = 0.15
"""Share of the pairs of each relation that `masked` inputs lack, as in the public code of SCAN."""


@dataclass(frozen=True, eq=False)
class Splits:
    """What is hidden under one seed; drawn once, the same for every method.

    Attributes
    ----------
    labels, other_labels
        Of the type in question, if it has any; and of every other type that has.
    pairs, direction, cells
        What else is hidden, as the task wants it.
    """

    task: Task
    seed: int
    labels: LabelSplit | None
    pairs: PairSplit | None
    asked: Asked
    other_labels: tuple[LabelSplit, ...] = ()
    direction: DirectionSplit | None = None
    cells: CellSplit | None = None

    @property
    def all_labels(self) -> tuple[LabelSplit, ...]:
        return (*((self.labels,) if self.labels else ()), *self.other_labels)


@dataclass(frozen=True, eq=False)
class Trial:
    """A problem and the questions that belong to it.

    Attributes
    ----------
    problem
        The only thing that a method sees.
    nodes
        Whose class is asked.
    uniform, matched
        Hidden pairs beside absent ones: drawn from all, or with the popularity of the hidden ones.
    turned
        Hidden links the way they go, beside the same the other way round.
    cells
        By column, the items whose cell is asked.
    """

    problem: Problem
    nodes: np.ndarray
    uniform: Pairs | None = None
    matched: Pairs | None = None
    turned: Pairs | None = None
    cells: Mapping[str, np.ndarray] = field(default_factory=dict)


def draw_splits(
    network: Network,
    task: Task,
    labels: float = 0.1,
    seed: int = 0,
    type: str | None = None,
    relation: str | None = None,
    sides: Sides | None = None,
) -> Splits:
    """Choose what to hide, uniformly at random: the same share of the labels of each type that has any.

    With `sides`, labels or cells of the type in question are hidden in whole groups, or by time.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> splits = draw_splits(demo_network(), "attributes", seed=0)
    >>> len(splits.labels.test), len(splits.pairs.test)
    (1328, 877)
    """
    check_labels(labels)
    asked = what_is_asked(network, task, type, relation)
    by_type = {
        name: split_labels(network, labels, seed=seed, type=name)
        for name, items in network.types.items()
        if labels and items.labels is not None and len(items.labels.known)
    }
    own = by_type.pop(asked.type, None)
    if sides is not None and task not in ("classification", "columns"):
        raise InputError("groups and times split classes and cells; leave them out for pairs")
    if sides is not None and own is not None and task == "classification":
        own = split_labels_by(network, sides, labels, seed=seed, type=asked.type)
    if task == "classification":
        _check_classes(network, asked.type, own)
    splits = Splits(task, seed, own, None, asked, tuple(by_type.values()))
    if task == "columns" and sides is not None:
        return replace(splits, cells=split_cells_by(network, sides, asked.type, seed=seed))
    if task == "columns":
        return replace(splits, cells=split_cells(network, asked.type, seed=seed))
    if asked.relation is None:
        return splits
    if task == "direction":
        return replace(splits, direction=split_direction(network, asked.relation, seed))
    return replace(splits, pairs=split_pairs(network, asked.relation, seed=seed))


def _check_classes(network: Network, type: str, split: LabelSplit | None) -> None:
    whose = "" if network.is_plain else f" of {type}"
    if split is None:
        others = [name for name in network.labelled_types if name != type]
        hint = f"; these types have some: {', '.join(others)}" if others else ""
        raise InputError(
            f"{network.name}: classification{whose} needs labels to learn from and others to ask for{hint}"
        )
    if not len(split.test):
        known = len(split.train) + len(split.validation)
        raise InputError(
            f"{network.name} has {known} labelled {'node(s)' if network.is_plain else type}, "
            "too few to hide some"
        )


def strict_trial(network: Network, splits: Splits, inputs: Inputs = "full", part: Part = "test") -> Trial:
    """The fair trial: nothing that is asked, nor anything made from it, can be seen.

    Parameters
    ----------
    inputs
        `full`: all relations and columns except what is in question; `masked`: 15 % of each are missing.
    part
        `test`, or `validation` to tune a method: then the validation labels and pairs are what is asked, the
        method does not see them, and the test part stays untouched.
    """
    seen = _labels_seen(network, splits, part)
    asked_cells: dict[str, np.ndarray] = {}
    if splits.pairs is not None:
        seen = splits.pairs.visible(seen)
    if splits.direction is not None:
        seen = splits.direction.visible(seen, part)
    if splits.cells is not None:
        hidden = splits.cells
        seen = hidden.visible(seen)
        if part == "validation":  # a tenth of what the test has left
            hidden = split_cells(seen, splits.asked.type, seed=splits.seed)
            seen = hidden.visible(seen)
        asked_cells = {name: pairs[:, 0] for name, pairs in hidden.hidden.items() if len(pairs)}
    if inputs == "masked":
        # drawn from what is left, so that not even the number of hidden pairs can steer it
        masked = hide(seen, MASKED, splits.seed)
        # the relations in question have lost their share already
        kept = (splits.asked.relation,) if splits.asked.relation else tuple(asked_cells)
        seen = masked.with_values({name: seen.relation(name).values for name in kept})
    problem = Problem(
        splits.task,
        seen,
        seed=splits.seed,
        type=splits.asked.type,
        relation=splits.asked.relation or "",
    )
    nodes = getattr(splits.labels, part) if splits.labels else no_nodes()
    if part == "test":
        problem = replace(
            problem,
            validation=splits.labels.validation if splits.labels else no_nodes(),
            other_validation={each.type: each.validation for each in splits.other_labels},
        )
    if splits.direction is not None:
        held = splits.direction.held
        if part == "test" and min(map(len, held)):
            problem = replace(problem, pairs=held)
        return Trial(problem, nodes, turned=splits.direction.turned(part))
    if splits.pairs is None:
        return Trial(problem, nodes, cells=asked_cells)
    pairs = splits.pairs
    held = Pairs(pairs.validation, pairs.validation_negatives)
    if part == "validation":
        return Trial(problem, nodes, uniform=held)
    return Trial(
        replace(problem, pairs=held),
        nodes,
        uniform=Pairs(pairs.test, pairs.test_negatives),
        matched=Pairs(pairs.test_matched_positives, pairs.test_matched),
    )


def published_trial(network: Network, task: Task, labels: float = 0.1, seed: int = 0) -> Trial:
    """The trial of SCAN's public code, leak included: to compare with printed numbers, for nothing else.

    15 % of the link entries (each direction on its own) and of the attribute entries are hidden whatever the
    task; there is no validation.
    """
    if not network.is_plain or task not in ("classification", "links", "attributes"):
        raise InputError(
            "the published protocol is for the classes, links and attributes of plain networks; leave it out"
        )
    splits = draw_splits(network, task, labels, seed)
    visible, links, attributes = published_masks(network, seed)
    seen = _labels_seen(network, splits, "test").with_matrices(visible.links, visible.attributes)
    problem = Problem(task, seen, seed=seed)
    nodes = splits.labels.test if splits.labels else no_nodes()
    if task == "classification":
        return Trial(problem, nodes)
    asked = links if task == "links" else attributes
    return Trial(problem, nodes, uniform=Pairs(asked.test, asked.test_negatives))


def _labels_seen(network: Network, splits: Splits, part: Part) -> Network:
    if not splits.all_labels:
        # without labels there are no classes either: the model is then that of the relations alone
        return network.without_classes()
    for split in splits.all_labels:
        network = split.visible(network)
        if part == "validation":
            labels = network.items(split.type).labels
            assert labels is not None
            values = labels.values.copy()
            values[split.validation] = UNKNOWN
            network = network.with_labels(values, split.type)
    return network
