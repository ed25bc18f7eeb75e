"""A jury for the classes: discriminators alone, each fitted to all labels but those of one fold.

They read only the labelled rows and therefore train in a moment, and they tell two things that cost no label:

- how sure to be. Each label was kept from one of them, so one temperature for their logits can be found on
  labels that were not learnt from. (Dropout and decay leave a discriminator too modest, few labels too bold.)
- what to think of the unlabelled: their mean opinion. The model learns its classes from the labels and from
  that opinion, and becomes better than the jury, because it sees every node rather than the labelled alone.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from scipy.optimize import minimize_scalar
from sklearn.model_selection import KFold
from torch import Tensor

from coembed.kernels import Noise
from coembed.model.views_inference import View, ViewsInference
from coembed.settings import Settings
from coembed.views import TypeViews

MEMBERS = 5
FEWEST = 20
"""Labelled nodes below which there is nothing to learn a temperature from."""
MANY = 20_000
"""Labelled nodes from which on no jury is needed: `ASIDE` of them can be spared to tell a temperature."""
ASIDE = 2000


class Jury(NamedTuple):
    """What the logits of its members are divided by, and their mean probabilities (nodes, classes)."""

    temperature: float
    opinion: np.ndarray


def call_jury(views: TypeViews, labels: np.ndarray, n_classes: int, settings: Settings) -> Jury | None:
    """The jury of the labelled nodes; none if they are too few, or so many that there is no need of one."""
    labelled = np.flatnonzero(labels >= 0)
    if not FEWEST <= len(labelled) < MANY or n_classes < 2:
        return None
    everyone = _discriminator(views, None, n_classes, settings)
    classes = torch.as_tensor(labels[labelled])
    held_out = torch.zeros(len(labelled), n_classes, dtype=everyone.evidence.dtype)
    logits = []
    folds = KFold(MEMBERS, shuffle=True, random_state=settings.seed)
    for fold, (train, held) in enumerate(folds.split(labelled)):
        torch.manual_seed(settings.seed + fold)
        learner = _discriminator(views, labelled, n_classes, settings)
        for view, same in zip(learner.views.values(), everyone.views.values(), strict=True):
            assert isinstance(view, View)
            assert isinstance(same, View)
            view.scale = same.scale
        noise = Noise(settings.seed).of(f"fold {fold}")
        _train(learner, torch.as_tensor(train), classes, settings, noise)
        everyone.load_state_dict(learner.state_dict())
        with torch.no_grad():
            found = everyone.label_logits()
        held_out[held] = found[labelled[held]]
        logits.append(found)
    temperature = best_temperature(held_out, F.one_hot(classes, n_classes))
    opinion = torch.stack([(found / temperature).softmax(dim=1) for found in logits]).mean(dim=0)
    return Jury(temperature, opinion.numpy())


def labels_to_spare(labels: np.ndarray, seed: int) -> np.ndarray:
    """Nodes whose labels are not learnt from, so that they can tell a temperature; none if labels are few.

    Examples
    --------
    >>> len(labels_to_spare(np.zeros(100), 0)), len(labels_to_spare(np.zeros(30_000), 0))
    (0, 2000)
    """
    labelled = np.flatnonzero(labels >= 0)
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


def _discriminator(
    views: TypeViews, rows: np.ndarray | None, n_classes: int, settings: Settings
) -> ViewsInference:
    """One that reads some of the nodes, or all."""
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
        loss = settings.alpha * F.cross_entropy(logits[rows], classes[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
