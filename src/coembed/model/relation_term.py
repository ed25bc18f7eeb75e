"""A relation between two types and its likelihood given the codes of the items it joins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coembed.distributed.exchange import chosen, mean_of_all, pair_sum, sum_of_all, total
from coembed.distributed.partition import Partition
from coembed.errors import InputError
from coembed.kernels import (
    Noise,
    ObservedPairs,
    column_blocks,
    exact_sum,
    gram,
    random_block,
    softplus_sum,
    softplus_sum_symmetric,
)

Cost = Callable[[Tensor, Tensor], Tensor]
"""What a pair costs, from its logit and its value."""

# a relation without any error would be infinitely likely
SMALLEST_VARIANCE = 1e-12


@dataclass(frozen=True, eq=False)
class Relation:
    """An observed sparse matrix between the items of two types (or of one with itself, then symmetric).

    `bernoulli`: a stored entry is present, all others are absent. `gaussian`: every entry has a value,
    zero where none is stored, with mean gain x inner product. The gain is learnt: equal labels add a fixed
    1 to the inner product of two items, which need not be worth one unit of the values.

    Where evidence (items x features, such as the logarithm of a degree) is given, the items of that end have
    a bias, linear in it, that is added to the inner product: the popular are likelier to be joined to any.

    Where the items of its types are dealt out to processes, a relation has the rows of one of them, and
    evidence of its own items at both ends.
    """

    name: str
    source: str
    target: str
    matrix: sp.csr_array
    likelihood: Literal["bernoulli", "gaussian"] = "bernoulli"
    weight: float = 1.0
    source_evidence: np.ndarray | None = None
    target_evidence: np.ndarray | None = None


class Codes(NamedTuple):
    """Codes of the items of a type: `values` (items, choices, C), `weights` (items, choices) or None."""

    values: Tensor
    weights: Tensor | None

    def beside(self, bias: Tensor, place: int) -> Codes:
        """The codes with two more coordinates: the bias at `place`, and 1 for the bias of the other end."""
        ones = torch.ones_like(bias)
        pair = torch.stack([ones, bias] if place else [bias, ones], dim=1)
        pair = pair[:, None].expand(-1, self.values.shape[1], -1)
        return Codes(torch.cat([self.values, pair], dim=2), self.weights)

    def flat(self) -> tuple[Tensor, Tensor | None]:
        """Every choice as a row of its own, with its weight."""
        return self.values.flatten(0, 1), None if self.weights is None else self.weights.flatten()

    def of(self, items: Tensor) -> Codes:
        """The codes of some of these items."""
        return Codes(self.values[items], None if self.weights is None else self.weights[items])

    def chosen(self, items: Tensor, partition: Partition) -> Codes:
        """The codes of some of all items, whoever has them."""
        weights = None if self.weights is None else chosen(self.weights, items, partition)
        return Codes(chosen(self.values, items, partition), weights)


class Bias(nn.Module):
    """A number for every item, linear in its evidence."""

    def __init__(
        self, evidence: np.ndarray, rows: Partition, device: torch.device | str, dtype: torch.dtype
    ) -> None:
        super().__init__()
        self.center = mean_of_all(evidence, rows)
        self.evidence = torch.as_tensor(evidence - self.center, device=device, dtype=dtype)
        self.weight = nn.Parameter(torch.zeros(evidence.shape[1]))
        self.constant = nn.Parameter(torch.zeros(()))

    def forward(self) -> Tensor:
        return self.evidence @ self.weight + self.constant


class RelationTerm(nn.Module):
    """The negative log-likelihood of a relation, divided by its number of pairs.

    Pairs are all (i, j), or all ordered i != j if the relation is of a type with itself.
    """

    def __init__(
        self,
        relation: Relation,
        *,
        balance: bool = True,
        all_pairs: Literal["sampled", "exact"] = "sampled",
        block: int = 1024,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
        source: Partition | None = None,
        target: Partition | None = None,
    ) -> None:
        super().__init__()
        self.relation = relation
        self.same = relation.source == relation.target
        matrix = relation.matrix
        self.source = source or Partition.whole(matrix.shape[0])
        self.target = target or Partition.whole(matrix.shape[1])
        if self.same:
            if self.source.processes == 1:  # else all rows were checked before they were dealt out
                _check_symmetric(relation)
            matrix = _one_of_two(matrix, self.source)
        rows, columns = self.source.total, self.target.total
        self.n_pairs = rows * (rows - 1) if self.same else rows * columns
        self.times = 2 if self.same else 1
        self.block = block
        # a block that holds a good part of the pairs costs as much as all of them
        self.sampled = all_pairs == "sampled" and self.n_pairs > 4 * block**2
        self.pairs = [
            ObservedPairs(block, device=device, dtype=dtype) for block in column_blocks(matrix, self.target)
        ]
        n_ones = self.times * round(float(sum_of_all(matrix.nnz, self.source)))
        n_zeros = self.n_pairs - n_ones
        balanced = balance and n_ones and n_zeros
        self.positive_weight = n_zeros / n_ones if balanced else 1.0
        self.norm = self.n_pairs / (2 * n_zeros) if balanced else 1.0
        self.source_bias = self.target_bias = None
        if relation.source_evidence is not None and relation.target_evidence is not None:
            self.source_bias = Bias(relation.source_evidence, self.source, device, dtype)
            self.target_bias = (
                self.source_bias if self.same else Bias(relation.target_evidence, self.target, device, dtype)
            )
        self.log_gain: nn.Parameter | None = None
        if relation.likelihood == "gaussian":
            squares = (matrix.data.astype(np.float64) ** 2).sum()
            self.squares = float(sum_of_all(squares, self.source)) * self.times
            spread = max(self.squares / max(self.n_pairs, 1), SMALLEST_VARIANCE) ** 0.5
            self.log_gain = nn.Parameter(torch.tensor(np.log(spread), dtype=dtype))

    def forward(self, left: Codes, right: Codes, noise: Noise) -> Tensor:
        """-log p(R | codes) / #pairs, in expectation over the choices of labels."""
        if self.n_pairs == 0:
            return left.values.sum() * 0
        if self.source_bias is not None and self.target_bias is not None:
            # [c, b, 1] . [c', 1, b'] = c . c' + b + b'
            left, right = left.beside(self.source_bias(), 0), right.beside(self.target_bias(), 1)
        if self.log_gain is not None:
            return self._gaussian(left, right, self.log_gain.exp())
        return self._bernoulli(left, right, noise)

    def _bernoulli(self, left: Codes, right: Codes, noise: Noise) -> Tensor:
        # sum over the ones of w softplus(-s) - softplus(s), with softplus(s) = s + softplus(-s)
        def cost(logits: Tensor, _: Tensor) -> Tensor:
            return (self.positive_weight - 1) * F.softplus(-logits) - logits

        ones = self.times * self._over_observed(left, right, cost)
        zeros = self._sampled_softplus(left, right, noise) if self.sampled else self._softplus(left, right)
        return self.norm * total(zeros + ones, self.source) / self.n_pairs

    def _gaussian(self, left: Codes, right: Codes, gain: Tensor) -> Tensor:
        # sum (r - g s)^2 = g^2 sum s^2 - 2 g sum r s + sum r^2: by Gram matrices, and where r is stored
        both = total(gram(*left.flat()), self.source), total(gram(*right.flat()), self.target)
        squares = (both[0].double() * both[1].double()).sum()
        if self.same:
            squares = squares - total(_over_own_pairs(left, right, torch.square), self.source)
        agreement = self.times * self._over_observed(left, right, lambda s, value: value * s)
        agreement = total(agreement, self.source)
        variance = (gain**2 * squares - 2 * gain * agreement + self.squares) / self.n_pairs
        # The scale of the errors is the most likely one, their root mean square: the exponent is 1/2. Learnt
        # step by step it starts too small for the wide codes of the first epochs, and drowns other relations.
        return 0.5 * (variance.clamp_min(SMALLEST_VARIANCE).log() + 1 + float(np.log(2 * np.pi)))

    def _softplus(self, left: Codes, right: Codes) -> Tensor:
        """Sum over all pairs of own items with those of all; if they are mirrored, over half, twice."""
        mirrored = self.same and self.source_bias is None

        def part(process: int, own: list[Tensor | None], theirs: list[Tensor | None]) -> Tensor:
            here, there = Codes(*own).flat(), Codes(*theirs).flat()  # type: ignore[arg-type]
            if not mirrored:
                return softplus_sum(*_both(here, there), block=self.block)
            if process == self.source.rank:
                return softplus_sum_symmetric(*here, block=self.block)
            # of two processes one takes the pairs between them, each every other time
            mine = (process < self.source.rank) == ((process + self.source.rank) % 2 == 0)
            return 2 * softplus_sum(*_both(here, there), block=self.block) if mine else here[0].sum() * 0.0

        everything = pair_sum(left, right, self.target, part)
        return everything - _over_own_pairs(left, right, F.softplus) if self.same else everything

    def _sampled_softplus(self, left: Codes, right: Codes, noise: Noise) -> Tensor:
        source = noise.generator(self.relation.name)
        drawn = random_block(self.source.total, self.target.total, self.block, self.same, source)
        rows, columns = (items.to(left.values.device) for items in (drawn.rows, drawn.columns))
        here, there = left.of(self.source.mine(rows)), right.chosen(columns, self.target)
        return softplus_sum(*_both(here.flat(), there.flat()), block=self.block) * drawn.scale

    def _over_observed(self, left: Codes, right: Codes, cost: Cost) -> Tensor:
        """Sum over the stored pairs of own items, and the choices at both ends, of cost(logit, value)."""

        def part(process: int, own: list[Tensor | None], theirs: list[Tensor | None]) -> Tensor:
            pairs, (here, weights), (there, their_weights) = self.pairs[process], own, theirs
            assert here is not None
            assert there is not None
            summed = here.new_zeros((), dtype=torch.float64)
            for k, ours in enumerate(_by_choice(here)):
                for m, other in enumerate(_by_choice(there)):
                    costs = cost(pairs.inner_products(ours, other), pairs.values)
                    if weights is not None:
                        costs = costs * weights[pairs.rows, k]
                    if their_weights is not None:
                        costs = costs * their_weights[pairs.columns, m]
                    summed = summed + exact_sum(costs)
            return summed

        return pair_sum(left, right, self.target, part)


def _by_choice(values: Tensor) -> Sequence[Tensor]:
    """The codes of each choice; the gradient of a single one is no copy of that size."""
    return [values.flatten(0, 1)] if values.shape[1] == 1 else values.unbind(dim=1)


def _one_of_two(matrix: sp.csr_array, rows: Partition) -> sp.csr_array:
    """Of the two orders of a pair, which have one logit, one: each row keeps about half of its pairs."""
    row = np.repeat(np.arange(rows.own.start, rows.own.stop, dtype=np.int64), np.diff(matrix.indptr))
    kept = (row < matrix.indices) == ((row + matrix.indices) % 2 == 0)
    counts = np.bincount(row[kept] - rows.own.start, minlength=rows.own.size)
    places = np.concatenate([[0], np.cumsum(counts)]).astype(matrix.indptr.dtype)
    return sp.csr_array((matrix.data[kept], matrix.indices[kept], places), shape=matrix.shape)


def _over_own_pairs(left: Codes, right: Codes, cost: Callable[[Tensor], Tensor]) -> Tensor:
    """Sum over i, and over its choices at both ends, of cost(<c_i, c_i>): the uncounted diagonal."""
    costs = cost(torch.einsum("ikc,imc->ikm", left.values, right.values))
    if left.weights is not None and right.weights is not None:
        costs = costs * left.weights[:, :, None] * right.weights[:, None, :]
    return costs.sum(dtype=torch.float64)


def _both(
    left: tuple[Tensor, Tensor | None], right: tuple[Tensor, Tensor | None]
) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
    return left[0], right[0], left[1], right[1]


def _check_symmetric(relation: Relation) -> None:
    matrix = relation.matrix
    if matrix.shape[0] != matrix.shape[1] or (matrix != matrix.T).nnz or matrix.diagonal().any():
        raise InputError(
            f"relation {relation.name!r} joins {relation.source!r} with itself: its matrix must be symmetric "
            "with a zero diagonal"
        )
