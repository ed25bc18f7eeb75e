"""The figures that a prediction is judged by, each written here and only here: arrays in, numbers out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import entr

BINS = 15
"""Of confidence, of equal width: for the calibration error and every reliability diagram."""
SMALLEST_PROBABILITY = 1e-12
"""What an answer that was held impossible counts as in the log loss, which would be infinite."""
ROWS_COMPARED = 256
"""Rows of scores that are held beside their hidden items at a time."""


def accuracy(truth: np.ndarray, predicted: np.ndarray | np.integer) -> float:
    """Share of right answers; one answer may be given for all.

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


def confusion_matrix(truth: np.ndarray, predicted: np.ndarray, classes: int) -> np.ndarray:
    """Counts, true class by predicted class.

    Examples
    --------
    >>> confusion_matrix(np.array([0, 0, 1]), np.array([0, 1, 1]), 2).tolist()
    [[1, 1], [0, 1]]
    """
    return np.bincount(truth * classes + predicted, minlength=classes**2).reshape(classes, classes)


def log_loss(truth: np.ndarray, probabilities: np.ndarray) -> float:
    """Mean of minus the logarithm of what the true class was given.

    Examples
    --------
    >>> round(log_loss(np.array([0, 1]), np.array([[0.5, 0.5], [0.5, 0.5]])), 4)
    0.6931
    """
    given = probabilities[np.arange(len(truth)), truth].astype(np.float64)
    return float(-np.log(np.maximum(given, SMALLEST_PROBABILITY)).mean())


def brier_score(truth: np.ndarray, probabilities: np.ndarray) -> float:
    """Mean squared distance of the probabilities to the truth, summed over classes: 0 at best, 2 at worst.

    Examples
    --------
    >>> brier_score(np.array([0, 1]), np.array([[1.0, 0.0], [1.0, 0.0]]))
    1.0
    """
    certain = np.eye(probabilities.shape[1])[truth]
    return float(((probabilities.astype(np.float64) - certain) ** 2).sum(axis=1).mean())


def expected_calibration_error(truth: np.ndarray, probabilities: np.ndarray, bins: int = BINS) -> float:
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


def reliability(truth: np.ndarray, probabilities: np.ndarray, bins: int = BINS) -> Reliability:
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


def pooled_reliability(parts: Iterable[Reliability]) -> Reliability:
    """The same bins of several sets of answers, as if all had been given at once.

    Examples
    --------
    >>> one = Reliability(np.array([1]), np.array([0.8]), np.array([0.0]))
    >>> three = Reliability(np.array([3]), np.array([0.8]), np.array([1.0]))
    >>> pooled_reliability([one, three]).right.tolist()
    [0.75]
    """
    counts, confidence, right = (np.array(values) for values in zip(*parts, strict=True))
    total = counts.sum(axis=0)
    share = np.maximum(total, 1)
    return Reliability(total, (confidence * counts).sum(axis=0) / share, (right * counts).sum(axis=0) / share)


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
    # it takes half a second, which those who ask for other figures need not wait
    from scipy.stats import rankdata

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


def mean_average_precision(truth: np.ndarray, scores: np.ndarray) -> float:
    """The mean over classes of how precise the items with the highest scores are, each class by itself.

    `truth` is items x classes: 1 for yes, 0 for no, anything else unknown and not counted. Classes that no
    item has, or all, say nothing; without any other, 0.

    Examples
    --------
    >>> truth = np.array([[1, 0], [0, 1], [1, -1]])
    >>> round(mean_average_precision(truth, np.array([[0.9, 0.1], [0.5, 0.8], [0.2, 0.9]])), 4)
    0.9167
    """
    found = []
    for k in range(truth.shape[1]):
        yes, no = scores[truth[:, k] == 1, k], scores[truth[:, k] == 0, k]
        if len(yes) and len(no):
            found.append(average_precision(yes, no))
    return float(np.mean(found)) if found else 0.0


def several_f1(truth: np.ndarray, predicted: np.ndarray) -> tuple[float, float]:
    """Macro and micro F1 of several classes an item, over cells that are known.

    Examples
    --------
    >>> truth, predicted = np.array([[1, 0], [1, 1], [0, -1]]), np.array([[1, 0], [0, 1], [0, 1]])
    >>> macro, micro = several_f1(truth, predicted)
    >>> round(macro, 4), micro
    (0.8333, 0.8)
    """
    said = (predicted == 1) & ((truth == 0) | (truth == 1))
    right = (said & (truth == 1)).sum(axis=0)
    mentions = said.sum(axis=0) + (truth == 1).sum(axis=0)
    there = mentions > 0
    macro = float(np.mean(2 * right[there] / mentions[there])) if there.any() else 0.0
    return macro, float(2 * right.sum() / max(mentions.sum(), 1))


def several_metrics(truth: np.ndarray, probabilities: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """Mean average precision, both F1 and the calibration error of classes of which an item has several."""
    macro, micro = several_f1(truth, predicted)
    known = (truth == 0) | (truth == 1)
    told = probabilities[known].astype(np.float64)
    pairs = np.stack([1 - told, told], axis=1)
    return {
        "map": mean_average_precision(truth, probabilities),
        "micro_f1": micro,
        "macro_f1": macro,
        "ece": expected_calibration_error(truth[known].astype(np.int64), pairs),
    }


def direction_metrics(given: np.ndarray, turned: np.ndarray) -> dict[str, float]:
    """How well links the way they go are told from the same the other way round; a tie counts one half.

    Examples
    --------
    >>> direction_metrics(np.array([2.0, 1.0, 0.0]), np.array([1.0, 1.0, 1.0]))
    {'auc': 0.5, 'accuracy': 0.5}
    """
    right = np.mean((given > turned) + 0.5 * (given == turned))
    return {"auc": auc(given, turned), "accuracy": float(right)}


def error_taken_away(error: float, reference: float) -> float:
    """1 - error / reference; where there was no error to take away, 0 if none was made and -1 else.

    Examples
    --------
    >>> error_taken_away(1.0, 4.0), error_taken_away(0.0, 0.0), error_taken_away(2.0, 0.0)
    (0.75, 0.0, -1.0)
    """
    if reference > 0:
        return 1 - error / reference
    return 0.0 if error == 0 else -1.0


def squared_error(truth: np.ndarray, told: np.ndarray | float) -> float:
    """Sum of the squares of what is missed."""
    return float(np.sum(np.square(truth - told, dtype=np.float64)))


def r_squared(truth: np.ndarray, told: np.ndarray) -> float:
    """R²: the share of the squares around the mean that is explained.

    Examples
    --------
    >>> r_squared(np.array([1.0, 3.0]), np.array([1.0, 2.0]))
    0.5
    """
    return error_taken_away(squared_error(truth, told), squared_error(truth, float(truth.mean())))


class Ranking(NamedTuple):
    """Of every row: reciprocal rank of its first hidden item, recall and nDCG of its first k places."""

    reciprocal_rank: np.ndarray
    recall: np.ndarray
    ndcg: np.ndarray


def ranking_of_rows(scores: np.ndarray, hidden: sp.csr_array, known: sp.csr_array, k: int) -> Ranking:
    """Rank each row's hidden items among all that are not known; every row must have hidden items.

    Items of equal score share their places: recall and nDCG are expectations over a random order of the
    ties, the first rank is the mean one.

    Examples
    --------
    >>> hidden, known = sp.csr_array(np.array([[0, 0, 1]])), sp.csr_array(np.array([[1, 0, 0]]))
    >>> ranking_of_rows(np.array([[0.9, 0.8, 0.7]]), hidden, known, k=1)
    Ranking(reciprocal_rank=array([0.5]), recall=array([0.]), ndcg=array([0.]))
    """
    n_rows, n_items = scores.shape
    scores = np.array(scores, dtype=np.float64)
    scores[_stored(known)] = -np.inf
    row, item = _stored(hidden)
    wanted = scores[row, item]
    above = np.empty(len(row), dtype=np.int64)
    level = np.empty(len(row), dtype=np.int64)
    for start in range(0, len(row), ROWS_COMPARED):
        part = slice(start, start + ROWS_COMPARED)
        candidates, own = scores[row[part]], wanted[part, None]
        above[part] = np.count_nonzero(candidates > own, axis=1)
        level[part] = np.count_nonzero(candidates == own, axis=1)

    # a tie of `level` items takes the places above + 1 ... above + level, each with equal chance
    discount = np.zeros(n_items + 1)
    discount[1 : k + 1] = 1 / np.log2(np.arange(2, min(k, n_items) + 2))
    gained = np.cumsum(discount)
    gain = (gained[above + level] - gained[above]) / level
    hit = np.clip((k - above) / level, 0, 1)

    counts = np.bincount(row, minlength=n_rows)
    first = np.full(n_rows, n_items, dtype=np.int64)
    np.minimum.at(first, row, above)
    leads = above == first[row]
    together = np.bincount(row[leads], minlength=n_rows)  # hidden items in the leading tie
    level_first = np.zeros(n_rows, dtype=np.int64)
    level_first[row[leads]] = level[leads]
    first_rank = first + (level_first + 1) / (together + 1)
    return Ranking(
        1 / first_rank,
        np.bincount(row, weights=hit, minlength=n_rows) / counts,
        np.bincount(row, weights=gain, minlength=n_rows) / gained[np.minimum(counts, k)],
    )


def _stored(matrix: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Row and column of every stored entry, in row order."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices


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
