"""How what members say becomes one opinion: weighed, leaning towards the links, as sure as is right.

All of it is found on labels that were not learnt from; and what the members of a fold say of its labels is
weighed, and made surer or less sure, by the labels of other folds, so that its own can tell what to believe.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax, softmax
from torch import Tensor

from coembed.training.label_views import FOLDS, LabelledType

LEAST = 1e-6
"""No class is less probable than this before it is made surer or less sure of."""
MOST_ASKED = 20_000
"""Unlabelled items that are enough to tell how sure to be."""
CLEARLY = 1.0
"""Standard errors by which leaning must be better than not leaning."""


def best_temperature(logits: Tensor, wanted: Tensor) -> float:
    """What to divide logits by to come nearest, in cross entropy, to probabilities.

    Examples
    --------
    >>> import torch
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


def sharpened(probabilities: np.ndarray, temperature: float) -> np.ndarray:
    """As sure as a temperature says: below one surer.

    Examples
    --------
    >>> sharpened(np.array([[0.8, 0.2]]), 0.5).round(2)
    array([[0.94, 0.06]])
    """
    if temperature == 1:
        return probabilities
    found: np.ndarray = softmax(np.log(np.maximum(probabilities, LEAST)) / temperature, axis=1)
    return found.astype(probabilities.dtype)


def out_of_fold(by_fold: Sequence[np.ndarray], own: LabelledType) -> np.ndarray:
    """What is said of each labelled item by those who have not seen its label."""
    known = np.flatnonzero(own.folds >= 0)
    found = np.empty((len(known), own.n_classes))
    for f, told in enumerate(by_fold):
        rows = own.folds[known] == f
        found[rows] = told[known[rows]]
    return found


class Leaning(NamedTuple):
    """How far opinions lean towards the links, how sure to be of that, and what the folds then say."""

    strength: float
    temperature: float
    by_fold: Sequence[np.ndarray]

    def of(self, probabilities: np.ndarray, own: LabelledType) -> np.ndarray:
        """All folds together, leaning."""
        return sharpened(own.smoothed(probabilities, self.strength), self.temperature)


def how_far_to_lean(by_fold: Sequence[np.ndarray], own: LabelledType, strengths: Sequence[float]) -> Leaning:
    """As far as it is clearly better on labels that were not seen.

    A mean over links is less sure than what it is of, which is no merit: it is made as sure as is right.
    Of a fold that is found on the labels of the others, as is how its members are weighed. What does not lean
    may be made as sure for the comparison, so that leaning alone can be what is better.
    """
    known = np.flatnonzero(own.folds >= 0)
    truth, fold = own.labels[known], own.folds[known]
    wanted = torch.eye(own.n_classes, dtype=torch.float64)[torch.as_tensor(truth)]
    others = [torch.as_tensor(fold != f) for f in range(FOLDS)]

    def as_sure_as_right(strength: float) -> Leaning:
        told = [own.smoothed(each, strength, f) for f, each in enumerate(by_fold)]
        logs = torch.as_tensor(np.log(np.maximum(out_of_fold(told, own), LEAST)))
        sure = [
            sharpened(each, best_temperature(logs[rows], wanted[rows]))
            for each, rows in zip(told, others, strict=True)
        ]
        return Leaning(strength, best_temperature(logs, wanted), sure)

    def cost(leaning: Leaning) -> np.ndarray:
        told = out_of_fold(leaning.by_fold, own)
        return -np.log(np.maximum(told[np.arange(len(truth)), truth], 1e-3))

    straight = Leaning(0.0, 1.0, by_fold)
    if own.walk is None or not any(strengths):
        return straight
    unbent = min(cost(straight), cost(as_sure_as_right(0.0)), key=np.mean)
    best, least = straight, unbent
    for strength in filter(None, strengths):
        leaning = as_sure_as_right(strength)
        if (costs := cost(leaning)).mean() < least.mean():
            best, least = leaning, costs
    gain = unbent - least
    clear = gain.mean() > CLEARLY * gain.std() / math.sqrt(max(len(gain), 1))
    return best if clear else straight


def stacked(told: Sequence[np.ndarray], truth: np.ndarray) -> np.ndarray:
    """Weights, none below zero, of the members' logits, whose sum comes nearest to the truth.

    Examples
    --------
    >>> right, wrong = np.array([[2.0, 0.0]] * 50), np.array([[0.0, 2.0]] * 50)
    >>> stacked([right, wrong], np.array([0] * 45 + [1] * 5)).round(2)
    array([1.87, 0.77])
    """
    logits, rows = np.stack(told), np.arange(len(truth))
    said_of_truth = logits[:, rows, truth].mean(axis=1)

    def cost(log_weights: np.ndarray) -> tuple[float, np.ndarray]:
        weights = np.exp(log_weights)
        mixed = log_softmax(np.einsum("m,mik->ik", weights, logits), axis=1)
        expected = np.einsum("mik,ik->m", logits, np.exp(mixed)) / len(rows)
        # a pinch of decay: with few labels no member is believed without end
        decay, slope = 1e-3 * (log_weights**2).sum(), 2e-3 * log_weights
        return float(decay - mixed[rows, truth].mean()), weights * (expected - said_of_truth) + slope

    start = np.full(len(told), -math.log(len(told)))
    found = minimize(cost, start, jac=True, method="L-BFGS-B", bounds=[(-5.0, 3.0)] * len(told))
    return np.exp(found.x)
