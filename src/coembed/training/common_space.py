"""One space of all types, taught by the combined answer: near by cosine is what belongs together.

Every item is one free direction v. An item asks who is near among the items of *all* types at once,

    q_i(j) = w_ij exp(t <v_i, v_j>) / sum over all k of w_ik exp(t <v_i, v_k>),

with one temperature t, and learns until q is what :mod:`coembed.training.space_targets` wants. One softmax
over all types is what makes one cloud of them: with one for each type every type keeps to itself. Items of
one's own type weigh less (w): they are rivals, but most answers are chosen among the others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from coembed.fitted import Fitted
from coembed.fitted.common_placing import directions_of_others, steering_of
from coembed.fitted.moments import unit_length
from coembed.progress import Tell
from coembed.training.closed_form_space import closed_form_directions
from coembed.training.holdout import Holdout
from coembed.training.space_choice import QUICKLY, kept_aside, leaning, with_code_questions
from coembed.training.space_targets import Stack, neighbours_wanted
from coembed.views.decomposition import affordable_rank

OWN_TYPE = 0.03
CANDIDATES = 6000
BATCH = 512
PASSES = 40
STEPS = (150, 600)
AN_EPOCH = 10
"""Steps at most for each epoch of the model: whoever asks for few epochs will not wait for the space."""
LEARNING_RATE = 0.05
TEMPERATURE = 12.0
WIDE_FROM, WIDER = 30, 4
"""Entries an item from which on a space of so many times the coordinates is needed to tell them."""
MOST_TAUGHT = 30_000
"""Items that are taught; of more some drawn at random, and the others are placed as newcomers are."""


def with_common_space(
    fitted: Fitted, holdout: Holdout | None = None, tell: Tell = lambda step: None
) -> Fitted:
    """The fitted result with a direction of every item, and how newcomers find theirs."""
    network, seed = fitted.network, int(fitted.settings.get("seed", 0))
    entries = sum(relation.values.nnz for relation in network.relations.values())
    largest = max(len(items) for items in network.types.values())
    dim = int(fitted.settings.get("space_dim", 0))
    solved = fitted.settings.get("fitting") == "closed-form"
    if not solved and entries > WIDE_FROM * sum(len(items) for items in network.types.values()):
        dim *= WIDER
    dim = affordable_rank(dim, largest)
    if not dim or not entries or fitted.placing is None:
        return fitted
    asked = kept_aside(fitted, holdout or Holdout())
    everybody = {name: np.arange(len(items)) for name, items in network.types.items()}
    if solved:
        tell("the common space: all types in one")
        found = closed_form_directions(fitted, holdout or Holdout(), asked, dim)
        asked = kept_aside(fitted, holdout or Holdout(), QUICKLY)
    else:
        stack = Stack(_taken(fitted, np.random.default_rng([seed, 71])))
        wanted = neighbours_wanted(fitted, stack, tell, seed)
        tell("the common space: all types in one")
        most = AN_EPOCH * int(fitted.settings.get("epochs", STEPS[1]))
        taught = taught_directions(wanted, stack.sizes, dim, seed, most)
        parts = {type: taught[stack.part(type)] for type in network.types}
        steering = steering_of(network, stack.taken, parts)
        found = directions_of_others(network, stack.taken, parts, steering)
        found = leaning(fitted, asked, found, steering)
    steering = steering_of(network, everybody, found)
    fitted = replace(
        fitted,
        types={name: replace(space, direction=found[name]) for name, space in fitted.types.items()},
        placing=replace(fitted.placing, steering=steering),
    )
    return with_code_questions(fitted, asked, holdout or Holdout())


def _taken(fitted: Fitted, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """All items, or of a type with very many some; those of small types all the same."""
    found = {}
    for name, items in fitted.network.types.items():
        count = len(items)
        few = count <= MOST_TAUGHT
        found[name] = np.arange(count) if few else np.sort(rng.choice(count, MOST_TAUGHT, replace=False))
    return found


def taught_directions(
    wanted: sp.csr_array, sizes: list[int], dim: int, seed: int = 0, most: int = STEPS[1]
) -> np.ndarray:
    """Unit vectors, one row an item, whose softmax of cosines is what is wanted: by Adam."""
    rng = np.random.default_rng([seed, 23])
    asking = np.flatnonzero(np.diff(wanted.indptr))
    vectors = spectral_directions(wanted, dim, seed)
    log_temperature = np.full(1, np.log(TEMPERATURE))
    count, rivalry = len(vectors), Rivalry.of(sizes)
    steps = min(int(np.clip(PASSES * len(asking) / BATCH, *STEPS)), most)
    chances = np.repeat(1 / np.sqrt(np.maximum(sizes, 1)), sizes)[asking]
    chances /= chances.sum()
    movers = _Adam(vectors, LEARNING_RATE), _Adam(log_temperature, 0.4 * LEARNING_RATE)
    for step in range(steps):
        # a type counts with the root of its items, or of many nodes and few attributes these never ask
        rows = rng.choice(asking, min(BATCH, len(asking)), replace=False, p=chances)
        among = np.sort(rng.choice(count, min(CANDIDATES, count), replace=False))
        found = surprise(vectors, float(np.exp(log_temperature[0])), rivalry, rows, among, wanted)
        for mover, slope in zip(movers, (found.vectors, found.log_temperature), strict=True):
            mover.step(slope, 0.5 * (1 + np.cos(np.pi * step / steps)))
    return unit_length(vectors).astype(np.float32)


class _Adam:
    """Adam on an array in place; a step may go a part of its rate."""

    def __init__(self, values: np.ndarray, rate: float, betas: tuple[float, float] = (0.9, 0.99)) -> None:
        self.values, self.rate, self.betas, self.steps = values, rate, betas, 0
        self.mean, self.square = np.zeros_like(values), np.zeros_like(values)

    def step(self, slope: np.ndarray, part: float) -> None:
        self.steps += 1
        first, second = self.betas
        self.mean *= first
        self.mean += (1 - first) * slope
        self.square *= second
        self.square += (1 - second) * np.square(slope)
        root = np.sqrt(self.square)
        root /= np.sqrt(1 - second**self.steps)
        root += 1e-8
        self.values -= (self.rate * part / (1 - first**self.steps)) * (self.mean / root)


class Rivalry(NamedTuple):
    """The type of every item, and of every type the logarithm of what items of one's own type weigh."""

    types: np.ndarray
    log_weights: np.ndarray

    @classmethod
    def of(cls, sizes: list[int]) -> Rivalry:
        """Together those of one's own type weigh a share of all others, but none more than one of these."""
        others = sum(sizes) - np.array(sizes)
        weights = np.where(others > 0, np.minimum(OWN_TYPE * others / np.maximum(sizes, 1), 1), 1)
        return cls(np.repeat(np.arange(len(sizes)), sizes), np.log(weights))


class Surprise(NamedTuple):
    """A cost and its slopes: by all vectors, and by the logarithm of the temperature."""

    cost: float
    vectors: np.ndarray
    log_temperature: np.ndarray


def surprise(
    vectors: np.ndarray,
    temperature: float,
    rivalry: Rivalry,
    rows: np.ndarray,
    among: np.ndarray,
    wanted: sp.csr_array,
) -> Surprise:
    """Mean cross-entropy of what some items want near them and what is near them, among some of all types.

    A softmax over a part of all is that over all, given the part: a part drawn at random teaches the same.
    With P that softmax, T what is wanted and g its sum over the part, the slope by the scores is g P - T.
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units = vectors / np.where(lengths > 0, lengths, 1)
    here, there = units[rows], units if len(among) == len(units) else units[among]
    scores = here @ there.T
    scores *= temperature
    own = rivalry.types[rows][:, None] == rivalry.types[among]
    scores += (rivalry.log_weights[rivalry.types[rows]][:, None] * own).astype(scores.dtype)
    place = np.full(len(vectors), -1)
    place[among] = np.arange(len(among))
    itself = np.flatnonzero(place[rows] >= 0)
    scores[itself, place[rows[itself]]] = -np.inf
    entries = wanted[rows]
    row = np.repeat(np.arange(len(rows)), np.diff(entries.indptr))
    column = place[entries.indices]
    inside = column >= 0
    row, column, share = row[inside], column[inside], entries.data[inside].astype(scores.dtype)
    # what an item wants of this part, in proportion
    given = np.bincount(row, share, minlength=len(rows)).astype(scores.dtype)
    total = max(float(given.sum()), 1e-12)
    highest = scores.max(axis=1, keepdims=True)
    hits = scores[row, column] - highest[row, 0]
    np.exp(scores - highest, out=scores)
    sums = scores.sum(axis=1)
    cost = float((given * np.log(sums)).sum() - (share * hits).sum()) / total
    scores *= (given / sums / total)[:, None]
    scores[row, column] -= share / total  # once an entry: none is stored twice
    by_here = scores @ there
    by_temperature = float((by_here * here).sum() * temperature)
    slope = np.zeros_like(vectors)
    slope[among] = scores.T @ here
    slope[rows] += by_here
    slope *= temperature
    # of the vectors as they are, whose lengths do not matter
    slope -= np.einsum("nd,nd->n", slope, units)[:, None] * units
    slope /= np.where(lengths > 0, lengths, 1)
    return Surprise(cost, slope, np.array([by_temperature]))


def spectral_directions(wanted: sp.csr_array, dim: int, seed: int = 0) -> np.ndarray:
    """Where to begin: leading eigenvectors of what is wanted, both ways, by subspace iteration."""
    rng = np.random.default_rng([seed, 29])
    both = sp.csr_array((wanted + wanted.T) / 2)
    sums = np.asarray(both.sum(axis=1)).ravel()
    scale = sp.diags_array((1 / np.sqrt(sums + max(sums.mean(), 1e-9))).astype(np.float32))
    both = sp.csr_array(scale @ both @ scale).astype(np.float32)
    width = min(dim + 10, both.shape[0])
    basis = rng.standard_normal((both.shape[0], width), dtype=np.float32)
    for _ in range(6):
        basis = np.linalg.qr(both @ basis)[0].astype(np.float32)
    values, turn = np.linalg.eigh(basis.T @ (both @ basis))
    leading = np.argsort(-values)[:dim]
    found = (basis @ turn[:, leading]) * np.sqrt(np.maximum(values[leading], 0))
    # a little of chance, for items that the leading vectors leave out, and where there are fewer than asked
    noise = 0.01 * rng.standard_normal((both.shape[0], dim), dtype=np.float32) / np.sqrt(dim)
    noise[:, : found.shape[1]] += found
    lengths = np.linalg.norm(noise, axis=1, keepdims=True)
    return (noise / np.maximum(lengths, 1e-12)).astype(np.float32)
