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
from coembed.training.several_label_ensemble import best_thresholds

CHAINS = 5
"""Orders of the classes, the answers of which are averaged."""
FEWEST = 10
"""Validation items that can choose."""
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


def _shares(problem: Problem) -> np.ndarray:
    labels = problem.items.labels
    if labels is None or not len(labels.known):
        raise InputError(f"{problem.network.name} shows no labels to learn from; give a larger share of them")
    seen = (labels.values != UNKNOWN).sum(axis=0)
    return (labels.sizes + 0.5) / (seen + 1)


def _logistic(penalty: float) -> LogisticRegression:
    return LogisticRegression(C=penalty, max_iter=500)
