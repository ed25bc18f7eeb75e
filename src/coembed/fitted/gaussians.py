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


def with_labels(
    z: Gaussians,
    probabilities: np.ndarray,
    label_shift: np.ndarray,
    labels: np.ndarray,
    block: int | None = None,
    table: np.ndarray | None = None,
) -> Gaussians:
    """Codes with y in its block of z (by default behind it): what is observed replaces what was predicted.

    With a table T, classes by coordinates, the block has y T; its variance is that of a row of T drawn by y.

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
    observed = np.flatnonzero(labels != UNKNOWN)
    label = probabilities.copy()
    label[observed] = 0
    label[observed, labels[observed]] = 1
    shift = (label[observed] - probabilities[observed]) @ label_shift
    mean, std = z.mean.copy(), z.std.copy()
    mean[observed] += shift[:, :dim]
    std[observed] = np.clip(std[observed] * np.exp(shift[:, dim:]), *np.exp(LOG_STD_RANGE))
    label_std = np.sqrt(label * (1 - label))
    if table is not None:
        squares = label @ table**2
        label = label @ table
        label_std = np.sqrt(np.maximum(squares - label**2, 0))
    return Gaussians(
        np.hstack([mean[:, :block], label, mean[:, block:]]),
        np.hstack([std[:, :block], label_std, std[:, block:]]),
    )
