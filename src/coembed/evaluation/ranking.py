"""Ranking of hidden items against all items not yet known: MRR, Recall@k and nDCG@k."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from coembed.network.pairs import entries

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
        ``mrr`` (reciprocal rank of the first hidden item), ``recall_at_k``, ``ndcg_at_k``. Items of
        equal score share their places: recall and nDCG are expectations over a random order of the ties, the
        first rank is the mean one.

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
        _rank_rows(row_scores(rows), hidden[rows], known[rows], k)
        for rows in np.split(nodes, range(ROWS, len(nodes), ROWS))
    ]
    reciprocal, recall, ndcg = np.concatenate(parts, axis=1).mean(axis=1)
    return {"mrr": float(reciprocal), f"recall_at_{k}": float(recall), f"ndcg_at_{k}": float(ndcg)}


def _rank_rows(scores: np.ndarray, hidden: sp.csr_array, known: sp.csr_array, k: int) -> np.ndarray:
    """Reciprocal rank, recall and nDCG (the three rows) of every node (the columns)."""
    n_rows, n_items = scores.shape
    scores = np.array(scores, dtype=np.float64)
    scores[tuple(entries(known).T)] = -np.inf
    row, item = entries(hidden).T
    wanted = scores[row, item]
    above = np.empty(len(row), dtype=np.int64)
    level = np.empty(len(row), dtype=np.int64)
    for start in range(0, len(row), ROWS):  # a row of scores for every hidden item: a few at a time
        part = slice(start, start + ROWS)
        candidates, own = scores[row[part]], wanted[part, None]
        above[part] = np.count_nonzero(candidates > own, axis=1)
        level[part] = np.count_nonzero(candidates == own, axis=1)

    # a tie of `level` items takes the places above + 1 ... above + level, each with equal chance
    discount = np.zeros(n_items + 1)
    discount[1 : k + 1] = 1 / np.log2(np.arange(2, min(k, n_items) + 2))
    gained = np.cumsum(discount)
    gain = (gained[above + level] - gained[above]) / level
    hit = np.clip((k - above) / level, 0, 1)

    counts = np.bincount(row, minlength=n_rows)
    first = np.full(n_rows, n_items, dtype=np.int64)
    np.minimum.at(first, row, above)
    leads = above == first[row]
    together = np.bincount(row[leads], minlength=n_rows)  # hidden items in the leading tie
    level_first = np.zeros(n_rows, dtype=np.int64)
    level_first[row[leads]] = level[leads]
    first_rank = first + (level_first + 1) / (together + 1)
    return np.stack(
        [
            1 / first_rank,
            np.bincount(row, weights=hit, minlength=n_rows) / counts,
            np.bincount(row, weights=gain, minlength=n_rows) / gained[np.minimum(counts, k)],
        ]
    )
