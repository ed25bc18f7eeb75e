"""What a fit tells beside its metrics: its curves, its calibration, and what its variance means."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from coembed.evaluation.evaluation import Outcome
from coembed.evaluation.problem import Pairs
from coembed.experiments.cell import Cell
from coembed.experiments.record_file import Record
from coembed.fitted import Fitted
from coembed.fitted.class_answers import sets_of
from coembed.metrics import auc, expected_calibration_error, reliability
from coembed.network import Network

CURVE_POINTS = 60
PROMISED = (0.9, 0.95, 0.99)
LEVELS = 10
"""Groups by evidence, at most."""


def details_of(network: Network, cell: Cell, outcome: Outcome) -> Record:
    """Reliability of class probabilities; curves and variances of our own model."""
    found: Record = {}
    if cell.task == "classification":
        probabilities, nodes = outcome.answer.probabilities(), outcome.trial.nodes
        if probabilities is not None:
            bins = reliability(network.labels[nodes], probabilities[nodes])
            found["reliability"] = {
                "counts": bins.counts.tolist(),
                "confidence": rounded(bins.confidence),
                "right": rounded(bins.right),
            }
    fitted = getattr(outcome.answer, "fitted", None)
    if isinstance(fitted, Fitted):
        if cell.task == "classification" and fitted.types[fitted.main].doubt is not None:
            found["sets"] = sets_of_classes(fitted, network.labels, outcome.trial.nodes)
        if outcome.trial.uniform is not None and cell.task != "classification":
            fits = {name: fit.without_pair_scores() for name, fit in fitted.relations.items()}
            alone, asked = replace(fitted, relations=fits), outcome.trial.problem.relation
            found["model alone"] = expected_and_means(alone, asked, outcome.trial.uniform)
            found["as answered"] = expected_and_means(fitted, asked, outcome.trial.uniform)
        found["variance"] = variance_and_evidence(fitted)
        if cell.seed == 0:
            found["curves"] = training_curves(fitted)
    return found


def sets_of_classes(fitted: Fitted, truth: np.ndarray, nodes: np.ndarray) -> Record:
    """By what was promised, how many sets hold the true class, and how many classes they have on average."""
    found: Record = {}
    for promised in PROMISED:
        inside = sets_of(fitted, fitted.main, promised, nodes)
        held = inside[np.arange(len(nodes)), truth[nodes]]
        coverage, size = float(held.mean()), float(inside.sum(axis=1).mean())
        found[str(promised)] = {"coverage": round(coverage, 4), "size": round(size, 4)}
    return found


def expected_and_means(fitted: Fitted, relation: str, asked: Pairs) -> Record:
    """Is it worth knowing the variances? Rank and calibration of the scores with and without them."""
    truth = np.repeat([1, 0], [len(asked.positives), len(asked.negatives)])
    found: Record = {}
    for name, expected in (("expected", True), ("means", False)):
        positive, negative = (fitted.score(relation, pairs, expected=expected) for pairs in asked)
        present = np.concatenate([positive, negative])
        both = np.stack([1 - present, present], axis=1)
        found[name] = {
            "auc": round(auc(positive, negative), 4),
            "ece": round(expected_calibration_error(truth, both), 4),
        }
    return found


def training_curves(fitted: Fitted) -> Record:
    """Every figure of the training, thinned to a few dozen epochs."""
    lists = {
        name: np.asarray(values, dtype=np.float64)
        for name, values in fitted.history.items()
        if isinstance(values, list) and values and all(isinstance(value, float) for value in values)
    }
    epochs = len(lists.get("loss", ()))
    curves: Record = {}
    for name, values in lists.items():
        at = np.unique(np.linspace(0, len(values) - 1, min(CURVE_POINTS, len(values))).round().astype(int))
        # validation figures are made every few epochs only: they are spread over the same length
        curves[name] = {"epoch": ((at + 1) * epochs // len(values)).tolist(), "value": rounded(values[at])}
    return curves


def variance_and_evidence(fitted: Fitted) -> Record:
    """Is a node that little is known of more uncertain? Mean variance beside degree and counts."""
    seen = fitted.network
    variance = (fitted.node_std.astype(np.float64) ** 2).mean(axis=1)
    owners = np.bincount(seen.attributes.indices, minlength=seen.n_attributes)
    attribute_variance = (fitted.attribute_std.astype(np.float64) ** 2).mean(axis=1)
    return {
        "evidence": _relation(row_counts(seen.links) + row_counts(seen.attributes), variance),
        "degree": _relation(row_counts(seen.links), variance),
        "attribute_count": _relation(row_counts(seen.attributes), variance),
        "owners": _relation(owners, attribute_variance),
    }


def row_counts(matrix: sp.csr_array) -> np.ndarray:
    return np.diff(matrix.indptr)


def _relation(evidence: np.ndarray, variance: np.ndarray) -> Record:
    """Rank correlation, and the mean of both in about ten groups by evidence."""
    from scipy.stats import spearmanr

    if len(evidence) < 2 or np.ptp(evidence) == 0 or np.ptp(variance) == 0:
        return {"spearman": None, "evidence": [], "variance": []}
    # between quantiles, so that equal evidence is never torn apart
    edges = np.unique(np.quantile(evidence, np.linspace(0, 1, LEVELS + 1)[1:-1]))
    group = np.searchsorted(edges, evidence, side="left")
    sizes = np.bincount(group)
    filled = sizes > 0
    means = [np.bincount(group, weights=values)[filled] / sizes[filled] for values in (evidence, variance)]
    return {
        "spearman": round(float(spearmanr(evidence, variance).statistic), 4),
        "mean": float(f"{variance.mean():.5g}"),
        "evidence": rounded(means[0]),
        "variance": rounded(means[1]),
    }


def rounded(values: np.ndarray, digits: int = 5) -> list[float]:
    """Numbers for a small file: that many significant digits."""
    return [float(f"{value:.{digits}g}") for value in np.asarray(values, dtype=np.float64)]
