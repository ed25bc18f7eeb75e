"""How good the predicted labels are, judged on labels that the fit did not see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coembed.errors import InputError
from coembed.metrics import (
    accuracy,
    brier_score,
    confusion_matrix,
    expected_calibration_error,
    f1,
    log_loss,
    reliability,
)
from coembed.network.network import UNKNOWN, Network

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted


@dataclass(frozen=True, eq=False)
class Quality:
    """Figures, a confusion matrix and a reliability diagram of hidden labels.

    Attributes
    ----------
    nodes, truth, predicted, probability
        Positions of the judged nodes, their classes, the likeliest classes and the probability of those.
    figures
        Accuracy, macro F1, log loss, Brier score, expected calibration error, and the accuracy of always
        saying the commonest known class.
    confusion
        K x K counts: true class by predicted class.
    reliability
        A row a bin of the probability that is not empty: mean probability, share that is right, number of
        nodes.
    """

    nodes: np.ndarray
    truth: np.ndarray
    predicted: np.ndarray
    probability: np.ndarray
    figures: dict[str, float]
    confusion: np.ndarray
    reliability: np.ndarray

    def mistakes(self, k: int = 20) -> np.ndarray:
        """Rows of the wrong answers, the surest first."""
        wrong = np.flatnonzero(self.truth != self.predicted)
        return wrong[np.argsort(-self.probability[wrong], kind="stable")[:k]]


def hidden_labels(fitted: Fitted, truth: Network) -> np.ndarray:
    """The classes of `truth` at the nodes whose label the fit did not see, else unknown; told by names."""
    seen = fitted.network
    at = {name: i for i, name in enumerate(truth.node_names)}
    rows = np.fromiter((at.get(name, -1) for name in seen.node_names), dtype=np.int64, count=seen.n_nodes)
    class_at = {name: k for k, name in enumerate(seen.class_names)}
    classes = np.array([class_at.get(name, UNKNOWN) for name in truth.class_names] + [UNKNOWN])
    labels = classes[np.where(rows >= 0, truth.labels[rows], UNKNOWN)]
    labels[seen.labels != UNKNOWN] = UNKNOWN
    if not (labels != UNKNOWN).any():
        raise InputError(
            f"{truth.name} knows no label that the model of {seen.name} has not seen; "
            "give the network with the labels that were hidden, with the same names"
        )
    return labels


def judge(fitted: Fitted, truth: Network) -> Quality:
    """Judge the predicted labels by those of `truth` that the fit did not see."""
    labels = hidden_labels(fitted, truth)
    nodes = np.flatnonzero(labels != UNKNOWN)
    probabilities, classes = fitted.predict_proba()[nodes].astype(np.float64), fitted.network.n_classes
    answers, right = probabilities.argmax(axis=1), labels[nodes]
    known = fitted.network.labels[fitted.network.labels != UNKNOWN]
    commonest = np.bincount(known, minlength=classes).argmax()
    figures = {
        "accuracy": accuracy(right, answers),
        "macro F1": f1(right, answers)[0],
        "log loss": log_loss(right, probabilities),
        "Brier score": brier_score(right, probabilities),
        "calibration error": expected_calibration_error(right, probabilities),
        "commonest class": accuracy(right, commonest),
    }
    bins = reliability(right, probabilities)
    full = bins.counts > 0
    return Quality(
        nodes,
        right,
        answers,
        probabilities.max(axis=1),
        figures,
        confusion_matrix(right, answers, classes),
        np.column_stack([bins.confidence, bins.right, bins.counts])[full],
    )
