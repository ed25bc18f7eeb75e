"""How sure the discriminator may be: one temperature for its logits, found on labels it has not learnt from.

Dropout and decay leave a discriminator too modest, few labels too bold. Keeping labels aside to tell would
cost accuracy, so each label is kept aside once: the discriminator alone, which reads only the labelled rows
and therefore trains in a moment, is fitted to the other folds and asked for this one. Where there are very
many labels a few of them can be spared: then the model itself is asked for those.
"""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F
from scipy.optimize import minimize_scalar
from sklearn.model_selection import KFold
from torch import Tensor

from coembed.kernels import Noise
from coembed.model.views import ViewsInference
from coembed.settings import Settings
from coembed.views import NodeViews

MANY = 20_000
"""Labelled nodes from which on `ASIDE` of them are kept aside."""
ASIDE = 2000
FOLDS = 5
FEWEST = 20
"""Labelled nodes below which there is nothing to learn a temperature from."""


def find_temperature(views: NodeViews, labels: np.ndarray, n_classes: int, settings: Settings) -> float:
    """What to divide label logits by; 1 if there are too few labels to tell."""
    labelled = np.flatnonzero(labels >= 0)
    if len(labelled) < FEWEST or n_classes < 2:
        return 1.0
    classes = torch.as_tensor(labels[labelled])
    return best_temperature(held_out_logits(views, labelled, classes, n_classes, settings), classes)


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


def best_temperature(logits: Tensor, classes: Tensor) -> float:
    """What to divide these logits by for the classes to be likeliest."""
    logits = logits.double()
    found = minimize_scalar(
        lambda log_t: float(F.cross_entropy(logits / math.exp(log_t), classes)),
        bounds=(math.log(0.05), math.log(20)),
        method="bounded",
    )
    return float(math.exp(found.x))


def held_out_logits(
    views: NodeViews, rows: np.ndarray, classes: Tensor, n_classes: int, settings: Settings
) -> Tensor:
    """Logits of every labelled node by a discriminator that was fitted to the other folds."""
    dtype = getattr(torch, settings.precision)
    logits = torch.zeros(len(rows), n_classes, dtype=dtype)
    seen = {name: view[rows] for name, view in views.all.items()}
    folds = KFold(FOLDS, shuffle=True, random_state=settings.seed)
    for fold, (train, held) in enumerate(folds.split(rows)):
        torch.manual_seed(settings.seed + fold)
        discriminator = ViewsInference(
            seen,
            views.evidence[rows],
            settings.hidden,
            1,
            n_classes,
            dropout=settings.dropout,
            input_dropout=settings.input_dropout,
            dtype=dtype,
        ).to(dtype)
        _train(
            discriminator, torch.as_tensor(train), classes, settings, Noise(settings.seed).of(f"fold {fold}")
        )
        with torch.no_grad():
            found = discriminator().label_logits
        assert found is not None
        logits[held] = found[held]
    return logits


def _train(
    discriminator: ViewsInference, rows: Tensor, classes: Tensor, settings: Settings, noise: Noise
) -> None:
    weights = [weight for name, weight in discriminator.named_parameters() if "label" in name]
    optimizer = torch.optim.Adam(
        weights, lr=settings.learning_rate, weight_decay=max(settings.label_decay, settings.weight_decay)
    )
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, settings.epochs)
    for step in range(settings.epochs):
        logits = discriminator(noise.at(step)).label_logits
        assert logits is not None
        # the joint model weighs it by alpha, which is to Adam what a smaller decay is
        loss = settings.alpha * F.cross_entropy(logits[rows], classes[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
