"""What a method sees in a trial, and what it is asked."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.evaluation import draw_splits, published_trial, strict_trial
from coembed.evaluation.problem import Answer
from coembed.evaluation.scan_method import ScanAnswer
from coembed.evaluation.scoring import score_strict
from coembed.network import UNKNOWN, Network


def _codes(pairs: np.ndarray, matrix: sp.csr_array) -> np.ndarray:
    return pairs[:, 0] * matrix.shape[1] + pairs[:, 1]


def _stored(pairs: np.ndarray, matrix: sp.csr_array) -> np.ndarray:
    coo = matrix.tocoo()
    return np.isin(_codes(pairs, matrix), coo.row.astype(np.int64) * matrix.shape[1] + coo.col)


def test_classification_shows_everything_but_the_labels_asked_for(demo: Network) -> None:
    trial = strict_trial(demo, draw_splits(demo, "classification", 0.1, seed=3))
    seen = trial.problem.network
    assert (seen.links != demo.links).nnz == 0
    assert (seen.attributes != demo.attributes).nnz == 0
    assert (seen.labels[trial.nodes] == UNKNOWN).all()
    assert len(seen.labelled) + len(trial.nodes) == demo.n_nodes
    assert np.isin(trial.problem.validation, seen.labelled).all()
    assert len(trial.problem.training) + len(trial.problem.validation) == len(seen.labelled)


@pytest.mark.parametrize("task", ["attributes", "links"])
def test_pairs_that_are_asked_cannot_be_seen(demo: Network, task: str) -> None:
    trial = strict_trial(demo, draw_splits(demo, task, seed=1))  # type: ignore[arg-type]
    matrix, full = getattr(trial.problem.network, task), getattr(demo, task)
    other = "links" if task == "attributes" else "attributes"
    assert (getattr(trial.problem.network, other) != getattr(demo, other)).nnz == 0
    assert trial.uniform is not None
    assert trial.matched is not None
    assert trial.problem.pairs is not None
    for asked in (trial.uniform, trial.matched, trial.problem.pairs):
        assert not _stored(asked.positives, matrix).any()
        assert not _stored(asked.positives[:, ::-1], matrix).any() or task == "attributes"
        assert _stored(asked.positives, full).all()
        # for who chooses, pairs of the test are absent ones like others
        absent_from = matrix if asked is trial.problem.pairs else full
        assert not _stored(asked.negatives, absent_from).any()
    given = _codes(trial.problem.pairs.positives, matrix)
    assert not np.isin(given, _codes(trial.uniform.positives, matrix)).any()


@pytest.mark.parametrize("task", ["classification", "attributes", "links"])
def test_masked_inputs_lack_a_share_of_both_relations(demo: Network, task: str) -> None:
    trial = strict_trial(demo, draw_splits(demo, task, seed=1), inputs="masked")  # type: ignore[arg-type]
    seen = trial.problem.network
    assert seen.n_links == pytest.approx(0.85 * demo.n_links, abs=2)
    assert seen.attributes.nnz == pytest.approx(0.85 * demo.attributes.nnz, abs=2)


@pytest.mark.parametrize("task", ["classification", "attributes"])
def test_the_validation_part_is_asked_unseen_and_apart_from_the_test(demo: Network, task: str) -> None:
    splits = draw_splits(demo, task, seed=0)  # type: ignore[arg-type]
    trial = strict_trial(demo, splits, part="validation")
    assert splits.labels is not None
    assert np.array_equal(trial.nodes, splits.labels.validation)
    assert np.array_equal(trial.problem.network.labelled, splits.labels.train)
    assert not len(trial.problem.validation)
    if splits.pairs is not None:
        assert trial.problem.pairs is None
        assert trial.uniform is not None
        assert np.array_equal(trial.uniform.positives, splits.pairs.validation)


def test_without_labels_there_are_no_classes(demo: Network) -> None:
    seen = strict_trial(demo, draw_splits(demo, "attributes", labels=0)).problem.network
    assert seen.n_classes == 0
    assert not len(seen.labelled)


def test_the_published_trial_leaks_links_and_says_so(demo: Network) -> None:
    trial = published_trial(demo, "links")
    assert trial.uniform is not None
    assert _stored(trial.uniform.positives, trial.problem.network.links).mean() > 0.8
    assert trial.problem.pairs is None
    attributes = published_trial(demo, "classification").problem.network.attributes
    assert attributes.nnz == pytest.approx(0.85 * demo.attributes.nnz, rel=0.01)


@pytest.mark.parametrize("labels", [-0.1, 1.5, 0.0])
def test_shares_of_labels_that_make_no_sense_are_refused(demo: Network, labels: float) -> None:
    with pytest.raises(InputError):
        draw_splits(demo, "classification", labels)


def test_a_network_without_labels_cannot_be_classified() -> None:
    with pytest.raises(InputError, match="needs labels"):
        draw_splits(Network.build(np.zeros((3, 3))), "classification")


def test_scores_of_pairs_are_those_of_their_rows() -> None:
    table = np.random.default_rng(0).random((700, 9))

    class Rows(Answer):
        def row_scores(self, nodes: np.ndarray) -> np.ndarray:
            return table[nodes]

    rng = np.random.default_rng(1)
    pairs = np.column_stack([rng.integers(700, size=3000), rng.integers(9, size=3000)])
    assert np.array_equal(Rows().pair_scores(pairs), table[pairs[:, 0], pairs[:, 1]])
    assert Rows().pair_scores(pairs[:0]).shape == (0,)


class Popular(Answer):
    """Its pairs and its lifts say the opposite of one another."""

    def __init__(self, links: sp.csr_array) -> None:
        self.links = links

    def row_scores(self, nodes: np.ndarray) -> np.ndarray:
        return self.links[nodes].toarray()

    def lift_scores(self, pairs: np.ndarray) -> np.ndarray:
        return -self.pair_scores(pairs)


def test_pairs_against_others_as_popular_are_judged_by_their_lift(demo: Network) -> None:
    trial = strict_trial(demo, draw_splits(demo, "links", seed=1))
    figures = score_strict(demo, trial, Popular(demo.links))
    assert figures["auc"] == 1
    assert figures["auc_matched"] == 0


def test_a_fitted_model_is_asked_for_its_lift() -> None:
    class Asked:
        def score(self, relation: str, pairs: np.ndarray, lift: bool = False) -> np.ndarray:
            return np.full(len(pairs), float(lift))

    answer = ScanAnswer(Asked(), "node", "links")  # type: ignore[arg-type]
    pairs = np.array([[0, 1], [2, 3]])
    assert answer.lift_scores(pairs).tolist() == [1, 1]
    assert answer.pair_scores(pairs).tolist() == [0, 0]
