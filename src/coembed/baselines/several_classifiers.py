"""Floors where an item may have several classes: a model for each class, and chains of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain

from coembed.baselines.classifiers import PENALTIES, AveragedFeatures, ViewsSideBySide
from coembed.baselines.table_features import column_features, link_views, relation_means, relation_views
from coembed.errors import InputError
from coembed.evaluation.problem import Answer, Problem
from coembed.metrics import mean_average_precision
from coembed.network import UNKNOWN

CHAINS = 5
"""Orders of the classes, the answers of which are averaged."""
FEWEST = 10
"""Validation items that can choose."""
FEWEST_POSITIVES = 10
"""Items of a class below which its threshold is that of all classes together."""
Fit = Callable[[sp.csr_array, np.ndarray, sp.csr_array, float, int], np.ndarray]
"""From rows that are known with their labels, and a penalty, to what is asked."""


@dataclass(frozen=True, eq=False)
class SeveralClasses(Answer):
    """Probabilities of classes, and from which of them on an item has each."""

    values: np.ndarray
    thresholds: np.ndarray

    def probabilities(self) -> np.ndarray:
        return self.values

    def said(self) -> np.ndarray:
        return self.values >= self.thresholds

    def arrays(self) -> Mapping[str, np.ndarray]:
        return {"probabilities": self.values, "thresholds": self.thresholds}


def class_frequencies(problem: Problem) -> SeveralClasses:
    """Every item has each class with the share of those that are known to have it."""
    shares = _shares(problem)
    told = np.tile(shares, (len(problem.items), 1))
    return SeveralClasses(told, best_thresholds(told[problem.labelled], problem.labels[problem.labelled]))


def one_vs_rest(problem: Problem) -> SeveralClasses:
    """Logistic regression for each class, on own columns, on who is related, and on neighbours' means."""
    return _told(problem, _each_alone)


def chains(problem: Problem) -> SeveralClasses:
    """The same, each class knowing what was said of those before it in a random order (Read and others)."""
    return _told(problem, _in_chains)


def _told(problem: Problem, fit: Fit) -> SeveralClasses:
    """Views and penalty that tell the validation items best, and thresholds from what is said of those."""
    labels, training, kept = problem.labels, problem.training, problem.validation
    _shares(problem)
    everybody = np.arange(len(problem.items))
    choices = [
        (_rows(views, training, everybody), penalty) for views in _views(problem) for penalty in PENALTIES
    ]
    best, thresholds = choices[-len(PENALTIES) + 1], None
    if len(kept) >= FEWEST and len(training):
        figures = []
        for rows, penalty in choices:  # by the model of each class alone: chains take long
            told = _each_alone(rows[training], labels[training], rows[kept], penalty, problem.seed)
            figures.append(mean_average_precision(labels[kept], told))
        best = choices[int(np.argmax(figures))]
        told = fit(best[0][training], labels[training], best[0][kept], best[1], problem.seed)
        thresholds = best_thresholds(told, labels[kept])
    rows, penalty = best
    labelled = problem.labelled
    values = fit(rows[labelled], labels[labelled], rows, penalty, problem.seed)
    if thresholds is None:
        thresholds = np.full(values.shape[1], 0.5)
    return SeveralClasses(values, thresholds)


def _views(problem: Problem) -> list[list[AveragedFeatures]]:
    """Own columns with means over links of the type with itself; and with all relations."""
    network, type = problem.network, problem.type
    own = [AveragedFeatures((), column_features(each)) for each in network.columns(type)]
    near = [*own, *link_views(network, type)]
    far = [*near, *relation_views(network, type, seed=problem.seed), *relation_means(network, type)]
    return [views for views in (near, far) if views]


def _rows(views: list[AveragedFeatures], seen: np.ndarray, everybody: np.ndarray) -> sp.csr_array:
    """Views side by side, each of one length at the items that are learnt from."""
    blocks = ViewsSideBySide(views).rows(everybody)
    lengths = [max(float(block[seen].power(2).sum()) / max(len(seen), 1), 1e-12) for block in blocks]
    return sp.csr_array(
        sp.hstack([block / np.sqrt(length) for block, length in zip(blocks, lengths, strict=True)])
    )


def _each_alone(
    rows: sp.csr_array, labels: np.ndarray, asked: sp.csr_array, penalty: float, seed: int
) -> np.ndarray:
    found = np.empty((asked.shape[0], labels.shape[1]))
    for k in range(labels.shape[1]):
        known = np.flatnonzero(labels[:, k] != UNKNOWN)
        truth = labels[known, k]
        if len(np.unique(truth)) < 2:
            found[:, k] = (truth.sum() + 0.5) / (len(truth) + 1)
        else:
            found[:, k] = _logistic(penalty).fit(rows[known], truth).predict_proba(asked)[:, 1]
    return found


def _in_chains(
    rows: sp.csr_array, labels: np.ndarray, asked: sp.csr_array, penalty: float, seed: int
) -> np.ndarray:
    whole = np.flatnonzero((labels != UNKNOWN).all(axis=1))
    found = _each_alone(rows, labels, asked, penalty, seed)
    varied = np.flatnonzero([len(np.unique(labels[whole, k])) == 2 for k in range(labels.shape[1])])
    if len(varied) < 2:
        return found
    rng = np.random.default_rng(seed)
    told = np.zeros((asked.shape[0], len(varied)))
    for _ in range(CHAINS):
        order = rng.permutation(len(varied))
        chain = ClassifierChain(_logistic(penalty), order=order).fit(rows[whole], labels[whole][:, varied])
        told += chain.predict_proba(asked) / CHAINS
    found[:, varied] = told
    return found


def best_thresholds(told: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """From which probability on to say that an item has a class, so that F1 is largest.

    Of a class with few items the threshold is that of all classes together.

    Examples
    --------
    >>> told = np.array([[0.9], [0.4], [0.3], [0.1]] * 10)
    >>> best_thresholds(told, np.array([[1], [1], [0], [0]] * 10)).round(2).tolist()
    [0.3499999940395355]
    """
    known = truth != UNKNOWN
    shared = _best_threshold(told[known], truth[known] == 1)
    found = np.full(truth.shape[1], shared)
    for k in range(truth.shape[1]):
        rows = known[:, k]
        if np.count_nonzero(truth[rows, k] == 1) >= FEWEST_POSITIVES:
            found[k] = _best_threshold(told[rows, k], truth[rows, k] == 1)
    return found.astype(np.float32)


def _best_threshold(told: np.ndarray, truth: np.ndarray) -> float:
    if not truth.any():
        return 0.5
    order = np.argsort(-told, kind="stable")
    right = np.cumsum(truth[order])
    f1 = 2 * right / (np.arange(1, len(order) + 1) + truth.sum())
    ends = np.append(np.flatnonzero(np.diff(told[order])), len(order) - 1)  # equal ones are said together
    last = int(ends[f1[ends].argmax()])
    following = told[order][last + 1] if last + 1 < len(order) else 0.0
    return float((told[order][last] + following) / 2)


def _shares(problem: Problem) -> np.ndarray:
    labels = problem.items.labels
    if labels is None or not len(labels.known):
        raise InputError(f"{problem.network.name} shows no labels to learn from; give a larger share of them")
    seen = (labels.values != UNKNOWN).sum(axis=0)
    return (labels.sizes + 0.5) / (seen + 1)


def _logistic(penalty: float) -> LogisticRegression:
    return LogisticRegression(C=penalty, max_iter=500)
