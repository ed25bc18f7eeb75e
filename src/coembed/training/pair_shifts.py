"""How far to shift scores of pairs, weighed against as many absent ones, to be probabilities among all."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from coembed.fitted.chances import NEARLY

FARTHEST = 40.0
WIDTH = 0.01
"""Logits this near are one: millions of them are some thousand, and the shift is told to two digits."""


def shift_to(share: float, present: np.ndarray, absent: np.ndarray) -> float:
    """What to add to the logits of probabilities, so that a share of all pairs is expected to be there.

    Examples
    --------
    Where all are scored alike, that of the share itself:

    >>> even = np.full(4, 0.5)
    >>> round(float(expit(shift_to(0.1, even, even))), 2)
    0.1
    """
    shares = ((present, share), (absent, 1 - share))
    logits, weights = (
        np.concatenate(each) for each in zip(*(_binned(*part) for part in shares), strict=True)
    )

    def surplus(shift: float) -> float:
        return float(weights @ expit(logits + shift)) - share

    return round(brentq(surplus, -FARTHEST, FARTHEST), 2)


def _binned(probabilities: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Logits, and the share that each stands for: those that hardly differ are one, at their mean."""
    found = logit(np.clip(probabilities, NEARLY, 1 - NEARLY).astype(np.float64))
    places = np.round((found - logit(NEARLY)) / WIDTH).astype(np.int64)
    counts, sums = np.bincount(places), np.bincount(places, found)
    taken = counts > 0
    return sums[taken] / counts[taken], counts[taken] * (share / len(found))
