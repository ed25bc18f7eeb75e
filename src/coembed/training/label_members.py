"""The members of the label ensemble: of each fold, logits of all items by a method that has not seen it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from scipy.special import log_expit, log_softmax
from torch import Tensor

from coembed.kernels import Noise
from coembed.model.views_inference import View, ViewsInference
from coembed.network import UNKNOWN, Network
from coembed.network.matrices import presence
from coembed.settings import Settings
from coembed.training.label_views import FOLDS, LabelledType
from coembed.training.several_label_ensemble import FEW_CELLS, calibrated, one_by_one, several_entropy
from coembed.views import TypeViews

TREE_COORDINATES = 16
"""Leading coordinates of each view that trees read beside the cells."""
MOST_TREES, MOST_ROUNDS = 200, 33
"""Trees in all, a round of them having one for each class, and rounds at most."""
TREE_BINS, TREE_FEATURES = 32, 0.3
"""Bins of a feature, and the share of features that a split looks at: with few labels both also err less."""
MOST_WORDS, MOST_VALUES = 1000, 50_000_000
"""Words of a type, and numbers in all, up to which trees read the values of each."""
PENALTY, ALONE = 2.0, 5.0
"""How little weights are held back: of all views together, and of one by itself."""
SEVERAL_PENALTIES = (0.2, 0.5, PENALTY)
"""The same where each of several classes has a model of few labels of its own: the best of these."""
FEW_LABELS = 200
"""Labels of one class each up to which linear models of each view by itself are asked beside all others."""
LEAST_SHARE = 1e-3
"""What spreading leaves to a class that nothing spreads from."""
WIDTHS = (16, 64)
"""Leading coordinates of each view that a linear model reads, or all."""
LINEAR_WORK = 200_000_000
"""Labels x coordinates x classes of a linear model: beyond, it reads fewer coordinates of each view."""

MOST_EPOCHS = 100
"""Epochs of a discriminator: one that learns longer tells the labels of other folds no better."""
FEW_CLASSES = 10
"""Classes up to which the decay of a discriminator's weights is what the settings say."""


def word_values(network: Network, type: str) -> np.ndarray | None:
    """The counts or tf-idf of a type's words, where they say more than presence and are not too many."""
    words = [each for each in network.columns(type) if each.column is not None and not each.column.has_cells]
    if not any(each.weighted for each in words):
        return None
    whole = sp.csr_array(sum((each.values for each in words[1:]), words[0].values))
    if whole.shape[1] > MOST_WORDS or whole.shape[0] * whole.shape[1] > MOST_VALUES:
        return None
    return whole.toarray()


def trees(
    shown: Sequence[TypeViews], own: LabelledType, settings: Settings, values: np.ndarray | None = None
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
        grow = partial(
            HistGradientBoostingClassifier,
            max_iter=min(int(np.clip(MOST_TREES // max(n_seen, 1), 10, MOST_ROUNDS)), settings.epochs),
            learning_rate=0.3,
            max_bins=TREE_BINS,
            max_features=TREE_FEATURES,
            min_samples_leaf=int(np.clip(len(rows) // 40, 2, 20)),
            max_leaf_nodes=15,
            l2_regularization=1.0,
            early_stopping=False,
            random_state=settings.seed,
        )
        if labels.ndim == 2:
            found.append(one_by_one(grow, features, labels))
        elif n_seen < 2:
            found.append(_of_one_class(labels[rows][0], len(features), own.n_classes))
        else:
            found.append(_logits(grow().fit(features[rows], labels[rows]), features, own.n_classes))
    return found


def spreading(own: LabelledType) -> list[np.ndarray]:
    """Labels spread along the links, and nothing else: logits of all items, by fold."""
    return [np.log(own.mass(fold) + LEAST_SHARE) for fold in range(FOLDS)]


def class_shares(own: LabelledType, count: int) -> list[np.ndarray]:
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


def linear(shown: Sequence[TypeViews], own: LabelledType) -> list[np.ndarray]:
    """Linear models of all dense views: logits of all items, by fold.

    They read as many leading coordinates of each view as tell the labels of the other folds best: where few
    coordinates say it all, the rest is noise that few labels cannot tell from it. Of several classes an item,
    how far weights are held back is found so, too.
    """
    labelled = int(np.count_nonzero(own.folds >= 0))
    room = LINEAR_WORK // max(labelled * own.n_classes * len(shown[0].dense), 1)
    widest = max((view.shape[1] for view in shown[0].dense.values()), default=0)
    most = int(np.clip(min(room, widest), min(WIDTHS), None))
    widths = (*(w for w in WIDTHS if w < most), most)
    few = own.labels.ndim == 2 and np.count_nonzero(own.labels != UNKNOWN) <= FEW_CELLS
    tried = [
        _linear(shown, own, width, penalty)
        for penalty in (SEVERAL_PENALTIES if few else (PENALTY,))
        for width in widths
    ]
    return min(tried, key=lambda told: cost_out_of_fold(told, own))


def cost_out_of_fold(told: Sequence[np.ndarray], own: LabelledType) -> float:
    """Cross entropy of the labels, each by the logits of its fold; of several classes once calibrated.

    How sure to be of each of several classes is found later, so that being too sure here costs nothing.
    """
    known = np.flatnonzero(own.folds >= 0)
    truth, logits = own.labels[known], np.array([told[own.folds[row]][row] for row in known])
    if own.labels.ndim == 2:
        scale, shift = calibrated(logits, truth)
        sign = np.where(truth == 1, 1.0, -1.0)
        return float(-log_expit(sign * (scale * logits + shift))[truth != UNKNOWN].sum())
    return float(-log_softmax(logits, axis=1)[np.arange(len(known)), truth].sum())


def _linear(shown: Sequence[TypeViews], own: LabelledType, width: int, penalty: float) -> list[np.ndarray]:
    found = []
    for fold, views in enumerate(shown):
        features = np.hstack([_of_one_size(name, view[:, :width]) for name, view in views.dense.items()])
        found.append(_by_labels(features, own.without(fold), own, penalty, steps=200, tol=1e-3))
    return found


def linear_by_view(shown: Sequence[TypeViews], own: LabelledType) -> list[np.ndarray]:
    """A linear model of every dense view by itself, and the mean of their logits: of all items, by fold.

    None can lean on another: where labels are few this holds better than one model of all.
    """
    found = []
    for fold, views in enumerate(shown):
        told = [
            _by_labels(_of_one_size("", view), own.without(fold), own, ALONE) for view in views.dense.values()
        ]
        found.append(np.mean(told, axis=0))
    return found


def linear_words(shown: Sequence[TypeViews], own: LabelledType) -> list[np.ndarray]:
    """A linear model of the words as they are: logits of all items, by fold."""
    return [
        _by_labels(views.sparse["words"], own.without(fold), own, ALONE) for fold, views in enumerate(shown)
    ]


def _by_labels(
    features: Any, labels: np.ndarray, own: LabelledType, penalty: float, steps: int = 100, tol: float = 1e-2
) -> np.ndarray:
    """Logits of all items by a linear model of those that have labels."""
    from sklearn.linear_model import LogisticRegression

    model = partial(LogisticRegression, C=penalty, max_iter=steps, tol=tol)
    if labels.ndim == 2:
        return one_by_one(model, features, labels)
    rows = np.flatnonzero(labels >= 0)
    if len(np.unique(labels[rows])) < 2:  # all that is seen is of one class
        return _of_one_class(labels[rows][0], features.shape[0], own.n_classes)
    return _logits(model().fit(features[rows], labels[rows]), features, own.n_classes)


def _of_one_size(name: str, view: np.ndarray) -> np.ndarray:
    """A view whose rows have length one on average; what labels say counts more than any other."""
    length = float(np.sqrt(np.mean(np.square(view).sum(axis=1)))) or 1.0
    return view / length * (2.0 if name.startswith(("spread", "labels")) else 1.0)


def _of_one_class(label: int, count: int, n_classes: int) -> np.ndarray:
    return np.tile(np.log(np.where(np.arange(n_classes) == label, 1.0, 1e-4)), (count, 1))


def _logits(model: Any, features: np.ndarray, n_classes: int) -> np.ndarray:
    """Logarithms of the probabilities of all classes, those that the model has not seen among them."""
    shares = np.full((features.shape[0], n_classes), 1e-4)
    shares[:, model.classes_] += model.predict_proba(features)
    return np.log(shares)


def discriminators(shown: Sequence[TypeViews], own: LabelledType, settings: Settings) -> list[np.ndarray]:
    """Discriminators alone, one a fold: logits of all items."""
    found = []
    for fold, views in enumerate(shown):
        rows = np.flatnonzero((own.folds >= 0) & (own.folds != fold))
        everyone = _discriminator(views, None, own.n_classes, settings)
        torch.manual_seed(settings.seed + fold)
        learner = _discriminator(views, rows, own.n_classes, settings)
        for view, same in zip(learner.views.values(), everyone.views.values(), strict=True):
            assert isinstance(view, View)
            assert isinstance(same, View)
            view.scale = same.scale
        _train(learner, torch.as_tensor(own.labels[rows]), settings, Noise(settings.seed).of(f"fold {fold}"))
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


def label_decay(settings: Settings, n_classes: int) -> float:
    """Pull towards zero of the weights that tell classes.

    The more classes there are the fewer labels pull at the weights of each, in both layers: a decay that is
    right for ten leaves who tells a hundred too unsure to learn them.

    Examples
    --------
    >>> from coembed.settings import preset_settings
    >>> [round(label_decay(preset_settings("best"), classes), 6) for classes in (2, 10, 20, 100)]
    [0.1, 0.1, 0.025, 0.001]
    """
    falling = min(1.0, (FEW_CLASSES / max(n_classes, 1)) ** 2)
    return max(settings.label_decay * falling, settings.weight_decay)


def _train(learner: ViewsInference, classes: Tensor, settings: Settings, noise: Noise) -> None:
    assert learner.label is not None
    weights = [weight for name, weight in learner.named_parameters() if "label" in name]
    decay = label_decay(settings, learner.label.out_features if classes.dim() == 1 else 1)
    optimizer = torch.optim.Adam(weights, lr=settings.learning_rate, weight_decay=decay, fused=True)
    epochs = min(settings.epochs, MOST_EPOCHS)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for step in range(epochs):
        logits = learner.label_logits(noise.at(step))
        # the joint model weighs it by alpha, which is to Adam what a smaller decay is
        cost = F.cross_entropy if classes.dim() == 1 else several_entropy
        loss = settings.alpha * cost(logits, classes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
