"""What differs between two models of the same items: whose class changed, and which of both is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coembed.errors import InputError
from coembed.fitted.class_answers import leading_classes
from coembed.fitted.label_quality import judge

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted
    from coembed.network.network import Network


@dataclass(frozen=True, eq=False)
class TypeChanges:
    """Of a type with classes, its items in the order of the first model.

    Attributes
    ----------
    before, after
        The class of every item by each model, as a position; -1 where the second does not know the item.
    p_before, p_after
        Its probability by each model.
    labelled_before, labelled_after
        How many labels each knew.
    judged, right_before, right_after
        How many items there are whose class neither was told but the truth knows, and how many each has
        right.
    """

    type: str
    before: np.ndarray
    after: np.ndarray
    p_before: np.ndarray
    p_after: np.ndarray
    labelled_before: int
    labelled_after: int
    judged: int = 0
    right_before: int = 0
    right_after: int = 0

    @property
    def changed(self) -> np.ndarray:
        """Positions of items whose class is another, the surest of the second model first."""
        rows = np.flatnonzero((self.before != self.after) & (self.after >= 0))
        return rows[np.argsort(-self.p_after[rows], kind="stable")]


def compare_models(before: Fitted, after: Fitted, truth: Network | None = None) -> list[TypeChanges]:
    """The differences of all types with one class an item that both models have."""
    found = []
    for type in before.network.labelled_types:
        if type not in after.network.types or before.has_several(type) or after.has_several(type):
            continue
        old, new = before.network.items(type), after.network.items(type)
        assert old.labels is not None
        if (
            new.labels is None
            or before.probabilities_of(type) is None
            or after.probabilities_of(type) is None
        ):
            continue
        at = {str(name): k for k, name in enumerate(old.labels.classes)}
        class_at = np.array([*(at.get(str(name), -1) for name in new.labels.classes), -1])
        rows = np.array([-1 if (row := new.find(id)) is None else row for id in old.ids], dtype=np.int64)
        there = rows >= 0
        classes, p = _classes(before, type, np.arange(len(old)))
        others, p_others = np.full(len(old), -1), np.zeros(len(old))
        told, p_told = _classes(after, type, rows[there])
        others[there], p_others[there] = class_at[told], p_told
        judged = _judged(before, after, truth, type, rows)
        right = [int((each[judged[0]] == judged[1]).sum()) for each in (classes, others)]
        found.append(
            TypeChanges(
                type,
                classes,
                others,
                p,
                p_others,
                len(old.labels.known),
                len(new.labels.known),
                len(judged[0]),
                *right,
            )
        )
    if not found:
        raise InputError("the two models have no type with classes in common; there is nothing to compare")
    return found


def _classes(fitted: Fitted, type: str, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    labels, classes = fitted.labels_of(type)[rows], leading_classes(fitted, type, rows)
    own = fitted.predict_proba(type)[rows, classes].astype(np.float64)
    return classes, np.where(labels >= 0, 1.0, own)


def _judged(
    before: Fitted, after: Fitted, truth: Network | None, type: str, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Items that both had to guess, and their true classes as the first model counts them."""
    quality = None if truth is None else judge(before, truth)
    if quality is None or quality.type != type:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    guessed = (rows[quality.nodes] >= 0) & (after.labels_of(type)[rows[quality.nodes]] < 0)
    return quality.nodes[guessed], quality.truth[guessed]
