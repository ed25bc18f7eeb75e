"""What every method keeps to, whatever it does inside: one class of tests, run by each method and task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from coembed.baselines import METHODS
from coembed.errors import InputError
from coembed.evaluation import Answer, Problem, draw_splits
from coembed.evaluation.trial import strict_trial
from coembed.network import UNKNOWN, Network
from coembed.settings import Task

SMALL = ("epochs=4", "dim=8", "hidden=16", "rank=32")
SMALLER = {"graphsgan": ("batches=1", "batch=16"), "planetoid": ("passes=1", "walks=20")}
"""Options of single methods that make them quicker still."""
SILENT = {"majority", "linear-x", "linear-ax", "linear-smooth", "linear-views", "propagation", "knn"} | {
    "popularity",
    "degree",
    "neighbours",
    "adamic-adar",
    "resource-allocation",
    "svd",
    "ridge",
    "linear-own",
    "linear-neighbours",
    "linear-steps",
    "trees-own",
    "trees-neighbours",
    "correct-and-smooth",
    "linear-and-propagation",
    "linear-links",
    "feature-propagation",
    "sgc",
    "ogc",
}
"""Done in a moment, with nothing to watch."""
EPOCHS = {"graphsgan": 10, "planetoid": 40, "seano": 40}
PLAIN_TASKS = ("classification", "attributes", "links")
CASES = [
    (name, task)
    for name, method in METHODS.items()
    for task in method.tasks
    if task in PLAIN_TASKS and method.classes != "several"
]


def blocks(n_nodes: int = 120, n_attributes: int = 40, seed: int = 0) -> Network:
    """Three communities with words of their own; the last two nodes have no links, the last no words."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=n_nodes)
    same = labels[:, None] == labels
    links = np.triu(rng.random((n_nodes, n_nodes)) < np.where(same, 0.3, 0.02), 1)
    topics = np.arange(n_attributes) % 3
    attributes = rng.random((n_nodes, n_attributes)) < np.where(labels[:, None] == topics, 0.3, 0.05)
    links[-2:], links[:, -2:], attributes[-1] = False, False, False
    return Network.build(links | links.T, attributes.astype(float), labels)


@pytest.fixture(scope="module")
def network() -> Network:
    return blocks()


def small(name: str) -> tuple[str, ...]:
    return (*SMALL, *SMALLER.get(name, ()))


def problem_of(network: Network, name: str, task: Task, labels: float = 0.3) -> Problem:
    problem = strict_trial(network, draw_splits(network, task, labels)).problem
    return replace(problem, changes=small(name))


def answers(answer: Answer, problem: Problem) -> dict[str, np.ndarray]:
    """Everything that can be asked."""
    if problem.task == "classification":
        probabilities, embedding = answer.probabilities(), answer.embedding()
        assert probabilities is not None
        return {"probabilities": probabilities} | ({} if embedding is None else {"embedding": embedding})
    return {"scores": answer.row_scores(np.arange(problem.network.n_nodes))}


def same(first: Mapping[str, np.ndarray], second: Mapping[str, np.ndarray]) -> bool:
    return first.keys() == second.keys() and all(np.array_equal(first[n], second[n]) for n in first)


@pytest.mark.parametrize(("name", "task"), CASES)
class TestContract:
    def test_its_answers_have_the_right_shape(self, network: Network, name: str, task: Task) -> None:
        problem = problem_of(network, name, task)
        answer = METHODS[name].fit(problem)
        given = answers(answer, problem)
        assert all(np.isfinite(values).all() for values in given.values())
        if task == "classification":
            values = given["probabilities"]
            assert values.shape == (network.n_nodes, network.n_classes)
            assert (values >= 0).all()
            assert values.sum(axis=1) == pytest.approx(np.ones(network.n_nodes), abs=1e-5)
            assert given.get("embedding", values).shape[0] == network.n_nodes
            return
        items = network.n_nodes if task == "links" else network.n_attributes
        assert given["scores"].shape == (network.n_nodes, items)
        pairs = np.random.default_rng(1).integers(items, size=(50, 2))
        assert answer.pair_scores(pairs) == pytest.approx(
            given["scores"][pairs[:, 0], pairs[:, 1]], rel=1e-4, abs=1e-5
        )
        some = np.array([7, 3, 100])
        assert answer.row_scores(some) == pytest.approx(given["scores"][some], rel=1e-4, abs=1e-5)

    def test_the_seed_decides_everything(self, network: Network, name: str, task: Task) -> None:
        problem = problem_of(network, name, task)
        fit = METHODS[name].fit
        first = fit(problem)
        np.random.default_rng().random()
        second = fit(problem)
        assert same(answers(first, problem), answers(second, problem))
        assert same(first.arrays(), second.arrays())

    def test_it_does_not_see_what_is_hidden(self, network: Network, name: str, task: Task) -> None:
        splits = draw_splits(network, task, 0.3)
        labels = network.labels.copy()
        assert splits.labels is not None
        labels[splits.labels.test] = (labels[splits.labels.test] + 1) % 3
        other = network.with_labels(labels)
        if splits.pairs is not None:
            kind = splits.pairs.relation
            dense = getattr(network, kind).toarray()
            for pairs, value in (
                (splits.pairs.validation, 0),
                (splits.pairs.test, 0),
                (splits.pairs.validation_negatives, 5),
                (splits.pairs.test_negatives, 5),
                (splits.pairs.test_matched, 5),
            ):
                dense[pairs[:, 0], pairs[:, 1]] = value
                if kind == "links":
                    dense[pairs[:, 1], pairs[:, 0]] = value
            changed = Network.build(**{"links": network.links, kind: dense})
            other = other.with_matrices(changed.links, changed.attributes if kind == "attributes" else None)
        seen = [
            replace(strict_trial(each, splits).problem, changes=small(name), progress=None)
            for each in (network, other)
        ]
        first, second = (METHODS[name].fit(problem) for problem in seen)
        assert same(answers(first, seen[0]), answers(second, seen[1]))
        assert same(first.arrays(), second.arrays())

    def test_its_network_stays_as_it_is(self, network: Network, name: str, task: Task) -> None:
        problem = problem_of(network, name, task)
        before = [problem.network.links.copy(), problem.network.attributes.copy()]
        labels = problem.network.labels.copy()
        METHODS[name].fit(problem)
        for kept, now in zip(before, (problem.network.links, problem.network.attributes), strict=True):
            assert np.array_equal(kept.indices, now.indices)
            assert np.array_equal(kept.data, now.data)
        assert np.array_equal(labels, problem.network.labels)

    def test_it_learns_something(self, network: Network, name: str, task: Task) -> None:
        """Better than chance where the structure is plain, soon."""
        trial = strict_trial(network, draw_splits(network, task, 0.3))
        answer = METHODS[name].fit(
            replace(trial.problem, changes=("block=64", f"epochs={EPOCHS.get(name, 80)}"))
        )
        if task == "classification":
            values = answer.probabilities()
            assert values is not None
            right = np.mean(values[trial.nodes].argmax(axis=1) == network.labels[trial.nodes])
            assert name == "majority" or right > 0.6
        else:
            assert trial.uniform is not None
            positive, negative = (answer.pair_scores(pairs) for pairs in trial.uniform)
            wins = np.mean(np.sign(positive[:, None] - negative) / 2 + 0.5)
            # all nodes and words of these communities have about as many links and owners: nothing to count
            assert wins > 0.6 or name in ("popularity", "degree")

    def test_without_labels_it_says_so_or_does_without(self, network: Network, name: str, task: Task) -> None:
        if task == "classification":
            if name == "scan":
                return  # it learns what it can from links and attributes
            blank = network.with_labels(np.full(network.n_nodes, UNKNOWN))
            with pytest.raises(InputError, match="no labels to learn from"):
                METHODS[name].fit(Problem(task, blank, changes=small(name)))
            return
        problem = problem_of(network, name, task, labels=0)
        assert not problem.network.n_classes
        values = answers(METHODS[name].fit(problem), problem)["scores"]
        assert np.isfinite(values).all()

    @pytest.mark.parametrize("case", ["no links", "no attributes", "nothing", "one node"])
    def test_gaps_are_survived(self, network: Network, name: str, task: Task, case: str) -> None:
        none = sp.csr_array((network.n_nodes, network.n_nodes), dtype=np.float32)
        empty = sp.csr_array((network.n_nodes, network.n_attributes), dtype=np.float32)
        if case == "one node":
            poor = Network.build([[0]], [[1.0, 0.0]], [0], class_names=["a", "b"])
        elif case == "no attributes":
            poor = Network.build(network.links, None, network.labels)
        else:
            poor = network.with_matrices(none, empty if case == "nothing" else None)
        problem = Problem(task, poor, changes=small(name))
        assert all(np.isfinite(v).all() for v in answers(METHODS[name].fit(problem), problem).values())

    def test_it_tells_how_far_it_is(self, network: Network, name: str, task: Task) -> None:
        heard: list[tuple[int, int]] = []

        def listen(epoch: int, epochs: int, figures: dict[str, float]) -> None:
            assert all(np.isfinite(value) for value in figures.values())
            heard.append((epoch, epochs))

        METHODS[name].fit(replace(problem_of(network, name, task), progress=listen))
        if name in SILENT:
            return
        assert heard
        assert heard == sorted(heard)
        assert heard[-1][0] == heard[-1][1]

    def test_an_option_that_nobody_has_is_refused(self, network: Network, name: str, task: Task) -> None:
        if name in SILENT - {"svd", "ridge"}:
            return
        with pytest.raises(InputError, match=r"there is no (option|setting) 'magic'"):
            METHODS[name].fit(replace(problem_of(network, name, task), changes=("magic=1",)))
