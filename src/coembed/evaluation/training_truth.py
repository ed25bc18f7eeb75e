"""The truth about a fit, in three lines: how good its classes are, what they follow, what to look at.

How good is told out of fold, on labels that were kept from what says them, beside the best of the simple
methods, which get the same labels in the same folds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from coembed.evaluation.problem import Problem
from coembed.fitted import Fitted
from coembed.metrics import accuracy, mean_average_precision
from coembed.network import Network
from coembed.network.leaks import telling_columns
from coembed.progress import Tell
from coembed.training.label_views import FOLDS, LabelledType

SIMPLE = ("majority", "propagation", "linear-own", "trees-own", "class-frequencies", "one-vs-rest")
"""Methods to stand beside, those of them that can."""
WORK = 20_000
"""Labels x classes up to which all folds are told by simple methods; beyond, two of them."""
MOST_FOR_TREES = 100_000
"""Labels x classes up to which boosted trees are among them."""
FEW = 10
"""Labels of a class below which it is worth a look."""
BETTER = 0.01
"""By how much a simple method must be better to be told apart from chance."""
_LEFT_OUT = re.compile(r"column '(.+?)' was left out")


@dataclass(frozen=True)
class Truth:
    """What to know of the classes of a type.

    Attributes
    ----------
    figure
        ``accuracy``, or of several classes ``mean average precision``.
    score
        Out of fold; None if no labels were kept aside.
    simple
        The same of simple methods, by name.
    follows
        What the classes are read from, by share.
    look_at
        What may be wrong, a sentence each.
    """

    type: str
    figure: str
    score: float | None
    simple: dict[str, float]
    follows: dict[str, float]
    look_at: list[str]

    @property
    def best_simple(self) -> str | None:
        return max(self.simple, key=lambda name: self.simple[name]) if self.simple else None

    @property
    def lines(self) -> list[str]:
        """The three lines."""
        name, best = self.type, self.best_simple
        if self.score is None:
            first = f"classes of {name}: no labels were kept aside to judge them by; coembed evaluate does"
        else:
            first = f"classes of {name}: {self.score:.0%} {self.figure} on labels not learnt from"
        if best is not None:
            first += f"; the best simple method ({best}): {self.simple[best]:.0%}"
        follows = ", ".join(f"{share:.0%} {group}" for group, share in list(self.follows.items())[:6])
        return [
            first,
            f"they follow {follows}" if follows else "what they follow is not told by this preset",
            f"look at: {'; '.join(self.look_at)}" if self.look_at else "nothing that calls for a look",
        ]

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "best_simple": self.best_simple, "lines": self.lines}


def with_truth(fitted: Fitted, tell: Tell = lambda step: None, simple: bool = True) -> Fitted:
    """The result with the truth about each type's classes in its history; `simple` methods take a while."""
    found = {}
    for type in fitted.network.labelled_types:
        if simple:
            tell(f"asking simple methods about the classes of {type}")
        found[type] = truth_of(fitted, type, simple).as_dict()
    return replace(fitted, history={**fitted.history, "truth": found}) if found else fitted


def truth_of(fitted: Fitted, type: str, simple: bool = True) -> Truth:
    """The truth about the classes of a type."""
    network = fitted.network
    labels = network.items(type).labels
    assert labels is not None
    told: Mapping[str, float] = fitted.history.get("out_of_fold", {}).get(type, {})
    beside = simple_figures(network, type, int(fitted.settings.get("seed", 0))) if simple else {}
    score = told.get("together")
    look = []
    best = max(beside.values(), default=0.0)
    if score is not None and best > score + BETTER:
        look.append("a simple method is better here than this model")
    look += _look_at(network, type)
    figure = "mean average precision" if labels.several else "accuracy"
    follows = fitted.history.get("follows", {}).get(type, {})
    return Truth(type, figure, None if score is None else float(score), beside, dict(follows), look)


def simple_figures(network: Network, type: str, seed: int = 0) -> dict[str, float]:
    """What simple methods reach on the labels of folds that were kept from them."""
    from coembed.baselines import METHODS

    own = LabelledType.of(network, type, seed)
    if own is None:
        return {}
    known = np.flatnonzero(own.folds >= 0)
    work = len(known) * own.n_classes
    asked = range(FOLDS if work <= WORK else 2)
    found = {}
    for name in SIMPLE:
        method = METHODS[name]
        problem = Problem("classification", network, type=type, seed=seed)
        if method.refusal(problem) is not None or (name == "trees-own" and work > MOST_FOR_TREES):
            continue
        if name == "propagation" and own.walk is None:
            continue
        rows, told = [], []
        for fold in asked:
            hidden = replace(problem, network=network.with_labels(own.without(fold), type))
            probabilities = method.fit(hidden).probabilities()
            assert probabilities is not None
            rows.append(np.flatnonzero(own.folds == fold))
            told.append(probabilities[rows[-1]])
        truth, answers = own.labels[np.concatenate(rows)], np.concatenate(told)
        several = truth.ndim == 2
        found[name] = (
            mean_average_precision(truth, answers) if several else accuracy(truth, answers.argmax(axis=1))
        )
    return found


def _look_at(network: Network, type: str) -> list[str]:
    labels = network.items(type).labels
    assert labels is not None
    found = [
        f"{relation.column.name} alone tells the class of {share:.0%} of the rows: is it known only with it?"
        for relation, share in telling_columns(network, type)
        if relation.column is not None
    ]
    rare = [
        f"{str(name)[:40]} {size}"
        for name, size in zip(labels.classes, labels.sizes, strict=True)
        if size < FEW
    ]
    if rare:
        more = f" and {len(rare) - 5} more" if len(rare) > 5 else ""
        found.append(f"classes with few labels: {', '.join(rare[:5])}{more}")
    left = [name for notice in network.notices for name in _LEFT_OUT.findall(notice)]
    if left:
        more = f" and {len(left) - 5} more" if len(left) > 5 else ""
        found.append(f"columns left out: {', '.join(left[:5])}{more}")
    return found
