"""Scores of pairs of Gaussians: the inner product of their means, or what it is worth in expectation.

Two independent Gaussians c and c' have the inner product s with

    E[s] = <m, m'>,    Var[s] = sum(m^2 v' + v m'^2 + v v')

so the uncertainty of both ends leaves the expected logit alone and draws the expected probability
towards 1/2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from coembed.fitted.gaussians import Codes

CHUNK = 65_536
"""Pairs gathered at a time: bounds the memory whatever the number of pairs."""

_POINTS, _POINT_WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
_POINT_WEIGHTS = _POINT_WEIGHTS / _POINT_WEIGHTS.sum()


class Moments(NamedTuple):
    """Mean and variance of the inner products."""

    mean: np.ndarray
    variance: np.ndarray

    def moved(self, by: np.ndarray) -> Moments:
        """With something added to the inner products that is known exactly."""
        return Moments(self.mean + by, self.variance)


def aligned_moments(left: Codes, right: Codes) -> Moments:
    """Inner products row by row: one for every row of `left` with the same row of `right`.

    Examples
    --------
    >>> ones = Codes(np.ones((1, 3)), np.ones((1, 3)))
    >>> aligned_moments(ones, ones)
    Moments(mean=array([3.]), variance=array([9.]))
    """
    left_variance, right_variance = left.std**2, right.std**2
    variance = (left.mean**2 + left_variance) * right_variance + left_variance * right.mean**2
    return Moments(np.einsum("nc,nc->n", left.mean, right.mean), variance.sum(axis=1))


def crossed_moments(left: Codes, right: Codes) -> Moments:
    """Inner products of every row of `left` with every row of `right`."""
    left_variance, right_variance = left.std**2, right.std**2
    variance = (left.mean**2 + left_variance) @ right_variance.T + left_variance @ (right.mean**2).T
    return Moments(left.mean @ right.mean.T, variance)


def expected_probability(moments: Moments) -> np.ndarray:
    """E[sigmoid(s)] for a normal s, in the probit-style closed form sigmoid(m / sqrt(1 + pi v / 8)).

    Examples
    --------
    >>> expected_probability(Moments(np.array([2.0, 2.0]), np.array([0.0, 50.0]))).round(2)
    array([0.88, 0.61])
    """
    return expit(logits(moments, expected=True))


def logits(moments: Moments, expected: bool) -> np.ndarray:
    """The inner product; in expectation, drawn towards 0 by its variance, whose sigmoid is E[sigmoid(s)]."""
    return moments.mean / np.sqrt(1 + np.pi / 8 * moments.variance) if expected else moments.mean


def probability_std(moments: Moments) -> np.ndarray:
    """Standard deviation of sigmoid(s) for a normal s, by Gauss-Hermite quadrature; meant for a few pairs."""
    values = expit(moments.mean[..., None] + np.sqrt(moments.variance)[..., None] * _POINTS)
    mean = values @ _POINT_WEIGHTS
    return np.sqrt(np.maximum(values**2 @ _POINT_WEIGHTS - mean**2, 0))


def cosines(left: Codes, right: Codes) -> np.ndarray:
    """Cosine of the means of every row of `left` with every row of `right`."""
    return unit_rows(left.mean) @ unit_rows(right.mean).T


def cosine_std(left: Codes, right: Codes) -> np.ndarray:
    """Standard deviation of the cosine row by row, to first order in the uncertainty of both ends.

    The gradient of cos(a, b) with respect to a is (b/|b| - cos a/|a|) / |a|.
    """
    left_unit, right_unit = unit_rows(left.mean), unit_rows(right.mean)
    cosine = np.einsum("nc,nc->n", left_unit, right_unit)[:, None]
    by_left = (right_unit - cosine * left_unit) / lengths(left.mean)
    by_right = (left_unit - cosine * right_unit) / lengths(right.mean)
    variance = (by_left**2 * left.std**2 + by_right**2 * right.std**2).sum(axis=1)
    # a cosine lies in [-1, 1]: no spread is wider than that of a fair coin between the ends
    return np.minimum(np.sqrt(variance), 1.0)


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """Rows of length one; zero rows stay zero.

    Examples
    --------
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    return rows / lengths(rows)


def lengths(rows: np.ndarray) -> np.ndarray:
    """Length of every row as a column; 1 for zero rows, so that it can be divided by."""
    found: np.ndarray = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.where(found > 0, found, 1)
