"""Nothing looks at what is hidden: turn all of it over, and what is learnt has the same bits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from coembed.baselines import METHODS
from coembed.evaluation import Answer, Method, Problem, Splits, draw_splits, evaluate, evaluation
from coembed.evaluation.trial import strict_trial
from coembed.network import Network
from coembed.settings import Task

SMALL = ("epochs=3", "dim=8", "hidden=16", "rank=32", "space_dim=8")
PLAIN_TASKS = ("classification", "attributes", "links")
CASES = [
    (name, task)
    for name, method in METHODS.items()
    for task in method.tasks
    if task in PLAIN_TASKS and method.classes != "several"
]


def turn_over(network: Network, splits: Splits) -> Network:
    """Hidden labels become another class, hidden entries absent, absent pairs that are asked present."""
    if splits.labels is not None:
        labels = network.labels.copy()
        labels[splits.labels.test] = (labels[splits.labels.test] + 1) % network.n_classes
        network = network.with_labels(labels)
    if splits.pairs is None:
        return network
    pairs = splits.pairs
    gone = np.concatenate([pairs.validation, pairs.test])
    new = np.concatenate([pairs.validation_negatives, pairs.test_negatives, pairs.test_matched])
    matrix = sp.lil_array(getattr(network, pairs.relation))
    for rows, value in ((gone, 0), (new, 3)):
        matrix[rows[:, 0], rows[:, 1]] = value
        if pairs.relation == "links":
            matrix[rows[:, 1], rows[:, 0]] = value
    other = Network.build(
        matrix if pairs.relation == "links" else network.links,
        matrix if pairs.relation == "attributes" else network.attributes,
        network.labels,
        class_names=network.class_names,
    )
    return network.with_matrices(other.links, other.attributes)


def learnt(
    network: Network, name: str, task: Task, splits: Splits, inputs: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[Mapping[str, np.ndarray], dict]:
    """What a method has learnt in an evaluation of this network with these splits, and the report."""
    answers: list[Answer] = []

    def fit(problem: Problem) -> Answer:
        answers.append(METHODS[name].fit(problem))
        return answers[-1]

    monkeypatch.setattr(evaluation, "draw_splits", lambda *_: splits)
    recorded = Method(name, METHODS[name].tasks, fit, "recorded")
    report = evaluate(network, task, recorded, seeds=1, inputs=inputs, changes=SMALL)  # type: ignore[arg-type]
    return answers[0].arrays(), report


def same(first: Mapping[str, np.ndarray], second: Mapping[str, np.ndarray]) -> bool:
    return first.keys() == second.keys() and all(
        np.array_equal(first[name], second[name]) and first[name].dtype == second[name].dtype
        for name in first
    )


@pytest.mark.parametrize("inputs", ["full", "masked"])
@pytest.mark.parametrize(("name", "task"), CASES)
def test_what_is_hidden_leaves_no_trace(
    part_of_demo: Network, name: str, task: Task, inputs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    splits = draw_splits(part_of_demo, task, seed=0)
    turned = turn_over(part_of_demo, splits)
    before, report = learnt(part_of_demo, name, task, splits, inputs, monkeypatch)
    after, turned_report = learnt(turned, name, task, splits, inputs, monkeypatch)
    assert same(before, after)
    if task == "classification":  # the truth was another one indeed
        assert report["metrics"]["accuracy"] != turned_report["metrics"]["accuracy"]


@pytest.mark.parametrize(("name", "task"), CASES)
def test_what_is_shown_does_leave_a_trace(part_of_demo: Network, name: str, task: Task) -> None:
    """The test above could not fail if the methods looked at nothing."""
    demo = part_of_demo
    problem = replace(strict_trial(demo, draw_splits(demo, task)).problem, changes=SMALL)
    network = problem.network
    labels = network.labels.copy()
    labels[network.labelled[:5]] = (labels[network.labelled[:5]] + 1) % network.n_classes
    rolled = sp.csr_array(network.attributes[np.roll(np.arange(network.n_nodes), 1)])
    links = Network.build(network.links[::-1, ::-1]).links
    other = network.with_labels(labels).with_matrices(links, rolled)
    if name == "popularity" and task == "attributes":  # whose they are is all the same to it
        other = network.with_matrices(attributes=sp.csr_array(network.attributes[:, ::-1]))
    fit = METHODS[name].fit
    assert not same(fit(problem).arrays(), fit(replace(problem, network=other)).arrays())
    assert same(fit(problem).arrays(), fit(problem).arrays())


@pytest.mark.parametrize("task", ["classification", "attributes", "links"])
def test_the_validation_part_is_tuned_on_without_the_test_part(demo: Network, task: Task) -> None:
    splits = draw_splits(demo, task, seed=0)
    turned = turn_over(demo, splits)
    problems = [strict_trial(each, splits, part="validation").problem for each in (demo, turned)]
    first, second = (problem.network for problem in problems)
    assert (first.links != second.links).nnz == (first.attributes != second.attributes).nnz == 0
    assert np.array_equal(first.labels, second.labels)


def test_the_strict_svm_learns_from_the_labelled_alone(
    demo: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On vectors that give the classes away, hidden labels that were turned over are all missed."""

    class Oracle(Answer):
        def probabilities(self) -> np.ndarray:
            return np.full((demo.n_nodes, demo.n_classes), 1 / demo.n_classes)

        def embedding(self) -> np.ndarray:
            noise = np.random.default_rng(0).normal(size=(demo.n_nodes, demo.n_classes))
            return np.eye(demo.n_classes)[demo.labels] + 0.05 * noise

    splits = draw_splits(demo, "classification", seed=0)
    monkeypatch.setattr(evaluation, "draw_splits", lambda *_: splits)
    oracle = Method("oracle", ("classification",), lambda problem: Oracle(), "knows")
    found = [
        evaluate(each, "classification", oracle, seeds=1)["metrics"]["svm_accuracy"]["mean"]
        for each in (demo, turn_over(demo, splits))
    ]
    assert found[0] > 0.95
    assert found[1] < 0.05
