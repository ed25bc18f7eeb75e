"""Scores of pairs of Gaussians: the inner product of their means, or what it is worth in expectation.

Two independent Gaussians c and c' have the inner product s with

    E[s] = <m, m'>,    Var[s] = sum(m^2 v' + v m'^2 + v v')

so the uncertainty of both ends leaves the expected logit alone and draws the expected probability
towards 1/2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from coembed.fitted.gaussians import Gaussians

CHUNK = 65_536
"""Pairs gathered at a time: bounds the memory whatever the number of pairs."""
MOST_VARIANCE = 1.0
"""A cosine lies in [-1, 1]: no spread is wider than that of a fair coin between the ends."""


class Moments(NamedTuple):
    """Mean and variance of the inner products."""

    mean: np.ndarray
    variance: np.ndarray

    def moved(self, by: np.ndarray) -> Moments:
        """With something added to the inner products that is known exactly."""
        return Moments(self.mean + by, self.variance)


def aligned_moments(left: Gaussians, right: Gaussians) -> Moments:
    """Inner products row by row: one for every row of `left` with the same row of `right`.

    Examples
    --------
    >>> ones = Gaussians(np.ones((1, 3)), np.ones((1, 3)))
    >>> aligned_moments(ones, ones)
    Moments(mean=array([3.]), variance=array([9.]))
    """
    left_variance, right_variance = left.std**2, right.std**2
    variance = (left.mean**2 + left_variance) * right_variance + left_variance * right.mean**2
    return Moments(np.einsum("nc,nc->n", left.mean, right.mean), variance.sum(axis=1))


def crossed_moments(left: Gaussians, right: Gaussians) -> Moments:
    """Inner products of every row of `left` with every row of `right`."""
    left_variance, right_variance = left.std**2, right.std**2
    variance = (left.mean**2 + left_variance) @ right_variance.T + left_variance @ (right.mean**2).T
    return Moments(left.mean @ right.mean.T, variance)


def logits(moments: Moments, expected: bool) -> np.ndarray:
    """The inner product; in expectation, drawn towards 0 by its variance, whose sigmoid is E[sigmoid(s)]."""
    return moments.mean / np.sqrt(1 + np.pi / 8 * moments.variance) if expected else moments.mean


def cosines(left: Gaussians, right: Gaussians) -> np.ndarray:
    """Cosine of the means of every row of `left` with every row of `right`."""
    return unit_length(left.mean) @ unit_length(right.mean).T


def crossed_cosines(left: Gaussians, right: Gaussians) -> Moments:
    """Cosines of every row of `left` with every row of `right`, and their variance to first order in the
    uncertainty of both ends.

    The gradient of cos(a, b) with respect to a is (b/|b| - cos a/|a|) / |a|: with relative variances
    r = std^2 / |a|^2 its square, summed with these, is <r, u_b^2> - 2 cos <r, u_a u_b> + cos^2 <r, u_a^2>.
    """
    a, b = unit_length(left.mean), unit_length(right.mean)
    cosine = a @ b.T
    by_left, by_right = (left.std / lengths(left.mean)) ** 2, (right.std / lengths(right.mean)) ** 2
    variance = by_left @ (b * b).T - 2 * cosine * ((by_left * a) @ b.T)
    variance += (a * a) @ by_right.T - 2 * cosine * (a @ (by_right * b).T)
    variance += cosine**2 * ((by_left * a * a).sum(axis=1)[:, None] + (by_right * b * b).sum(axis=1))
    return Moments(cosine, np.clip(variance, 0, MOST_VARIANCE))


def aligned_cosines(left: Gaussians, right: Gaussians) -> Moments:
    """Cosines row by row, with their variance to first order in the uncertainty of both ends.

    The gradient of cos(a, b) with respect to a is (b/|b| - cos a/|a|) / |a|.
    """
    left_unit, right_unit = unit_length(left.mean), unit_length(right.mean)
    cosine = np.einsum("nc,nc->n", left_unit, right_unit)
    by_left = (right_unit - cosine[:, None] * left_unit) / lengths(left.mean)
    by_right = (left_unit - cosine[:, None] * right_unit) / lengths(right.mean)
    variance = (by_left**2 * left.std**2 + by_right**2 * right.std**2).sum(axis=1)
    return Moments(cosine, np.minimum(variance, MOST_VARIANCE))


def cosine_std(left: Gaussians, right: Gaussians) -> np.ndarray:
    """Standard deviation of the cosine row by row."""
    return np.sqrt(aligned_cosines(left, right).variance)


def unit_length(rows: np.ndarray) -> np.ndarray:
    """Rows of length one; zero rows stay zero.

    Examples
    --------
    >>> unit_length(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    return rows / lengths(rows)


def lengths(rows: np.ndarray) -> np.ndarray:
    """Length of every row as a column; 1 for zero rows, so that it can be divided by."""
    found: np.ndarray = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.where(found > 0, found, 1)


def in_chunks(pairs: np.ndarray, moments: Callable[[np.ndarray, np.ndarray], Moments]) -> Moments:
    """Moments of the two columns of pairs, some thousand at a time."""
    mean, variance = np.empty((2, len(pairs)), dtype=np.float32)
    for first in range(0, len(pairs), CHUNK):
        left, right = pairs[first : first + CHUNK].T
        mean[first : first + CHUNK], variance[first : first + CHUNK] = moments(left, right)
    return Moments(mean, variance)
