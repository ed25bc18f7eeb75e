"""A combination of scores that puts what was kept aside before all else that an item might have.

Told apart from absent pairs of any kind, most of which nobody would think of, a combination need not know
which of ten likely ones is the likeliest. So it goes on from there: every present pair stands against the
foremost of its row and against some of all others, which count for as many as they were drawn from,

    - log  exp s(present) / (exp s(present) + sum over others o of w_o exp s(o)),

a softmax over the whole row, by a sample of it. It orders rows; how sure a score is, present and absent pairs
of any kind tell again afterwards.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from scipy.optimize import minimize

from coembed.fitted import Fitted
from coembed.fitted.score_blend import Blend
from coembed.network.matrices import presence
from coembed.network.pairs import presence_of

FOREMOST, OTHERS = 50, 50
"""Of a row, what a present pair stands against."""
CELLS, MOST, FEWEST = 20_000_000, 3000, 100
"""Cells of rows that are looked at, present pairs that are learnt from, at most and at least."""
ANYWHERE = 2.0
"""Weight of telling pairs of any rows apart, beside that of ordering each row."""
BENDS = (-1.0, 0.0, 1.0)
"""Where units of single scores bend, in their standard deviations."""
PULL = 1.0
"""Pull of the weights towards those that there were, in rows."""
SCALE = 0.1
"""Pull of the two scales towards one another: where rows have no order to be learnt, one would go to 0."""
STEPS = 200
ROWS, AT_ONCE = 256, 10_000_000
"""Rows that are looked at together, and cells of them."""


def ordering(
    fitted: Fitted, name: str, blend: Blend, present: np.ndarray, absent: np.ndarray, seed: int = 0
) -> Blend:
    """The combination with weights that order rows; itself, where there is too little to learn that from."""
    relation = fitted.network.relation(name)
    span = fitted.span(relation)
    rng = np.random.default_rng(seed)
    count = min(len(present), MOST, CELLS // max(len(span), 1))
    if count < FEWEST or len(span) < 2 * (FOREMOST + OTHERS):
        return blend
    asked = present[np.sort(rng.permutation(len(present))[:count])]
    if relation.pairing.undirected:  # either end is asked about
        asked = np.where(rng.random((count, 1)) < 0.5, asked, asked[:, ::-1])
    fits = {**fitted.relations, name: replace(fitted.relations[name], blends={"likely": blend})}
    scored = replace(fitted, relations=fits)
    kept_aside = presence_of(present, relation.values.shape, both_ways=relation.pairing.undirected)
    known = sp.csr_array(presence(relation.values) + kept_aside)
    others, weights = [], []
    step = min(ROWS, max(1, AT_ONCE // max(relation.values.shape)))
    for start in range(0, count, step):
        rows = asked[start : start + step, 0]
        there = known[rows][:, span].toarray() != 0
        if relation.pairing.same:
            there[np.arange(len(rows)), rows] = True
        columns, weight = _drawn(scored.score_rows(rows, name), there, rng)
        others.append(np.stack([np.broadcast_to(rows[:, None], columns.shape), span[columns]], axis=-1))
        weights.append(weight)
    every = np.concatenate(others)
    against = scored.pair_features(every.reshape(-1, 2), name).reshape(*every.shape[:2], -1)
    pairs = [scored.pair_features(part, name) for part in (present, absent)]
    own = scored.pair_features(asked, name)
    found = _fitted_to_rows(blend, own, against, np.concatenate(weights), *pairs)
    return _as_sure_as_right(found, *(found.logits(part) for part in pairs))


def _drawn(scores: np.ndarray, known: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Columns of every row: the foremost and some of the others; and how many each stands for."""
    scores = np.where(known, -np.inf, scores)
    foremost = np.argpartition(-scores, FOREMOST, axis=1)[:, :FOREMOST]
    rest = ~known
    np.put_along_axis(rest, foremost, False, axis=1)
    drawn = rng.integers(0, scores.shape[1], (len(scores), OTHERS))
    counts = np.take_along_axis(rest, drawn, axis=1)
    each = rest.sum(axis=1, keepdims=True) / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    first = np.take_along_axis(~known, foremost, axis=1)
    return np.hstack([foremost, drawn]), np.hstack([first, counts * each])


def _fitted_to_rows(
    blend: Blend,
    first_of_row: np.ndarray,
    others: np.ndarray,
    weights: np.ndarray,
    present: np.ndarray,
    absent: np.ndarray,
) -> Blend:
    """The weights that come nearest to the first of each row, starting from those that there are.

    They still tell present from absent pairs of any rows, at a scale of their own. What is combined stays:
    the units of the combination, and beside them some that bend each score by itself. So what is to be found
    lies at the bottom of a bowl, to which all ways lead, whatever the last digits are.
    """
    count = len(blend.mean)
    blend = blend._replace(
        first=np.hstack([blend.first, *[np.eye(count, dtype=np.float32)] * len(BENDS)]),
        first_bias=np.concatenate([blend.first_bias, np.repeat(BENDS, count)]).astype(np.float32),
        second=np.concatenate([blend.second, np.zeros(count * len(BENDS), np.float32)]),
    )
    units = [torch.as_tensor(_units(blend, each)) for each in (first_of_row, others, present, absent)]
    every = torch.cat([each.reshape(-1, units[0].shape[1]) for each in units])
    # steps in coordinates in which the units are unrelated, and each moves the scores as far
    pull = PULL / len(first_of_row)
    spread = every.T @ every / len(every) + pull * torch.eye(every.shape[1], dtype=torch.float64)
    onto = torch.linalg.inv(torch.linalg.cholesky(spread)).T
    start = torch.as_tensor(blend.second, dtype=torch.float64)
    log_weights = torch.as_tensor(weights, dtype=torch.float64).log()
    steps = torch.zeros(len(start), dtype=torch.float64, requires_grad=True)
    sure = [0.0, float(blend.second_bias[0])]
    scale_and_shift = torch.tensor(sure, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS(
        [steps, scale_and_shift], max_iter=STEPS, line_search_fn="strong_wolfe", tolerance_change=1e-12
    )

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        moved = onto @ steps
        own, beside, there, absent = (each @ (start + moved) for each in units)
        whole = torch.logsumexp(torch.cat([own[:, None], beside + log_weights], dim=1), dim=1)
        log_scale, shift = scale_and_shift
        apart = _told_apart(*(log_scale.exp() * each + shift for each in (there, absent)))
        held = pull / 2 * moved.square().sum() + SCALE * log_scale.square()
        loss = (whole - own).mean() - ANYWHERE * apart + held
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    optimizer.step(closure)  # type: ignore[arg-type]
    return blend._replace(second=(start + onto @ steps).detach().numpy())


def _units(blend: Blend, features: np.ndarray) -> np.ndarray:
    """What a combination makes of features, before it is summed."""
    return np.tanh((features - blend.mean) / blend.std @ blend.first.astype(np.float64) + blend.first_bias)


def _told_apart(present: torch.Tensor, absent: torch.Tensor) -> torch.Tensor:
    """How well logits tell present from absent pairs: mean logarithms, at most 0.

    One pair of each kind is imagined to be of the other, as Platt does: where all are told apart, they are as
    sure as so many pairs allow, not without end.
    """
    return sum(
        ((len(each) + 1) * F.logsigmoid(each).mean() + F.logsigmoid(-each).mean()) / (len(each) + 2)
        for each in (present, -absent)
    )  # type: ignore[return-value]


def _as_sure_as_right(blend: Blend, present: np.ndarray, absent: np.ndarray) -> Blend:
    """Scaled and moved, so that the sigmoid is a probability again: of present among as many absent pairs."""
    pairs = [torch.as_tensor(each, dtype=torch.float64) for each in (present, absent)]

    def cost(of: np.ndarray) -> float:
        return -float(_told_apart(*(np.exp(of[0]) * each + of[1] for each in pairs)))

    log_scale, shift = minimize(cost, np.array([0.0, -np.median(absent)]), method="Nelder-Mead").x
    return blend._replace(
        second=(blend.second * np.exp(log_scale)).astype(np.float32),
        second_bias=(blend.second_bias * np.exp(log_scale) + shift).astype(np.float32),
    )
