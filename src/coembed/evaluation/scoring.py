"""Asking an answer the questions of its trial."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.evaluation.problem import Answer, Pairs, Problem
from coembed.evaluation.ranking import ranking_metrics
from coembed.evaluation.svm import published_svm_metrics, svm_metrics
from coembed.evaluation.trial import Trial
from coembed.metrics import auc, average_precision, classification_metrics
from coembed.network import Network


def score_strict(network: Network, trial: Trial, answer: Answer) -> dict[str, float]:
    """All figures of a trial, by name; `network` has the truth."""
    if trial.problem.task == "classification":
        return _score_classes(network, trial, answer) | _score_svm(network, trial, answer)
    figures: dict[str, float] = {}
    if trial.uniform is not None:
        figures |= _score_pairs(answer.pair_scores, trial.uniform)
    if trial.matched is not None and len(trial.matched.positives):
        matched = _score_pairs(answer.lift_scores, trial.matched)
        figures |= {f"{name}_matched": value for name, value in matched.items()}
    if trial.uniform is not None:
        hidden, known = hidden_and_known(trial.problem, trial.uniform)
        figures |= ranking_metrics(answer.row_scores, hidden, known, seed=trial.problem.seed)
    return figures


def score_published(network: Network, trial: Trial, answer: Answer) -> dict[str, float]:
    """The figures that the public code of SCAN prints, made its way."""
    answer = answer.as_published(trial.problem.seed)
    if trial.problem.task != "classification":
        assert trial.uniform is not None
        return _score_pairs(answer.pair_scores, trial.uniform)
    figures = _score_classes(network, trial, answer)
    embedding = answer.embedding()
    if embedding is not None:
        known = network.labelled
        figures |= published_svm_metrics(embedding[known], network.labels[known], trial.problem.seed)
    return figures


def hidden_and_known(problem: Problem, asked: Pairs) -> tuple[sp.csr_array, sp.csr_array]:
    """What a ranking must find, and what it must not count: items known from training or validation.

    A link is sought from both of its ends. A node is no candidate for itself.
    """
    links = problem.task == "links"
    seen = problem.network.links if links else problem.network.attributes
    known = seen
    if problem.pairs is not None:
        known = known + presence_of(problem.pairs.positives, seen.shape, both_ways=links)
    if links:
        known = known + sp.eye_array(seen.shape[0], format="csr", dtype=np.float32)
    return presence_of(asked.positives, seen.shape, both_ways=links), sp.csr_array(known)


def presence_of(pairs: np.ndarray, shape: tuple[int, int], both_ways: bool = False) -> sp.csr_array:
    """The pairs as a matrix of ones.

    Examples
    --------
    >>> presence_of(np.array([[0, 1]]), (2, 2), both_ways=True).toarray().tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    if both_ways:
        pairs = np.concatenate([pairs, pairs[:, ::-1]])
    ones = np.ones(len(pairs), dtype=np.float32)
    return sp.csr_array((ones, (pairs[:, 0], pairs[:, 1])), shape=shape)


def _score_classes(network: Network, trial: Trial, answer: Answer) -> dict[str, float]:
    probabilities = answer.probabilities()
    if probabilities is None:
        raise InputError("this method gives no class probabilities; choose one that does classification")
    return classification_metrics(network.labels[trial.nodes], _finite(probabilities[trial.nodes]))


def _score_svm(network: Network, trial: Trial, answer: Answer) -> dict[str, float]:
    embedding, shown = answer.embedding(), trial.problem.network
    if embedding is None:
        return {}
    return svm_metrics(_finite(embedding), network.labels, shown.labelled, trial.nodes, trial.problem.seed)


def _score_pairs(score: Callable[[np.ndarray], np.ndarray], asked: Pairs) -> dict[str, float]:
    positive, negative = (_finite(score(pairs)) for pairs in asked)
    return {"auc": auc(positive, negative), "ap": average_precision(positive, negative)}


def _finite(values: np.ndarray) -> np.ndarray:
    if not np.isfinite(values).all():
        raise InputError(
            "the method's answer holds NaN or infinity: its training diverged; try a lower learning rate"
        )
    return values
