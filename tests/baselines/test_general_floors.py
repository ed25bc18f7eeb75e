"""What every floor keeps to on a network of several types, and what features it reads of one."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from general_network import general_network

from coembed.baselines import METHODS, floors
from coembed.baselines.boosted_trees import tree_features
from coembed.baselines.classifiers import AveragedFeatures
from coembed.baselines.features import mean_of_neighbours
from coembed.baselines.table_features import (
    joined,
    link_views,
    neighbour_means,
    own_features,
    relation_means,
    steps_from,
)
from coembed.errors import InputError
from coembed.evaluation import Problem, draw_splits, evaluate, strict_trial
from coembed.network import Column, Items, Labels, Network, Relation
from coembed.network.cell_values import attribute_range, cell_values
from coembed.settings import Task

ASKED: list[tuple[Task, str]] = [
    ("classification", "person"),
    ("classification", "film"),
    ("columns", "person"),
    ("columns", "film"),
    ("links", "knows"),
    ("links", "follows"),
    ("links", "saw"),
    ("attributes", "hobbies"),
    ("attributes", "plot"),
    ("direction", "follows"),
]
NETWORK = general_network()
GENERAL = [
    name
    for name, method in METHODS.items()
    if method.scope != "plain networks" and method.classes != "several" and name != "scan"
]


def problem_of(task: Task, what: str) -> Problem:
    by_relation = what in NETWORK.relations
    splits = draw_splits(NETWORK, task, 0.3, 0, None if by_relation else what, what if by_relation else None)
    return strict_trial(NETWORK, splits).problem


CASES = [(name, task, what) for task, what in ASKED for name in floors(problem_of(task, what))]


def test_every_general_method_is_tried() -> None:
    assert {name for name, _, _ in CASES} == set(GENERAL)


@pytest.mark.parametrize(("name", "task", "what"), CASES)
class TestContract:
    def test_answers_have_the_right_shape(self, name: str, task: Task, what: str) -> None:
        problem = problem_of(task, what)
        before = {each: relation.values.copy() for each, relation in problem.network.relations.items()}
        answer = METHODS[name].fit(problem)
        for each, kept in before.items():
            now = problem.network.relation(each).values
            assert np.array_equal(kept.data, now.data)
            assert np.array_equal(kept.indices, now.indices)
        n_items = len(problem.items)
        if task == "classification":
            values = answer.probabilities()
            assert values is not None
            assert values.shape == (n_items, problem.items.n_classes)
            assert (values >= 0).all()
            assert values.sum(axis=1) == pytest.approx(np.ones(n_items), abs=1e-5)
        elif task == "columns":
            rows = np.array([0, n_items - 1])
            for relation in problem.network.columns(what):
                assert relation.column is not None
                if relation.column.has_cells:
                    own = attribute_range(relation)
                    category = relation.column.kind == "category"
                    told = answer.cells(relation.name, rows)
                    assert told.shape == ((2, own.stop - own.start) if category else (2,))
                    assert np.isfinite(told).all()
        else:
            rows = np.arange(problem.asked.values.shape[0])
            scores = answer.row_scores(rows)
            assert scores.shape == problem.asked.values.shape
            assert np.isfinite(scores).all()
            pairs = np.random.default_rng(0).integers(scores.shape, size=(40, 2))
            assert answer.pair_scores(pairs) == pytest.approx(
                scores[pairs[:, 0], pairs[:, 1]], rel=1e-4, abs=1e-5
            )

    def test_the_seed_decides_everything(self, name: str, task: Task, what: str) -> None:
        problem = problem_of(task, what)
        first, second = (METHODS[name].fit(problem).arrays() for _ in range(2))
        assert first.keys() == second.keys()
        assert all(np.array_equal(first[each], second[each]) for each in first)

    def test_it_is_better_than_chance(self, name: str, task: Task, what: str) -> None:
        given = {"relation": what} if what in NETWORK.relations else {"type": what}
        metrics = evaluate(NETWORK, task, name, labels=0.3, seeds=1, **given)["metrics"]
        if task == "classification":
            assert metrics["accuracy"]["mean"] > (0.2 if name == "majority" else 0.45)
        elif task == "columns":  # a tenth of sixty cells tells nothing
            assert what == "film" or metrics["gain"]["mean"] > -0.2
        else:
            assert metrics["auc"]["mean"] > (0.35 if name in ("popularity", "degree") else 0.45)


@pytest.mark.parametrize(
    "name", [name for name, method in METHODS.items() if method.scope == "plain networks"]
)
def test_methods_for_plain_networks_say_so(name: str) -> None:
    task = METHODS[name].tasks[0]
    with pytest.raises(InputError, match=f"method {name} is for plain networks") as refusal:
        METHODS[name].fit(Problem(task, NETWORK))
    assert "\n" not in str(refusal.value)


def test_common_neighbours_need_a_relation_of_a_type_with_itself() -> None:
    with pytest.raises(InputError, match="saw joins person and film"):
        METHODS["adamic-adar"].fit(Problem("links", NETWORK, relation="saw"))


@pytest.mark.parametrize("name", [name for name in GENERAL if "classification" in METHODS[name].tasks])
def test_a_type_with_nothing_but_labels_is_survived(name: str) -> None:
    labels = Labels.build([0, 0, 1, -1], ["a", "b"])
    network = Network.of([Items.build("thing", 4, labels=labels)])
    values = METHODS[name].fit(Problem("classification", network)).probabilities()
    assert values is not None
    assert values[3].argmax() == 0


@pytest.mark.parametrize("name", [name for name in GENERAL if "columns" in METHODS[name].tasks])
def test_a_column_of_which_nothing_is_known_is_survived(name: str) -> None:
    empty = sp.csr_array((5, 3), dtype=np.float32)
    relations = [
        Relation.build(column.name, "row", "attribute", empty, absent="unknown", column=column)
        for column in (Column("x", "number", 0, 1), Column("c", "category", 1, 3))
    ]
    network = Network.of([Items.build("row", 5), Items.build("attribute", 3)], relations)
    answer = METHODS[name].fit(Problem("columns", network))
    assert answer.cells("x", np.arange(5)).tolist() == [0.0] * 5
    assert answer.cells("c", np.arange(5)) == pytest.approx(np.full((5, 2), 0.5))


def test_linear_models_beat_the_mean_where_columns_hang_together() -> None:
    gains = {
        name: evaluate(NETWORK, "columns", name, seeds=3)["metrics"]["gain"]["mean"]
        for name in ("mean-or-mode", "ridge-cells", "tree-cells", "knn-cells")
    }
    assert gains["mean-or-mode"] == pytest.approx(0)
    assert all(gain > 0.05 for name, gain in gains.items() if name != "mean-or-mode")


def test_an_empty_cell_is_no_zero() -> None:
    own = own_features(NETWORK, "person").toarray()
    unknown = np.isnan(cell_values(NETWORK.relation("income")))
    value, known = own[:, 30], own[:, 31]
    assert not known[unknown].any()
    assert known[~unknown].all()
    assert value[~unknown] == pytest.approx(cell_values(NETWORK.relation("income"))[~unknown], abs=1e-6)
    member = own[:, 36]
    assert set(np.unique(member)) == {-1.0, 0.0, 1.0}
    trees = tree_features(NETWORK, "person", neighbours=False)
    assert np.isnan(trees.own[unknown, 30]).all()
    assert trees.categories.tolist() == [False] * 31 + [True, False]
    assert own_features(NETWORK, "person", without="town").shape[1] == own.shape[1] - 4


def test_means_are_those_of_the_dense_matrices() -> None:
    follows = NETWORK.relation("follows").values.toarray()
    saw = NETWORK.relation("saw").values.toarray()
    steps = {(step.target, step.matrix.nnz) for step in steps_from(NETWORK, "film")}
    assert steps == {("person", int(saw.sum()))}
    both = (follows + follows.T + NETWORK.relation("knows").values.toarray()) > 0
    links = joined(NETWORK, "person", "person")
    assert links is not None
    assert np.array_equal(links.toarray() > 0, both)

    length = own_features(NETWORK, "film").toarray()[:, -1]
    counts = saw.sum(axis=1)
    expected = np.divide(saw @ length, counts, out=np.zeros(120), where=counts > 0)
    everybody = np.arange(120)
    found = [
        np.asarray(view.rows(everybody).toarray())
        for view in relation_means(NETWORK, "person")
        if len(view.steps) == 1 and view.features.shape == (60, 1)
    ]
    assert len(found) == 1
    assert found[0][:, 0] == pytest.approx(expected, abs=1e-5)
    assert neighbour_means(NETWORK, "person", dimensions=4).shape[0] == 120


def test_sparse_means_have_rows_of_length_one() -> None:
    tags = next(view for view in link_views(NETWORK, "person") if view.features.shape[1] == 30)
    lengths = np.sqrt(np.asarray(tags.rows(np.arange(120)).power(2).sum(axis=1)).ravel())
    assert lengths[lengths > 0] == pytest.approx(1, abs=1e-5)
    plain = AveragedFeatures((mean_of_neighbours(joined(NETWORK, "person", "person")),), tags.features)
    cosine = tags.rows(np.arange(5)).multiply(plain.rows(np.arange(5))).sum(axis=1)
    size = np.sqrt(plain.rows(np.arange(5)).power(2).sum(axis=1))
    assert cosine == pytest.approx(size, abs=1e-5)
