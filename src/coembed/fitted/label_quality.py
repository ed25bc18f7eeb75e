"""How good the predicted labels are, judged on labels that the fit did not see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coembed.errors import InputError
from coembed.network.network import UNKNOWN, Network

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted

BINS = 10


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
        A row a bin of the probability: mean probability, share that is right, number of nodes.
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
    sure = probabilities.max(axis=1)
    confusion = np.bincount(right * classes + answers, minlength=classes**2).reshape(classes, classes)
    reliability = _reliability(sure, answers == right)
    known = fitted.network.labels[fitted.network.labels != UNKNOWN]
    commonest = np.bincount(known, minlength=classes).argmax()
    figures = {
        "accuracy": float((answers == right).mean()),
        "macro F1": _macro_f1(confusion),
        "log loss": float(-np.log(np.maximum(probabilities[np.arange(len(nodes)), right], 1e-12)).mean()),
        "Brier score": float(((probabilities - np.eye(classes)[right]) ** 2).sum(axis=1).mean()),
        "calibration error": float(
            (reliability[:, 2] * abs(reliability[:, 0] - reliability[:, 1])).sum() / len(nodes)
        ),
        "commonest class": float((right == commonest).mean()),
    }
    return Quality(nodes, right, answers, sure, figures, confusion, reliability)


def _reliability(probability: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Mean probability, share right and count of every bin that is not empty.

    Examples
    --------
    >>> _reliability(np.array([0.92, 0.98, 0.55]), np.array([True, True, False]))
    array([[0.55, 0.  , 1.  ],
           [0.95, 1.  , 2.  ]])
    """
    place = np.minimum((probability * BINS).astype(np.int64), BINS - 1)
    counts, sums, hits = (
        np.bincount(place, weights, minlength=BINS) for weights in (None, probability, right.astype(float))
    )
    full = counts > 0
    return np.column_stack([sums[full] / counts[full], hits[full] / counts[full], counts[full]])


def _macro_f1(confusion: np.ndarray) -> float:
    """Mean F1 of the classes that occur."""
    right, asked = np.diag(confusion), confusion.sum(axis=0) + confusion.sum(axis=1)
    occurs = confusion.sum(axis=1) > 0
    return float((2 * right[occurs] / asked[occurs]).mean()) if occurs.any() else 0.0
