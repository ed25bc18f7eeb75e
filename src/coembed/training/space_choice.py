"""What the common space is trusted with, by how much of what was kept aside it finds again.

An item has two places there: where it was taught, and where what it touches leads it. Between them lies a
better one than either, since what one item was taught is partly chance. How far to lean is chosen for every
type. And where the first ten by cosine hold as much as the first ten of the combination, the space answers by
itself; newcomers, of whom the combination knows nothing, it answers wherever it is ahead of the model alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from coembed.fitted import Fitted
from coembed.fitted.common_placing import Directions, Steering, steered, touched_by
from coembed.fitted.moments import unit_length
from coembed.fitted.score_blend import weigh
from coembed.metrics import auc
from coembed.network.pairs import presence_of
from coembed.training.holdout import Holdout

LEANS = (0.5, 1.0, 2.0)
"""How much where an item is led to may count, beside where it was taught."""
FIRST = 10
ASKED, QUICKLY = 1000, 300
"""Items that are asked about; recall is then known to a hundredth, or, where all is solved for, to two."""
FEWEST, SCORES = 100, 200_000_000
"""Items that are asked about at least, and scores at most: of a million others each asks for as many."""
AT_ONCE = 10_000_000
"""Scores that are looked at together."""
AS_GOOD, AS_APART = 0.005, 0.003
"""What the space may find less than the combination, and tell present from absent less well (AUC), and still
answer by itself."""


@dataclass(frozen=True, eq=False)
class KeptAside:
    """What was kept aside of a relation, as a question: some items, what they have, what they should have."""

    source: str
    target: str
    rows: np.ndarray
    known: sp.csr_array
    hidden: sp.csr_array

    def recall(self, score: Callable[[np.ndarray], np.ndarray]) -> float:
        """The share of what is hidden among the first of those not known; `score` gives a row an item."""
        width = self.known.shape[1]
        step = max(1, AT_ONCE // max(1, width))
        shares = [self._shares(score, slice(start, start + step)) for start in range(0, len(self.rows), step)]
        return float(np.mean(np.concatenate(shares)))

    def _shares(self, score: Callable[[np.ndarray], np.ndarray], part: slice) -> np.ndarray:
        """Item by item, of some at once: of very many others all rows together would not fit in memory."""
        known, hidden = (sp.csr_array(each[part]) for each in (self.known, self.hidden))
        scores = -score(self.rows[part])
        scores[np.repeat(np.arange(len(scores)), np.diff(known.indptr)), known.indices] = np.inf
        count = min(FIRST, scores.shape[1])
        first = np.argpartition(scores, count - 1, axis=1)[:, :count]
        right = np.take_along_axis(hidden.toarray(), first, axis=1).sum(axis=1)
        return np.asarray(right / np.minimum(np.diff(hidden.indptr), FIRST))


def kept_aside(fitted: Fitted, holdout: Holdout, most: int = ASKED) -> dict[str, KeptAside]:
    """By relation the questions that what was kept aside can answer."""
    rng = np.random.default_rng([int(fitted.settings.get("seed", 0)), 37])
    found = {}
    for name, (present, _) in holdout.pairs.items():
        relation = fitted.network.relation(name)
        if not fitted.relations[name].blends or not len(present):
            continue
        hidden = presence_of(present, relation.values.shape, both_ways=relation.pairing.undirected)
        rows, span = np.flatnonzero(np.diff(hidden.indptr)), fitted.span(relation)
        enough = min(most, max(FEWEST, SCORES // max(1, len(span))))
        if len(rows) > enough:
            rows = np.sort(rng.choice(rows, enough, replace=False))
        known, hidden = (sp.csr_array(each[rows][:, span]) for each in (relation.values, hidden))
        if relation.pairing.same:
            own = sp.csr_array((np.ones(len(rows), np.float32), (np.arange(len(rows)), rows)), known.shape)
            known = known + own
        found[name] = KeptAside(relation.source, relation.target, rows, sp.csr_array(known), hidden)
    return found


def leaning(
    fitted: Fitted, asked: Mapping[str, KeptAside], directions: Directions, steering: Steering
) -> dict[str, np.ndarray]:
    """The directions with every type leaning as far as finds most again, type by type."""
    network, found = fitted.network, dict(directions)

    def recall(of: Directions) -> float:
        return sum(each.recall(_cosines(fitted, name, each, of)) for name, each in asked.items())

    best = recall(found)
    for type in network.types:
        if not any(type in (each.source, each.target) for each in asked.values()):
            continue
        led = steered(touched_by(network, type), directions, steering[type], directions[type])
        for lean in LEANS:
            trial = {**found, type: unit_length(directions[type] + lean * led).astype(np.float32, copy=False)}
            reached = recall(trial)
            if reached > best:
                best, found = reached, trial
    return found


def with_code_questions(fitted: Fitted, asked: Mapping[str, KeptAside], holdout: Holdout) -> Fitted:
    """The fitted result, which knows what the common space answers; how it knows is in its history."""
    seed = int(fitted.settings.get("seed", 0))
    directions = {name: fitted.afresh().codes(name).mean for name in fitted.network.types}
    fits, told = dict(fitted.relations), dict[str, Any]()
    for name, each in asked.items():
        by_cosine = each.recall(_cosines(fitted, name, each, directions))
        combination = fitted.afresh()
        combined = each.recall(partial(combination.score_rows, relation=name))
        alone = each.recall(_alone(fitted, name))
        present, absent = (_aligned(fitted, name, pairs, directions) for pairs in holdout.pairs[name])
        told[name] = {"cosine": by_cosine, "combination": combined, "model": alone}
        blend = weigh(present, absent, seed, hidden=1)
        # a cosine is the same both ways
        if blend is None or fitted.network.relation(name).directed or by_cosine < alone:
            continue
        apart = auc(present[:, 0], absent[:, 0]) - auc(
            *(combination.score(name, at) for at in holdout.pairs[name])
        )
        by_codes = by_cosine >= combined - AS_GOOD and apart >= -AS_APART
        fits[name] = replace(
            fits[name], blends={**fits[name].blends, "codes": blend}, by_codes=bool(by_codes)
        )
    said = [_said(name, told[name], fits[name].by_codes) for name in told]
    notices = [*fitted.history.get("notices", []), *said]
    return replace(
        fitted, relations=fits, history={**fitted.history, "space_recall": told, "notices": notices}
    )


def _said(name: str, recall: Mapping[str, float], by_codes: bool) -> str:
    answers = "the space answers by itself" if by_codes else "the combination answers"
    return (
        f"{name}: of what was kept aside the space alone finds {recall['cosine']:.1%} among the first ten, "
        f"the combination of scores {recall['combination']:.1%}; {answers}"
    )


def _cosines(
    fitted: Fitted, name: str, asked: KeptAside, directions: Directions
) -> Callable[[np.ndarray], np.ndarray]:
    span = fitted.span(fitted.network.relation(name))
    there = unit_length(directions[asked.target][span]).T
    return lambda rows: unit_length(directions[asked.source][rows]) @ there


def _aligned(fitted: Fitted, name: str, pairs: np.ndarray, directions: Directions) -> np.ndarray:
    relation = fitted.network.relation(name)
    here, there = directions[relation.source][pairs[:, 0]], directions[relation.target][pairs[:, 1]]
    return np.einsum("nc,nc->n", unit_length(here), unit_length(there))[:, None]


def _alone(fitted: Fitted, name: str) -> Callable[[np.ndarray], np.ndarray]:
    """The model's own scores of some items with all others."""
    own = replace(fitted, relations={**fitted.relations, name: fitted.relations[name].without_pair_scores()})
    return lambda rows: own.score_rows(rows, name)
