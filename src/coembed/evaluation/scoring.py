"""Asking an answer the questions of its trial."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.evaluation.cell_scoring import finite, score_cells
from coembed.evaluation.problem import Answer, Pairs, Problem
from coembed.evaluation.ranking import ranking_metrics
from coembed.evaluation.svm import published_svm_metrics, svm_metrics
from coembed.evaluation.trial import Trial
from coembed.metrics import (
    auc,
    average_precision,
    classification_metrics,
    direction_metrics,
    several_metrics,
)
from coembed.network import Network
from coembed.network.cell_values import attribute_range
from coembed.network.pairs import presence_of


def score_strict(network: Network, trial: Trial, answer: Answer) -> dict[str, float]:
    """All figures of a trial, by name; `network` has the truth."""
    if trial.problem.task == "classification":
        if _truth(network, trial).ndim == 2:
            return _score_several(network, trial, answer)
        return _score_classes(network, trial, answer) | _score_svm(network, trial, answer)
    if trial.problem.task == "columns":
        return score_cells(network, trial, answer)
    if trial.turned is not None:
        return direction_metrics(*(finite(answer.pair_scores(pairs)) for pairs in trial.turned))
    figures: dict[str, float] = {}
    if trial.uniform is not None:
        figures |= score_of_pairs(answer.pair_scores, trial.uniform)
    if trial.matched is not None and len(trial.matched.positives):
        matched = score_of_pairs(answer.lift_scores, trial.matched)
        figures |= {f"{name}_matched": value for name, value in matched.items()}
    if trial.uniform is not None:
        hidden, known = hidden_and_known(trial.problem, trial.uniform)
        among = attribute_range(trial.problem.asked)  # of a column only its own attributes are candidates
        figures |= ranking_metrics(
            lambda rows: answer.row_scores(rows)[:, among],
            hidden[:, among],
            known[:, among],
            seed=trial.problem.seed,
        )
    return figures


def score_published(network: Network, trial: Trial, answer: Answer) -> dict[str, float]:
    """The figures that the public code of SCAN prints, made its way."""
    answer = answer.as_published(trial.problem.seed)
    if trial.problem.task != "classification":
        assert trial.uniform is not None
        return score_of_pairs(answer.pair_scores, trial.uniform)
    figures = _score_classes(network, trial, answer)
    embedding = answer.embedding()
    if embedding is not None:
        known = network.labelled
        figures |= published_svm_metrics(embedding[known], network.labels[known], trial.problem.seed)
    return figures


def hidden_and_known(problem: Problem, asked: Pairs) -> tuple[sp.csr_array, sp.csr_array]:
    """What a ranking must find, and what it must not count: items known from training or validation.

    An undirected link is sought from both of its ends. An item is no candidate for itself.
    """
    seen, pairing = problem.asked.values, problem.asked.pairing
    known = seen
    if problem.pairs is not None:
        known = known + presence_of(problem.pairs.positives, seen.shape, both_ways=pairing.undirected)
    if pairing.same:
        known = known + sp.eye_array(seen.shape[0], format="csr", dtype=np.float32)
    return presence_of(asked.positives, seen.shape, both_ways=pairing.undirected), sp.csr_array(known)


def _score_classes(network: Network, trial: Trial, answer: Answer) -> dict[str, float]:
    probabilities = answer.probabilities()
    if probabilities is None:
        raise InputError("this method gives no class probabilities; choose one that does classification")
    return classification_metrics(_truth(network, trial)[trial.nodes], finite(probabilities[trial.nodes]))


def _score_several(network: Network, trial: Trial, answer: Answer) -> dict[str, float]:
    probabilities, said = answer.probabilities(), answer.said()
    if probabilities is None or said is None:
        raise InputError(
            "this method does not say which of several classes an item has; choose one that does"
        )
    told = finite(probabilities[trial.nodes])
    return several_metrics(_truth(network, trial)[trial.nodes], told, said[trial.nodes])


def _score_svm(network: Network, trial: Trial, answer: Answer) -> dict[str, float]:
    embedding, problem = answer.embedding(), trial.problem
    if embedding is None:
        return {}
    truth = _truth(network, trial)
    return svm_metrics(finite(embedding), truth, problem.labelled, trial.nodes, problem.seed)


def _truth(network: Network, trial: Trial) -> np.ndarray:
    labels = network.items(trial.problem.type).labels
    assert labels is not None
    return labels.values


def score_of_pairs(score: Callable[[np.ndarray], np.ndarray], asked: Pairs) -> dict[str, float]:
    """How well scores tell hidden pairs from absent ones."""
    positive, negative = (finite(score(pairs)) for pairs in asked)
    return {"auc": auc(positive, negative), "ap": average_precision(positive, negative)}
