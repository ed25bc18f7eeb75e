"""How likely a pair is among all pairs that could be, and how far the doubt about its ends moves that.

The combination of scores is weighed on as many pairs that are not there as are. Of all pairs far fewer are:
a shift of the logit makes of a score that ranks a probability that can be counted on, such that pairs at
random are on average as likely as pairs are frequent. It is found on pairs that were kept aside; where there
are none, it is the logit of that share.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from coembed.fitted.moments import Moments
from coembed.network.relations import Relation

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted
    from coembed.fitted.space import RelationFit

NEARLY = 1e-7
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(5)
"""Where a standard normal is looked at, and how much of it each place stands for."""
WEIGHTS /= WEIGHTS.sum()


def prevalence(relation: Relation) -> float:
    """The share of the pairs of a relation that are there.

    Examples
    --------
    >>> prevalence(Relation.build("links", "node", "node", [[0, 1, 0], [1, 0, 0], [0, 0, 0]]))
    0.3333333333333333
    """
    height, width = relation.values.shape
    if relation.column is not None:
        width = relation.column.stop - relation.column.start
    there = relation.values.nnz // (2 if relation.pairing.undirected else 1)
    return there / max(relation.pairing.possible(height, width), 1)


def score_name(fitted: Fitted, relation: str) -> str:
    """What the score of an answer is: a probability only where it was weighed against what is there."""
    fit, column = fitted.relations[relation], fitted.network.relation(relation).column
    if not fit.kind.of_presence and not fit.kind.grouped:
        return "value"
    return "probability" if fit.blends or (column is not None and column.has_cells) else "score"


def answered(
    relation: Relation,
    fit: RelationFit,
    kind: str,
    moments: Moments,
    worth: Callable[[Moments], np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """The score that is shown of some pairs, and its ±, from what makes a score of uncertain inner products.

    `kind` is that of the scores: of the combination (``likely``) or of cosines (``codes``). `worth` is asked
    once for all places where the inner products are looked at, one layer each.
    The ± is the standard deviation of the score where the inner product is as uncertain as it is, by
    Gauss-Hermite quadrature: to some hundredths where two places would be wrong by as much again, since a
    score that starts near 0 can only rise.
    """
    if not fit.kind.of_presence:
        return worth(moments), fit.unit * fit.kind.spread(moments.mean, moments.variance)
    shift = fit.shifts.get(kind, logit(np.clip(prevalence(relation), NEARLY, 1 - NEARLY)))
    shift = shift if fit.blends else 0.0
    step = np.sqrt(moments.variance)
    steps = NODES.reshape(-1, *np.ones(step.ndim, dtype=np.int64)) * step
    seen = expit(logit(np.clip(worth(moments.moved(steps)), NEARLY, 1 - NEARLY)) + shift)
    middle = seen[len(NODES) // 2]
    moved = seen - middle
    spread = np.square(moved - np.tensordot(WEIGHTS, moved, 1))
    return middle, np.sqrt(np.tensordot(WEIGHTS, spread, 1))
