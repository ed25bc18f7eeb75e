"""A relation between two types and its likelihood given the codes of the items it joins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coembed.errors import InputError
from coembed.kernels import (
    Noise,
    ObservedPairs,
    random_block,
    softplus_sum,
    softplus_sum_symmetric,
    square_sum,
)

Cost = Callable[[Tensor], Tensor]

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

    def flat(self, items: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """Every choice as a row of its own, with its weight; of some items only, if they are given."""
        values = self.values if items is None else self.values[items]
        weights = self.weights if items is None or self.weights is None else self.weights[items]
        return values.flatten(0, 1), None if weights is None else weights.flatten()


class Bias(nn.Module):
    """A number for every item, linear in its evidence."""

    def __init__(self, evidence: np.ndarray, device: torch.device | str, dtype: torch.dtype) -> None:
        super().__init__()
        self.center = evidence.mean(axis=0)
        self.evidence = torch.as_tensor(evidence - self.center, device=device, dtype=dtype)
        self.weight = nn.Parameter(torch.zeros(evidence.shape[1]))
        self.constant = nn.Parameter(torch.zeros(()))

    def forward(self) -> Tensor:
        return self.evidence @ self.weight + self.constant


def _bias(evidence: np.ndarray | None, device: torch.device | str, dtype: torch.dtype) -> Bias | None:
    return None if evidence is None else Bias(evidence, device, dtype)


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
    ) -> None:
        super().__init__()
        self.relation = relation
        self.same = relation.source == relation.target
        matrix = relation.matrix
        if self.same:
            _check_symmetric(relation)
            # the two orders of a pair have one logit: keep the upper triangle, count it twice
            matrix = sp.csr_array(sp.triu(matrix, k=1))
            matrix.sort_indices()
        rows, columns = matrix.shape
        self.n_pairs = rows * (rows - 1) if self.same else rows * columns
        self.times = 2 if self.same else 1
        self.block = block
        # a block that holds a good part of the pairs costs as much as all of them
        self.sampled = all_pairs == "sampled" and self.n_pairs > 4 * block**2
        self.pairs = ObservedPairs(matrix, device=device, dtype=dtype)
        n_ones, n_zeros = self.times * len(self.pairs), self.n_pairs - self.times * len(self.pairs)
        balanced = balance and n_ones and n_zeros
        self.positive_weight = n_zeros / n_ones if balanced else 1.0
        self.norm = self.n_pairs / (2 * n_zeros) if balanced else 1.0
        self.source_bias = _bias(relation.source_evidence, device, dtype)
        self.target_bias = self.source_bias if self.same else _bias(relation.target_evidence, device, dtype)
        self.log_gain: nn.Parameter | None = None
        if relation.likelihood == "gaussian":
            self.squares = float((matrix.data.astype(np.float64) ** 2).sum()) * self.times
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
        def cost(logits: Tensor) -> Tensor:
            return (self.positive_weight - 1) * F.softplus(-logits) - logits

        ones = self.times * self._over_observed(left, right, cost)
        zeros = self._sampled_softplus(left, right, noise) if self.sampled else self._softplus(left, right)
        return self.norm * (zeros + ones) / self.n_pairs

    def _gaussian(self, left: Codes, right: Codes, gain: Tensor) -> Tensor:
        # sum (r - g s)^2 = g^2 sum s^2 - 2 g sum r s + sum r^2: by Gram matrices, and where r is stored
        squares = square_sum(*_both(left.flat(), right.flat()))
        if self.same:
            squares = squares - _over_own_pairs(left, right, torch.square)
        agreement = self.times * self._over_observed(left, right, lambda s: self.pairs.values * s)
        variance = (gain**2 * squares - 2 * gain * agreement + self.squares) / self.n_pairs
        # The scale of the errors is the most likely one, their root mean square: the exponent is 1/2. Learnt
        # step by step it starts too small for the wide codes of the first epochs, and drowns other relations.
        return 0.5 * (variance.clamp_min(SMALLEST_VARIANCE).log() + 1 + float(np.log(2 * np.pi)))

    def _softplus(self, left: Codes, right: Codes) -> Tensor:
        if self.same and self.source_bias is None:
            everything = softplus_sum_symmetric(*left.flat(), block=self.block)
        else:
            everything = softplus_sum(*_both(left.flat(), right.flat()), block=self.block)
        return everything - _over_own_pairs(left, right, F.softplus) if self.same else everything

    def _sampled_softplus(self, left: Codes, right: Codes, noise: Noise) -> Tensor:
        source = noise.generator(self.relation.name)
        drawn = random_block(len(left.values), len(right.values), self.block, self.same, source)
        part = softplus_sum(*_both(left.flat(drawn.rows), right.flat(drawn.columns)), block=self.block)
        return part * drawn.scale

    def _over_observed(self, left: Codes, right: Codes, cost: Cost) -> Tensor:
        """Sum over the stored pairs, and over the choices at both ends, of cost(logit)."""
        total = left.values.new_zeros((), dtype=torch.float64)
        for k in range(left.values.shape[1]):
            for m in range(right.values.shape[1]):
                costs = cost(self.pairs.inner_products(left.values[:, k], right.values[:, m]))
                if left.weights is not None:
                    costs = costs * left.weights[self.pairs.rows, k]
                if right.weights is not None:
                    costs = costs * right.weights[self.pairs.columns, m]
                total = total + costs.sum(dtype=torch.float64)
        return total


def _over_own_pairs(left: Codes, right: Codes, cost: Cost) -> Tensor:
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
