"""Which classes cannot be ruled out: found on labels that were kept from whoever is asked.

Each of the ensemble's folds has a model that has not seen its labels; how strange it found them is what the
classes of any item are compared with. A class stays where most of these models do not rule it out. Where
labels abound, those that were spared take the place of the folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coembed.fitted.conformal import ClassDoubt, ClassScale, kept, p_values, surprise

CHUNK = 100_000
GIVEN_UP = 0.03
"""By how much a class may be covered less than all together: what is beyond is made good."""
LENT = 8
"""Labels that a class needs to be judged by its own as much as by all."""


@dataclass(frozen=True, eq=False)
class _Known:
    """How strange labels were to who had not seen them: of all, and of each class, in ascending order."""

    scale: ClassScale
    strange: np.ndarray
    by_class: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, probabilities: np.ndarray, truth: np.ndarray) -> _Known:
        """A row a labelled item: what was said of it, and its class."""
        rows, n_classes = np.arange(len(truth)), probabilities.shape[1]
        scale = ClassScale.of(surprise(probabilities[rows, truth]), truth, n_classes)
        found = scale.of_classes(probabilities)[rows, truth]
        return cls(scale, np.sort(found), tuple(np.sort(found[truth == k]) for k in range(n_classes)))

    def p_values(self, probabilities: np.ndarray) -> np.ndarray:
        """Of every class of every item: by all labels, or if that is much more by those of the class."""
        strange = self.scale.of_classes(probabilities)
        values = p_values(strange, self.strange)
        for k, own in enumerate(self.by_class):
            stranger = len(own) - np.searchsorted(own, strange[:, k])
            by_own = (stranger + LENT * values[:, k]) / (len(own) + LENT)
            values[:, k] = np.maximum(values[:, k], by_own - GIVEN_UP)
        return values

    def doubt(self, values: np.ndarray) -> ClassDoubt:
        return ClassDoubt(values, kept(self.strange), self.scale, len(self.strange))


def cross_conformal(by_fold: Sequence[np.ndarray], labels: np.ndarray, folds: np.ndarray) -> ClassDoubt:
    """The median p-value of the models of all folds; of a labelled item that of the one that has not seen it.

    Parameters
    ----------
    by_fold
        Class probabilities of all items by the model that has not seen the labels of each fold.
    folds
        Of the labelled items; -1 of the others.
    """
    labelled = np.flatnonzero(folds >= 0)
    told = np.empty((len(labelled), by_fold[0].shape[1]))
    for fold, probabilities in enumerate(by_fold):
        own = folds[labelled] == fold
        told[own] = probabilities[labelled[own]]
    known = _Known.of(told, labels[labelled])
    found = np.empty(by_fold[0].shape, dtype=np.float16)
    for start in range(0, len(found), CHUNK):
        rows = slice(start, start + CHUNK)
        values = np.stack([known.p_values(each[rows]) for each in by_fold])
        found[rows] = np.median(values, axis=0)
        at = np.flatnonzero(folds[rows] >= 0)
        found[start + at] = values[folds[rows][at], at]
    return known.doubt(found)


def split_conformal(probabilities: np.ndarray, labels: np.ndarray, spared: np.ndarray) -> ClassDoubt:
    """P-values by the labels of items that were spared, which the model has not learnt from."""
    known = _Known.of(probabilities[spared], labels[spared])
    found = np.empty(probabilities.shape, dtype=np.float16)
    for start in range(0, len(found), CHUNK):
        rows = slice(start, start + CHUNK)
        found[rows] = known.p_values(probabilities[rows])
    return known.doubt(found)
