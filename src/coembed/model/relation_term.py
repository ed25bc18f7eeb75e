"""What a relation costs, given the codes of the items that it joins: -log p(R | codes).

The score of a pair is s_ij = <c_i, c_j> + b_i + b_j. Where several relations join the same two types, each
has gains of its own, and one that is directed a turn:

    s_ij = c_i' (diag g + S - S') c_j + <u, c_i> - <u, c_j> + b_i + b_j

so that the part that is the same both ways is what two items have in common, and the rest tells the way. Of
all absent pairs those that are only turned around are too few to teach it: so the way of each stored pair is
explained, too, by sigmoid(s_ij - s_ji).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from coembed.distributed.exchange import pair_sum, sum_of_all, total
from coembed.distributed.partition import Partition
from coembed.errors import InputError
from coembed.kernels import (
    HIDDEN_SHARE,
    Noise,
    ObservedPairs,
    Parabola,
    column_blocks,
    exact_sum,
    gram,
    hidden_cells,
    pairwise_sum,
    pairwise_sum_symmetric,
    random_block,
    weighted_sum,
)
from coembed.likelihoods import Likelihood, likelihood
from coembed.model.item_codes import Bias, Direction, ItemCodes
from coembed.model.modelled_relation import Cells, ModelledRelation

Cost = Callable[[Tensor, ObservedPairs], Tensor]
"""What each stored pair costs, from its score."""

# a relation without any error would be infinitely likely
SMALLEST_VARIANCE = 1e-12
LEAST_ERROR = 0.1
"""Of a number, in standard units: nothing is told to less, else what is copied would seem certain."""
COPIED = 0.2
"""Share of the weight of cells that those have that the inputs show."""
GROUP_ROWS = 8192
"""Items whose scores with all values of a category are held at a time."""


class RelationTerm(nn.Module):
    """The negative log-likelihood of a relation, divided by its number of pairs.

    Pairs are all (i, j), or all ordered i != j if the relation is of a type with itself; with cells, the
    stored ones, each as it weighs.
    """

    def __init__(
        self,
        relation: ModelledRelation,
        *,
        size: int = 0,
        balance: bool = True,
        all_pairs: Literal["sampled", "exact"] = "sampled",
        block: int = 256,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
        source: Partition | None = None,
        target: Partition | None = None,
    ) -> None:
        super().__init__()
        self.relation = relation
        self.kind: Likelihood = likelihood(relation.likelihood)
        matrix = relation.matrix
        self.source = source or Partition.whole(matrix.shape[0])
        every = matrix.shape[1] if relation.targets is None else int(relation.targets.max(initial=-1)) + 1
        self.target = target or Partition.whole(every)
        self.every_target, self.targets = self.target, relation.targets
        if relation.targets is not None:
            self.target = self.target.restricted(relation.targets)
        self.same = relation.same
        self.undirected = self.same and not relation.directed
        if self.undirected:
            if self.source.processes == 1:  # else all rows were checked before they were dealt out
                _check_symmetric(relation)
            matrix = _one_of_two(matrix, self.source)
        rows, columns = self.source.total, self.target.total
        self.n_pairs = rows * (rows - 1) if self.same else rows * columns
        self.times = 2 if self.undirected else 1
        self.block = block
        # a block that holds a good part of the pairs costs as much as all of them
        self.sampled = all_pairs == "sampled" and self.n_pairs > 4 * block**2
        # of cells there are few targets: every process has them all
        parts = [matrix] if relation.cells is not None else column_blocks(matrix, self.target)
        self.pairs = [ObservedPairs(part, device=device, dtype=dtype) for part in parts]
        self.n_stored = round(float(sum_of_all(matrix.nnz, self.source)))
        n_ones = self.times * self.n_stored
        n_zeros = self.n_pairs - n_ones
        balanced = balance and self.kind.balanced and n_ones and n_zeros
        self.positive_weight = n_zeros / n_ones if balanced else 1.0
        self.norm = self.n_pairs / (2 * n_zeros) if balanced else 1.0
        self.direction = Direction(size, relation.directed) if relation.gained or relation.directed else None
        self.source_bias: Bias | None = None
        self.target_bias: Bias | None = None
        if relation.source_evidence is not None:
            self.source_bias = Bias(relation.source_evidence, self.source, device, dtype)
        if relation.target_evidence is not None:
            shared = self.undirected and self.source_bias is not None
            theirs = relation.target_evidence
            if relation.targets is not None:
                theirs = theirs[self.every_target.mine(torch.as_tensor(relation.targets)).numpy()]
            self.target_bias = self.source_bias if shared else Bias(theirs, self.target, device, dtype)
        self.log_gain: nn.Parameter | None = None
        self.cell_bias: nn.Parameter | None = None
        if relation.cells is not None:
            self.cell_place = torch.as_tensor(relation.cells.place, device=device)
            self.cell_weight = torch.as_tensor(relation.cells.weight, device=device, dtype=dtype)
            self.cell_bias = nn.Parameter(torch.zeros(columns))
            counts = sum_of_all(np.bincount(matrix.indices, minlength=columns), self.source)
            self.cell_counts = torch.as_tensor(counts, device=device, dtype=dtype)
        elif self.kind.scaled:
            squares = (matrix.data.astype(np.float64) ** 2).sum()
            self.squares = float(sum_of_all(squares, self.source)) * self.times
            counted = self.times * self.n_stored if relation.observed else self.n_pairs
            spread = max(self.squares / max(counted, 1), SMALLEST_VARIANCE) ** 0.5
            self.log_gain = nn.Parameter(torch.tensor(np.log(spread), dtype=dtype))

    def forward(self, left: ItemCodes, right: ItemCodes, noise: Noise) -> Tensor:
        """-log p(R | codes) / #pairs, in expectation over the choices of labels."""
        if self.n_pairs == 0:
            return left.values.sum() * 0
        if self.relation.cells is not None:
            return self._cells(left, right, self.relation.cells, noise)
        if self.targets is not None:
            own = torch.as_tensor(self.targets, device=right.values.device)
            right = right.of(self.every_target.mine(own))
        which_way = self._which_way(left) if self.relation.directed else 0.0
        left, right = self._ends(left, right)
        if self.relation.observed:
            return self._stored(left, right) + which_way
        if self.log_gain is not None:
            return self._gaussian(left, right, self.log_gain.exp()) + which_way
        return self._all_pairs(left, right, noise) + which_way

    def _ends(self, left: ItemCodes, right: ItemCodes) -> tuple[ItemCodes, ItemCodes]:
        """Codes whose inner product is the score."""
        if self.direction is not None:
            left, right = self.direction(left, right)
        if self.source_bias is not None and self.target_bias is not None:
            # [c, b, 1] . [c', 1, b'] = c . c' + b + b'
            here, there = self.source_bias(), self.target_bias()
            return left.with_more(here, torch.ones_like(here)), right.with_more(torch.ones_like(there), there)
        return left, right

    def _which_way(self, codes: ItemCodes) -> Tensor:
        """-log p of the ways of the stored pairs, given that they are there: a mean."""
        assert self.direction is not None
        lean = None
        if self.source_bias is not None and self.target_bias is not None:
            lean = self.source_bias() - self.target_bias()
        cost = self._over_observed(*self.direction.ways(codes, lean), lambda s, pairs: softplus(-s))
        return total(cost, self.source) / max(self.n_stored, 1)

    def _stored(self, left: ItemCodes, right: ItemCodes) -> Tensor:
        """-log p of the stored values alone, a mean over them."""
        if self.log_gain is None:
            cost = self._over_observed(left, right, lambda s, pairs: self.kind.cost(s, pairs.values))
            return total(cost, self.source) / max(self.n_stored, 1)
        gain = self.log_gain.exp()
        squares = self._over_observed(left, right, lambda s, pairs: (pairs.values - gain * s).square())
        variance = total(squares, self.source) / max(self.n_stored, 1)
        return 0.5 * (variance.clamp_min(SMALLEST_VARIANCE).log() + 1 + float(np.log(2 * np.pi)))

    def _all_pairs(self, left: ItemCodes, right: ItemCodes, noise: Noise) -> Tensor:
        def cost(scores: Tensor, pairs: ObservedPairs) -> Tensor:
            return self.kind.beyond_absent(scores, pairs.values, self.positive_weight)

        ones = self.times * self._over_observed(left, right, cost)
        zeros = self._sampled_absent(left, right, noise) if self.sampled else self._absent(left, right)
        return self.norm * total(zeros + ones, self.source) / self.n_pairs

    def _gaussian(self, left: ItemCodes, right: ItemCodes, gain: Tensor) -> Tensor:
        # sum (r - g s)^2 = g^2 sum s^2 - 2 g sum r s + sum r^2: by Gram matrices, and where r is stored
        squares = total(self._sum_of_squares(left, right), self.source)
        agreement = self.times * self._over_observed(left, right, lambda s, pairs: pairs.values * s)
        agreement = total(agreement, self.source)
        variance = (gain**2 * squares - 2 * gain * agreement + self.squares) / self.n_pairs
        # The scale of the errors is the most likely one, their root mean square: the exponent is 1/2. Learnt
        # step by step it starts too small for the wide codes of the first epochs, and drowns other relations.
        return 0.5 * (variance.clamp_min(SMALLEST_VARIANCE).log() + 1 + float(np.log(2 * np.pi)))

    def _cells(self, left: ItemCodes, right: ItemCodes, cells: Cells, noise: Noise) -> Tensor:
        # what is hidden from all inputs in this step is told, not copied: it counts for most
        pairs = self.pairs[0]
        hidden = hidden_cells(noise, cells.table, self.source.own, cells.n_columns, left.values)
        told = hidden[pairs.rows, self.cell_place[pairs.columns]]
        weight = torch.where(told, (1 - COPIED) / HIDDEN_SHARE, COPIED / (1 - HIDDEN_SHARE)).to(left.values)
        assert self.targets is not None
        wanted = torch.as_tensor(self.targets, device=right.values.device)
        there = right.chosen(wanted, self.every_target)
        assert there.weights is None
        assert self.cell_bias is not None
        there = there.with_more(self.cell_bias)
        left = left.with_more(torch.ones_like(left.values[..., 0]))
        if self.kind.scaled:
            return self._numbers(left, there, weight)
        cost = self._one_of_each if self.kind.grouped else self._each
        return total(cost(left, there, weight), self.source)

    def _numbers(self, left: ItemCodes, right: ItemCodes, weight: Tensor) -> Tensor:
        """Over the number columns, -log p at the scale of errors that is most likely for each.

        Learnt step by step a scale starts too small for the wide codes of the first epochs, and numbers drown
        all else.
        """
        pairs = self.pairs[0]
        squares = left.values.new_zeros(len(self.cell_weight))
        for k, ours in enumerate(_by_choice(left.values)):
            errors = (pairs.values - pairs.inner_products(ours, right.values[:, 0])).square()
            if left.weights is not None:
                errors = errors * left.weights[pairs.rows, k]
            squares = squares.index_add(0, pairs.columns, weight * errors)
        counts = total(torch.zeros_like(squares).index_add(0, pairs.columns, weight), self.source)
        variance = total(squares, self.source) / counts.clamp_min(1)
        costs = 0.5 * (variance.clamp_min(LEAST_ERROR**2).log() + 1)
        return (self.cell_weight * self.cell_counts * costs).sum(dtype=torch.float64)

    def _each(self, left: ItemCodes, right: ItemCodes, weight: Tensor) -> Tensor:
        """Over the known cells, what each costs by itself."""
        pairs = self.pairs[0]
        at = pairs.columns
        summed = left.values.new_zeros((), dtype=torch.float64)
        for k, ours in enumerate(_by_choice(left.values)):
            scores = pairs.inner_products(ours, right.values[:, 0])
            costs = weight * self.cell_weight[at] * self.kind.cost(scores, pairs.values)
            if left.weights is not None:
                costs = costs * left.weights[pairs.rows, k]
            summed = summed + exact_sum(costs)
        return summed

    def _one_of_each(self, left: ItemCodes, right: ItemCodes, weight: Tensor) -> Tensor:
        """Over the columns, the cross entropy of the values of those whose cell is known."""
        pairs = self.pairs[0]
        rows, targets = pairs.rows, pairs.columns
        places = self.cell_place[targets]
        summed = left.values.new_zeros((), dtype=torch.float64)
        for column in self.cell_place.unique().tolist():
            group = (self.cell_place == column).nonzero().squeeze(1)
            known = (places == column).nonzero().squeeze(1)
            there = right.values[group, 0]
            for part in known.split(GROUP_ROWS):
                here = left.of(rows[part])
                scores = here.values @ there.t()
                value = (targets[part] - group[0]).repeat_interleave(scores.shape[1])
                costs = self.kind.cost(scores.flatten(0, 1), value).view(scores.shape[:2])
                costs = costs * weight[part, None]
                if here.weights is not None:
                    costs = costs * here.weights
                summed = summed + self.cell_weight[group[0]] * exact_sum(costs)
        return summed

    def _absent(self, left: ItemCodes, right: ItemCodes) -> Tensor:
        """Sum over all pairs of own items with those of all; if they are mirrored, over half, twice."""
        mirrored = self.undirected and self.source_bias is None and self.direction is None
        absent = self.kind.absent

        def part(process: int, own: list[Tensor | None], theirs: list[Tensor | None]) -> Tensor:
            here, there = ItemCodes(*own).flat(), ItemCodes(*theirs).flat()  # type: ignore[arg-type]
            if not mirrored:
                return pairwise_sum(absent, *_both(here, there), block=self.block)
            if process == self.source.rank:
                return pairwise_sum_symmetric(absent, *here, block=self.block)
            # of two processes one takes the pairs between them, each every other time
            mine = (process < self.source.rank) == ((process + self.source.rank) % 2 == 0)
            if not mine:
                return here[0].sum() * 0.0
            return 2 * pairwise_sum(absent, *_both(here, there), block=self.block)

        everything = pair_sum(left, right, self.target, part)
        if not self.same:
            return everything
        return everything - _over_own_pairs(left, right, self.kind.zero)

    def _sampled_absent(self, left: ItemCodes, right: ItemCodes, noise: Noise) -> Tensor:
        """Sum over all pairs of own items: of a parabola in closed form, of what it leaves by a block.

        The parabola is that of the scores' mean and variance, which do not depend on the block: whatever it
        is, the sum stays unbiased, and so do its slopes.
        """
        sums, squares = self._sum_of_scores(left, right), self._sum_of_squares(left, right)
        moments = total(torch.stack([sums, squares]).detach(), self.source) / self.n_pairs
        mean, square = moments.tolist()
        parabola = Parabola(*self.kind.nearest_parabola(mean, max(square - mean**2, SMALLEST_VARIANCE)))
        source = noise.generator(self.relation.name)
        drawn = random_block(self.source.total, self.target.total, self.block, self.same, source)
        rows, columns = (items.to(left.values.device) for items in (drawn.rows, drawn.columns))
        here, there = left.of(self.source.mine(rows)), right.chosen(columns, self.target)
        both = _both(here.flat(), there.flat())
        rest = pairwise_sum(parabola.rest_of(self.kind.absent), *both, block=self.block) * drawn.scale
        return parabola.slope * sums + parabola.curve * squares + rest

    def _sum_of_scores(self, left: ItemCodes, right: ItemCodes) -> Tensor:
        """Over the pairs of own items with all."""
        here, there = weighted_sum(*left.flat()), total(weighted_sum(*right.flat()), self.target)
        whole = here.double() @ there.double()
        return whole - _over_own_pairs(left, right, lambda scores: scores) if self.same else whole

    def _sum_of_squares(self, left: ItemCodes, right: ItemCodes) -> Tensor:
        """The same of their squares, from the Gram matrices of both ends."""
        here, there = gram(*left.flat()), total(gram(*right.flat()), self.target)
        whole = (here.double() * there.double()).sum()
        return whole - _over_own_pairs(left, right, torch.square) if self.same else whole

    def _over_observed(self, left: ItemCodes, right: ItemCodes, cost: Cost) -> Tensor:
        """Sum over the stored pairs of own items, and the choices at both ends, of the cost of a score."""

        def part(process: int, own: list[Tensor | None], theirs: list[Tensor | None]) -> Tensor:
            pairs, (here, weights), (there, their_weights) = self.pairs[process], own, theirs
            assert here is not None
            assert there is not None
            summed = here.new_zeros((), dtype=torch.float64)
            for k, ours in enumerate(_by_choice(here)):
                for m, other in enumerate(_by_choice(there)):
                    costs = cost(pairs.inner_products(ours, other), pairs)
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


def _over_own_pairs(left: ItemCodes, right: ItemCodes, cost: Callable[[Tensor], Tensor]) -> Tensor:
    """Sum over i, and over its choices at both ends, of cost(<c_i, c_i>): the uncounted diagonal."""
    costs = cost(torch.einsum("ikc,imc->ikm", left.values, right.values))
    if left.weights is not None and right.weights is not None:
        costs = costs * left.weights[:, :, None] * right.weights[:, None, :]
    return costs.sum(dtype=torch.float64)


def _both(
    left: tuple[Tensor, Tensor | None], right: tuple[Tensor, Tensor | None]
) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
    return left[0], right[0], left[1], right[1]


def _check_symmetric(relation: ModelledRelation) -> None:
    matrix = relation.matrix
    if matrix.shape[0] != matrix.shape[1] or (matrix != matrix.T).nnz or matrix.diagonal().any():
        raise InputError(
            f"relation {relation.title or relation.name!r} joins {relation.source!r} with itself: "
            "its matrix must be symmetric with a zero diagonal"
        )
