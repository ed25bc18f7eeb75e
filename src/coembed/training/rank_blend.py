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
from scipy.optimize import minimize
from scipy.special import log_expit

from coembed.fitted import Fitted
from coembed.fitted.score_blend import RIDGE, Blend
from coembed.network.matrices import presence
from coembed.network.pairs import presence_of

FOREMOST, OTHERS = 50, 50
"""Of a row, what a present pair stands against."""
CELLS, MOST, FEWEST = 20_000_000, 3000, 100
"""Cells of rows that are looked at, present pairs that are learnt from, at most and at least."""
STEPS = 200
ROWS = 256


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
    for start in range(0, count, ROWS):
        rows = asked[start : start + ROWS, 0]
        there = known[rows][:, span].toarray() != 0
        if relation.pairing.same:
            there[np.arange(len(rows)), rows] = True
        columns, weight = _drawn(scored.score_rows(rows, name), there, rng)
        others.append(np.stack([np.broadcast_to(rows[:, None], columns.shape), span[columns]], axis=-1))
        weights.append(weight)
    every = np.concatenate(others)
    against = scored.pair_features(every.reshape(-1, 2), name).reshape(*every.shape[:2], -1)
    found = _fitted_to_rows(blend, scored.pair_features(asked, name), against, np.concatenate(weights))
    pairs = [scored.pair_features(part, name) for part in (present, absent)]
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


def _fitted_to_rows(blend: Blend, present: np.ndarray, others: np.ndarray, weights: np.ndarray) -> Blend:
    """The weights that come nearest to the first of each row, starting from those that there are."""
    mean, std = (torch.as_tensor(each) for each in (blend.mean, blend.std))
    inputs = [(torch.as_tensor(each, dtype=torch.float32) - mean) / std for each in (present, others)]
    log_weights = torch.as_tensor(weights, dtype=torch.float32).log()
    parts = [torch.tensor(each, requires_grad=True) for each in (blend.first, blend.first_bias, blend.second)]
    optimizer = torch.optim.LBFGS(parts, max_iter=STEPS, line_search_fn="strong_wolfe")

    def cost() -> torch.Tensor:
        first, bias, second = parts
        own, beside = (torch.tanh(each @ first + bias) @ second for each in inputs)
        whole = torch.logsumexp(torch.cat([own[:, None], beside + log_weights], dim=1), dim=1)
        pull = RIDGE / (2 * len(own)) * (first.square().sum() + second.square().sum())
        return (whole - own).mean() + pull

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = cost()
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    optimizer.step(closure)  # type: ignore[arg-type]
    first, bias, second = (part.detach().numpy() for part in parts)
    return blend._replace(first=first, first_bias=bias, second=second)


def _as_sure_as_right(blend: Blend, present: np.ndarray, absent: np.ndarray) -> Blend:
    """Scaled and moved, so that the sigmoid is a probability again: of present among as many absent pairs."""

    def cost(of: np.ndarray) -> float:
        scale, shift = np.exp(of[0]), of[1]
        right = log_expit(scale * present + shift).mean() + log_expit(-(scale * absent + shift)).mean()
        return float(-right)

    log_scale, shift = minimize(cost, np.array([0.0, -np.median(absent)]), method="Nelder-Mead").x
    scale = np.float32(np.exp(log_scale))
    return blend._replace(
        second=blend.second * scale, second_bias=(blend.second_bias * scale + shift).astype(np.float32)
    )
