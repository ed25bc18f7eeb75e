"""Floors of classification: against dense computations and in degenerate cases."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from coembed.baselines import classifiers
from coembed.baselines.classifiers import Classes, Hops, linear_smooth, linear_x, majority, propagation
from coembed.baselines.closed_form import ogc, ridge_left_out, sgc
from coembed.baselines.features import idf_rows, mean_of_neighbours
from coembed.errors import InputError
from coembed.evaluation.problem import Problem
from coembed.network import Network, split_labels

FLOORS = [
    classifiers.majority,
    classifiers.linear_x,
    classifiers.linear_ax,
    classifiers.linear_smooth,
    classifiers.propagation,
    sgc,
    ogc,
]
Floor = Callable[[Problem], Classes]


@pytest.fixture(scope="module")
def problem(demo: Network) -> Problem:
    split = split_labels(demo, 0.1, seed=0)
    return Problem("classification", split.visible(demo), validation=split.validation)


@pytest.mark.parametrize("floor", FLOORS)
def test_every_node_has_probabilities_that_sum_to_one(problem: Problem, floor: Floor) -> None:
    values = floor(problem).probabilities()
    assert values.shape == (problem.network.n_nodes, problem.network.n_classes)
    assert (values >= 0).all()
    assert values.sum(axis=1) == pytest.approx(np.ones(len(values)), abs=1e-5)


@pytest.mark.parametrize("floor", FLOORS[1:])
def test_every_other_floor_beats_the_majority(demo: Network, problem: Problem, floor: Floor) -> None:
    hidden = problem.network.labels < 0

    def right(answer: Classes) -> float:
        return float(np.mean(answer.values.argmax(axis=1)[hidden] == demo.labels[hidden]))

    assert right(floor(problem)) > right(majority(problem)) + 0.05


def test_the_linear_model_is_scikit_learns_on_the_whole_matrix(problem: Problem) -> None:
    network, labelled = problem.network, problem.network.labelled
    plain = Problem("classification", network)  # no validation nodes: the penalty is the middle one
    features = idf_rows(network.attributes)
    features = features * np.sqrt(len(labelled) / features[labelled].power(2).sum())
    model = LogisticRegression(C=classifiers.PENALTIES[1], max_iter=500)
    model.fit(features[labelled], network.labels[labelled])
    expected = np.zeros((network.n_nodes, network.n_classes))
    expected[:, model.classes_] = model.predict_proba(features)
    assert linear_x(plain).values == pytest.approx(expected, abs=1e-4)


def test_smoothed_features_are_never_written_down_yet_the_same(demo: Network) -> None:
    features, step = idf_rows(demo.attributes), mean_of_neighbours(demo.links)
    hops = Hops(features, step, hops=2)
    dense = [features.toarray(), (step @ features).toarray(), (step @ step @ features).toarray()]
    nodes = np.array([3, 8, 1000])
    for block, whole in zip(hops.rows(nodes), dense, strict=True):
        assert block.toarray() == pytest.approx(whole[nodes], abs=1e-6)
    weights = [np.random.default_rng(i).normal(size=(demo.n_attributes, 4)) for i in range(3)]
    expected = sum(whole @ weight for whole, weight in zip(dense, weights, strict=True))
    assert hops.times(weights) == pytest.approx(expected, abs=1e-5)


def test_labels_spread_along_links_and_not_beyond() -> None:
    # two separate chains with one label each, and a node on its own
    links = np.zeros((7, 7))
    for i, j in ((0, 1), (1, 2), (3, 4), (4, 5)):
        links[i, j] = links[j, i] = 1
    network = Network.build(links, labels=[0, -1, -1, -1, -1, 1, -1])
    values = propagation(Problem("classification", network)).values
    assert values.argmax(axis=1)[:6].tolist() == [0, 0, 0, 1, 1, 1]
    assert values[0] == pytest.approx([1, 0])
    assert values[6] == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize("labels", [[0, -1, -1, -1], [0, 0, 2, -1], [0, 2, 1, -1]])
def test_few_labels_and_missing_classes_are_answered(floor: Floor, labels: list[int]) -> None:
    attributes = sp.csr_array(np.eye(4))
    network = Network.build(np.ones((4, 4)), attributes, labels, class_names=["a", "b", "c"])
    values = floor(Problem("classification", network, validation=np.array([0]))).values
    assert values.shape == (4, 3)
    assert np.isfinite(values).all()


@pytest.mark.parametrize("floor", FLOORS)
def test_no_attributes_and_no_links_are_no_obstacle(floor: Floor) -> None:
    network = Network.build(np.zeros((4, 4)), labels=[0, 1, 1, -1])
    values = floor(Problem("classification", network)).values
    assert values[3].argmax() == 1


@pytest.mark.parametrize("floor", FLOORS)
def test_without_labels_it_says_so(floor: Floor) -> None:
    network = Network.build(np.zeros((4, 4)), np.eye(4), class_names=["a", "b"])
    with pytest.raises(InputError, match="no labels to learn from"):
        floor(Problem("classification", network))


def test_validation_nodes_choose_the_penalty_and_are_learnt_from_after(problem: Problem) -> None:
    chosen = linear_smooth(problem).values
    plain = linear_smooth(Problem("classification", problem.network)).values
    assert chosen.shape == plain.shape
    own = problem.network.labels[problem.validation]
    assert np.mean(chosen[problem.validation].argmax(axis=1) == own) > 0.9


def test_leaving_one_out_in_closed_form_is_leaving_one_out() -> None:
    """What a row is told without itself, against fitting without it, with the same penalty in all."""
    rng = np.random.default_rng(0)
    features, wanted = rng.normal(size=(12, 4)), np.eye(3)[rng.integers(0, 3, 12)]
    _, told = ridge_left_out(features, wanted, 0.5)
    for row in range(12):
        others = np.arange(12) != row
        same = 0.5 * (features**2).sum() / (features[others] ** 2).sum()
        weights, _ = ridge_left_out(features[others], wanted[others], same)
        np.testing.assert_allclose(np.append(features[row], 1.0) @ weights, told[row])


@pytest.mark.parametrize("floor", [sgc, ogc])
def test_closed_forms_use_links(floor: Floor) -> None:
    """Words of few say the class; of the others only those of their links."""
    rng = np.random.default_rng(0)
    classes = np.repeat([0, 1], 60)
    upper = np.triu(rng.random((120, 120)) < np.where(classes[:, None] == classes, 0.2, 0.01), 1)
    words = np.eye(2)[classes] * (rng.random((120, 1)) < 0.3)
    labels = np.where(rng.random(120) < 0.3, classes, -1)
    network = Network.build(upper + upper.T, words, labels)
    told = floor(Problem("classification", network)).values.argmax(axis=1)
    hidden = labels < 0
    assert np.mean(told[hidden] == classes[hidden]) > 0.95
