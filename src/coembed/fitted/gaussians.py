"""Gaussian codes of items, and what an observed label does to them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coembed.network.items import UNKNOWN

LOG_STD_RANGE = (-10.0, 3.0)
"""Where the logarithm of a standard deviation is kept, here and in training."""


class Gaussians(NamedTuple):
    """Diagonal Gaussians, one row an item."""

    mean: np.ndarray
    std: np.ndarray

    def take(self, rows: np.ndarray) -> Gaussians:
        return Gaussians(self.mean[rows], self.std[rows])


def from_log_std(outputs: np.ndarray) -> Gaussians:
    """The Gaussians of an inference network's outputs [mean | log std].

    Examples
    --------
    >>> from_log_std(np.array([[2.0, 0.0], [1.0, 99.0]])).std.round(2)
    array([[ 1.  ],
           [20.09]])
    """
    mean, log_std = np.hsplit(outputs, 2)
    return Gaussians(mean, np.exp(np.clip(log_std, *LOG_STD_RANGE)))


def with_observed(probabilities: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Class probabilities with what is observed in place of what was predicted.

    Examples
    --------
    >>> with_observed(np.full((2, 2), 0.5), np.array([1, UNKNOWN])).tolist()
    [[0.0, 1.0], [0.5, 0.5]]
    >>> with_observed(np.full((1, 3), 0.5), np.array([[1, 0, UNKNOWN]])).tolist()
    [[1.0, 0.0, 0.5]]
    """
    if labels.ndim == 2:  # several classes an item, each known or not
        return np.where(labels == UNKNOWN, probabilities, labels).astype(probabilities.dtype)
    known = np.flatnonzero(labels != UNKNOWN)
    found = probabilities.copy()
    found[known] = 0
    found[known, labels[known]] = 1
    return found


def with_labels(
    z: Gaussians,
    probabilities: np.ndarray,
    label_shift: np.ndarray,
    labels: np.ndarray,
    block: int | None = None,
    table: np.ndarray | None = None,
) -> Gaussians:
    """Codes with y in its block of z (by default behind it): what is observed replaces what was predicted.

    With a table T, classes by coordinates, the block has y T; its variance is that of a row of T drawn by y,
    or, of several classes an item, that of a sum of rows.

    Examples
    --------
    An item predicted as a fair coin and observed as class 0, one predicted and not observed:

    >>> z = Gaussians(np.zeros((2, 1)), np.ones((2, 1)))
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
    block = dim if block is None else block
    several = labels.ndim == 2
    observed = np.flatnonzero((labels != UNKNOWN).any(axis=1) if several else labels != UNKNOWN)
    label = with_observed(probabilities, labels)
    shift = (label[observed] - probabilities[observed]) @ label_shift
    mean, std = z.mean.copy(), z.std.copy()
    mean[observed] += shift[:, :dim]
    std[observed] = np.clip(std[observed] * np.exp(shift[:, dim:]), *np.exp(LOG_STD_RANGE))
    label_std = np.sqrt(label * (1 - label))
    if table is not None:
        squares = (label * (1 - label) if several else label) @ table**2
        label = label @ table
        label_std = np.sqrt(np.maximum(squares - (0 if several else label**2), 0))
    return Gaussians(
        np.hstack([mean[:, :block], label, mean[:, block:]]),
        np.hstack([std[:, :block], label_std, std[:, block:]]),
    )
