"""One trial of an evaluation: a part of the network is hidden, the rest is the problem."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from coembed.errors import InputError
from coembed.evaluation.problem import Pairs, Problem, no_nodes
from coembed.network import (
    UNKNOWN,
    LabelSplit,
    Network,
    PairSplit,
    hide,
    published_masks,
    split_attributes,
    split_labels,
    split_links,
)
from coembed.settings import Task

Inputs = Literal["full", "masked"]
Part = Literal["test", "validation"]

MASKED = 0.15
"""Share of links and of attribute entries that `masked` inputs lack, as in the public code of SCAN."""


@dataclass(frozen=True, eq=False)
class Splits:
    """What is hidden under one seed; drawn once, the same for every method."""

    task: Task
    seed: int
    labels: LabelSplit | None
    pairs: PairSplit | None


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
    """

    problem: Problem
    nodes: np.ndarray
    uniform: Pairs | None = None
    matched: Pairs | None = None


def draw_splits(network: Network, task: Task, labels: float = 0.1, seed: int = 0) -> Splits:
    """Choose what to hide, uniformly at random.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> splits = draw_splits(demo_network(), "attributes", seed=0)
    >>> len(splits.labels.test), len(splits.pairs.test)
    (1328, 877)
    """
    if not 0 <= labels < 1:
        raise InputError(f"the share of labels must be at least 0 and below 1, got {labels}")
    if task == "classification" and (labels == 0 or not len(network.labelled)):
        raise InputError(f"{network.name}: classification needs labels to learn from and others to ask for")
    by_label = split_labels(network, labels, seed=seed) if labels and len(network.labelled) else None
    if by_label is not None and not len(by_label.test) and task == "classification":
        raise InputError(f"{network.name} has {len(network.labelled)} labelled node(s), too few to hide some")
    pairs = None
    if task != "classification":
        pairs = (split_links if task == "links" else split_attributes)(network, seed=seed)
    return Splits(task, seed, by_label, pairs)


def strict_trial(network: Network, splits: Splits, inputs: Inputs = "full", part: Part = "test") -> Trial:
    """The fair trial: nothing that is asked, nor anything made from it, can be seen.

    Parameters
    ----------
    inputs
        `full`: all links and attributes except the pairs in question; `masked`: 15 % of both are missing.
    part
        `test`, or `validation` to tune a method: then the validation labels and pairs are what is asked, the
        method does not see them, and the test part stays untouched.
    """
    seen = _labels_seen(network, splits.labels, part)
    if splits.pairs is not None:
        seen = splits.pairs.visible(seen)
    if inputs == "masked":
        # drawn from what is left, so that not even the number of hidden pairs can steer it
        masked = hide(seen, MASKED, splits.seed)
        # the relation in question has lost its share already
        links = None if splits.task == "links" else masked.links
        attributes = None if splits.task == "attributes" else masked.attributes
        seen = seen.with_matrices(links, attributes)
    problem = Problem(splits.task, seen, seed=splits.seed)
    nodes = getattr(splits.labels, part) if splits.labels else no_nodes()
    if part == "test" and splits.labels is not None:
        problem = replace(problem, validation=splits.labels.validation)
    if splits.pairs is None:
        return Trial(problem, nodes)
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
    splits = draw_splits(network, task, labels, seed)
    visible, links, attributes = published_masks(network, seed)
    seen = _labels_seen(network, splits.labels, "test").with_matrices(visible.links, visible.attributes)
    problem = Problem(task, seen, seed=seed)
    nodes = splits.labels.test if splits.labels else no_nodes()
    if task == "classification":
        return Trial(problem, nodes)
    asked = links if task == "links" else attributes
    return Trial(problem, nodes, uniform=Pairs(asked.test, asked.test_negatives))


def _labels_seen(network: Network, split: LabelSplit | None, part: Part) -> Network:
    if split is None:
        # without labels there are no classes either: the model is then that of links and attributes alone
        return network.without_classes()
    seen = split.visible(network)
    if part == "test":
        return seen
    labels = seen.labels.copy()
    labels[split.validation] = UNKNOWN
    return seen.with_labels(labels)
