"""The label ensemble where an item may have several classes: yes or no for each, as the members say it.

As for one class an item, each label was kept from one member of each kind. On those labels it is found how
much to believe each member, how sure to be of each class, and how far to lean towards the links. From which
probability on to say yes follows from the probabilities themselves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch.nn.functional as F
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit
from torch import Tensor

from coembed.metrics import mean_average_precision
from coembed.network import UNKNOWN
from coembed.training.label_views import FOLDS, LabelledType

LEAST = 1e-4
"""No member is surer than this."""
RIDGE = 2.0
"""Weight, in labels, of believing that a class is calibrated as it is."""
MOST_TREES_IN_ALL = 200
FEW_CELLS = 20_000
"""Known classes of items up to which each view has a linear model of its own, too: of more, one model of all
views learns as much, and one a view, class and fold takes long."""


def several_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """-log q of the known classes of each item, summed over classes, a mean over items."""
    known = (labels >= 0).to(logits.dtype)
    each = F.binary_cross_entropy_with_logits(logits, labels.clamp_min(0).to(logits.dtype), reduction="none")
    return (known * each).sum() / len(labels)


def one_by_one(make: Any, features: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Logits of all items from a model for each class; one that is always or never there is that sure."""
    found = np.empty((features.shape[0], labels.shape[1]), dtype=np.float32)
    for k in range(labels.shape[1]):
        rows = np.flatnonzero(labels[:, k] != UNKNOWN)
        truth = labels[rows, k]
        if len(rows) == 0 or truth.min() == truth.max():
            share = (truth.sum() + 0.5) / (len(rows) + 1)
            found[:, k] = logit(np.clip(share, LEAST, 1 - LEAST))
            continue
        told = make().fit(features[rows], truth).predict_proba(features)[:, 1]
        found[:, k] = logit(np.clip(told, LEAST, 1 - LEAST))
    return found


class Combination:
    """Members weighed and calibrated by what they said of labels that they had not seen.

    Attributes
    ----------
    opinion
        Probabilities of all items, leaning towards the links by `strength`.
    thresholds
        From which probability on to say yes, by class.
    precision
        Out of fold: the mean average precision of each kind of member, and ``together``.
    """

    def __init__(
        self, members: Mapping[str, list[np.ndarray]], own: LabelledType, strengths: Sequence[float]
    ) -> None:
        self.own = own
        self.known = np.flatnonzero(own.folds >= 0)
        self.truth, self.fold = own.labels[self.known], own.folds[self.known]
        told = {name: self._out_of_fold(logits) for name, logits in members.items()}
        self.precision = {name: mean_average_precision(self.truth, each) for name, each in told.items()}
        weights = stacked(list(told.values()), self.truth)
        together = sum(w * each for w, each in zip(weights, told.values(), strict=True))
        first = max(self.precision, key=self.precision.__getitem__)
        if self.precision[first] > mean_average_precision(self.truth, together):
            weights = np.array([float(name == first) for name in told])  # others would only blur it
        self.weights = dict(zip(members, (float(w) for w in weights), strict=True))
        mixed = [
            sum(w * logits[f] for w, logits in zip(weights, members.values(), strict=True))
            for f in range(FOLDS)
        ]
        scale, shift = calibrated(self._out_of_fold(mixed), self.truth)
        by_fold = [expit(scale * each + shift) for each in mixed]
        self.strength = self._strength(by_fold, strengths)
        leaning = self._leaning(by_fold, self.strength)
        self.precision["together"] = mean_average_precision(self.truth, leaning)
        opinion = own.smoothed(np.mean(by_fold, axis=0), self.strength)
        self.opinion = opinion.astype(np.float32)
        opinion[self.known] = leaning  # those who have seen a label are surer of it than of others
        self.thresholds = expected_f1_thresholds(opinion)

    def _out_of_fold(self, by_fold: Sequence[np.ndarray]) -> np.ndarray:
        found = np.empty(self.truth.shape)
        for f in range(FOLDS):
            found[self.fold == f] = by_fold[f][self.known[self.fold == f]]
        return found

    def _leaning(self, by_fold: Sequence[np.ndarray], strength: float) -> np.ndarray:
        return self._out_of_fold([self.own.smoothed(each, strength, f) for f, each in enumerate(by_fold)])

    def _strength(self, by_fold: Sequence[np.ndarray], strengths: Sequence[float]) -> float:
        """How far to lean towards the links: as far as it is clearly better on labels that were not seen."""
        if self.own.walk is None:
            return 0.0
        costs = {}
        for strength in strengths:
            told = np.clip(self._leaning(by_fold, strength), 1e-3, 1 - 1e-3)
            right = np.where(self.truth == 1, told, 1 - told)
            costs[strength] = -np.where(self.truth == UNKNOWN, 0.0, np.log(right)).sum(axis=1)
        best = min(strengths, key=lambda each: costs[each].mean())
        gain = costs[0.0] - costs[best]
        return best if gain.mean() > gain.std() / math.sqrt(len(gain)) else 0.0


def stacked(told: Sequence[np.ndarray], truth: np.ndarray) -> np.ndarray:
    """Weights, none below zero, of the members' logits, whose sum comes nearest to the truth."""
    sign = np.where(truth == 1, 1.0, -1.0)
    known = truth != UNKNOWN

    def cost(log_weights: np.ndarray) -> float:
        mixed = sum(w * logits for w, logits in zip(np.exp(log_weights), told, strict=True))
        return float(-log_expit(sign * mixed)[known].mean() + 1e-3 * (log_weights**2).sum())

    start = np.full(len(told), -math.log(len(told)))
    found = minimize(
        cost, start, method="Nelder-Mead" if len(told) > 1 else "Powell", options={"maxiter": 400}
    )
    return np.exp(np.clip(found.x, -5, 3))


def calibrated(
    logits: np.ndarray, wanted: np.ndarray, ridge: float = RIDGE, steps: int = 25
) -> tuple[np.ndarray, np.ndarray]:
    """Scale and shift of each class's logits that bring it nearest to what is wanted (Platt's, by Newton).

    `wanted` are probabilities, or 1 and 0; a negative one says nothing. `ridge` holds scale and shift at one
    and zero where there is little to go by.

    Examples
    --------
    >>> logits = np.linspace(-4, 4, 4000)[:, None]
    >>> scale, shift = calibrated(logits, expit(0.5 * logits - 1))
    >>> scale.round(2), shift.round(2)
    (array([0.5]), array([-1.]))
    """
    known = wanted >= 0
    scale, shift = np.ones(logits.shape[1]), np.zeros(logits.shape[1])
    for _ in range(steps):
        told = expit(scale * logits + shift)
        error = np.where(known, told - wanted, 0.0)
        weight = np.where(known, np.maximum(told * (1 - told), 1e-6), 0.0)
        slope = (error * logits).sum(axis=0) + ridge * (scale - 1), error.sum(axis=0) + ridge * shift
        a = (weight * logits**2).sum(axis=0) + ridge
        b = (weight * logits).sum(axis=0)
        c = weight.sum(axis=0) + ridge
        size = a * c - b**2
        scale = np.clip(scale - np.clip((c * slope[0] - b * slope[1]) / size, -1, 1), 0.05, 20)
        shift = shift - np.clip((a * slope[1] - b * slope[0]) / size, -2, 2)
    return scale, shift


def expected_f1_thresholds(told: np.ndarray) -> np.ndarray:
    """From which probability on to say that an item has a class, so that F1 is large by class and in all.

    Where probabilities can be believed, what F1 to expect needs no label, and the threshold of the best F1 is
    half of it (Lipton, Elkan and Narayanaswamy, 2014). Found on labels instead, it fits the few that a class
    has. The mean of F1 over classes asks for a threshold a class, F1 over all cells for one of all classes;
    the geometric mean of the two loses little of either.

    Examples
    --------
    >>> expected_f1_thresholds(np.array([[0.9, 0.2], [0.9, 0.1], [0.1, 0.1]])).astype(float).round(2).tolist()
    [0.44, 0.24]
    """
    of_all = _half_of_best_f1(told.ravel())
    return np.array([math.sqrt(_half_of_best_f1(each) * of_all) for each in told.T], dtype=np.float32)


def _half_of_best_f1(told: np.ndarray) -> float:
    right = np.cumsum(np.sort(told)[::-1])
    f1 = 2 * right / (np.arange(1, len(right) + 1) + right[-1])
    return float(f1.max()) / 2
