"""The space alone: what lies near what by cosine, without a bias, a model or a second score.

User profiling, the task that the paper names: an item's hidden attributes among those nearest to it, and the
items nearest to an attribute, as a vector database would tell.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from coembed.evaluation.problem import Answer
from coembed.evaluation.ranking import ranking_metrics
from coembed.evaluation.scoring import hidden_and_known, score_of_pairs
from coembed.evaluation.trial import Trial
from coembed.network import Network
from coembed.network.cell_values import attribute_range

OWNERS = 10
"""An attribute with fewer owners is not asked who stands for it: there may be no ten to find."""
NEAREST = 20
ROWS = 512


def score_profiling(network: Network, trial: Trial, answer: Answer) -> dict[str, float]:
    """Figures of the cosines of both ends of a relation, and the recall of the answer beside them."""
    found = score_cosines(network, trial, answer)
    if not found:
        return {}
    assert trial.uniform is not None
    among = attribute_range(trial.problem.asked)
    hidden, known = (part[:, among] for part in hidden_and_known(trial.problem, trial.uniform))
    answered = ranking_metrics(
        lambda rows: answer.row_scores(rows)[:, among], hidden, known, seed=trial.problem.seed
    )
    return found | {"answered_recall_at_10": answered["recall_at_10"]}


def score_cosines(network: Network, trial: Trial, answer: Answer) -> dict[str, float]:
    """What vectors alone tell of the hidden pairs, and whether types mix; `network` has the truth."""
    found = answer.directions()
    if found is None:
        return {}
    problem, (source, target) = trial.problem, map(_unit, found)
    assert trial.uniform is not None
    among = np.arange(problem.asked.values.shape[1])[attribute_range(problem.asked)]
    hidden, known = (part[:, among] for part in hidden_and_known(problem, trial.uniform))
    ranked = ranking_metrics(lambda rows: source[rows] @ target[among].T, hidden, known, seed=problem.seed)

    def cosines(pairs: np.ndarray) -> np.ndarray:
        return np.einsum("nd,nd->n", source[pairs[:, 0]], target[pairs[:, 1]])

    figures = ranked | score_of_pairs(cosines, trial.uniform)
    if trial.matched is not None and len(trial.matched.positives):
        figures["auc_matched"] = score_of_pairs(cosines, trial.matched)["auc"]
    truth = sp.csr_array(network.relation(problem.relation).values)
    figures["precision_at_10"] = precision_of_owners(source, target, truth, among)
    if not problem.asked.pairing.same:
        figures["mixing"] = mixing(source, target[among])
    return figures


def precision_of_owners(
    source: np.ndarray, target: np.ndarray, truth: sp.csr_array, among: np.ndarray
) -> float:
    """Of the ten items nearest to an attribute the share that have it; mean of those with ten owners or more.

    Examples
    --------
    >>> owns = sp.csr_array(np.array([[1.0]] * 10 + [[0.0]] * 10))
    >>> near = np.repeat([[1.0, 0.0], [0.0, 1.0]], 10, axis=0)
    >>> precision_of_owners(near, np.array([[1.0, 0.1]]), owns, np.array([0]))
    1.0
    """
    owners = sp.csr_array(truth.T)
    asked = among[np.diff(owners.indptr)[among] >= OWNERS]
    hits = []
    for first in range(0, len(asked), ROWS):
        rows = asked[first : first + ROWS]
        near = _nearest(target[rows] @ source.T, OWNERS)
        has = owners[rows].toarray() != 0
        hits.append(np.take_along_axis(has, near, axis=1).mean(axis=1))
    return float(np.concatenate(hits).mean()) if hits else float("nan")


def mixing(source: np.ndarray, target: np.ndarray) -> float:
    """Of the twenty items nearest to a target the share of sources, over their share of all.

    1: one cloud, 0: two.

    Examples
    --------
    >>> one, other = np.eye(2, dtype=float)
    >>> mixing(np.tile(one, (30, 1)), np.tile(other, (30, 1)))
    0.0
    """
    everything = np.concatenate([source, target])
    count = min(NEAREST, len(everything) - 1)
    shares = []
    for first in range(0, len(target), ROWS):
        rows = np.arange(first, min(first + ROWS, len(target)))
        scores = target[rows] @ everything.T
        scores[np.arange(len(rows)), len(source) + rows] = -np.inf
        shares.append((_nearest(scores, count) < len(source)).mean(axis=1))
    expected = len(source) / (len(everything) - 1)
    return float(np.concatenate(shares).mean() / expected)


def _nearest(scores: np.ndarray, count: int) -> np.ndarray:
    return np.argpartition(-scores, min(count, scores.shape[1]) - 1, axis=1)[:, :count]


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
