"""Ranking figures by hand, against a plain loop, and in the presence of ties."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import ndcg_score

from coembed.evaluation import ranking
from coembed.evaluation.problem import Pairs, Problem
from coembed.evaluation.ranking import ranking_metrics
from coembed.evaluation.scoring import hidden_and_known


def _random_case(seed: int, n: int = 40, m: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    draw = rng.random((n, m))
    hidden, known = draw < 0.08, draw > 0.8
    hidden[0] = False  # a node without anything to find
    return rng.permuted(np.tile(np.arange(m, dtype=float), (n, 1)), axis=1), hidden, known


def _figures(scores: np.ndarray, hidden: np.ndarray, known: np.ndarray, k: int = 10) -> dict[str, float]:
    return ranking_metrics(
        lambda nodes: scores[nodes], sp.csr_array(hidden * 1.0), sp.csr_array(known * 1.0), k=k
    )


def test_figures_agree_with_a_plain_loop_and_scikit_learn() -> None:
    scores, hidden, known = _random_case(1)
    reciprocal, recall, ndcg = [], [], []
    for i in np.flatnonzero(hidden.any(axis=1)):
        candidates = np.flatnonzero(~known[i])
        ranked = candidates[np.argsort(-scores[i, candidates])]
        ranks = 1 + np.flatnonzero(hidden[i, ranked])
        reciprocal.append(1 / ranks[0])
        recall.append(np.mean(ranks <= 10))
        ndcg.append(ndcg_score(hidden[None, i, candidates], scores[None, i, candidates], k=10))
    figures = _figures(scores, hidden, known)
    assert figures["mrr"] == pytest.approx(np.mean(reciprocal))
    assert figures["recall_at_10"] == pytest.approx(np.mean(recall))
    assert figures["ndcg_at_10"] == pytest.approx(np.mean(ndcg))


def test_equal_scores_count_as_their_expectation_over_random_orders() -> None:
    scores, hidden, known = _random_case(2)
    coarse = scores // 12
    rng = np.random.default_rng(0)
    shuffled = [_figures(coarse + 0.5 * rng.random(coarse.shape), hidden, known) for _ in range(400)]
    tied = _figures(coarse, hidden, known)
    for name in ("recall_at_10", "ndcg_at_10"):
        values = [each[name] for each in shuffled]
        assert abs(tied[name] - np.mean(values)) < 4 * np.std(values) / np.sqrt(len(values))


def test_constant_scores_are_worth_no_more_than_chance() -> None:
    hidden = np.zeros((1, 101), dtype=bool)
    hidden[0, 3] = True
    known = np.zeros_like(hidden)
    known[0, 7] = True
    figures = _figures(np.zeros((1, 101)), hidden, known)
    assert figures["recall_at_10"] == pytest.approx(0.1)
    assert figures["mrr"] == pytest.approx(1 / 50.5)  # the mean rank among 100 candidates


def test_a_perfect_order_scores_one_even_with_more_hidden_items_than_places() -> None:
    hidden = np.zeros((2, 50), dtype=bool)
    hidden[0, :3] = hidden[1, :20] = True
    figures = _figures(hidden * 1.0 + 1e-3 * np.arange(50), hidden, np.zeros_like(hidden))
    assert figures["mrr"] == figures["ndcg_at_10"] == pytest.approx(1.0)
    assert figures["recall_at_10"] == pytest.approx((1 + 10 / 20) / 2)


def test_known_items_and_blocks_of_rows_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, hidden, known = _random_case(3)
    plain = _figures(scores, hidden, known)
    boosted = np.where(known, 1e6, scores)
    monkeypatch.setattr(ranking, "ROWS", 7)
    assert _figures(boosted, hidden, known) == pytest.approx(plain)


def test_fewer_items_than_places() -> None:
    hidden = np.array([[True, False, True]])
    figures = _figures(np.array([[3.0, 2.0, 1.0]]), hidden, np.zeros_like(hidden))
    assert figures["recall_at_10"] == 1.0
    assert figures["ndcg_at_10"] == pytest.approx((1 + 0.5) / (1 + 1 / np.log2(3)))


def test_a_large_network_is_judged_by_a_fixed_draw_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, hidden, known = _random_case(4)
    monkeypatch.setattr(ranking, "ROWS", 4)
    monkeypatch.setattr(ranking, "BUDGET", 10 * scores.shape[1])
    asked: list[int] = []

    def row_scores(nodes: np.ndarray) -> np.ndarray:
        asked.extend(nodes.tolist())
        return scores[nodes]

    ranking_metrics(row_scores, sp.csr_array(hidden * 1.0), sp.csr_array(known * 1.0))
    assert len(asked) == len(set(asked)) == 10


def test_links_are_sought_from_both_ends_and_never_to_oneself(demo) -> None:  # type: ignore[no-untyped-def]
    validation = Pairs(np.array([[0, 5]]), np.empty((0, 2), dtype=np.int64))
    hidden, known = hidden_and_known(
        Problem("links", demo, pairs=validation), Pairs(np.array([[1, 9]]), np.empty((0, 2)))
    )
    assert hidden.nnz == 2
    assert hidden[1, 9] == hidden[9, 1] == 1
    assert (known.diagonal() != 0).all()
    assert known[5, 0] != 0
    assert known.nnz <= demo.links.nnz + demo.n_nodes + 2
