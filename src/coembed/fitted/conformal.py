"""Doubt that was measured on what was not learnt from: classes, numbers and pairs compared with their like.

A p-value says what share of known cases, which nobody had learnt from, looked at least as strange. Where
cases are exchangeable, a true one has a p-value of at most a with a probability of at most a: what is left
after all with smaller ones are ruled out holds the truth with probability 1 - a.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from coembed.errors import InputError

MOST_KEPT = 2000
"""Known cases that are kept to compare new ones with: more would tell a promise of .99 no better."""
DRAWN = 20
"""Labels that a class needs to count for as much as all labels together in how strange is usual of it: with
fewer, a label that is far off would make itself look less strange than new items that are as far off."""
LEAST = 1e-4
"""No class is less probable than this, and no usual surprise varies less."""
HARDLY_LESS = 0.9
"""Share of the probability of an item's likeliest class below which another may stay out."""
NOT_STRANGE = -1e6
"""Of classes that every set holds: nothing is less strange."""
ALL = slice(None)


def p_values(strange: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The share of known cases, and the one itself, that are at least as strange.

    Parameters
    ----------
    known
        In ascending order.

    Examples
    --------
    >>> p_values(np.array([0.0, 2.5, 9.0]), np.array([1.0, 2.0, 3.0])).tolist()
    [1.0, 0.5, 0.25]
    """
    return (1 + len(known) - np.searchsorted(known, strange)) / (1 + len(known))


class ClassScale(NamedTuple):
    """How surprising the labels of each class usually are to who has not seen them, and how far that varies.

    Measured against it, a class that is hard to tell is left out of sets no oftener than the others.
    """

    mean: np.ndarray
    spread: np.ndarray

    @classmethod
    def of(cls, surprises: np.ndarray, classes: np.ndarray, n_classes: int) -> ClassScale:
        """Of the true classes of labelled items; classes with few of them are drawn towards all together.

        Examples
        --------
        >>> scale = ClassScale.of(np.array([0.0, 1.0] * 500 + [3.0]), np.array([0] * 1000 + [1]), 3)
        >>> scale.mean.round(2), scale.spread.round(2)
        (array([0.5 , 0.62, 0.5 ], dtype=float32), array([0.5 , 0.72, 0.51], dtype=float32))
        """
        counts = np.bincount(classes, minlength=n_classes)
        sums = np.bincount(classes, surprises, minlength=n_classes)
        mean = (sums + DRAWN * surprises.mean()) / (counts + DRAWN)
        squares = np.bincount(classes, (surprises - mean[classes]) ** 2, minlength=n_classes)
        spread = np.sqrt((squares + DRAWN * surprises.var()) / (counts + DRAWN))
        return cls(mean.astype(np.float32), np.maximum(spread, LEAST).astype(np.float32))

    def strangeness(self, surprises: np.ndarray, classes: np.ndarray | slice = ALL) -> np.ndarray:
        """Surprises in units of what is usual of each class."""
        return (surprises - self.mean[classes]) / self.spread[classes]

    def of_classes(self, probabilities: np.ndarray) -> np.ndarray:
        """How strange every class of every item would be; its likeliest are not strange at all.

        Sets always hold those. They cover as often as asked, and no oftener, if what they are compared with
        counts the same way.

        Examples
        --------
        >>> ClassScale(np.zeros(2), np.ones(2)).of_classes(np.array([[0.5, 0.25], [0.125, 0.5]])).round(2)
        array([[-1.00e+06,  1.39e+00],
               [ 2.08e+00, -1.00e+06]])
        """
        strange = self.strangeness(surprise(probabilities))
        return np.where(likeliest(probabilities), NOT_STRANGE, strange)


def likeliest(probabilities: np.ndarray) -> np.ndarray:
    """The likeliest class of every item, and those that are hardly less probable (items x classes).

    Examples
    --------
    >>> likeliest(np.array([[0.45, 0.42, 0.13], [0.7, 0.2, 0.1]]))
    array([[ True,  True, False],
           [ True, False, False]])
    """
    return probabilities >= HARDLY_LESS * probabilities.max(axis=1, keepdims=True)


def surprise(probabilities: np.ndarray) -> np.ndarray:
    """-log p of each class."""
    return -np.log(np.maximum(probabilities, LEAST))


def kept(scores: np.ndarray) -> np.ndarray:
    """The scores in ascending order; of very many, as many as are needed, evenly."""
    ordered = np.sort(np.asarray(scores, dtype=np.float32))
    if len(ordered) <= MOST_KEPT:
        return ordered
    # the upper end of each part: no p-value becomes smaller than it was by more than its step
    return ordered[np.linspace(0, len(ordered) - 1, MOST_KEPT).round().astype(np.int64)]


def widening(errors: np.ndarray, coverage: float) -> float:
    """How many spreads either way hold the truth as often as `coverage`; infinity if errors are too few.

    Examples
    --------
    >>> errors = np.linspace(0, 1, 99)
    >>> round(widening(errors, 0.9), 2), widening(errors[:5], 0.9)
    (0.91, inf)
    """
    place = math.ceil((len(errors) + 1) * check_share("coverage", coverage) - 1e-9)
    return float(errors[place - 1]) if place <= len(errors) else math.inf


def check_share(name: str, value: float) -> float:
    """A share strictly between nothing and all, or an :class:`InputError`.

    Examples
    --------
    >>> check_share("coverage", 90)
    Traceback (most recent call last):
    coembed.errors.InputError: coverage must be a share between 0 and 1, such as 0.9; got 90
    """
    if not 0 < value < 1:
        raise InputError(f"{name} must be a share between 0 and 1, such as 0.9; got {value:g}")
    return float(value)


@dataclass(frozen=True, eq=False)
class ClassDoubt:
    """What cannot be ruled out of the classes of a type.

    Attributes
    ----------
    p_values
        Of every class of every item (float16): p of "this is its class".
    known
        How strange the true classes of labelled items were, by models that had not seen those labels;
        in ascending order. New items are compared with them.
    scale
        What is usual of each class.
    labels
        How many labels there were.
    """

    p_values: np.ndarray
    known: np.ndarray
    scale: ClassScale
    labels: int

    def of_new(self, probabilities: np.ndarray) -> np.ndarray:
        """P-values of the classes of new items."""
        return p_values(self.scale.of_classes(probabilities), self.known).astype(np.float16)


def class_sets(p_of_classes: np.ndarray, probabilities: np.ndarray, coverage: float) -> np.ndarray:
    """Which classes an item may have (items x classes): what is not ruled out, and what is likeliest.

    Of an item that is stranger than all that was known everything would be ruled out: what is hardly less
    probable than its likeliest class never is. A larger coverage never gives a smaller set.

    Examples
    --------
    >>> class_sets(np.array([[0.6, 0.2, 0.01]]), np.array([[0.7, 0.2, 0.1]]), 0.9)
    array([[ True,  True, False]])
    >>> class_sets(np.array([[0.02, 0.01, 0.01]]), np.array([[0.45, 0.42, 0.13]]), 0.9)
    array([[ True,  True, False]])
    """
    return (p_of_classes > 1 - check_share("coverage", coverage)) | likeliest(probabilities)
