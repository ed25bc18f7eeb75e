"""The figures that a prediction is judged by: plain arrays in, numbers out."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

ECE_BINS = 15


def accuracy(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Share of right answers.

    Examples
    --------
    >>> accuracy(np.array([0, 1, 1, 2]), np.array([0, 1, 2, 2]))
    0.75
    """
    return float(np.mean(truth == predicted))


def f1(truth: np.ndarray, predicted: np.ndarray) -> tuple[float, float]:
    """Macro and micro F1 over the classes that occur in either array.

    The macro figure is the plain mean over classes; a class that is never right has 0. With one label a node
    the micro figure equals the accuracy.

    Examples
    --------
    >>> macro, micro = f1(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]))
    >>> round(macro, 4), micro
    (0.7333, 0.75)
    """
    classes, codes = np.unique(np.concatenate([truth, predicted]), return_inverse=True)
    truth, predicted = codes[: len(truth)], codes[len(truth) :]
    right = np.bincount(truth[truth == predicted], minlength=len(classes))
    # 2 TP + FP + FN: how often the class is meant plus how often it is said; never 0 for a class that occurs
    mentions = np.bincount(truth, minlength=len(classes)) + np.bincount(predicted, minlength=len(classes))
    return float(np.mean(2 * right / mentions)), float(2 * right.sum() / mentions.sum())


def expected_calibration_error(truth: np.ndarray, probabilities: np.ndarray, bins: int = ECE_BINS) -> float:
    """Mean gap between the confidence in the likeliest class and its being right, over bins of confidence.

    Examples
    --------
    Four answers at 0.75, three of them right: nothing to complain about.

    >>> probabilities = np.tile([0.75, 0.25], (4, 1))
    >>> expected_calibration_error(np.array([0, 0, 0, 1]), probabilities)
    0.0
    """
    confidence = probabilities.max(axis=1).astype(np.float64)
    right = probabilities.argmax(axis=1) == truth
    # bins are open below and closed above, so that a confidence of 1 is in the last one
    where = np.clip(np.ceil(confidence * bins).astype(np.int64) - 1, 0, bins - 1)
    gap = np.bincount(where, weights=right - confidence, minlength=bins)
    return float(np.abs(gap).sum() / len(truth))


def auc(positive: np.ndarray, negative: np.ndarray) -> float:
    """Chance that a positive scores above a negative, a tie counting one half.

    Examples
    --------
    >>> auc(np.array([3.0, 1.0]), np.array([2.0, 1.0]))
    0.625
    """
    ranks = rankdata(np.concatenate([positive, negative]))
    n, m = len(positive), len(negative)
    return float((ranks[:n].sum() - n * (n + 1) / 2) / (n * m))


def average_precision(positive: np.ndarray, negative: np.ndarray) -> float:
    """Precision averaged over the positives, read at distinct scores: a tie is never broken in our favour.

    Examples
    --------
    >>> round(average_precision(np.array([3.0, 1.0]), np.array([2.0])), 4)
    0.8333
    """
    scores = np.concatenate([positive, negative])
    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum(order < len(positive))
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    precision = hits[ends] / (ends + 1)
    gained = np.diff(hits[ends], prepend=0) / len(positive)
    return float(np.sum(precision * gained))


def classification_metrics(truth: np.ndarray, probabilities: np.ndarray) -> dict[str, float]:
    """Accuracy, both F1 and calibration error of class probabilities, one row a node."""
    predicted = probabilities.argmax(axis=1)
    macro, micro = f1(truth, predicted)
    return {
        "accuracy": accuracy(truth, predicted),
        "macro_f1": macro,
        "micro_f1": micro,
        "ece": expected_calibration_error(truth, probabilities),
    }
