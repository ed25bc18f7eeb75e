"""Metrics against hand-worked cases and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as sk

from coembed.metrics import (
    accuracy,
    auc,
    average_precision,
    brier_score,
    classification_metrics,
    error_detection,
    expected_calibration_error,
    f1,
    log_loss,
    pooled_reliability,
    reliability,
)


@pytest.mark.parametrize("seed", range(5))
def test_f1_and_accuracy_agree_with_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # class 4 is never true, class 5 never said
    truth, predicted = rng.choice([0, 1, 2, 5], 200), rng.choice([0, 1, 2, 4], 200)
    macro, micro = f1(truth, predicted)
    assert macro == pytest.approx(sk.f1_score(truth, predicted, average="macro", zero_division=0))
    assert micro == pytest.approx(sk.f1_score(truth, predicted, average="micro"))
    assert micro == pytest.approx(accuracy(truth, predicted))


@pytest.mark.parametrize("levels", [2, 7, 10_000])
def test_auc_and_ap_agree_with_scikit_learn_also_with_many_ties(levels: int) -> None:
    rng = np.random.default_rng(levels)
    positive = rng.integers(levels, size=300) + 0.2 * levels
    negative = rng.integers(levels, size=200).astype(float)
    positive = np.round(positive)
    truth = np.repeat([1, 0], [300, 200])
    scores = np.concatenate([positive, negative])
    assert auc(positive, negative) == pytest.approx(sk.roc_auc_score(truth, scores))
    assert average_precision(positive, negative) == pytest.approx(sk.average_precision_score(truth, scores))


def test_auc_and_ap_of_constant_scores_are_chance() -> None:
    assert auc(np.zeros(3), np.zeros(5)) == 0.5
    assert average_precision(np.zeros(3), np.zeros(5)) == pytest.approx(3 / 8)


def test_ap_by_hand() -> None:
    # order: + - + + -   precision at the positives: 1, 2/3, 3/4
    value = average_precision(np.array([5.0, 3.0, 2.0]), np.array([4.0, 1.0]))
    assert value == pytest.approx((1 + 2 / 3 + 3 / 4) / 3)


def test_calibration_error_by_hand() -> None:
    # two bins: (0.6, 0.667] with confidence 0.65, one of two right; the last with confidence 1, all right
    probabilities = np.array([[0.65, 0.35], [0.65, 0.35], [1.0, 0.0], [0.0, 1.0]])
    truth = np.array([0, 1, 0, 1])
    assert expected_calibration_error(truth, probabilities) == pytest.approx(0.5 * 0.15)


def test_calibration_error_of_a_sure_liar_is_one() -> None:
    assert expected_calibration_error(np.array([1, 1]), np.array([[1.0, 0.0], [1.0, 0.0]])) == 1.0


def test_calibration_error_agrees_with_a_plain_loop() -> None:
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet(np.ones(4), 500)
    truth = rng.integers(4, size=500)
    confidence, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == truth
    error = 0.0
    for low in np.arange(15) / 15:
        inside = (confidence > low) & (confidence <= low + 1 / 15)
        if inside.any():
            error += inside.mean() * abs(right[inside].mean() - confidence[inside].mean())
    assert expected_calibration_error(truth, probabilities) == pytest.approx(error)


def test_all_classification_figures_have_their_names() -> None:
    figures = classification_metrics(np.array([0, 1]), np.eye(2))
    assert figures == {"accuracy": 1.0, "macro_f1": 1.0, "micro_f1": 1.0, "ece": 0.0, "error_auroc": 0.5}


def test_errors_are_detected_if_the_wrong_answers_are_the_doubtful_ones() -> None:
    truth = np.array([0, 0, 0, 0])
    sure_and_right, doubtful_and_wrong = [0.9, 0.1], [0.45, 0.55]
    known = np.array([sure_and_right, doubtful_and_wrong, sure_and_right, doubtful_and_wrong])
    assert error_detection(truth, known) == 1.0
    assert error_detection(truth, known[:, ::-1]) == 0.0


def test_log_loss_and_brier_score_agree_with_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    truth, probabilities = rng.integers(4, size=100), rng.dirichlet(np.ones(4), size=100)
    assert log_loss(truth, probabilities) == pytest.approx(sk.log_loss(truth, probabilities))
    brier = sum(sk.brier_score_loss(truth == k, probabilities[:, k]) for k in range(4))
    assert brier_score(truth, probabilities) == pytest.approx(brier)


def test_an_impossible_answer_costs_much_and_not_everything() -> None:
    assert 20 < log_loss(np.array([1]), np.array([[1.0, 0.0]])) < 30


def test_bins_of_parts_together_are_those_of_the_whole() -> None:
    rng = np.random.default_rng(1)
    truth, probabilities = rng.integers(3, size=90), rng.dirichlet(np.ones(3), size=90)
    parts = [reliability(truth[part::3], probabilities[part::3]) for part in range(3)]
    for pooled, whole in zip(pooled_reliability(parts), reliability(truth, probabilities), strict=True):
        np.testing.assert_allclose(pooled, whole)
