"""Floors of attribute inference and link prediction, by hand and against dense computations."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score

from coembed.baselines import METHODS, features, method
from coembed.baselines.features import idf_rows, nearest_nodes
from coembed.baselines.joined_evidence import LinkEvidence
from coembed.baselines.recommenders import degree, neighbours, popularity
from coembed.errors import InputError
from coembed.evaluation.problem import Problem
from coembed.network import Network, split_links


@pytest.fixture(scope="module")
def small() -> Network:
    links = np.zeros((5, 5))
    for i, j in ((0, 1), (0, 2), (0, 3), (1, 2), (3, 4)):
        links[i, j] = links[j, i] = 1
    return Network.build(links, attributes=[[1, 1, 0], [1, 0, 0], [1, 0, 2], [0, 0, 0], [0, 0, 3]])


def test_popularity_counts_presence_not_values(small: Network) -> None:
    assert popularity(Problem("attributes", small)).row_scores(np.array([4])).tolist() == [[3, 1, 2]]
    assert popularity(Problem("links", small)).pair_scores(np.array([[0, 4], [1, 2]])).tolist() == [4, 4]


def test_degree_orders_as_the_product_of_counts(small: Network) -> None:
    rows = degree(Problem("attributes", small)).row_scores(np.arange(5))
    counts = np.outer([2, 1, 2, 0, 1], [3, 1, 2])
    seen = np.array([0, 1, 2, 4])
    assert np.exp(rows[seen]) == pytest.approx(counts[seen] + np.add.outer([2, 1, 2, 1], [3, 1, 2]) + 1)


def test_adamic_and_adar_by_hand(small: Network) -> None:
    scores = neighbours(Problem("links", small)).pair_scores(np.array([[1, 3], [1, 2], [0, 4], [1, 4]]))
    # 1 and 3 share node 0 (degree 3); 1 and 2 too; 0 and 4 share node 3 (degree 2); 1 and 4 nobody
    assert scores == pytest.approx([1 / np.log(3), 1 / np.log(3), 1 / np.log(2), 0])


@pytest.mark.parametrize("k", [1, 5, 20])
def test_nearest_nodes_agree_with_the_dense_computation(
    demo: Network, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(features, "ROWS", 100)
    unit = idf_rows(demo.attributes)
    cosine = (unit @ unit.T).toarray()
    np.fill_diagonal(cosine, 0)
    near = nearest_nodes(unit, k)
    assert near.diagonal().sum() == 0
    assert near.sum(axis=1) == pytest.approx(np.sort(cosine, axis=1)[:, -k:].sum(axis=1), abs=1e-4)
    assert np.diff(near.indptr).max() == k


def test_more_neighbours_than_nodes_are_all_nodes() -> None:
    unit = sp.csr_array(np.full((3, 1), 1.0))
    assert nearest_nodes(unit, k=20).toarray().tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert nearest_nodes(sp.csr_array(np.ones((1, 1)))).nnz == 0


def test_votes_come_from_similar_nodes(demo: Network) -> None:
    answer = neighbours(Problem("attributes", demo))
    unit = idf_rows(demo.attributes)
    expected = nearest_nodes(unit)[[7]] @ (demo.attributes > 0).astype(np.float32)
    assert answer.row_scores(np.array([7])) == pytest.approx(expected.toarray(), abs=1e-6)


@pytest.mark.parametrize("task", ["attributes", "links"])
@pytest.mark.parametrize("name", ["popularity", "degree", "neighbours"])
def test_pairs_have_the_score_of_their_row(demo: Network, name: str, task: str) -> None:
    answer = METHODS[name].fit(Problem(task, demo))  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    pairs = rng.integers(600, size=(50, 2))
    rows = answer.row_scores(pairs[:, 0])
    assert answer.pair_scores(pairs) == pytest.approx(rows[np.arange(50), pairs[:, 1]])
    if task == "links":
        assert answer.pair_scores(pairs[:, ::-1]) == pytest.approx(answer.pair_scores(pairs))


def test_names_of_methods_are_known_or_refused() -> None:
    assert all(name == each.name for name, each in METHODS.items())
    with pytest.raises(InputError, match="did you mean 'gcn'"):
        method("gcn2")
    with pytest.raises(InputError, match="these do: scan, popularity, degree, neighbours"):
        method("majority", "links")


def test_evidence_for_links_is_the_same_by_pairs_and_by_rows(demo: Network) -> None:
    evidence = LinkEvidence(demo.links, idf_rows(demo.attributes))
    rows, others = np.array([3, 700]), np.array([5, 9])
    for by_pair, by_row in zip(
        evidence.of_pairs(np.column_stack([rows, others])), evidence.of_rows(rows), strict=True
    ):
        np.testing.assert_allclose(by_pair, by_row[[0, 1], others], atol=1e-6)


def test_several_kinds_of_evidence_are_better_than_the_best_alone(demo: Network) -> None:
    split = split_links(demo, validation=0.0, test=0.1, seed=0)
    problem = Problem("links", split.visible(demo))
    truth = np.repeat([1, 0], [len(split.test), len(split.test_negatives)])
    asked = np.concatenate([split.test, split.test_negatives])
    auc = {name: roc_auc_score(truth, METHODS[name].fit(problem).pair_scores(asked)) for name in LINK_FLOORS}
    assert auc["linear-links"] > max(auc["resource-allocation"], auc["degree"])


LINK_FLOORS = ("linear-links", "resource-allocation", "degree")


def test_common_neighbours_speak_for_a_link_the_more_the_fewer_links_they_have() -> None:
    """By hand: 0 and 3 share 1, which has two links, and 2, which has three."""
    links = np.zeros((5, 5))
    for i, j in ((0, 1), (1, 3), (0, 2), (2, 3), (2, 4)):
        links[i, j] = links[j, i] = 1
    evidence = LinkEvidence(sp.csr_array(links), sp.csr_array((5, 1)))
    plain, adamic, allocation, _, _ = (float(each[0]) for each in evidence.of_pairs(np.array([[0, 3]])))
    assert plain == pytest.approx(np.log1p(2))
    assert adamic == pytest.approx(np.log1p(1 / np.log(2) + 1 / np.log(3)))
    assert allocation == pytest.approx(np.log1p(1 / 2 + 1 / 3))
