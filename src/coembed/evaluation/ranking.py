"""Ranking of hidden items against all items not yet known, a few rows at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from coembed.metrics import ranking_of_rows

ROWS = 256
"""Nodes whose scores are held at a time."""
BUDGET = 1_000_000_000
"""Most scores looked at; of a larger network that many rows are drawn at random."""

RowScores = Callable[[np.ndarray], np.ndarray]


def ranking_metrics(
    row_scores: RowScores, hidden: sp.csr_array, known: sp.csr_array, *, k: int = 10, seed: int = 0
) -> dict[str, float]:
    """Rank each node's hidden items among all items that are not known, and average over nodes.

    Parameters
    ----------
    row_scores
        Nodes to their scores of all items, ``(len(nodes), items)``.
    hidden
        Presence of the items to be found; nodes without any are left out.
    known
        Presence of the items a node is known to have; they are no candidates.
    k
        Length of the list that a user would look at.

    Returns
    -------
    dict
        ``mrr`` (reciprocal rank of the first hidden item), ``recall_at_k``, ``ndcg_at_k``, see
        :func:`coembed.metrics.ranking_of_rows`.

    Examples
    --------
    One node, five items: item 0 is known, items 1 and 3 are hidden.

    >>> scores = np.array([[9.0, 8.0, 7.0, 6.0, 5.0]])
    >>> hidden = sp.csr_array(np.array([[0, 1, 0, 1, 0]]))
    >>> known = sp.csr_array(np.array([[1, 0, 0, 0, 0]]))
    >>> figures = ranking_metrics(lambda nodes: scores[nodes], hidden, known, k=2)
    >>> figures["mrr"], figures["recall_at_2"], round(figures["ndcg_at_2"], 4)
    (1.0, 0.5, 0.6131)
    """
    nodes = np.flatnonzero(np.diff(hidden.indptr))
    room = max(ROWS, BUDGET // max(1, hidden.shape[1]))
    if len(nodes) > room:
        nodes = np.sort(np.random.default_rng(seed).choice(nodes, room, replace=False))
    parts = [
        ranking_of_rows(row_scores(rows), hidden[rows], known[rows], k)
        for rows in np.split(nodes, range(ROWS, len(nodes), ROWS))
    ]
    reciprocal, recall, ndcg = np.concatenate(parts, axis=1).mean(axis=1)
    return {"mrr": float(reciprocal), f"recall_at_{k}": float(recall), f"ndcg_at_{k}": float(ndcg)}
