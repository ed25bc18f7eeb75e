"""What a fit leaves of a type and of a relation: the space, and how a pair in it is scored."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from coembed.errors import InputError
from coembed.fitted.cell_models import CellModel
from coembed.fitted.conformal import ClassDoubt
from coembed.fitted.gaussians import Gaussians, with_labels
from coembed.fitted.moments import Moments, aligned_moments, crossed_moments
from coembed.fitted.pair_doubt import PairDoubt
from coembed.fitted.score_blend import Blend
from coembed.fitted.way_models import WayModel
from coembed.likelihoods import LIKELIHOODS, Likelihood


@dataclass(frozen=True, eq=False)
class TypeSpace:
    """The items of one type as Gaussians.

    Attributes
    ----------
    mean, std
        z of every item, inferred with *predicted* label probabilities, so that labelled and unlabelled rows
        have one distribution.
    probabilities
        q(y | F) of every item, if the type has classes.
    label_shift
        K x 2D: what label k adds to [mean | log std] of z.
    block
        Where the block of the type's label begins in a code of the common space.
    strength
        How far class probabilities lean towards those of the links.
    direction
        Where every item points in the space that all types share, rows of length one; None if nothing was
        taught there, and the codes of the model itself are what is compared.
    doubt
        Which classes cannot be ruled out of every item.
    label_table
        Of many classes, K x coordinates: the label's block of a code is y times this.
    thresholds
        Of several classes an item: the probability from which on it is said to have each.
    """

    mean: np.ndarray
    std: np.ndarray
    probabilities: np.ndarray | None = None
    label_shift: np.ndarray | None = None
    block: int = 0
    strength: float = 0.0
    label_table: np.ndarray | None = None
    thresholds: np.ndarray | None = None
    direction: np.ndarray | None = None
    doubt: ClassDoubt | None = None

    def __post_init__(self) -> None:
        count, dim = self.mean.shape
        if self.std.shape != (count, dim):
            raise InputError(f"the deviations have shape {self.std.shape}, the means {self.mean.shape}")
        if self.probabilities is not None and self.label_shift is not None:
            classes = self.probabilities.shape[1]
            if self.probabilities.shape[0] != count or self.label_shift.shape != (classes, 2 * dim):
                raise InputError("the label probabilities of the model do not fit its items")
            if self.label_table is not None and len(self.label_table) != classes:
                raise InputError("the table of labels of the model does not fit its classes")

    @property
    def size(self) -> int:
        """Coordinates of a code."""
        label = self.probabilities if self.label_table is None else self.label_table
        return self.mean.shape[1] + (0 if label is None else label.shape[1])

    def latents(self, labels: np.ndarray, rows: np.ndarray | None = None) -> Gaussians:
        """What the model infers of some items, or of all: z, and y in its block, observed where known."""
        z = Gaussians(self.mean, self.std)
        if rows is None:
            return self.coded(z, self.probabilities, labels)
        probabilities = None if self.probabilities is None else self.probabilities[rows]
        return self.coded(z.take(rows), probabilities, labels[rows])

    def coded(self, z: Gaussians, probabilities: np.ndarray | None, labels: np.ndarray) -> Gaussians:
        """The same of any items of this type, from z with predicted labels."""
        if probabilities is None or self.label_shift is None:
            return z
        return with_labels(z, probabilities, self.label_shift, labels, self.block, self.label_table)


def pointing(latents: Gaussians, direction: np.ndarray | None) -> Gaussians:
    """Codes of the common space: a direction, as uncertain in proportion as what the model infers."""
    if direction is None:
        return latents
    lengths = np.linalg.norm(latents.mean, axis=1)
    spread = np.sqrt(np.mean(np.square(latents.std), axis=1)) / np.maximum(lengths, 1e-6)
    std = np.clip(spread, 1e-4, 10)[:, None].astype(np.float32)
    return Gaussians(direction, np.broadcast_to(std, direction.shape))


class ItemVectors(NamedTuple):
    """Leading eigenvectors of the Gram matrix of a relation's columns, and the roots of their eigenvalues."""

    vectors: np.ndarray
    strength: np.ndarray


@dataclass(frozen=True, eq=False)
class RelationFit:
    """What was learnt of a relation beside the codes of its ends.

    Attributes
    ----------
    unit, center
        What a score of one is worth in a Gaussian relation, and what a score of zero stands for.
    source_bias, target_bias
        What is added to the inner product for the items of either end; 0 where they are missing.
    source_evidence, target_evidence
        Weights (the last a constant) that give the bias of a new item from the logarithms of its counts.
    turn, lean
        Of one of several relations between the same types, or of a directed one: the score is
        c_i' turn c_j + <lean, c_i> - <lean, c_j>.
    log_scale, variance_gain
        Of a number column: the logarithm of the error of its values, which is added to the variance of the
        score, and what that variance is multiplied with.
    blends
        How closed-form scores are combined with the model's own: ``likely`` and ``lift``. And, where
        newcomers are better answered by the common space, what a cosine there is worth: ``codes``.
    by_codes
        Whether the common space answers by itself.
    shifts
        What makes of the scores of some blends probabilities among all pairs (:mod:`coembed.fitted.chances`).
    vectors
        What some of those scores are made of.
    cells
        Of a column with cells: other models of them, and what each counts.
    ways
        Of a directed relation: a model of which way links go.
    doubt
        How hidden and absent pairs are scored: what lists with few errors need.
    errors
        Of a number column: how far off cells kept aside were, in units of their spread, in ascending order.
    """

    likelihood: str = "bernoulli"
    unit: float = 1.0
    source_bias: np.ndarray | None = None
    target_bias: np.ndarray | None = None
    source_evidence: np.ndarray | None = None
    target_evidence: np.ndarray | None = None
    turn: np.ndarray | None = None
    lean: np.ndarray | None = None
    log_scale: np.ndarray | None = None
    variance_gain: float = 1.0
    center: float = 0.0
    blends: dict[str, Blend] = field(default_factory=dict)
    by_codes: bool = False
    shifts: dict[str, float] = field(default_factory=dict)
    vectors: ItemVectors | None = None
    cells: CellModel | None = None
    ways: WayModel | None = None
    doubt: PairDoubt | None = None
    errors: np.ndarray | None = None

    @property
    def kind(self) -> Likelihood:
        return LIKELIHOODS[self.likelihood]

    def without_pair_scores(self) -> RelationFit:
        return replace(self, blends={}, by_codes=False, shifts={}, vectors=None)

    def by_cosine(self, moments: Moments) -> np.ndarray:
        """What cosines in the common space are worth, as probabilities against as many absent pairs."""
        return expit(self.blends["codes"].logits_of([moments.mean]))

    def turned(self, source: Gaussians) -> Gaussians:
        """The codes of source items, to be multiplied with those of targets as they are."""
        if self.turn is None:
            return source
        return Gaussians(source.mean @ self.turn, np.sqrt(source.std**2 @ self.turn**2))

    def query(self, source: Gaussians) -> np.ndarray:
        """What to compare with the codes of targets: its inner product with one is the score of the pair, but
        for biases and for what is the same for all targets of a source."""
        mean = self.turned(source).mean
        return mean if self.lean is None else (mean - self.lean).astype(mean.dtype)

    def aligned(self, source: Gaussians, target: Gaussians) -> Moments:
        """Scores row by row, biases apart."""
        moments = aligned_moments(self.turned(source), target)
        if self.lean is None:
            return moments
        here, there = self._leaning(source), self._leaning(target)
        return Moments(
            moments.mean + here.mean - there.mean, moments.variance + here.variance + there.variance
        )

    def crossed(self, source: Gaussians, target: Gaussians) -> Moments:
        """Scores of every row of `source` with every row of `target`, biases apart."""
        moments = crossed_moments(self.turned(source), target)
        if self.lean is None:
            return moments
        here, there = self._leaning(source), self._leaning(target)
        return Moments(
            moments.mean + here.mean[:, None] - there.mean,
            moments.variance + here.variance[:, None] + there.variance,
        )

    def _leaning(self, codes: Gaussians) -> Moments:
        assert self.lean is not None
        return Moments(codes.mean @ self.lean, codes.std**2 @ self.lean**2)


def bias_of_new(weights: np.ndarray | None, counts: np.ndarray) -> np.ndarray:
    """Biases of new items from how many entries they have in each relation."""
    if weights is None:
        return np.zeros(len(counts), dtype=np.float32)
    return (np.log1p(counts) @ weights[:-1] + weights[-1]).astype(np.float32)
