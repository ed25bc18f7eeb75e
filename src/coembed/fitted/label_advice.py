"""What to label next: items whose labels would settle most of what is still in doubt.

An item is in doubt by the probability that its likeliest class is wrong. A label settles its own item, and in
part those that look at it: by their links, and as items alike. Items are taken one after the other, each for
what those before it have left in doubt, so that they do not say the same twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network.matrices import presence
from coembed.network.ways import links_within
from coembed.views.basis import averaging

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted
    from coembed.views import Neighbours

ALIKE = 10
"""Items alike that an item looks at."""


class Advice(NamedTuple):
    """An item to label.

    Attributes
    ----------
    settles
        By how many wrong answers its label is expected to lessen those of all items.
    doubt
        The probability that its likeliest class is wrong.
    """

    name: str
    title: str
    settles: float
    doubt: float
    predicted: str

    def as_dict(self) -> dict[str, str | float]:
        return self._asdict()


def ask_next(fitted: Fitted, k: int = 20, type: str | None = None) -> list[Advice]:
    """The items of a type whose labels would help most, best first."""
    items = fitted.network.items(type)
    probabilities, labels = fitted.predict_proba(items.name), items.labels
    assert labels is not None
    if labels.several:
        raise InputError(
            f"items of type {items.name} may have several classes: what to label next is told of one class"
        )
    alike = None if fitted.placing is None else fitted.placing.alike.get(items.name)
    looks = looks_at(links_within(fitted.network, items.name), alike, len(items))
    rows, settled = most_settling(probabilities, ~labels.is_known, looks, k)
    likeliest = probabilities.argmax(axis=1)
    return [
        Advice(
            str(items.ids[row]),
            items.title(int(row)),
            float(gain),
            float(1 - probabilities[row].max()),
            str(labels.classes[likeliest[row]]),
        )
        for row, gain in zip(rows, settled, strict=True)
    ]


def looks_at(links: sp.csr_array | None, alike: Neighbours | None, count: int) -> sp.csr_array:
    """By how much the class of each item (row) hangs on that of others: rows sum to one, or are empty."""
    parts = []
    if links is not None:
        parts.append(averaging(presence(links)))
    if alike is not None:
        parts.append(averaging(presence(alike.graph(count, ALIKE))))
    if not parts:
        return sp.csr_array((count, count), dtype=np.float32)
    return averaging(sp.csr_array(sum(parts[1:], parts[0])))


def most_settling(
    probabilities: np.ndarray, unlabelled: np.ndarray, looks: sp.csr_array, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Positions of unlabelled items, best first, and how many wrong answers each is expected to settle.

    Examples
    --------
    >>> star = sp.csr_array(np.array([[0, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]], float))
    >>> doubtful = np.full((4, 2), 0.5)
    >>> rows, settled = most_settling(doubtful, np.ones(4, bool), star, 2)
    >>> rows.tolist(), settled.tolist()
    ([0, 3], [1.5, 0.5])
    """
    if k < 1:
        raise InputError(f"k must be at least 1, got {k}")
    doubt = np.where(unlabelled, 1 - probabilities.max(axis=1), 0.0).astype(np.float64)
    looked_at = sp.csr_array(looks.T)
    free = unlabelled.copy()
    found, settled = [], []
    for _ in range(min(k, int(unlabelled.sum()))):
        gains = np.where(free, doubt + looked_at @ doubt, -1.0)
        best = int(gains.argmax())
        found.append(best)
        settled.append(float(gains[best]))
        free[best] = False
        doubt[best] = 0.0
        part = slice(looked_at.indptr[best], looked_at.indptr[best + 1])
        doubt[looked_at.indices[part]] *= 1 - looked_at.data[part]
    return np.array(found, dtype=np.int64), np.array(settled)
