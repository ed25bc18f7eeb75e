"""The class that stands for an item, or its several classes: observed, or else what the model thinks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coembed.errors import InputError
from coembed.fitted.conformal import check_share, class_sets
from coembed.fitted.gaussians import with_observed
from coembed.network.items import Labels

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted

THRESHOLD = 0.5
"""From which probability on an item has a class of several, where nothing better was found."""


def said_classes(fitted: Fitted, type: str | None = None) -> np.ndarray:
    """Of several classes an item, which the model says each has: items x classes, true or false."""
    return fitted.predict_proba(type) >= thresholds_of(fitted, type)


def thresholds_of(fitted: Fitted, type: str | None = None) -> np.ndarray:
    """Of several classes an item, from which probability on it has each."""
    name = fitted.network.items(type).name
    found, labels = fitted.types[name].thresholds, fitted.network.items(name).labels
    if found is not None:
        return found
    return np.full(0 if labels is None else labels.n_classes, THRESHOLD, dtype=np.float32)


def sets_of(
    fitted: Fitted, type: str, coverage: float, rows: np.ndarray, new: np.ndarray | None = None
) -> np.ndarray:
    """Which classes items may have (items x classes), so that the true one is there as often as `coverage`.

    Parameters
    ----------
    new
        Class probabilities of items that the model does not know, instead of `rows`.
    """
    check_share("coverage", coverage)
    labels = fitted.network.items(type).labels
    probabilities, doubt = fitted.predict_proba(type), fitted.types[type].doubt
    if labels is not None and labels.several:
        raise InputError(
            f"items of type {type} may have several classes: a set with the one true class is "
            "not defined; ask without a coverage"
        )
    if doubt is None:
        raise InputError(
            f"the model keeps nothing to promise a coverage of {type} by: train with label_ensemble and at "
            "least 20 labels of two classes or more"
        )
    if new is not None:
        return class_sets(doubt.of_new(new), new, coverage)
    return class_sets(doubt.p_values[rows], probabilities[rows], coverage)


def named_sets(classes: np.ndarray, probabilities: np.ndarray, inside: np.ndarray) -> list[tuple[str, ...]]:
    """Sets of classes by name, the likeliest first.

    Examples
    --------
    >>> named_sets(np.array(["a", "b", "c"]), np.array([[0.1, 0.3, 0.6]]), np.array([[True, False, True]]))
    [('c', 'a')]
    """
    order = np.argsort(-probabilities, axis=1, kind="stable")
    ordered = np.take_along_axis(inside, order, axis=1)
    return [tuple(str(name) for name in classes[at[row]]) for at, row in zip(order, ordered, strict=True)]


def leading_classes(fitted: Fitted, type: str, rows: np.ndarray) -> np.ndarray:
    """One class for each item, by position: the observed one, or the likeliest of what is not ruled out."""
    probabilities, labels = fitted.predict_proba(type)[rows], fitted.labels_of(type)[rows]
    return with_observed(probabilities, labels).argmax(axis=1)


def class_texts(fitted: Fitted, type: str, rows: np.ndarray) -> list[str] | None:
    """The classes of items in words, several parted by ``;``; None if the type has no classes."""
    labels = fitted.network.items(type).labels
    if labels is None or not labels.n_classes or fitted.probabilities_of(type) is None:
        return None
    if not labels.several:
        return [str(name) for name in labels.classes[leading_classes(fitted, type, rows)]]
    said = with_observed(said_classes(fitted, type)[rows].astype(np.int8), labels.values[rows])
    return texts_of(labels, said)


def texts_of(labels: Labels, said: np.ndarray) -> list[str]:
    """Rows of yes and no in words; empty for none.

    Examples
    --------
    >>> labels = Labels.of_several(np.zeros((0, 2), int), ["fish", "food"])
    >>> texts_of(labels, np.array([[1, 1], [0, 0]]))
    ['fish;food', '']
    """
    shown = Labels(labels.classes, np.asarray(said, dtype=np.int8))
    return [text if text != ";" else "" for text in shown.texts(np.arange(len(said))).to_pylist()]
