"""What sets some items apart: names that are commoner or rarer among them, numbers that are higher or lower.

Names (classes, categories, tags, words) are counted and tested by Fisher's exact test, numbers compared by
rank (Mann and Whitney); all tests of a question are corrected together (Benjamini and Hochberg).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln
from scipy.stats import norm, rankdata

from coembed.errors import InputError
from coembed.fitted.item_fields import STATES, TYPE, Field, field_names, field_of

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted

Rows = dict[str, np.ndarray]
TWO_SIDED = (("no", "yes"), STATES)


class Apart(NamedTuple):
    """One thing by which two sets of items differ.

    Attributes
    ----------
    field, value
        What it is: of names the name that is common or rare, of numbers None.
    inside, outside
        Of names the shares of items that have it, of numbers the medians.
    effect
        Of names the logarithm (to 2) of the ratio of odds, half an item added to each count; of numbers the
        probability that one of the items is above one of the others, times two, less one. Above 0: commoner,
        or higher, inside.
    p, q
        Of the test, and corrected: among all with at most this `q`, this share is expected to be chance.
    """

    type: str
    field: str
    kind: str
    value: str | None
    inside: float
    outside: float
    effect: float
    p: float
    q: float


class _Tests(NamedTuple):
    """Tests of one field: what each is of, and the logarithm of its p."""

    type: str
    field: Field
    places: np.ndarray
    inside: np.ndarray
    outside: np.ndarray
    effect: np.ndarray
    log_p: np.ndarray


def set_apart(
    fitted: Fitted, inside: Rows, outside: Rows | None = None, k: int = 30, most_q: float = 0.05
) -> list[Apart]:
    """What sets items apart from others, by default from all others of their types; the surest first.

    Parameters
    ----------
    inside, outside
        Positions by type. What is in both counts as inside.
    most_q
        Leave out what is likelier chance.
    """
    tests = [test for type in _compared(fitted, inside) for test in _of_type(fitted, type, inside, outside)]
    if not tests:
        return []
    log_p = np.concatenate([test.log_p for test in tests])
    q = false_discoveries(log_p)
    whose = np.repeat(np.arange(len(tests)), [len(test.log_p) for test in tests])
    start = np.cumsum([0, *(len(test.log_p) for test in tests)])
    effect = np.concatenate([np.abs(test.effect) for test in tests])
    order = np.lexsort((-effect, log_p))
    order = order[q[order] <= most_q][:k]
    return [_apart(tests[whose[i]], int(i - start[whose[i]]), float(q[i])) for i in order]


def _compared(fitted: Fitted, inside: Rows) -> list[str]:
    """The types of the items; attributes only where there is nothing else: little is known of them."""
    some = [type for type, rows in inside.items() if len(rows)]
    if not some:
        raise InputError("no items are selected; there is nothing to set apart")
    return [type for type in some if fitted.network.owner_type(type) is None] or some


def _of_type(fitted: Fitted, type: str, inside: Rows, outside: Rows | None) -> list[_Tests]:
    here = np.zeros(len(fitted.network.items(type)), dtype=bool)
    here[inside[type]] = True
    there = ~here
    if outside is not None:
        there = np.zeros_like(here)
        there[outside.get(type, [])] = True
        there &= ~here
    if not there.any():
        return []
    found = []
    for name, _ in field_names(fitted, type):
        field = field_of(fitted, type, name)
        if field is None or name == TYPE:
            continue
        if field.kind in ("number", "date"):
            found += _numbers(type, field, here, there)
        else:
            found.append(_names(type, field, here, there))
    return [test for test in found if len(test.log_p)]


def _names(type: str, field: Field, here: np.ndarray, there: np.ndarray) -> _Tests:
    known = field.known
    own, others = _counts(field, here & known), _counts(field, there & known)
    n_own, n_others = int((here & known).sum()), int((there & known).sum())
    both = own + others
    # what none has, or all have, cannot differ
    places = (
        np.flatnonzero((both > 0) & (both < n_own + n_others)) if n_own and n_others else np.empty(0, int)
    )
    if field.names in TWO_SIDED:  # a yes less is a no more: said once
        places = places[places == 1]
    a, b = own[places], others[places]
    odds = np.log2((a + 0.5) / (n_own - a + 0.5)) - np.log2((b + 0.5) / (n_others - b + 0.5))
    log_p = log_fisher(a, n_own, a + b, n_own + n_others)
    return _Tests(type, field, places, a / max(n_own, 1), b / max(n_others, 1), odds, log_p)


def _counts(field: Field, mask: np.ndarray) -> np.ndarray:
    if isinstance(field.values, sp.csr_array):
        return np.rint(field.values.T @ mask.astype(np.float64)).astype(np.int64)
    return np.bincount(field.values[mask], minlength=len(field.names))


def _numbers(type: str, field: Field, here: np.ndarray, there: np.ndarray) -> list[_Tests]:
    own, others = field.values[here & field.known], field.values[there & field.known]
    if not len(own) or not len(others):
        return []
    superiority, log_p = log_mann_whitney(own, others)
    told = (
        np.array([float(each)]) for each in (np.median(own), np.median(others), 2 * superiority - 1, log_p)
    )
    return [_Tests(type, field, np.zeros(1, int), *told)]


def _apart(test: _Tests, i: int, q: float) -> Apart:
    field = test.field
    number = field.kind in ("number", "date")
    return Apart(
        test.type,
        field.name,
        field.kind,
        None if number else field.names[int(test.places[i])],
        float(test.inside[i]),
        float(test.outside[i]),
        float(test.effect[i]),
        float(np.exp(test.log_p[i])),
        q,
    )


def log_fisher(a: np.ndarray, drawn: int, good: np.ndarray, total: int) -> np.ndarray:
    """Logarithm of twice the smaller tail of the hypergeometric distribution, at most 0.

    Of `total` items `good` have something, of `drawn` ones `a`. The tail is summed from `a` outwards, each
    term by its ratio to the one before.

    Examples
    --------
    >>> np.exp(log_fisher(np.array([8]), 10, np.array([10]), 20)).round(4).tolist()  # scipy: fisher_exact
    [0.023]
    """
    a, good = np.asarray(a, dtype=np.float64), np.asarray(good, dtype=np.float64)
    log_first = (
        _log_choose(good, a)
        + _log_choose(total - good, drawn - a)
        - _log_choose(np.array(total, dtype=np.float64), drawn)
    )
    up = a * total >= drawn * good
    x, term, tail = a.copy(), np.ones_like(a), np.ones_like(a)
    left = np.arange(len(a))
    while len(left):
        at, more, rest = x[left], up[left], good[left]
        above = (rest - at) * (drawn - at) / ((at + 1) * (total - rest - drawn + at + 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            below = at * (total - rest - drawn + at) / ((rest - at + 1) * (drawn - at + 1))
        term[left] *= np.where(more, np.maximum(above, 0), np.maximum(below, 0))
        tail[left] += term[left]
        x[left] += np.where(more, 1, -1)
        left = left[term[left] > 1e-13 * tail[left]]
    return np.minimum(np.log(2) + log_first + np.log(tail), 0.0)


def _log_choose(n: np.ndarray, k: np.ndarray | int) -> np.ndarray:
    return np.asarray(gammaln(n + 1) - gammaln(np.asarray(k) + 1.0) - gammaln(n - k + 1))


def log_mann_whitney(own: np.ndarray, others: np.ndarray) -> tuple[float, float]:
    """The probability that one of the first is above one of the second (a tie counts half), and log p.

    Examples
    --------
    >>> superiority, log_p = log_mann_whitney(np.array([3.0, 4, 5]), np.array([1.0, 2, 3]))
    >>> round(superiority, 3), round(float(np.exp(log_p)), 3)
    (0.944, 0.121)
    """
    n, m = len(own), len(others)
    ranks = rankdata(np.concatenate([own, others]))
    above = float(ranks[:n].sum() - n * (n + 1) / 2)
    ties = np.unique(ranks, return_counts=True)[1].astype(np.float64)
    size = n + m
    variance = n * m / 12 * (size + 1 - (ties**3 - ties).sum() / (size * (size - 1)))
    if variance <= 0:
        return 0.5, 0.0
    z = max(abs(above - n * m / 2) - 0.5, 0.0) / np.sqrt(variance)
    return above / (n * m), min(float(np.log(2) + norm.logsf(z)), 0.0)


def false_discoveries(log_p: np.ndarray) -> np.ndarray:
    """From logarithms of p to the shares of false discoveries, by Benjamini and Hochberg.

    Examples
    --------
    >>> false_discoveries(np.log([0.01, 0.04, 0.03, 0.5])).round(4).tolist()
    [0.04, 0.0533, 0.0533, 0.5]
    """
    order = np.argsort(log_p)
    ranked = log_p[order] + np.log(len(log_p)) - np.log(np.arange(1, len(log_p) + 1))
    least = np.minimum.accumulate(ranked[::-1])[::-1]
    found = np.empty(len(log_p))
    found[order] = np.minimum(np.exp(least), 1.0)
    return found
