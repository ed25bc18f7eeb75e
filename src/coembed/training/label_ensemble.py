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
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax, softmax
from torch import Tensor

from coembed.fitted.conformal import ClassDoubt
from coembed.kernels import Noise
from coembed.model.views_inference import View, ViewsInference
from coembed.network import Network
from coembed.network.matrices import presence
from coembed.settings import Settings
from coembed.training.class_doubt import cross_conformal
from coembed.training.label_views import FOLDS, LabelledType, LabelViews
from coembed.training.several_label_ensemble import (
    MOST_TREES_IN_ALL,
    Combination,
    one_by_one,
    several_entropy,
)
from coembed.views import TypeViews

MANY = 20_000
"""Labelled items from which on no ensemble is needed: `ASIDE` of them can be spared to tell a temperature."""
ASIDE = 2000
STRENGTHS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9)
"""How far opinions may lean towards those of the links."""
CLEARLY = 1.0
"""Standard errors by which leaning must be better than not leaning."""
TREE_COORDINATES = 16
"""Leading coordinates of each view that trees read beside the cells."""
MOST_TREES = 600
MOST_WORDS, MOST_VALUES = 1000, 50_000_000
"""Words of a type, and numbers in all, up to which trees read the values of each."""
PENALTY = 2.0
LINEAR_WORK = 200_000_000
"""Labels x coordinates x classes of a linear model: beyond, it reads fewer coordinates of each view."""


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
    thresholds
        Of several classes an item: from which probability on to say that it has each.
    doubt
        Of one class an item: which ones cannot be ruled out.
    """

    opinion: np.ndarray
    strength: float
    weights: dict[str, float]
    accuracy: dict[str, float]
    thresholds: np.ndarray | None = None
    doubt: ClassDoubt | None = None

    def in_words(self, type: str) -> str:
        """One line on what the members are worth."""
        told = [f"{name} {100 * self.accuracy[name]:.0f} %" for name in self.weights]
        lean = f", leaning {self.strength:g} towards links" if self.strength else ""
        together = f"{100 * self.accuracy['together']:.0f} %"
        figure = "" if self.thresholds is None else " (mean average precision)"
        return f"classes{type}, out of fold{figure}: {', '.join(told)}; together {together}{lean}"


def call_ensemble(
    views: TypeViews,
    labels: LabelViews,
    type: str,
    settings: Settings,
    values: np.ndarray | None = None,
) -> Ensemble | None:
    """The ensemble of a type; none if its labels are too few, or so many that there is no need of one.

    `values` are those of the items' words (see :func:`word_values`), which trees read, with their means over
    the links.
    """
    own = labels.types.get(type)
    if own is None or np.count_nonzero(own.folds >= 0) >= MANY:
        return None
    shown = [replace(views, dense={**views.dense, **labels.of(type, fold)}) for fold in range(FOLDS)]
    members = {
        "discriminators": _discriminators(shown, own, settings),
        "linear": _linear(shown, own),
    }
    several = own.labels.ndim == 2
    few_trees = not several or own.n_classes * FOLDS <= MOST_TREES_IN_ALL
    if ("cells" in views.dense or values is not None) and few_trees:
        members["trees"] = _trees(shown, own, settings.seed, values)
    if not several:
        if "trees" in members:
            # where little is told, those who are less sure should still know how many each class has
            members["class shares"] = _class_shares(own, len(views.evidence))
        return _combined(members, own)
    found = Combination(members, own, STRENGTHS)
    return Ensemble(found.opinion, found.strength, found.weights, found.precision, found.thresholds)


def labels_to_spare(labels: np.ndarray, seed: int) -> np.ndarray:
    """Items whose labels are not learnt from, so that they can tell a temperature; none if labels are few.

    Examples
    --------
    >>> len(labels_to_spare(np.zeros(100), 0)), len(labels_to_spare(np.zeros(30_000), 0))
    (0, 2000)
    """
    labelled = np.flatnonzero((labels >= 0).any(axis=1) if labels.ndim == 2 else labels >= 0)
    if len(labelled) < MANY:
        return labelled[:0]
    return np.sort(np.random.default_rng(seed).choice(labelled, ASIDE, replace=False))


def best_temperature(logits: Tensor, wanted: Tensor) -> float:
    """What to divide logits by to come nearest, in cross entropy, to probabilities.

    Examples
    --------
    >>> logits = torch.tensor([[0.0, 1.0], [2.0, 0.0]])
    >>> round(best_temperature(logits, (logits / 3).softmax(dim=1)), 2)
    3.0
    """
    logits, wanted = logits.double(), wanted.double()
    found = minimize_scalar(
        lambda log_t: float(F.cross_entropy(logits / math.exp(log_t), wanted)),
        bounds=(math.log(0.05), math.log(20)),
        method="bounded",
    )
    return float(math.exp(found.x))


def _combined(members: Mapping[str, list[np.ndarray]], own: LabelledType) -> Ensemble:
    """Members weighed by what they said of labels that they had not seen; then leaning, if that helps."""
    known = np.flatnonzero(own.folds >= 0)
    truth, fold = own.labels[known], own.folds[known]
    told = {name: np.empty((len(known), own.n_classes)) for name in members}
    for name, logits in members.items():
        for f in range(FOLDS):
            told[name][fold == f] = logits[f][known[fold == f]]
    weights = _stacked(list(told.values()), truth)
    by_fold = [
        softmax(sum(w * logits[f] for w, logits in zip(weights, members.values(), strict=True)), axis=1)
        for f in range(FOLDS)
    ]
    strength = _strength(by_fold, own, known, truth, fold)
    leaning = _out_of_fold(by_fold, own, known, fold, strength)
    accuracy = {name: float(np.mean(each.argmax(axis=1) == truth)) for name, each in told.items()}
    accuracy["together"] = float(np.mean(leaning.argmax(axis=1) == truth))
    opinion = own.smoothed(np.mean(by_fold, axis=0), strength)
    named = dict(zip(members, (float(w) for w in weights), strict=True))
    by_fold = [own.smoothed(each, strength, f) for f, each in enumerate(by_fold)]
    doubt = cross_conformal(by_fold, own.labels, own.folds)
    return Ensemble(opinion.astype(np.float32), strength, named, accuracy, doubt=doubt)


def _out_of_fold(
    by_fold: Sequence[np.ndarray], own: LabelledType, known: np.ndarray, fold: np.ndarray, strength: float
) -> np.ndarray:
    found = np.empty((len(known), own.n_classes))
    for f in range(FOLDS):
        found[fold == f] = own.smoothed(by_fold[f], strength, f)[known[fold == f]]
    return found


def _strength(
    by_fold: Sequence[np.ndarray], own: LabelledType, known: np.ndarray, truth: np.ndarray, fold: np.ndarray
) -> float:
    """How far to lean towards the links: as far as it is clearly better on labels that were not seen."""
    if own.walk is None:
        return 0.0
    costs = {}
    for strength in STRENGTHS:
        found = _out_of_fold(by_fold, own, known, fold, strength)
        costs[strength] = -np.log(np.maximum(found[np.arange(len(truth)), truth], 1e-3))
    best = min(STRENGTHS, key=lambda each: costs[each].mean())
    gain = costs[0.0] - costs[best]
    error = gain.std() / math.sqrt(max(len(gain), 1))
    return best if gain.mean() > CLEARLY * error else 0.0


def _stacked(told: Sequence[np.ndarray], truth: np.ndarray) -> np.ndarray:
    """Weights, none below zero, of the members' logits, whose sum comes nearest to the truth."""
    rows = np.arange(len(truth))

    def cost(log_weights: np.ndarray) -> float:
        mixed = sum(w * logits for w, logits in zip(np.exp(log_weights), told, strict=True))
        # a pinch of decay: with few labels no member is believed without end
        return float(-log_softmax(mixed, axis=1)[rows, truth].mean() + 1e-3 * (log_weights**2).sum())

    start = np.full(len(told), -math.log(len(told)))
    found = minimize(
        cost, start, method="Nelder-Mead" if len(told) > 1 else "Powell", options={"maxiter": 400}
    )
    return np.exp(np.clip(found.x, -5, 3))


def word_values(network: Network, type: str) -> np.ndarray | None:
    """The counts or tf-idf of a type's words, where they say more than presence and are not too many."""
    words = [each for each in network.columns(type) if each.column is not None and not each.column.has_cells]
    if not any(each.weighted for each in words):
        return None
    whole = sp.csr_array(sum((each.values for each in words[1:]), words[0].values))
    if whole.shape[1] > MOST_WORDS or whole.shape[0] * whole.shape[1] > MOST_VALUES:
        return None
    return whole.toarray()


def _trees(
    shown: Sequence[TypeViews], own: LabelledType, seed: int, values: np.ndarray | None = None
) -> list[np.ndarray]:
    """Boosted trees of the cells and of the leading coordinates of all else: logits of all items, by fold."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    beside = []
    if values is not None:
        beside = [values]
        for _ in range(2 if own.walk is not None else 0):
            beside.append(_mean_with_itself(own.walk, beside[-1]))
    found = []
    for fold, views in enumerate(shown):
        whole = [name for name in views.dense if "cells" in name or name.startswith(("spread", "labels"))]
        parts = [view if name in whole else view[:, :TREE_COORDINATES] for name, view in views.dense.items()]
        features = np.hstack([*parts, *beside])
        labels = own.without(fold)
        rows = np.flatnonzero(own.folds >= 0)
        rows = rows[own.folds[rows] != fold]
        n_seen = own.n_classes if labels.ndim == 2 else len(np.unique(labels[rows]))
        trees = partial(
            HistGradientBoostingClassifier,
            max_iter=int(np.clip(MOST_TREES // max(n_seen, 1), 20, 100)),
            min_samples_leaf=int(np.clip(len(rows) // 40, 2, 20)),
            max_leaf_nodes=15,
            l2_regularization=1.0,
            early_stopping=False,
            random_state=seed,
        )
        if labels.ndim == 2:
            found.append(one_by_one(trees, features, labels))
        elif n_seen < 2:
            found.append(_of_one_class(labels[rows][0], len(features), own.n_classes))
        else:
            found.append(_logits(trees().fit(features[rows], labels[rows]), features, own.n_classes))
    return found


def _class_shares(own: LabelledType, count: int) -> list[np.ndarray]:
    """What one knows who looks at nothing: logits that are the same for all items, by fold."""
    found = []
    for fold in range(FOLDS):
        labels = own.without(fold)
        counts = np.bincount(labels[labels >= 0], minlength=own.n_classes) + 1
        found.append(np.broadcast_to(np.log(counts / counts.sum()), (count, own.n_classes)))
    return found


def _mean_with_itself(walk: sp.csr_array, values: np.ndarray) -> np.ndarray:
    """The mean over an item and its links."""
    links = presence(walk)
    return (links @ values + values) / (1 + np.diff(links.indptr))[:, None]


def _linear(shown: Sequence[TypeViews], own: LabelledType) -> list[np.ndarray]:
    """Linear models of all dense views: logits of all items, by fold."""
    from sklearn.linear_model import LogisticRegression

    labelled = int(np.count_nonzero(own.folds >= 0))
    room = LINEAR_WORK // max(labelled * own.n_classes * len(shown[0].dense), 1)
    width = int(np.clip(room, TREE_COORDINATES, None))
    found = []
    for fold, views in enumerate(shown):
        features = np.hstack([_of_one_size(name, view[:, :width]) for name, view in views.dense.items()])
        labels = own.without(fold)
        linear = partial(LogisticRegression, C=PENALTY, max_iter=200, tol=1e-3)
        if labels.ndim == 2:
            found.append(one_by_one(linear, features, labels))
            continue
        rows = np.flatnonzero(labels >= 0)
        if len(np.unique(labels[rows])) < 2:  # all that is seen is of one class
            found.append(_of_one_class(labels[rows][0], len(features), own.n_classes))
        else:
            found.append(_logits(linear().fit(features[rows], labels[rows]), features, own.n_classes))
    return found


def _of_one_size(name: str, view: np.ndarray) -> np.ndarray:
    """A view whose rows have length one on average; what labels say counts more than any other."""
    length = float(np.sqrt(np.mean(np.square(view).sum(axis=1)))) or 1.0
    return view / length * (2.0 if name.startswith(("spread", "labels")) else 1.0)


def _of_one_class(label: int, count: int, n_classes: int) -> np.ndarray:
    return np.tile(np.log(np.where(np.arange(n_classes) == label, 1.0, 1e-4)), (count, 1))


def _logits(model: Any, features: np.ndarray, n_classes: int) -> np.ndarray:
    """Logarithms of the probabilities of all classes, those that the model has not seen among them."""
    shares = np.full((len(features), n_classes), 1e-4)
    shares[:, model.classes_] += model.predict_proba(features)
    return np.log(shares)


def _discriminators(shown: Sequence[TypeViews], own: LabelledType, settings: Settings) -> list[np.ndarray]:
    """Discriminators alone, one a fold: logits of all items."""
    labelled = np.flatnonzero(own.folds >= 0)
    classes = torch.as_tensor(own.labels[labelled])
    found = []
    for fold, views in enumerate(shown):
        everyone = _discriminator(views, None, own.n_classes, settings)
        torch.manual_seed(settings.seed + fold)
        learner = _discriminator(views, labelled, own.n_classes, settings)
        for view, same in zip(learner.views.values(), everyone.views.values(), strict=True):
            assert isinstance(view, View)
            assert isinstance(same, View)
            view.scale = same.scale
        train = torch.as_tensor(np.flatnonzero(own.folds[labelled] != fold))
        _train(learner, train, classes, settings, Noise(settings.seed).of(f"fold {fold}"))
        everyone.load_state_dict(learner.state_dict())
        with torch.no_grad():
            found.append(everyone.label_logits().numpy())
    return found


def _discriminator(
    views: TypeViews, rows: np.ndarray | None, n_classes: int, settings: Settings
) -> ViewsInference:
    """One that reads some of the items, or all."""
    dtype = getattr(torch, settings.precision)
    return ViewsInference(
        {name: view if rows is None else view[rows] for name, view in views.all.items()},
        views.evidence if rows is None else views.evidence[rows],
        settings.hidden,
        1,
        n_classes,
        dropout=settings.dropout,
        input_dropout=settings.input_dropout,
        dtype=dtype,
    ).to(dtype)


def _train(learner: ViewsInference, rows: Tensor, classes: Tensor, settings: Settings, noise: Noise) -> None:
    weights = [weight for name, weight in learner.named_parameters() if "label" in name]
    optimizer = torch.optim.Adam(
        weights, lr=settings.learning_rate, weight_decay=max(settings.label_decay, settings.weight_decay)
    )
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, settings.epochs)
    for step in range(settings.epochs):
        logits = learner.label_logits(noise.at(step))
        # the joint model weighs it by alpha, which is to Adam what a smaller decay is
        cost = F.cross_entropy if classes.dim() == 1 else several_entropy
        loss = settings.alpha * cost(logits[rows], classes[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
