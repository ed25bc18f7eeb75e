"""A model of items with several classes each: learnt, calibrated, saved, asked, and placed anew."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import expit

from coembed.baselines import METHODS, floors
from coembed.baselines.several_classifiers import best_thresholds
from coembed.errors import InputError
from coembed.evaluation import Problem, evaluate
from coembed.fitted import load, save
from coembed.fitted.class_answers import said_classes
from coembed.metrics import mean_average_precision, several_f1
from coembed.network import Network, from_tables, split_labels
from coembed.settings import preset_settings
from coembed.training import fit, several_label_ensemble
from coembed.training.label_members import SEVERAL_PENALTIES, WIDTHS, _linear, cost_out_of_fold, linear
from coembed.training.label_views import FOLDS, LabelledType, label_views
from coembed.training.several_label_ensemble import (
    Combination,
    calibrated,
    expected_f1_thresholds,
    stacked,
)

TOPICS = ("art", "food", "math", "song")


def made_up(n: int = 240, seed: int = 0) -> Network:
    """Topics that show in words and in numbers, and among friends; two of them come together."""
    rng = np.random.default_rng(seed)
    has = rng.random((n, 4)) < (0.35, 0.3, 0.25, 0.2)
    has[:, 3] |= has[:, 0] & (rng.random(n) < 0.6)
    words = [
        [f"w{k}{j}" for k in range(4) for j in range(4) if rng.random() < (0.5 if has[i, k] else 0.08)]
        for i in range(n)
    ]
    people = pa.table(
        {
            "id": [f"p{i}" for i in range(n)],
            "age": [float(30 + 15 * has[i, 2] + 5 * rng.standard_normal()) for i in range(n)],
            "likes": [";".join(each) for each in words],
            "topics": [";".join(t for t, h in zip(TOPICS, row, strict=True) if h) or ";" for row in has],
        }
    )
    alike = has.astype(float) @ has.T
    pairs = [
        (i, j)
        for i in range(n)
        for j in rng.permutation(n)[:12]
        if i != j and rng.random() < 0.2 * alike[i, j]
    ]
    friends = pa.table({"who": [f"p{i}" for i, _ in pairs], "whom": [f"p{j}" for _, j in pairs]})
    return from_tables({"people": people, "friends": friends}, labels=["topics"])


@pytest.fixture(scope="module")
def network():
    return made_up()


@pytest.fixture(scope="module")
def split(network):
    return split_labels(network, 0.4, 0.2)


@pytest.fixture(scope="module")
def model(network, split):
    return fit(split.visible(network), preset_settings("best", epochs=30, dim=16, space_dim=0))


def test_classes_are_learnt_and_several_are_said(network, split, model):
    truth = network.main.labels.values[split.test]
    told = model.predict_proba("people")[split.test]
    assert mean_average_precision(truth, told) > 0.75
    said = said_classes(model, "people")[split.test]
    assert several_f1(truth, said)[1] > 0.65
    names = model.predict("people")
    assert isinstance(names[0], tuple)
    assert {name for row in names for name in row} == set(TOPICS)
    assert any(len(row) > 1 for row in names)
    assert any("mean average precision" in line for line in model.history["notices"])
    assert model.types["people"].thresholds.shape == (4,)


def test_it_is_saved_and_asked_like_any_other(model, tmp_path):
    again = load(save(model, tmp_path / "model"))
    np.testing.assert_array_equal(again.predict_proba("people"), model.predict_proba("people"))
    np.testing.assert_array_equal(again.types["people"].thresholds, model.types["people"].thresholds)
    assert list(again.predict("people")) == list(model.predict("people"))
    matches = again.similar("p0", 5, "people")
    assert all(set(match.label.split(";")) <= {*TOPICS, ""} for match in matches)
    assert again.complete("p0", "likes", 3) == model.complete("p0", "likes", 3)


def test_codes_have_what_is_observed_in_their_block(model):
    space, labels = model.types["people"], model.labels_of("people")
    block = model.latents("people").mean[:, space.block : space.block + 4]
    known = labels >= 0
    np.testing.assert_array_equal(block[known], labels[known])
    np.testing.assert_allclose(block[~known], space.probabilities[~known])


def test_new_rows_are_told_as_the_same_rows_of_training(network, model):
    people = {
        "id": ["new"],
        "age": [45.0],
        "likes": ["w20;w21;w22;w00"],
        "topics": ["math;opera"],
    }
    found = model.predict_rows(pa.table(people), "people")
    assert found.new.all()
    assert "math" in found.predicted[0].split(";")
    assert found.as_columns()["known"] == ["math"]
    assert any("'opera'" in said for said in found.notices)
    known = model.predict_rows(pa.table({"id": ["p3"], "age": [1.0]}), "people")
    np.testing.assert_array_equal(known.probabilities[0], model.predict_proba("people")[3])


def test_empty_cells_of_several_classes_are_filled(network, model):
    rows = [str(each) for each in network.main.ids[:40]]
    for none, given, cells in (
        (";", ["", "art|math", ";"], [""] * 37),
        ([], [None, ["art", "math"], []], [None] * 37),
    ):
        table = pa.table({"id": rows, "topics": [*given, *cells]})
        full = model.impute(table, "people")
        told = full.table["topics"].to_pylist()
        assert told[1:3] == given[1:3]  # what is known is not touched
        assert full.filled == {"topics": 38}
        likely = model.predict_rows(table, "people").probabilities
        for row, cell, sure in zip(likely, told, full.table["topics.probability"].to_pylist(), strict=True):
            if sure is not None:
                names = [name for name, p in zip(TOPICS, row, strict=True) if p > 0.5]
                assert cell == ("|".join(names) or "|" if none == ";" else names)
                assert sure == pytest.approx(np.maximum(row, 1 - row).prod(), rel=1e-5)
        sure = model.impute(table, "people", only_sure=0.5)
        assert 0 < sure.filled["topics"] < 38
        drawn = model.impute(table, "people", draws=60, seed=1).table["topics"].to_pylist()
        has = np.array([["art" in (cell or "") for cell in drawn[i::40]] for i in range(3, 40)])
        np.testing.assert_allclose(has.mean(axis=1), likely[3:, 0], atol=0.25)


def test_floors_and_figures_of_several_classes(network):
    problem = Problem("classification", network)
    assert floors(problem) == ["class-frequencies", "one-vs-rest", "classifier-chains"]
    figures = {}
    for name in floors(problem):
        report = evaluate(network, "classification", name, labels=0.4, seeds=1)
        assert set(report["metrics"]) == {"map", "micro_f1", "macro_f1", "ece"}
        figures[name] = report["metrics"]["map"]["mean"]
    assert figures["one-vs-rest"] > figures["class-frequencies"] + 0.2
    assert figures["classifier-chains"] > figures["class-frequencies"] + 0.2
    with pytest.raises(InputError, match="for items that have one class each"):
        evaluate(network, "classification", "majority", seeds=1)


@pytest.mark.parametrize("name", ["class-frequencies", "one-vs-rest", "classifier-chains"])
def test_nothing_looks_at_hidden_labels(network, split, name):
    """What is hidden is turned over: all that is learnt has the same bits."""
    other = network.main.labels.values.copy()
    other[split.test] = 1 - other[split.test]
    turned = network.with_labels(other, "people")
    answers = []
    for each in (network, turned):
        problem = Problem("classification", split.visible(each), split.validation)
        answers.append(METHODS[name].fit(problem).arrays())
    for key, first in answers[0].items():
        np.testing.assert_array_equal(first, answers[1][key])


def test_calibration_finds_scale_and_shift_of_each_class():
    rng = np.random.default_rng(0)
    logits = 2 * rng.standard_normal((20_000, 2))
    truth = (rng.random(logits.shape) < expit(logits * (0.5, 2.0) + (1.0, -1.0))).astype(float)
    scale, shift = calibrated(logits, truth)
    np.testing.assert_allclose(scale, (0.5, 2.0), rtol=0.06)
    np.testing.assert_allclose(shift, (1.0, -1.0), atol=0.1)
    few = calibrated(logits[:3], truth[:3])  # little is learnt from little
    assert np.abs(np.log(few[0])).max() < 1


def test_thresholds_are_the_best_of_all():
    rng = np.random.default_rng(1)
    told = rng.random((300, 2))
    truth = (rng.random(told.shape) < told**2).astype(int)
    found = best_thresholds(told, truth)
    for k in range(2):
        tried = [several_f1(truth[:, [k]], told[:, [k]] >= t)[0] for t in np.linspace(0, 1, 400)]
        assert several_f1(truth[:, [k]], told[:, [k]] >= found[k])[0] >= max(tried) - 1e-9
    rare = truth.copy()
    rare[:, 1] = 0
    rare[told[:, 1].argsort()[:3], 1] = 1  # three only, and said least likely: no threshold of its own
    assert best_thresholds(told, rare)[1] > 0.1


def test_thresholds_of_probabilities_need_no_labels():
    """Of probabilities that can be believed: the best of one class, and of rare ones good for either F1."""
    rng = np.random.default_rng(3)
    told = expit(2 * rng.standard_normal((50_000, 4)) + (0.0, -2.0, -4.0, -6.0))
    truth = (rng.random(told.shape) < told).astype(int)
    tried = np.linspace(0.01, 0.9, 90)
    best = [max(several_f1(truth[:, [k]], told[:, [k]] >= t)[0] for t in tried) for k in range(4)]
    alone = expected_f1_thresholds(told[:, [0]])
    assert several_f1(truth[:, [0]], told[:, [0]] >= alone)[0] > best[0] - 0.003
    macro, micro = several_f1(truth, told >= expected_f1_thresholds(told))
    assert macro > np.mean(best) - 0.03
    assert micro > max(several_f1(truth, told >= t)[1] for t in tried) - 0.01
    of_all = max(tried, key=lambda t: several_f1(truth, told >= t)[1])
    assert macro > several_f1(truth, told >= of_all)[0] + 0.01


def test_thresholds_are_of_those_who_have_not_seen_the_label():
    """Members that repeat each label they have seen, and know nothing else, must not look sure."""
    rng = np.random.default_rng(4)
    own = label_views(made_up()).types["people"]
    own = replace(own, walk=None)
    guess = 0.1 * rng.standard_normal(own.labels.shape)
    seen = [np.where(own.folds[:, None] == f, guess, 9.0 * (2 * own.labels - 1)) for f in range(FOLDS)]
    found = Combination({"parrot": seen}, own, (0.0,)).thresholds
    blind = Combination({"blind": [guess] * FOLDS}, own, (0.0,)).thresholds
    np.testing.assert_allclose(found, blind, atol=1e-6)


def test_a_member_that_says_nothing_is_not_believed():
    rng = np.random.default_rng(2)
    good = 2 * rng.standard_normal((500, 3))
    truth = (rng.random(good.shape) < expit(good)).astype(int)
    weights = stacked([good, 3 * rng.standard_normal(good.shape)], truth)
    assert weights[0] > 0.7
    assert weights[1] < 0.1


@pytest.mark.parametrize("noise", [3.0, 0.0])
def test_one_member_that_is_ahead_of_all_together_is_followed(network, monkeypatch, noise):
    monkeypatch.setattr(several_label_ensemble, "stacked", lambda told, truth: np.full(len(told), 0.5))
    own = label_views(network).types["people"]
    rng = np.random.default_rng(0)
    truth = np.where(network.main.labels.values == 1, 1.0, -1.0)
    ahead = truth + 0.5 * rng.standard_normal(truth.shape)
    other = 0.5 * truth + noise * rng.standard_normal(truth.shape)
    found = Combination({"ahead": [ahead] * FOLDS, "other": [other] * FOLDS}, own, (0.0,))
    assert found.weights == ({"ahead": 1.0, "other": 0.0} if noise else {"ahead": 0.5, "other": 0.5})
    assert found.precision["together"] >= found.precision["ahead"] - 0.01


def test_it_is_solved_for_with_words_too(network, split):
    quick = fit(split.visible(network), preset_settings("fast"))
    assert quick.types["people"].probabilities.shape == (240, 4)


def test_who_is_right_about_labels_that_were_not_seen_costs_less(network):
    own = label_views(network).types["people"]
    hint = 2.0 * network.main.labels.values - 1 + np.random.default_rng(6).standard_normal((240, 4))
    right, wrong = [2.0 * hint] * FOLDS, [-hint] * FOLDS
    assert cost_out_of_fold(right, own) < 0.6 * cost_out_of_fold([0.0 * hint] * FOLDS, own)
    assert cost_out_of_fold(wrong, own) > cost_out_of_fold([0.0 * hint] * FOLDS, own)
    # how sure to be is found later
    assert cost_out_of_fold([20.0 * hint] * FOLDS, own) == pytest.approx(
        cost_out_of_fold(right, own), rel=0.05
    )


def test_what_one_class_costs_is_the_cross_entropy_of_each_fold():
    own = LabelledType(np.array([0, 1, -1]), 2, np.array([0, 1, -1]), None)
    told = [np.log([[0.25, 0.75], [0.5, 0.5], [1.0, 1.0]]), np.log([[0.9, 0.1], [0.2, 0.8], [1.0, 1.0]])]
    assert cost_out_of_fold(told, own) == pytest.approx(-np.log(0.25) - np.log(0.8))


def test_weights_are_held_back_as_far_as_other_folds_say():
    """Labels that two of two hundred coordinates hint at: the free model learns the noise of the others."""
    rng = np.random.default_rng(5)
    own = label_views(made_up(n=120)).types["people"]
    hints = np.hstack([own.labels[:, :2] * 2.0 - 1, np.zeros((120, 198))]) + 2 * rng.standard_normal(
        (120, 200)
    )
    shown = [SimpleNamespace(dense={"own": hints})] * FOLDS
    costs = [
        cost_out_of_fold(_linear(shown, own, width, penalty), own)
        for penalty in SEVERAL_PENALTIES
        for width in (*WIDTHS, 200)
    ]
    assert cost_out_of_fold(linear(shown, own), own) == min(costs)
    assert min(costs) < min(costs[-3:])
