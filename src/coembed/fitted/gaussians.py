"""Gaussian codes [z ; y] of items, and what an observed label does to them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coembed.network.network import UNKNOWN

LOG_STD_RANGE = (-10.0, 3.0)
"""Where the logarithm of a standard deviation is kept, here and in training."""


class Codes(NamedTuple):
    """Diagonal Gaussians, one row an item."""

    mean: np.ndarray
    std: np.ndarray

    def take(self, rows: np.ndarray) -> Codes:
        return Codes(self.mean[rows], self.std[rows])


def from_log_std(outputs: np.ndarray) -> Codes:
    """The Gaussians of an inference network's outputs [mean | log std].

    Examples
    --------
    >>> from_log_std(np.array([[2.0, 0.0], [1.0, 99.0]])).std.round(2)
    array([[ 1.  ],
           [20.09]])
    """
    mean, log_std = np.hsplit(outputs, 2)
    return Codes(mean, np.exp(np.clip(log_std, *LOG_STD_RANGE)))


def with_labels(z: Codes, probabilities: np.ndarray, label_shift: np.ndarray, labels: np.ndarray) -> Codes:
    """Codes [z ; y]: what is observed replaces what was predicted, in y and in what y does to z.

    Examples
    --------
    A node predicted as a fair coin and observed as class 0, one predicted and not observed:

    >>> z = Codes(np.zeros((2, 1)), np.ones((2, 1)))
    >>> label_shift = np.array([[4.0, 0.0], [0.0, 0.0]])
    >>> codes = with_labels(z, np.full((2, 2), 0.5), label_shift, np.array([0, UNKNOWN]))
    >>> codes.mean
    array([[2. , 1. , 0. ],
           [0. , 0.5, 0.5]])
    >>> codes.std
    array([[1. , 0. , 0. ],
           [1. , 0.5, 0.5]])
    """
    dim = z.mean.shape[1]
    observed = np.flatnonzero(labels != UNKNOWN)
    label = probabilities.copy()
    label[observed] = 0
    label[observed, labels[observed]] = 1
    label_std = np.sqrt(label * (1 - label))

    shift = (label[observed] - probabilities[observed]) @ label_shift
    mean, std = z.mean.copy(), z.std.copy()
    mean[observed] += shift[:, :dim]
    std[observed] = np.clip(std[observed] * np.exp(shift[:, dim:]), *np.exp(LOG_STD_RANGE))
    return Codes(np.hstack([mean, label]), np.hstack([std, label_std]))
