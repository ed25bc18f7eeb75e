"""Quality is judged on labels that the fit did not see, and on nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, brier_score_loss, confusion_matrix, f1_score, log_loss

from coembed.errors import InputError
from coembed.evaluation.evaluation import run_trial
from coembed.explorer.asking import Explorer
from coembed.explorer.overview import quality
from coembed.fitted.label_quality import hidden_labels, judge
from coembed.maps.layout import make_layout
from coembed.network import UNKNOWN, Network, demo_network


@pytest.fixture
def truth(fitted, rng):
    """All labels: the ones that the fit saw, and made-up ones elsewhere."""
    seen = fitted.network.labels
    labels = np.where(seen != UNKNOWN, seen, rng.integers(0, 3, len(seen)))
    labels[3] = UNKNOWN
    return fitted.network.with_labels(labels)


def test_figures_are_those_of_scikit_learn(fitted, truth):
    found = judge(fitted, truth)
    right, said = truth.labels[found.nodes], fitted.probabilities[found.nodes]
    assert found.figures["accuracy"] == pytest.approx(accuracy_score(right, said.argmax(1)))
    assert found.figures["macro F1"] == pytest.approx(f1_score(right, said.argmax(1), average="macro"))
    assert found.figures["log loss"] == pytest.approx(log_loss(right, said, labels=range(3)), rel=1e-4)
    brier = sum(brier_score_loss(right == k, said[:, k]) for k in range(3))
    assert found.figures["Brier score"] == pytest.approx(brier, rel=1e-4)
    np.testing.assert_array_equal(found.confusion, confusion_matrix(right, said.argmax(1), labels=range(3)))
    assert found.reliability[:, 2].sum() == len(found.nodes)


def test_the_page_and_the_evaluation_say_the_same_of_a_model():
    network = demo_network()
    outcome = run_trial(network, "classification", "scan", 0, preset="paper", changes=("epochs=3", "dim=8"))
    asked = np.full(network.n_nodes, UNKNOWN)
    asked[outcome.trial.nodes] = network.labels[outcome.trial.nodes]
    fitted = outcome.answer.fitted
    shown = quality(Explorer(fitted, make_layout(fitted, "pca"), network.with_labels(asked)))
    for on_the_page, evaluated in (
        ("calibration error", "ece"),
        ("accuracy", "accuracy"),
        ("macro F1", "macro_f1"),
    ):
        assert shown["figures"][on_the_page] == outcome.figures[evaluated] > 0
    # the diagram is made of the same bins
    gaps = [each["nodes"] * abs(each["right"] - each["probability"]) for each in shown["reliability"]]
    assert sum(gaps) / shown["judged"] == pytest.approx(outcome.figures["ece"])
    places = np.floor([each["probability"] * 15 for each in shown["reliability"]])
    assert len(set(places)) == len(places) > 1


def test_seen_labels_are_not_judged(fitted, truth):
    nodes = judge(fitted, truth).nodes
    assert (fitted.network.labels[nodes] == UNKNOWN).all()
    assert 3 not in nodes
    changed = truth.with_labels(np.where(fitted.network.labels != UNKNOWN, 0, truth.labels))
    np.testing.assert_array_equal(judge(fitted, changed).confusion, judge(fitted, truth).confusion)


def test_nodes_and_classes_are_told_by_name(fitted, truth):
    order = np.arange(truth.n_nodes)[::-1]
    swapped = np.array([2, 0, 1])
    other = Network.build(
        links=truth.links[order][:, order],
        attributes=truth.attributes[order],
        labels=np.where(truth.labels[order] < 0, UNKNOWN, swapped[truth.labels[order]]),
        node_names=truth.node_names[order],
        attribute_names=truth.attribute_names,
        class_names=truth.class_names[np.argsort(swapped)],
    )
    np.testing.assert_array_equal(hidden_labels(fitted, other), hidden_labels(fitted, truth))


def test_mistakes_are_wrong_and_the_surest_first(fitted, truth):
    found = judge(fitted, truth)
    rows = found.mistakes(5)
    assert (found.truth[rows] != found.predicted[rows]).all()
    assert (np.diff(found.probability[rows]) <= 0).all()


def test_a_truth_that_knows_nothing_new_is_refused(fitted):
    with pytest.raises(InputError, match="knows no label that the model of random has not seen"):
        judge(fitted, fitted.network)
