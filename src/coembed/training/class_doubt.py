"""Which classes cannot be ruled out: found on labels that were kept from whoever is asked.

Each of the ensemble's folds has a model that has not seen its labels; how strange it found them is what the
classes of any item are compared with. A class stays where most of these models do not rule it out. Where
labels abound, those that were spared take the place of the folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from coembed.fitted.conformal import ClassDoubt, ClassScale, kept, p_values, surprise

CHUNK = 100_000


def cross_conformal(by_fold: Sequence[np.ndarray], labels: np.ndarray, folds: np.ndarray) -> ClassDoubt:
    """The median p-value of the models of all folds; of a labelled item that of the one that has not seen it.

    Parameters
    ----------
    by_fold
        Class probabilities of all items by the model that has not seen the labels of each fold.
    folds
        Of the labelled items; -1 of the others.
    """
    known = np.flatnonzero(folds >= 0)
    truth, fold = labels[known], folds[known]
    told = np.empty(len(known))
    for f, probabilities in enumerate(by_fold):
        told[fold == f] = surprise(probabilities[known[fold == f], truth[fold == f]])
    scale = ClassScale.of(told, truth, by_fold[0].shape[1])
    calibration = np.sort(scale.strangeness(told, truth))
    found = np.empty(by_fold[0].shape, dtype=np.float16)
    for start in range(0, len(found), CHUNK):
        rows = slice(start, start + CHUNK)
        strange = (scale.strangeness(surprise(each[rows])) for each in by_fold)
        values = np.stack([p_values(each, calibration) for each in strange])
        found[rows] = np.median(values, axis=0)
        at = np.flatnonzero(folds[rows] >= 0)
        found[start + at] = values[folds[rows][at], at]
    return ClassDoubt(found, kept(calibration), scale, len(known))


def split_conformal(probabilities: np.ndarray, labels: np.ndarray, spared: np.ndarray) -> ClassDoubt:
    """P-values by the labels of items that were spared, which the model has not learnt from."""
    truth = labels[spared]
    told = surprise(probabilities[spared, truth])
    scale = ClassScale.of(told, truth, probabilities.shape[1])
    known = kept(scale.strangeness(told, truth))
    doubt = ClassDoubt(np.empty((0, probabilities.shape[1]), np.float16), known, scale, len(spared))
    starts = range(0, len(probabilities), CHUNK)
    parts = [doubt.of_new(probabilities[start : start + CHUNK]) for start in starts]
    return replace(doubt, p_values=np.concatenate([doubt.p_values, *parts]))
