"""Directions of the items of all types, taught until who is near whom is what is wanted.

Every item is one free direction v. An item asks who is near among the items of *all* types at once,

    q_i(j) = w_ij exp(t <v_i, v_j>) / sum over all k of w_ik exp(t <v_i, v_k>),

with one temperature t, and learns until q is what :mod:`coembed.training.space_targets` wants. One softmax
over all types is what makes one cloud of them: with one for each type every type keeps to itself. Items of
one's own type weigh less (w): they are rivals, but most answers are chosen among the others.

A step asks some items about a part of all: some blocks of each type, whose items, in random order, stand for
all of it. Only what is in the part is touched, so a step costs what its products cost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

OWN_TYPE = 0.03
"""What the items of one's own type weigh together, beside all others."""
CANDIDATES, BATCH, BLOCK = 6000, 512, 1000
PASSES = 40
STEPS = (150, 600)
TURNS = 3
"""Of the subspace where teaching begins: more are not worth their time."""
LEARNING_RATE, BETAS = 0.05, (0.9, 0.99)
TEMPERATURE = 12.0
HALF_OF_THE_BITS = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
"""How torch tells that the processor has them."""


def products_in() -> torch.dtype:
    """Half of the bits where the processor multiplies them: twice as fast, and as good to learn by.

    What torch calls supported takes four times as long as whole numbers where it is only imitated.
    """
    # private to torch: one that lacks them is told nothing, and multiplies all bits
    able = any(getattr(torch.cpu, name, bool)() for name in HALF_OF_THE_BITS)
    return torch.bfloat16 if able else torch.float32


def taught_directions(
    wanted: sp.csr_array, sizes: Sequence[int], dim: int, seed: int = 0, most: int = STEPS[1]
) -> np.ndarray:
    """Unit vectors, one row an item, whose softmax of cosines is what is wanted: by Adam."""
    asking = np.count_nonzero(np.diff(wanted.indptr))
    steps = min(int(np.clip(PASSES * asking / BATCH, *STEPS)), most)
    taught = Teaching(wanted, sizes, spectral_directions(wanted, dim, seed), seed)
    for step in range(steps):
        taught.step(0.5 * (1 + math.cos(math.pi * step / steps)))
    return taught.directions().astype(np.float32)


class Part(NamedTuple):
    """Who is asked, and among whom: blocks of items, each of one type and standing for `each` others.

    Attributes
    ----------
    rows
        Positions of those who are asked, by type.
    blocks
        Where each block begins and ends.
    types
        Of each block.
    each
        How many items one of the block stands for.
    """

    rows: list[np.ndarray]
    blocks: list[slice]
    types: list[int]
    each: list[float]


class Slopes(NamedTuple):
    """A cost and its slopes: by the vectors of each block, and by the logarithm of the temperature."""

    cost: float
    blocks: list[Tensor]
    log_temperature: float


class Teaching:
    """All that changes while directions are taught; items are in random order within their type."""

    def __init__(self, wanted: sp.csr_array, sizes: Sequence[int], start: np.ndarray, seed: int = 0) -> None:
        self.rng = np.random.default_rng([seed, 23])
        self.sizes = [size for size in sizes if size]
        firsts = np.cumsum([0, *self.sizes])[:-1]
        shuffled = [first + self.rng.permutation(n) for first, n in zip(firsts, self.sizes, strict=True)]
        self.order = np.concatenate(shuffled)
        self.wanted = sp.csr_array(wanted[self.order][:, self.order])
        self.asking = np.diff(self.wanted.indptr) > 0
        self.vectors = torch.from_numpy(np.ascontiguousarray(start[self.order]))
        self.products = products_in() if self.vectors.dtype == torch.float32 else self.vectors.dtype
        self.moments = torch.zeros_like(self.vectors), torch.zeros_like(self.vectors)
        self.log_temperature, self.temperature_moments = math.log(TEMPERATURE), (0.0, 0.0)
        self.steps = 0
        self.own_weights = own_type_weights(self.sizes)
        ends = [*firsts, len(self.order)]
        self.apart = [self.wanted[a:b, a:b].nnz == 0 for a, b in pairwise(ends)]
        self.blocks = [_blocks(first, n) for first, n in zip(firsts, self.sizes, strict=True)]

    def directions(self) -> np.ndarray:
        found = np.empty(self.vectors.shape)
        found[self.order] = torch.nn.functional.normalize(self.vectors, dim=1).numpy()
        return found

    def step(self, part_of_rate: float) -> None:
        """One of Adam's, a part of its usual length, for all that is in a part drawn at random."""
        self.steps += 1
        part = self.drawn()
        found = self.slopes(part)
        rate = LEARNING_RATE * part_of_rate / (1 - BETAS[0] ** self.steps)
        root = math.sqrt(1 - BETAS[1] ** self.steps)
        for at, slope in zip(part.blocks, found.blocks, strict=True):
            mean, square = (moment[at] for moment in self.moments)
            mean.lerp_(slope, 1 - BETAS[0])
            square.mul_(BETAS[1]).addcmul_(slope, slope, value=1 - BETAS[1])
            self.vectors[at].addcdiv_(mean, square.sqrt().div_(root).add_(1e-8), value=-rate)
        first, second = self.temperature_moments
        first += (1 - BETAS[0]) * (found.log_temperature - first)
        second += (1 - BETAS[1]) * (found.log_temperature**2 - second)
        self.temperature_moments = first, second
        self.log_temperature -= 0.4 * rate * first / (math.sqrt(second) / root + 1e-8)

    def drawn(self) -> Part:
        """Some blocks of every type, and some of those in them to be asked.

        A type is asked with the root of its items: of many nodes and few attributes these would never be.
        """
        part = Part([], [], [], [])
        share = min(1.0, CANDIDATES / sum(self.sizes))
        roots = np.sqrt(self.sizes)
        for type, blocks in enumerate(self.blocks):
            count = max(1, round(share * len(blocks)))
            chosen = [blocks[at] for at in self.rng.choice(len(blocks), count, replace=False)]
            inside = np.concatenate([np.arange(at.start, at.stop) for at in chosen])
            able = inside[self.asking[inside]]
            asked = min(len(able), max(1, round(BATCH * roots[type] / roots.sum())))
            part.rows.append(np.sort(self.rng.choice(able, asked, replace=False)))
            part.blocks.extend(chosen)
            part.types.extend([type] * count)
            part.each.extend([self.sizes[type] / len(inside)] * count)
        return part

    def slopes(self, part: Part) -> Slopes:
        """Mean cross entropy of what is wanted near those asked and what is near them, and its slopes.

        With P the softmax, T what is wanted and g its sum over the part, the slope by the scores is g P - T.
        """
        temperature = math.exp(self.log_temperature)
        rows, ends = np.concatenate(part.rows), np.cumsum([0, *map(len, part.rows)])
        here = torch.nn.functional.normalize(self.vectors[torch.from_numpy(rows)], dim=1)
        lengths = [self.vectors[at].norm(dim=1, keepdim=True).clamp_min(1e-12) for at in part.blocks]
        units = [self.vectors[at] / length for at, length in zip(part.blocks, lengths, strict=True)]
        stops = np.cumsum([len(each) for each in units])
        columns = [slice(stop - len(each), stop) for stop, each in zip(stops, units, strict=True)]
        # scores are at most the temperature: exp(score - temperature) neither overflows nor vanishes for all
        scores = here.new_full((len(rows), int(stops[-1])), -torch.inf)
        asker, asked_of = here.to(self.products), [unit.to(self.products) for unit in units]
        seen = self.seen_by(part, ends)
        for column, unit, each, seers in zip(columns, asked_of, part.each, seen, strict=True):
            for at, log_weight in seers:
                weight = here.new_full((), math.log(each) + log_weight - temperature)
                torch.add(weight, asker[at] @ unit.T, alpha=temperature, out=scores[at, column])
        place, each_of = np.full(len(self.vectors), -1), np.empty(int(stops[-1]))
        for at, column, each in zip(part.blocks, columns, part.each, strict=True):
            place[at], each_of[column] = np.arange(column.start, column.stop), each
        scores[torch.arange(len(rows)), torch.from_numpy(place[rows])] = -torch.inf
        entries = self.wanted[rows]
        row, column = np.repeat(np.arange(len(rows)), np.diff(entries.indptr)), place[entries.indices]
        inside = column >= 0
        row, column = row[inside], column[inside]
        shares = entries.data[inside] * each_of[column]
        sums = np.bincount(row, shares, minlength=len(rows))
        total = max(float(sums.sum()), 1e-12)
        hit = torch.from_numpy(row), torch.from_numpy(column)
        share, given = (torch.from_numpy(part / total).to(scores) for part in (shares, sums))
        hits = scores[hit]
        whole = scores.exp_().sum(dim=1)
        cost = float((given * whole.log()).sum() - (share * hits).sum())
        scores *= (given / whole)[:, None]
        scores.index_put_(hit, -share, accumulate=True)
        slopes, by_here = scores.to(self.products), torch.zeros_like(here)
        found = []
        for column, unit, read, seers in zip(columns, units, asked_of, seen, strict=True):
            slope = torch.zeros_like(unit)
            for at, _ in seers:
                by_here[at] += slopes[at, column] @ read
                slope += slopes[at, column].T @ asker[at]
            found.append(slope)
        for column, unit, length, slope in zip(columns, units, lengths, found, strict=True):
            asked = np.flatnonzero((place[rows] >= column.start) & (place[rows] < column.stop))
            slope[torch.from_numpy(place[rows[asked]] - column.start)] += by_here[torch.from_numpy(asked)]
            # of the vectors as they are, whose lengths do not matter
            slope -= (slope * unit).sum(dim=1, keepdim=True) * unit
            slope.mul_(temperature / length)
        return Slopes(cost, found, float((by_here * here).sum()) * temperature)

    def seen_by(self, part: Part, ends: np.ndarray) -> list[list[tuple[slice, float]]]:
        """Of each block those asked who see it, and the logarithm of what it weighs beside its size.

        Where nobody is wanted within a type, its items only keep their distance there: of its blocks they see
        the first, which stands for all.
        """
        found: list[list[tuple[slice, float]]] = []
        for place, type in enumerate(part.types):
            count, first = part.types.count(type), place == part.types.index(type)
            seers = []
            for other in range(len(self.sizes)):
                rows, weight = slice(int(ends[other]), int(ends[other + 1])), 0.0
                if other == type:
                    if self.apart[type] and not first:
                        continue
                    weight = self.own_weights[type] + (math.log(count) if self.apart[type] else 0.0)
                seers.append((rows, float(weight)))
            found.append(seers)
        return found


def own_type_weights(sizes: Sequence[int]) -> np.ndarray:
    """Logarithm of what one's own type weighs: together a share of all others, none more than one of these.

    Examples
    --------
    >>> np.exp(own_type_weights([1000, 10])).round(4).tolist(), own_type_weights([50]).tolist()
    ([0.0003, 1.0], [0.0])
    """
    others = sum(sizes) - np.array(sizes)
    return np.log(np.where(others > 0, np.minimum(OWN_TYPE * others / np.maximum(sizes, 1), 1), 1))


def _blocks(first: int, count: int) -> list[slice]:
    edges = first + np.linspace(0, count, max(1, round(count / BLOCK)) + 1).astype(int)
    return [slice(int(start), int(stop)) for start, stop in pairwise(edges)]


def spectral_directions(wanted: sp.csr_array, dim: int, seed: int = 0) -> np.ndarray:
    """Where to begin: leading eigenvectors of what is wanted, both ways, by subspace iteration."""
    rng = np.random.default_rng([seed, 29])
    both = sp.csr_array((wanted + wanted.T) / 2)
    sums = np.asarray(both.sum(axis=1)).ravel()
    scale = sp.diags_array((1 / np.sqrt(sums + max(sums.mean(), 1e-9))).astype(np.float32))
    both = sp.csr_array(scale @ both @ scale).astype(np.float32)
    width = min(dim + 10, both.shape[0])
    basis = rng.standard_normal((both.shape[0], width), dtype=np.float32)
    for _ in range(TURNS):
        basis = np.linalg.qr(both @ basis)[0].astype(np.float32)
    values, turn = np.linalg.eigh(basis.T @ (both @ basis))
    leading = np.argsort(-values)[:dim]
    found = (basis @ turn[:, leading]) * np.sqrt(np.maximum(values[leading], 0))
    # a little of chance, for items that the leading vectors leave out, and where there are fewer than asked
    noise = 0.01 * rng.standard_normal((both.shape[0], dim), dtype=np.float32) / np.sqrt(dim)
    noise[:, : found.shape[1]] += found
    lengths = np.linalg.norm(noise, axis=1, keepdims=True)
    return (noise / np.maximum(lengths, 1e-12)).astype(np.float32)
