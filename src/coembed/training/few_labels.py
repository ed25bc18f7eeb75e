"""Too few labels to compare methods by: labels spread, along links and along items alike.

Without labels to be right or wrong on, what to go by is a matter of what is likely beforehand: linked items
are of one class more often than not. Whether items alike are to be asked, too, can be seen without any
label: where linked items are more alike than others, links and attributes speak of the same thing. Labels
that have a fellow of their class are left out in turn, and may overrule that.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

from coembed.network import UNKNOWN
from coembed.training.label_views import normalised, spread
from coembed.views import TypeViews

ROUNDS = 50
"""Of spreading: few labels have a long way to go."""
DOUBT = 1e-3
"""No one's class is ruled out by one of two opinions alone."""
PAIRS, CLEARLY = 5000, 3.0
"""Links that are looked at, and standard errors by which they must join items more alike than others."""
MOST_LEFT_OUT = 20
OVERRULED = 2
"""So many more labels must be told right, each left out in turn, than by what is likely beforehand."""

LINKS, ALIKE, BOTH = "links", "items alike", "links and items alike"


def opinion_of_few(
    walk: sp.csr_array | None, views: TypeViews, labels: np.ndarray, n_classes: int, neighbours: int
) -> tuple[np.ndarray, str] | None:
    """Class shares of all items, and along what the labels spread; none if there is nothing to spread along.

    Parameters
    ----------
    walk
        A step along the links within the type.
    """
    ways: dict[str, sp.csr_array] = {} if walk is None else {LINKS: walk}
    if views.alike is not None:
        similar = abs(views.alike.graph(len(labels), neighbours))
        if similar.nnz:
            ways[ALIKE] = normalised(sp.csr_array(similar + similar.T))
    if not ways or not (labels != UNKNOWN).any():
        return None
    likely = next(iter(ways))
    if len(ways) == 2 and linked_are_alike(ways[LINKS], views.dense["own"]):
        likely = BOTH
    right = dict.fromkeys((likely, *ways, BOTH) if len(ways) == 2 else ways, 0)
    for item in _with_fellows(labels)[:MOST_LEFT_OUT]:
        seen = labels.copy()
        seen[item] = UNKNOWN
        for name, told in _all_opinions(ways, seen, n_classes).items():
            right[name] += int(told[item].argmax() == labels[item])
    best = max(right, key=lambda name: right[name])
    chosen = best if right[best] >= right[likely] + OVERRULED else likely
    return _all_opinions(ways, labels, n_classes)[chosen], chosen


def linked_are_alike(walk: sp.csr_array, coordinates: np.ndarray) -> bool:
    """Whether the ends of links are clearly more alike than ends of different links.

    Examples
    --------
    >>> pairs = sp.csr_array(np.kron(np.eye(50), [[0, 1], [1, 0]]))
    >>> own = np.repeat(np.random.default_rng(0).normal(size=(50, 8)), 2, axis=0)
    >>> linked_are_alike(pairs, own), linked_are_alike(pairs, own[np.arange(100) * 37 % 100])
    (True, False)
    """
    rng = np.random.default_rng(0)
    one, other = walk.tocoo().coords
    some = rng.permutation(len(one))[:PAIRS]
    unit = coordinates / np.maximum(np.linalg.norm(coordinates, axis=1, keepdims=True), 1e-12)
    first, second = unit[one[some]], unit[other[some]]
    gain = np.einsum("id,id->i", first, second - second[rng.permutation(len(some))])
    return bool(gain.mean() > CLEARLY * gain.std() / np.sqrt(max(len(gain), 1)))


def _all_opinions(
    ways: Mapping[str, sp.csr_array], labels: np.ndarray, n_classes: int
) -> dict[str, np.ndarray]:
    found = {name: spread(way, labels, n_classes, ROUNDS) for name, way in ways.items()}
    if len(found) == 2:
        product = np.prod([told + DOUBT for told in found.values()], axis=0)
        found[BOTH] = (product / product.sum(axis=1, keepdims=True)).astype(np.float32)
    return found


def _with_fellows(labels: np.ndarray) -> np.ndarray:
    """Labelled items whose class another has, too."""
    known = np.flatnonzero(labels != UNKNOWN)
    return known[np.bincount(labels[known])[labels[known]] > 1]
