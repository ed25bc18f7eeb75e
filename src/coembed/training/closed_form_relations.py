"""What stands beside codes that were solved for: where labels are in them, and what a product is worth.

The score of a pair is a weighted sum: of the product of the codes, of those of the blocks of labels, and of
the logarithms of how much both ends have. The few weights are those with which the relation's own likelihood
costs least, on entries and as many absent pairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from coembed.fitted.gaussians import with_observed
from coembed.fitted.space import RelationFit
from coembed.likelihoods import LIKELIHOODS
from coembed.network import Network
from coembed.network.relations import Relation
from coembed.views import Reading

MOST_LABEL_COORDINATES = 64
PAIRS = 20_000
"""Entries, and as many absent pairs, that a handful of weights is found on."""
PULL = 1e-3
STEPS = 50


@dataclass(frozen=True, eq=False)
class CodeBlocks:
    """The coordinates of codes: those that all types share, then a block for the label of each type.

    Attributes
    ----------
    starts, widths
        By type, where the block of its label begins, and how wide it is.
    tables
        Of types with very many classes: the row that stands for each in the block.
    """

    dim: int
    starts: dict[str, int]
    widths: dict[str, int]
    tables: dict[str, np.ndarray]

    @classmethod
    def of(cls, network: Network, dim: int) -> CodeBlocks:
        starts, widths, tables, start = {}, {}, {}, dim
        for place, (name, items) in enumerate(network.types.items()):
            starts[name], widths[name] = start, min(items.n_classes, MOST_LABEL_COORDINATES)
            start += widths[name]
            if items.n_classes > MOST_LABEL_COORDINATES:
                drawn = np.random.default_rng([place, 53]).standard_normal((items.n_classes, widths[name]))
                tables[name] = (drawn / np.sqrt(widths[name])).astype(np.float32)
        return cls(dim, starts, widths, tables)

    @property
    def size(self) -> int:
        return self.dim + sum(self.widths.values())

    def label_part(self, network: Network, type: str, told: np.ndarray | None) -> np.ndarray:
        """What stands in a type's block: its label where it is known, what is thought of it elsewhere."""
        known = network.items(type).labels
        if known is None or told is None:
            return np.zeros((len(network.items(type)), self.widths[type]), np.float32)
        label = with_observed(told, known.values)
        return label @ self.tables[type] if type in self.tables else label

    def joined(self, type: str, z: np.ndarray, label: np.ndarray) -> np.ndarray:
        """Codes in all coordinates; those of the labels of other types are zero."""
        codes = np.zeros((len(z), self.size), np.float32)
        codes[:, : self.dim] = z
        codes[:, self.starts[type] : self.starts[type] + self.widths[type]] = label
        return codes

    def without_label(self, type: str, codes: np.ndarray) -> np.ndarray:
        """z alone: the coordinates that are not those of the type's own label."""
        start, stop = self.starts[type], self.starts[type] + self.widths[type]
        return np.ascontiguousarray(np.hstack([codes[:, :start], codes[:, stop:]]))

    def parts(self, source: str, target: str) -> list[slice]:
        """The shared coordinates, and the blocks in which codes of two types differ from zero."""
        labels = [name for name in dict.fromkeys((source, target)) if self.widths[name]]
        return [slice(0, self.dim), *(slice(self.starts[n], self.starts[n] + self.widths[n]) for n in labels)]


def relation_fits(
    network: Network,
    readings: Mapping[str, Reading],
    codes: Mapping[str, np.ndarray],
    blocks: CodeBlocks,
    seed: int,
) -> dict[str, RelationFit]:
    """What was found of every relation."""
    found = {}
    for place, (name, relation) in enumerate(network.relations.items()):
        reading = readings[name]
        if relation.column is not None and relation.column.has_cells:
            found[name] = RelationFit(reading.likelihood, reading.unit, target_bias=_usual(relation))
        else:
            rng = np.random.default_rng([seed, place, 61])
            found[name] = _weighed(network, relation, reading, codes, blocks, rng)
    return found


def _usual(relation: Relation) -> np.ndarray:
    """What is expected of a cell of which nothing is known."""
    column = relation.column
    assert column is not None
    cells = sp.csr_array(relation.values[:, column.start : column.stop])
    known = max(int(np.count_nonzero(np.diff(cells.indptr))), 1)
    mean = np.asarray(cells.sum(axis=0)).ravel() / known
    if column.numeric:
        return mean.astype(np.float32)
    shares = np.clip(mean, 0.5 / (known + 1), 1 - 0.5 / (known + 1))
    odds = np.log(shares) if column.kind == "category" else np.log(shares / (1 - shares))
    return odds.astype(np.float32)


def _weighed(
    network: Network,
    relation: Relation,
    reading: Reading,
    codes: Mapping[str, np.ndarray],
    blocks: CodeBlocks,
    rng: np.random.Generator,
) -> RelationFit:
    """A relation whose scores are weighed sums."""
    matrix = reading.target(relation.values)
    column = relation.column
    first, last = (0, matrix.shape[1]) if column is None else (column.start, column.stop)
    near = np.log1p(np.diff(matrix.indptr)).astype(np.float32)
    far = np.log1p(np.bincount(matrix.indices, minlength=matrix.shape[1])).astype(np.float32)[first:last]
    pairs, values = _pairs_of(matrix, relation, (first, last), rng)
    here, there = codes[relation.source][pairs[:, 0]], codes[relation.target][pairs[:, 1]]
    parts = blocks.parts(relation.source, relation.target)
    products = [np.einsum("nd,nd->n", here[:, part], there[:, part]) for part in parts]
    counts = [near[pairs[:, 0]], far[pairs[:, 1] - first]]
    if relation.pairing.undirected:
        counts = [counts[0] + counts[1]]
    ones = np.ones(len(pairs))
    weights = cheapest(np.stack([*products, *counts, ones], axis=1), values, reading.likelihood)
    gains, by_count, constant = weights[: len(parts)], weights[len(parts) : -1], weights[-1]
    turn = np.zeros((blocks.size, blocks.size), np.float32)
    for part, gain in zip(parts, gains, strict=True):
        turn[part, part] = np.diag(np.full(part.stop - part.start, max(gain, 0.0)))
    by_near, by_far = (by_count[0], by_count[-1]) if len(by_count) else (0.0, 0.0)
    biases = by_near * near + constant / 2, by_far * far + constant / 2
    return RelationFit(
        reading.likelihood,
        reading.unit,
        biases[0].astype(np.float32),
        biases[1].astype(np.float32),
        _of_new(network, relation, relation.source, ">", by_near, constant / 2),
        _of_new(network, relation, relation.target, "<", by_far, constant / 2),
        turn,
        center=reading.center,
    )


def _of_new(
    network: Network, relation: Relation, type: str, end: str, weight: float, constant: float
) -> np.ndarray:
    """Weights of the counts of a newcomer, in the order in which they are counted, and a constant."""
    ways = []
    for each in network.relations.values():
        if each.column is not None and each.column.has_cells:
            continue
        ways += [(each.name, ">")] if each.source == type else []
        ways += [(each.name, "<")] if each.target == type and not each.pairing.undirected else []
    own = (relation.name, ">" if relation.pairing.undirected else end)
    return np.array([weight if way == own else 0.0 for way in ways] + [constant], dtype=np.float32)


def _pairs_of(
    matrix: sp.csr_array, relation: Relation, span: tuple[int, int], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Some entries and, where absent means no, as many absent pairs; and the values of all."""
    some = rng.permutation(matrix.nnz)[:PAIRS]
    rows = np.searchsorted(matrix.indptr, some, side="right") - 1
    present, values = np.stack([rows, matrix.indices[some]], axis=1), matrix.data[some]
    if relation.absent == "unknown" or not len(some):
        return present.astype(np.int64), values
    drawn = np.stack([rng.integers(0, matrix.shape[0], len(some)), rng.integers(*span, len(some))], axis=1)
    absent = np.asarray(matrix[drawn[:, 0], drawn[:, 1]]).ravel() == 0
    if relation.pairing.same:
        absent &= drawn[:, 0] != drawn[:, 1]
    drawn = drawn[absent]
    return np.concatenate([present, drawn]), np.concatenate([values, np.zeros(len(drawn), values.dtype)])


def cheapest(features: np.ndarray, values: np.ndarray, likelihood: str) -> np.ndarray:
    """The weights of the features whose sum costs least under a likelihood: convex, a handful of unknowns.

    Examples
    --------
    >>> one = np.ones((6, 1))
    >>> round(float(cheapest(one, np.array([1, 1, 1, 1, 0, 0]), "bernoulli")[0]), 1)  # log 2
    0.7
    """
    import torch

    if not len(features):
        return np.zeros(features.shape[1], np.float32)
    scale = np.maximum(np.sqrt(np.mean(features**2, axis=0)), 1e-9)
    inputs = torch.as_tensor(features / scale, dtype=torch.float64)
    wanted = torch.as_tensor(values, dtype=torch.float64)
    kind = LIKELIHOODS[likelihood]

    def cost(at: np.ndarray) -> tuple[float, np.ndarray]:
        weights = torch.tensor(at, requires_grad=True)
        loss = kind.cost(inputs @ weights, wanted).mean() + PULL * weights.square().sum()
        (slope,) = torch.autograd.grad(loss, weights)
        return loss.item(), slope.numpy()

    # not an optimiser of torch: the first of these imports a compiler, which takes longer than this
    start, options = np.zeros(features.shape[1]), {"maxiter": STEPS}
    found = minimize(cost, start, jac=True, method="L-BFGS-B", options=options).x
    return np.asarray(found / scale, dtype=np.float32)
