"""Small rules of evaluation: who is refused, which seed, what is known, what is said to be better."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from coembed.baselines import METHODS
from coembed.errors import InputError
from coembed.evaluation import Problem, svm, training_truth
from coembed.evaluation.problem import Pairs, guarded
from coembed.evaluation.scan_method import ScanAnswer, settings_of
from coembed.evaluation.scoring import _score_several, hidden_and_known
from coembed.evaluation.training_truth import truth_of
from coembed.evaluation.trial import _labels_seen, draw_splits
from coembed.network import Network


def small_network() -> Network:
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((30, 30)) < 0.2, 1)
    return Network.build((upper | upper.T) * 1.0, (rng.random((30, 8)) < 0.3) * 1.0, np.arange(30) % 3)


def test_a_method_that_refuses_is_not_asked() -> None:
    problem = Problem("classification", small_network())
    refusing = replace(METHODS["majority"], classes="several", fit=None)
    with pytest.raises(InputError, match="is for items that have several classes each"):
        guarded(refusing).fit(problem)
    assert guarded(METHODS["majority"]).fit(problem).probabilities().shape == (30, 3)


def test_the_seed_of_a_problem_is_that_of_its_settings() -> None:
    problem = Problem("classification", small_network(), seed=7, changes=("epochs=3",))
    assert settings_of(problem).seed == 7
    assert settings_of(problem).epochs == 3


@pytest.mark.parametrize("found", [None, np.empty((5, 0))])
def test_a_model_without_classes_has_no_probabilities(found) -> None:
    fitted = SimpleNamespace(probabilities_of=lambda type: found)
    assert ScanAnswer(fitted, "node", "links").probabilities() is None
    told = np.full((5, 2), 0.5)
    fitted = SimpleNamespace(probabilities_of=lambda type: told)
    assert ScanAnswer(fitted, "node", "links").probabilities() is told


@pytest.mark.parametrize("missing", ["probabilities", "said"])
def test_of_several_classes_both_what_is_likely_and_what_is_said_are_needed(missing) -> None:
    answer = SimpleNamespace(probabilities=lambda: np.ones((3, 2)), said=lambda: np.ones((3, 2), bool))
    setattr(answer, missing, lambda: None)
    with pytest.raises(InputError, match="several classes"):
        _score_several(None, None, answer)


def test_what_is_seen_validated_and_oneself_is_no_candidate() -> None:
    network = small_network()
    absent = np.argwhere(np.triu(network.links.toarray() == 0, 1))
    asked, validated = Pairs(absent[:6], absent[20:26]), Pairs(absent[6:12], absent[30:36])
    problem = Problem("links", network, pairs=validated)
    hidden, known = hidden_and_known(problem, asked)
    expected = network.links.toarray() + np.eye(30)
    for i, j in validated.positives:
        expected[i, j] = expected[j, i] = 1
    assert ((known.toarray() != 0) == (expected != 0)).all()
    assert (known.data > 0).all()
    truth = np.zeros((30, 30))
    for i, j in asked.positives:
        truth[i, j] = truth[j, i] = 1
    assert ((hidden.toarray() != 0) == (truth != 0)).all()


@pytest.mark.parametrize(("counts", "searched"), [((8, 2), 1), ((8, 1), 0), ((5, 5), 1)])
def test_settings_are_chosen_where_every_fold_has_two_classes(monkeypatch, counts, searched) -> None:
    asked, real = [], svm.GridSearchCV

    def search(*given, **how):
        asked.append(how["cv"].n_splits)
        return real(*given, **how)

    monkeypatch.setattr(svm, "GridSearchCV", search)
    monkeypatch.setattr(svm, "PENALTIES", [1.0])
    monkeypatch.setattr(svm, "WIDTHS", [1.0])
    labels = np.repeat([0, 1], counts)
    known = np.random.default_rng(0).normal(size=(len(labels), 2)) + 4 * labels[:, None]
    assert svm._fit_predict(known, labels, known, 0).shape == labels.shape
    assert asked == [min(svm.FOLDS, sorted(counts)[0])] * searched


@pytest.mark.parametrize(("score", "better"), [(0.5, True), (0.899, False), (0.95, False), (None, False)])
def test_a_simple_method_is_better_only_by_more_than_chance(monkeypatch, score, better) -> None:
    told = {} if score is None else {"node": {"together": score}}
    fitted = SimpleNamespace(network=small_network(), history={"out_of_fold": told}, settings={"seed": 0})
    monkeypatch.setattr(training_truth, "simple_figures", lambda *_: {"majority": 0.2, "linear-own": 0.9})
    assert training_truth.BETTER > 0.001
    look = truth_of(fitted, "node").look_at
    assert ("a simple method is better here than this model" in look) == better


def test_hiding_labels_of_the_validation_changes_nothing_that_is_given() -> None:
    network = small_network()
    before = network.labels.copy()
    splits = draw_splits(network, "classification", 0.3, 0)
    seen = _labels_seen(network, splits, "validation")
    again = _labels_seen(network, splits, "test")
    (split,) = splits.all_labels
    assert (seen.labels[split.validation] < 0).all()
    assert (again.labels[split.validation] >= 0).all()
    np.testing.assert_array_equal(network.labels, before)
