"""An ensemble for the classes: members that are fitted to all labels but those of one fold, and combined.

Discriminators read the views of the labelled items only and therefore train in a moment; boosted trees read
the cells of tables. Each label was kept from one member of each kind, and from all that it was shown of other
labels, so that how much to believe each, how sure to be, and how far to lean towards the opinions of the
links is found on labels that were not learnt from. The model learns its classes from the labels and from what
the ensemble thinks of the unlabelled, and becomes better than it, because it sees every item.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import log_softmax, softmax

from coembed.fitted.conformal import ClassDoubt
from coembed.network import UNKNOWN, Network
from coembed.settings import Settings
from coembed.training.class_doubt import cross_conformal
from coembed.training.few_labels import opinion_of_few
from coembed.training.label_combination import LEAST, how_far_to_lean, out_of_fold, stacked
from coembed.training.label_members import (
    FEW_LABELS,
    class_shares,
    discriminators,
    linear,
    linear_by_view,
    linear_words,
    spreading,
    trees,
    word_values,
)
from coembed.training.label_views import FOLDS, LabelledType, LabelViews, too_few, walk_within
from coembed.training.several_label_ensemble import FEW_CELLS, MOST_TREES_IN_ALL, Combination
from coembed.views import TypeViews

MANY = 20_000
"""Labelled items from which on only members that are quickly fitted are asked; `ASIDE` of them are spared."""
MOST_LOGITS = 8_000_000
"""Items x classes up to which so many labels have an ensemble: beyond, what members say takes gigabytes."""
ASIDE = 2000
TREE_WORK = 1_000_000
"""Labels x classes up to which trees are grown where there are no cells, which they read better than any."""
STRENGTHS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9)
"""How far opinions may lean towards those of the links."""
QUICK_STRENGTHS = (0.0, 0.5, 0.8)
AHEAD = 2.0
"""Standard errors by which one member must be better than all together."""
HALF = 0.5
"""Share of the opinion in the answer, where labels cannot be spared to tell: both err in different places."""
SPARED, ENOUGH, MOST_SPARED = 0.1, 2000, 1000
"""Share of the labels, where there are enough, that the model does not learn from, and how many at most: they
tell the share of the opinion, which knows each of them from members that have not seen it."""
SHARES = (0.0, HALF, 1.0)


@dataclass(frozen=True, eq=False)
class Ensemble:
    """What the members think together.

    Attributes
    ----------
    opinion
        Probabilities (items, classes), leaning towards the links by `strength`.
    weights
        How much each kind of member counts.
    accuracy
        Out of fold: of each kind of member by itself, and ``together``; of several classes an item, the mean
        average precision.
    share
        Of the opinion in the answer; the model has the rest.
    follows
        The simple method that the answer follows, if it follows one.
    thresholds
        Of several classes an item: from which probability on to say that it has each.
    doubt
        Of one class an item: which ones cannot be ruled out.
    """

    opinion: np.ndarray
    strength: float
    weights: dict[str, float]
    accuracy: dict[str, float]
    share: float = HALF
    follows: str = ""
    thresholds: np.ndarray | None = None
    doubt: ClassDoubt | None = None

    def in_words(self, type: str) -> str:
        """One line on what the members are worth, or on why they could not be compared."""
        if not self.accuracy:
            return f"classes{type}: too few labels to compare methods by; the answer follows {self.follows}"
        told = [f"{name} {100 * self.accuracy[name]:.0f} %" for name in self.weights]
        lean = f", leaning {self.strength:g} towards links" if self.strength else ""
        together = f"{100 * self.accuracy['together']:.0f} %"
        figure = "" if self.thresholds is None else " (mean average precision)"
        ahead = f"; ahead of all: {self.follows}, which the answer follows" if self.follows else ""
        return f"classes{type}, out of fold{figure}: {', '.join(told)}; together {together}{lean}{ahead}"


def call_ensemble(
    network: Network, views: TypeViews, labels: LabelViews, type: str, settings: Settings
) -> Ensemble | None:
    """The ensemble of a type; none without labels, or with so many of so many items that there is no room."""
    own, known = labels.types.get(type), network.items(type).labels
    if own is None and known is not None and not known.several and too_few(known.values):
        found = opinion_of_few(
            walk_within(network, type), views, known.values, known.n_classes, settings.neighbours
        )
        return (
            None if found is None else Ensemble(found[0], 0.0, {}, {}, 1.0, f"labels spread along {found[1]}")
        )
    solved = settings.fitting == "closed-form"
    if own is None or (_many(own) and not solved and not _has_room(own)):
        return None
    quick = solved or _many(own)
    members = gather_members(network, views, labels, type, settings)
    if own.labels.ndim == 2:
        all_of_them = Combination(members, own, STRENGTHS)
        return Ensemble(
            all_of_them.opinion,
            all_of_them.strength,
            all_of_them.weights,
            all_of_them.precision,
            # the model is a discriminator itself
            HALF if max(members, key=all_of_them.precision.__getitem__) == "discriminators" else 1.0,
            thresholds=all_of_them.thresholds,
        )
    return _combined(members, own, QUICK_STRENGTHS if quick else STRENGTHS)


def gather_members(
    network: Network, views: TypeViews, labels: LabelViews, type: str, settings: Settings
) -> dict[str, list[np.ndarray]]:
    """What each member thinks: of each fold the logits of all items, by those who have not seen it."""
    own = labels.types[type]
    quick = settings.fitting == "closed-form" or _many(own)
    values = None if quick else word_values(network, type)
    shown = [replace(views, dense={**views.dense, **labels.of(type, fold)}) for fold in range(FOLDS)]
    members = {} if quick else {"discriminators": discriminators(shown, own, settings)}
    members["linear"] = linear(shown, own)
    several = own.labels.ndim == 2
    few = np.count_nonzero(own.labels != UNKNOWN) <= (FEW_CELLS if several else FEW_LABELS)
    if quick or few:
        members["linear by view"] = linear_by_view(shown, own)
        if "words" in views.sparse and (quick or several):
            members["linear in words"] = linear_words(shown, own)
    tabular = "cells" in views.dense or values is not None
    if several:
        if tabular and own.n_classes * FOLDS <= MOST_TREES_IN_ALL:
            members["trees"] = trees(shown, own, settings, values)
        return members
    affordable = not quick and np.count_nonzero(own.folds >= 0) * own.n_classes <= TREE_WORK
    if tabular or affordable:
        members["trees"] = trees(shown, own, settings, values)
    if own.walk is not None:
        members["spreading"] = spreading(own)
    if tabular:
        # where little is told, those who are less sure should still know how many each class has
        members["class shares"] = class_shares(own, len(views.evidence))
    return members


def _many(own: LabelledType) -> bool:
    return int(np.count_nonzero(own.folds >= 0)) >= MANY


def _has_room(own: LabelledType) -> bool:
    """Of several classes an item the opinion would be the answer: so many labels teach the model more."""
    return own.labels.ndim == 1 and len(own.labels) * own.n_classes <= MOST_LOGITS


def labels_to_spare(labels: np.ndarray, seed: int) -> np.ndarray:
    """Items whose labels the model does not learn from, so that they can tell how far to trust it.

    Where labels are few there are none to spare.

    Examples
    --------
    >>> [len(labels_to_spare(np.zeros(count), 0)) for count in (100, 3000, 30_000)]
    [0, 300, 2000]
    """
    labelled = np.flatnonzero((labels >= 0).any(axis=1) if labels.ndim == 2 else labels >= 0)
    if len(labelled) < min(ENOUGH, MANY):
        return labelled[:0]
    count = ASIDE if len(labelled) >= MANY else min(int(SPARED * len(labelled)), MOST_SPARED)
    return np.sort(np.random.default_rng(seed).choice(labelled, count, replace=False))


def best_share(model: np.ndarray, opinion: np.ndarray, truth: np.ndarray) -> float:
    """Of the opinion in the answer, by the classes of items that neither has learnt from.

    Examples
    --------
    >>> right, wrong = np.array([[0.9, 0.1]] * 9), np.array([[0.4, 0.6]] * 9)
    >>> truth = np.zeros(9, dtype=int)
    >>> best_share(wrong, right, truth), best_share(right, wrong, truth)
    (1.0, 0.0)
    """
    logs = [np.log(np.maximum(each, LEAST)) for each in (model, opinion)]

    def cost(share: float) -> float:
        mixed = log_softmax((1 - share) * logs[0] + share * logs[1], axis=1)
        return float(-mixed[np.arange(len(truth)), truth].mean())

    return min(SHARES, key=cost)


def _combined(
    members: Mapping[str, list[np.ndarray]], own: LabelledType, strengths: Sequence[float] = STRENGTHS
) -> Ensemble:
    """Members weighed by what they said of labels that they had not seen; then leaning, if that helps.

    One member that is clearly better alone than all together is followed.
    """
    known = np.flatnonzero(own.folds >= 0)
    truth, fold = own.labels[known], own.folds[known]
    told = {name: out_of_fold(logits, own) for name, logits in members.items()}
    right = {name: each.argmax(axis=1) == truth for name, each in told.items()}
    names, follows = list(members), ""
    for _ in range(2):
        # a fold's labels have no part in how its members are weighed, either: they are to say how sure to be
        weights = [stacked([told[name][fold != f] for name in names], truth[fold != f]) for f in range(FOLDS)]
        by_fold = [
            softmax(sum(w * members[name][f] for w, name in zip(weights[f], names, strict=True)), axis=1)
            for f in range(FOLDS)
        ]
        lean = how_far_to_lean(by_fold, own, strengths)
        told_together = out_of_fold(lean.by_fold, own)
        together = told_together.argmax(axis=1) == truth
        best = max(right, key=lambda name: right[name].mean())
        ahead = right[best].astype(float) - together
        if follows or ahead.mean() <= AHEAD * ahead.std() / math.sqrt(len(ahead)):
            break
        names, follows = [best], best
    accuracy = {name: float(each.mean()) for name, each in right.items()} | {
        "together": float(together.mean())
    }
    opinion = lean.of(np.mean(by_fold, axis=0), own)
    opinion[known] = told_together  # by those who have not seen the label
    counted = zip(names, np.mean(weights, axis=0), strict=True)
    named = dict.fromkeys(members, 0.0) | {name: float(w) for name, w in counted}
    share = HALF if follows in ("", "discriminators") else 1.0  # the model is a discriminator itself
    doubt = cross_conformal(lean.by_fold, own.labels, own.folds)
    return Ensemble(opinion.astype(np.float32), lean.strength, named, accuracy, share, follows, doubt=doubt)
