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
    type
        Whose labels they are.
    nodes, truth, predicted, probability
        Positions of the judged items, their classes, the likeliest classes and the probability of those.
    figures
        Accuracy, macro F1, log loss, Brier score, expected calibration error, and the accuracy of always
        saying the commonest known class.
    confusion
        K x K counts: true class by predicted class.
    reliability
        A row a bin of the probability that is not empty: mean probability, share that is right, number of
        items.
    """

    type: str
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


def hidden_labels(fitted: Fitted, truth: Network, type: str | None = None) -> np.ndarray:
    """The classes of `truth` at the items of a type whose label the fit did not see, else unknown.

    Items and classes are told by their names.
    """
    seen = fitted.network.items(type)
    if fitted.has_several(seen.name):
        raise InputError(
            f"items of type {seen.name} have several classes each: judge them with coembed evaluate"
        )
    labels = np.full(len(seen), UNKNOWN)
    given = truth.types.get(seen.name)
    if seen.labels is not None and given is not None and given.labels is not None:
        at = {name: i for i, name in enumerate(given.ids)}
        rows = np.fromiter((at.get(name, -1) for name in seen.ids), dtype=np.int64, count=len(seen))
        class_at = {name: k for k, name in enumerate(seen.labels.classes)}
        classes = np.array([class_at.get(name, UNKNOWN) for name in given.labels.classes] + [UNKNOWN])
        labels = classes[np.where(rows >= 0, given.labels.values[rows], UNKNOWN)]
        labels[seen.labels.values != UNKNOWN] = UNKNOWN
    if not (labels != UNKNOWN).any():
        raise InputError(
            f"{truth.name} knows no label that the model of {fitted.network.name} has not seen; "
            "give the network with the labels that were hidden, with the same names"
        )
    return labels


def judge(fitted: Fitted, truth: Network, type: str | None = None) -> Quality:
    """Judge the predicted labels of a type by those of `truth` that the fit did not see.

    Without a type that of the main one, or of the first that has classes.
    """
    labelled = fitted.network.labelled_types
    main = fitted.main if fitted.main in labelled or not labelled else labelled[0]
    type = fitted.network.items(type or main).name
    labels = hidden_labels(fitted, truth, type)
    nodes = np.flatnonzero(labels != UNKNOWN)
    probabilities, seen = fitted.predict_proba(type)[nodes].astype(np.float64), fitted.labels_of(type)
    answers, right, classes = probabilities.argmax(axis=1), labels[nodes], probabilities.shape[1]
    known = seen[seen != UNKNOWN]
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
        type,
        nodes,
        right,
        answers,
        probabilities.max(axis=1),
        figures,
        confusion_matrix(right, answers, classes),
        np.column_stack([bins.confidence, bins.right, bins.counts])[full],
    )
