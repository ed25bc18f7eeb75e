"""The questions: rank all items of a kind for one item, and say how sure each line of the answer is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coembed.errors import InputError
from coembed.fitted import nearest_index as index
from coembed.fitted.gaussians import Codes
from coembed.fitted.matches import Item, ItemKind, Match, kind_of, position
from coembed.fitted.moments import aligned_moments, cosine_std, cosines, probability_std, unit_rows
from coembed.fitted.nearest_index import item_codes, item_count, shortlist
from coembed.network.network import UNKNOWN

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted, Kind

_NOTHING = np.empty(0, dtype=np.int64)


def best_pairs(fitted: Fitted, node: Item, relation: Kind, k: int, known: bool) -> list[Match]:
    """The best scores of a node in a relation; pairs that the network already holds only if `known`."""
    row = position(fitted.network, node, "node")
    scores = fitted.score_rows(np.array([row]), relation)[0]
    held = _row_of(fitted, relation, row)
    without = _NOTHING if known else held
    if relation == "links":
        without = np.append(without, row)
    here = item_codes(fitted, "node", np.array([row]))
    return best_of(fitted, relation, here, fitted.bias(relation)[0][row], scores, k, held, without)


def best_of(
    fitted: Fitted,
    relation: Kind,
    here: Codes,
    bias: float,
    scores: np.ndarray,
    k: int,
    held: np.ndarray,
    without: np.ndarray,
) -> list[Match]:
    """The best of the scores of the one code `here`, but for `without`; `held` are known."""
    best = top(scores, k, without)
    moments = aligned_moments(_repeated(here, len(best)), fitted.others(relation).take(best))
    if fitted.gaussian(relation):
        std = fitted.units.get(relation, 1.0) * np.sqrt(moments.variance)
    else:
        std = probability_std(moments.moved(bias + fitted.bias(relation)[1][best]))
    kind: ItemKind = "node" if relation == "links" else "attribute"
    return _matches(fitted, kind, best, scores[best], std, held)


def nearest(fitted: Fitted, item: Item, kind: ItemKind, other_kind: ItemKind, k: int) -> list[Match]:
    """The items of `other_kind` whose codes point most nearly the same way (cosine)."""
    row = position(fitted.network, item, kind)
    here = item_codes(fitted, kind, np.array([row]))
    without = np.array([row]) if kind == other_kind else _NOTHING
    return pointing_alike(fitted, here, other_kind, k, without, _held(fitted, kind, other_kind, row))


def pointing_alike(
    fitted: Fitted, here: Codes, kind: ItemKind, k: int, without: np.ndarray, held: np.ndarray
) -> list[Match]:
    """The items of a kind that point as the one code `here`, but for `without`; `held` are known."""
    if item_count(fitted, kind) > index.EXACT_ITEMS:
        places = np.setdiff1d(shortlist(fitted, kind, unit_rows(here.mean)[0], k + 1), without)
        scores = cosines(here, item_codes(fitted, kind, places))[0]
        chosen = top(scores, k, _NOTHING)
        best, scores = places[chosen], scores[chosen]
    else:
        lengths = fitted.node_lengths if kind == "node" else fitted.attribute_lengths
        scores = (unit_rows(here.mean) @ _codes(fitted, kind).mean.T)[0] / lengths
        best = top(scores, k, without)
        scores = scores[best]
    std = cosine_std(_repeated(here, len(best)), item_codes(fitted, kind, best))
    return _matches(fitted, kind, best, scores, std, held)


def same_kind(fitted: Fitted, item: Item, kind: ItemKind | None, k: int) -> list[Match]:
    """The items most like this one, among those of its kind."""
    kind = kind_of(fitted.network, item, kind)
    return nearest(fitted, item, kind, kind, k)


def top(scores: np.ndarray, k: int, without: np.ndarray) -> np.ndarray:
    """Positions of the k largest scores, best first, ties in order of position.

    Examples
    --------
    >>> top(np.array([0.1, 0.9, 0.5, 0.5]), 2, without=np.array([1]))
    array([2, 3])
    """
    if k < 1:
        raise InputError(f"k must be at least 1, got {k}")
    allowed = np.ones(len(scores), dtype=bool)
    allowed[without] = False
    candidates = np.flatnonzero(allowed)
    if k < len(candidates):
        # everything at least as good as the k-th, so that a tie at the border is settled by position too
        border = np.partition(scores[candidates], len(candidates) - k)[len(candidates) - k]
        candidates = candidates[scores[candidates] >= border]
    return candidates[np.argsort(-scores[candidates], kind="stable")][:k]


def _repeated(here: Codes, count: int) -> Codes:
    return here.take(np.zeros(count, dtype=np.int64))


def _codes(fitted: Fitted, kind: ItemKind) -> Codes:
    return fitted.nodes if kind == "node" else fitted.attributes


def _row_of(fitted: Fitted, relation: Kind, row: int) -> np.ndarray:
    matrix = fitted.network.links if relation == "links" else fitted.network.attributes
    return matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]


def _held(fitted: Fitted, kind: ItemKind, other_kind: ItemKind, row: int) -> np.ndarray:
    """The items of `other_kind` that the network joins to this one."""
    if kind == "node":
        return _row_of(fitted, "links" if other_kind == "node" else "attributes", row)
    if other_kind == "attribute":
        return np.empty(0, dtype=np.int64)
    matrix = fitted.network.attributes
    return np.searchsorted(matrix.indptr, np.flatnonzero(matrix.indices == row), side="right") - 1


def _matches(
    fitted: Fitted, kind: ItemKind, items: np.ndarray, scores: np.ndarray, std: np.ndarray, held: np.ndarray
) -> list[Match]:
    network = fitted.network
    names = network.node_names if kind == "node" else network.attribute_names
    known = np.isin(items, held)
    labels: list[str | None] = [None] * len(items)
    if kind == "node" and network.n_classes:
        observed = network.labels[items]
        classes = np.where(observed != UNKNOWN, observed, fitted.probabilities[items].argmax(axis=1))
        labels = [str(name) for name in network.class_names[classes]]
    return [
        Match(str(names[i]), kind, float(score), float(spread), bool(was), label)
        for i, score, spread, was, label in zip(items, scores, std, known, labels, strict=True)
    ]
