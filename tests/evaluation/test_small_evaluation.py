"""Small pieces of evaluation, of which one can say what they must answer."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from coembed.evaluation.asked import _with_cells
from coembed.evaluation.scan_method import ScanAnswer
from coembed.evaluation.svm import svm_metrics
from coembed.evaluation.training_truth import _look_at
from coembed.fitted import Fitted
from coembed.network import Column, Items, Labels, Network, Relation
from coembed.network.cell_values import attribute_range


@pytest.mark.parametrize(("count", "more"), [(4, ""), (5, ""), (6, " and 1 more"), (8, " and 3 more")])
def test_five_are_named_and_the_rest_counted(count: int, more: str) -> None:
    classes = [f"c{i}" for i in range(count)]
    items = Items.build("a", count, labels=Labels.build(np.arange(count), classes))
    network = Network.of([items], [], "x", [f"a.csv: column 'k{i}' was left out" for i in range(count)])
    rare, left = _look_at(network, "a")
    named = ", ".join(f"c{i} 1" for i in range(min(count, 5)))
    assert rare == f"classes with few labels: {named}{more}"
    assert left == f"columns left out: {', '.join(f'k{i}' for i in range(min(count, 5)))}{more}"


def test_only_a_type_with_cells_is_asked_for_cells() -> None:
    tags = Relation.build("likes", "a", "a attributes", np.eye(2), column=Column("likes", "tags", 0, 2))
    age = Relation.build(
        "age", "b", "b attributes", np.ones((2, 1)), absent="unknown", column=Column("age", "number", 0, 1)
    )
    sizes = {"a": 2, "b": 2, "a attributes": 2, "b attributes": 1}
    network = Network.of([Items.build(name, size) for name, size in sizes.items()], [tags, age])
    assert _with_cells(network) == ["b"]


def test_a_class_with_fewer_members_than_folds_warns_nobody() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [30, 30, 3])
    vectors = rng.normal(size=(63, 3)) + 3 * np.eye(3)[labels]
    known = np.setdiff1d(np.arange(63), [0, 30])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert svm_metrics(vectors, labels, known, np.array([0, 30]))["svm_accuracy"] == 1


def test_a_column_is_scored_for_its_own_attributes_alone(general: Fitted) -> None:
    relation = general.network.relation("likes")
    scores = ScanAnswer(general, "person", "likes").row_scores(np.arange(5))
    own = attribute_range(relation)
    assert scores.shape == (5, relation.values.shape[1])
    others = np.setdiff1d(np.arange(scores.shape[1]), np.arange(scores.shape[1])[own])
    assert len(others) == 6
    assert not scores[:, others].any()
    np.testing.assert_array_equal(scores[:, own], general.score_rows(np.arange(5), "likes"))
