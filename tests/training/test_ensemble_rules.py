"""Who is asked in the label ensemble, how much each reads, and what is said of it."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.ensemble
import torch

from coembed.distributed.partition import Partition
from coembed.network import Network
from coembed.settings import preset_settings
from coembed.training import label_ensemble, label_members
from coembed.training.label_ensemble import Ensemble, gather_members
from coembed.training.label_members import _of_one_size, linear, trees
from coembed.training.label_views import (
    FOLDS,
    SPREAD,
    LabelledType,
    folds_of,
    label_views,
    smoothed,
    spread_all,
)
from coembed.training.loop import History
from coembed.views import look
from coembed.views.reach import readings

FITTING = sys.modules["coembed.training.fit"]  # its name in the package is that of the function


def test_what_is_said_names_the_figure_it_is_by() -> None:
    told = Ensemble(np.ones((2, 2)), 0.0, {"linear": 1.0}, {"linear": 0.8, "together": 0.9})
    assert told.in_words("") == "classes, out of fold: linear 80 %; together 90 %"
    several = Ensemble(
        np.ones((2, 2)), 0.5, {"linear": 1.0}, {"linear": 0.8, "together": 0.9}, thresholds=np.full(2, 0.5)
    )
    assert several.in_words(" of film") == (
        "classes of film, out of fold (mean average precision): linear 80 %; together 90 %, "
        "leaning 0.5 towards links"
    )


@pytest.mark.parametrize("work", [0, 10**9])
def test_trees_are_asked_where_they_can_be_afforded(monkeypatch, work) -> None:
    """A network without cells: with little work they are a member, and else not."""
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 2
    links = np.triu(rng.random((60, 60)) < 0.1, 1)
    network = Network.build((links + links.T) * 1.0, (rng.random((60, 8)) < 0.3) * 1.0, labels)
    settings = preset_settings("best", epochs=1)
    for name in ("discriminators", "linear", "trees", "spreading", "linear_words"):
        monkeypatch.setattr(label_ensemble, name, lambda *_, **__: [np.zeros((60, 2))] * FOLDS)
    monkeypatch.setattr(label_ensemble, "TREE_WORK", work)
    views = look(network, readings(network), rank=4, neighbours=3)
    found = gather_members(network, views.types["node"], label_views(network), "node", settings)
    assert ("trees" in found) == bool(work)


@pytest.mark.parametrize("several", [True, False])
def test_many_classes_grow_fewer_trees_each(monkeypatch, several) -> None:
    asked = []

    class Grown:
        def __init__(self, max_iter, **_) -> None:
            asked.append(max_iter)

        def fit(self, features, labels):
            self.classes_ = np.unique(labels)
            return self

        def predict_proba(self, features):
            return np.full((len(features), len(self.classes_)), 1 / len(self.classes_))

        def decision_function(self, features):
            return np.zeros((len(features), len(self.classes_)))

    monkeypatch.setattr(sklearn.ensemble, "HistGradientBoostingClassifier", Grown)
    monkeypatch.setattr(label_members, "_logits", lambda model, features, n: np.zeros((len(features), n)))
    rng, classes = np.random.default_rng(0), 60
    labels = rng.integers(0, classes, 600)
    if several:
        labels = (np.arange(classes) == labels[:, None]).astype(np.int64)
    folds = folds_of(labels, 0)
    own = LabelledType(labels, classes, folds, None)
    shown = [SimpleNamespace(dense={"position": rng.normal(size=(600, 4))}, sparse={})] * FOLDS
    trees(shown, own, preset_settings("best", epochs=1000))
    assert set(asked) == {max(label_members.MOST_TREES // classes, 10)}


def test_views_are_of_one_size_and_labels_count_twice() -> None:
    view = np.random.default_rng(0).normal(size=(50, 4)) * np.arange(1, 5)
    for name, size in (("position", 1), ("spread job", 2), ("labels", 2)):
        assert np.sqrt(np.mean(np.square(_of_one_size(name, view)).sum(axis=1))) == pytest.approx(size)


def test_labels_spread_as_far_as_the_walk_goes() -> None:
    """Of every class what walks bring, step by step, beside a pinch of how common it is."""
    links = np.diag(np.ones(5), 1) + np.diag(np.ones(5), -1)
    walk = links / links.sum(axis=1, keepdims=True)
    labels = np.array([0, -1, -1, -1, -1, 1])
    (found,) = spread_all(sp.csr_array(walk.astype(np.float32)), [labels], 2, rounds=3)
    start = np.eye(2)[labels] * (labels >= 0)[:, None]
    moved = (1 - SPREAD) * start
    for _ in range(2):
        moved = SPREAD * walk @ moved + (1 - SPREAD) * start
    mixed = moved + 1e-4 * 0.5
    expected = np.where((labels >= 0)[:, None], start, mixed / mixed.sum(axis=1, keepdims=True))
    assert np.allclose(found, expected, atol=1e-6)
    assert np.abs(found[2] - [1, 0]).max() > 1e-6  # the pinch is seen


def test_who_leans_has_shares_of_all_classes_also_without_links() -> None:
    """The last item has no links: half of the way it hears nothing, and is as sure as the others."""
    walk = sp.csr_array(np.array([[0, 1.0, 0], [1.0, 0, 0], [0, 0, 0]]))
    thought = np.array([[0.7, 0.3], [0.2, 0.8], [0.6, 0.4]])
    found = smoothed(walk, thought, np.full(3, -1), 0.5)
    assert np.allclose(found.sum(axis=1), 1)
    assert np.allclose(found[2], thought[2])
    # of several classes each is a share of what could reach an item
    apart = smoothed(walk, thought, np.full((3, 2), -1), 0.5)
    assert np.allclose(apart[2], thought[2])
    assert np.allclose(smoothed(walk, np.ones((3, 2)), np.full((3, 2), -1), 0.5), 1)


@pytest.mark.parametrize(("work", "widths"), [(10**9, {16, 64, 100}), (1, {16}), (40 * 2 * 1 * 64, {16, 64})])
def test_linear_members_read_as_much_as_there_is_room_for(monkeypatch, work, widths) -> None:
    read = []

    def told(shown, own, width, penalty):
        read.append(width)
        return [np.zeros((40, 2))] * FOLDS

    monkeypatch.setattr(label_members, "_linear", told)
    monkeypatch.setattr(label_members, "LINEAR_WORK", work)
    labels = np.arange(40) % 2
    own = LabelledType(labels, 2, folds_of(labels, 0), None)
    linear([SimpleNamespace(dense={"position": np.zeros((40, 100))})] * FOLDS, own)
    assert set(read) == widths


@pytest.mark.parametrize("spared", [True, False])
def test_who_is_spared_says_how_sure_to_be_and_else_the_ensemble(spared) -> None:
    """Labels that nobody learnt from come before an opinion."""
    network = Network.build(np.zeros((6, 6)), np.eye(6, 4), [0, 1, 0, -1, -1, -1])
    logits = torch.tensor([[3.0, 0], [0, 3.0], [3.0, 0], [3.0, 0], [0, 3.0], [3.0, 0]])
    model = SimpleNamespace(
        evidence=lambda key: SimpleNamespace(label_logits=logits),
        types={"node": SimpleNamespace(partition=Partition.whole(6))},
    )

    def found(opinion):
        prepared = SimpleNamespace(
            spared={"node": np.array([0, 1, 2])} if spared else {},
            opinions={"node": np.array(opinion)},
            network=network,
            settings=preset_settings("best"),
        )
        return FITTING._calibration(model, prepared, "node")

    even, sure = found([[0.5, 0.5]] * 6), found([[1.0, 0], [0, 1.0]] * 3)
    assert (np.array_equal(even.temperature, sure.temperature)) == spared


def test_a_history_holds_what_is_known_of_the_members() -> None:
    told = {"node": {"linear": 0.8}}
    assert History(out_of_fold=told).as_dict()["out_of_fold"] == told
    assert "out_of_fold" not in History().as_dict()
