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
import torch
from torch import Tensor
from torch.nn.functional import normalize

from coembed.fitted import Fitted
from coembed.fitted.common_placing import directions_of_others, steering_of
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
        taught = taught_directions(wanted, stack.sizes, dim, seed)
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
    wanted: sp.csr_array, sizes: list[int], dim: int, seed: int = 0, steps: int | None = None
) -> np.ndarray:
    """Unit vectors, one row an item, whose softmax of cosines is what is wanted."""
    rng = np.random.default_rng([seed, 23])
    asking = np.flatnonzero(np.diff(wanted.indptr))
    vectors = torch.nn.Parameter(torch.as_tensor(spectral_directions(wanted, dim, seed)))
    log_temperature = torch.nn.Parameter(torch.tensor(float(np.log(TEMPERATURE))))
    optimiser = torch.optim.Adam([{"params": [vectors]}, {"params": [log_temperature]}], betas=(0.9, 0.99))
    rates = LEARNING_RATE, 0.4 * LEARNING_RATE
    count = len(vectors)
    rivalry = Rivalry.of(sizes)
    steps = steps or int(np.clip(PASSES * len(asking) / BATCH, *STEPS))
    chances = np.repeat(1 / np.sqrt(np.maximum(sizes, 1)), sizes)[asking]
    chances /= chances.sum()
    for step in range(steps):
        for group, rate in zip(optimiser.param_groups, rates, strict=True):
            group["lr"] = rate * 0.5 * (1 + np.cos(np.pi * step / steps))
        # a type counts with the root of its items, or of many nodes and few attributes these never ask
        rows = rng.choice(asking, min(BATCH, len(asking)), replace=False, p=chances)
        among = np.sort(rng.choice(count, min(CANDIDATES, count), replace=False))
        loss = surprise(vectors, log_temperature.exp(), rivalry, rows, among, wanted[rows][:, among])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return normalize(vectors.detach(), dim=1).numpy().astype(np.float32)


class Rivalry(NamedTuple):
    """The type of every item, and of every type the logarithm of what items of one's own type weigh."""

    types: Tensor
    log_weights: Tensor

    @classmethod
    def of(cls, sizes: list[int]) -> Rivalry:
        """Together those of one's own type weigh a share of all others, but none more than one of these."""
        others = sum(sizes) - np.array(sizes)
        weights = np.where(others > 0, np.minimum(OWN_TYPE * others / np.maximum(sizes, 1), 1), 1)
        types = torch.as_tensor(np.repeat(np.arange(len(sizes)), sizes))
        return cls(types, torch.as_tensor(np.log(weights)).float())

    def between(self, rows: Tensor, columns: Tensor) -> Tensor:
        here, there = self.types[rows], self.types[columns]
        return self.log_weights[here][:, None] * (here[:, None] == there)


def surprise(
    vectors: Tensor,
    temperature: Tensor,
    rivalry: Rivalry,
    rows: np.ndarray,
    among: np.ndarray,
    wanted: sp.csr_array,
) -> Tensor:
    """Mean cross-entropy of what some items want near them and what is near them, among some of all types.

    A softmax over a part of all is that over all, given the part: a part drawn at random teaches the same.
    """
    asking, asked = torch.as_tensor(rows), torch.as_tensor(among)
    there = normalize(vectors[asked], dim=1)
    scores = temperature * (normalize(vectors[asking], dim=1) @ there.T)
    scores = scores + rivalry.between(asking, asked)
    scores = scores.masked_fill(asking[:, None] == asked, -torch.inf)
    entries = wanted.tocoo()
    hits = scores[tuple(torch.as_tensor(each.astype(np.int64)) for each in (entries.row, entries.col))]
    weights = torch.as_tensor(entries.data).to(scores.dtype)
    # what an item wants of this part, in proportion
    given = torch.as_tensor(np.asarray(wanted.sum(axis=1)).ravel()).to(scores.dtype)
    return ((given * torch.logsumexp(scores, dim=1)).sum() - (weights * hits).sum()) / given.sum()


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
