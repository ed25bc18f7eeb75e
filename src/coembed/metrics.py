"""The figures that a prediction is judged by: plain arrays in, numbers out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import entr
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
    bins_of = reliability(truth, probabilities, bins)
    return float(np.sum(bins_of.counts * np.abs(bins_of.right - bins_of.confidence)) / len(truth))


class Reliability(NamedTuple):
    """Answers by how sure they were: how many, their mean confidence, how often right; 0 in an empty bin."""

    counts: np.ndarray
    confidence: np.ndarray
    right: np.ndarray


def reliability(truth: np.ndarray, probabilities: np.ndarray, bins: int = ECE_BINS) -> Reliability:
    """Confidence in the likeliest class beside its being right, over bins of confidence of equal width.

    Examples
    --------
    >>> reliability(np.array([0, 0, 0, 1]), np.tile([0.75, 0.25], (4, 1)), bins=2).right.tolist()
    [0.0, 0.75]
    """
    confidence = probabilities.max(axis=1).astype(np.float64)
    right = probabilities.argmax(axis=1) == truth
    # bins are open below and closed above, so that a confidence of 1 is in the last one
    where = np.clip(np.ceil(confidence * bins).astype(np.int64) - 1, 0, bins - 1)
    counts = np.bincount(where, minlength=bins)
    share = np.maximum(counts, 1)
    return Reliability(
        counts,
        np.bincount(where, weights=confidence, minlength=bins) / share,
        np.bincount(where, weights=right, minlength=bins) / share,
    )


def error_detection(truth: np.ndarray, probabilities: np.ndarray) -> float:
    """Chance that a wrong answer has a higher entropy than a right one: does the method know its errors?

    One half where all answers are right or all wrong: there is nothing to tell apart.

    Examples
    --------
    >>> error_detection(np.array([0, 1]), np.array([[0.9, 0.1], [0.6, 0.4]]))
    1.0
    """
    entropy = entr(probabilities.astype(np.float64)).sum(axis=1)
    right = probabilities.argmax(axis=1) == truth
    if right.all() or not right.any():
        return 0.5
    return auc(entropy[~right], entropy[right])


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
    """Accuracy, both F1, calibration error and error detection of class probabilities, one row a node."""
    predicted = probabilities.argmax(axis=1)
    macro, micro = f1(truth, predicted)
    return {
        "accuracy": accuracy(truth, predicted),
        "macro_f1": macro,
        "micro_f1": micro,
        "ece": expected_calibration_error(truth, probabilities),
        "error_auroc": error_detection(truth, probabilities),
    }
