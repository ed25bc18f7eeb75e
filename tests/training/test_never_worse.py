"""Never worse than a simple method: few labels, odd networks, members ahead, whom the answer trusts."""

from dataclasses import replace
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
import torch
from scipy.special import softmax

from coembed.distributed.partition import Partition
from coembed.network import Network
from coembed.settings import preset_settings
from coembed.training import extraction, fit, label_ensemble
from coembed.training.few_labels import ALIKE, BOTH, LINKS, opinion_of_few
from coembed.training.label_combination import how_far_to_lean
from coembed.training.label_ensemble import _combined
from coembed.training.label_members import PENALTY, _linear, linear
from coembed.training.label_views import FOLDS, LabelledType, folds_of, smoothed, spread, walk_within
from coembed.views import look, readings

SMALL = {"epochs": 4, "dim": 8, "hidden": 8, "rank": 16, "space_dim": 0}


def small(**changes):
    return preset_settings("best", **(SMALL | changes))


def right(result, classes, labels):
    hidden = labels < 0
    return np.mean(result.probabilities.argmax(axis=1)[hidden] == classes[hidden])


def joined(rng, classes, within, across):
    chance = np.where(classes[:, None] == classes, within, across)
    upper = np.triu(rng.random((len(classes), len(classes))) < chance, 1)
    return upper + upper.T


@pytest.mark.parametrize("seed", range(3))
def test_a_club_that_falls_apart_is_told_from_its_two_leaders(seed):
    club = nx.karate_club_graph()
    classes = np.array([int(club.nodes[who]["club"] != "Mr. Hi") for who in club])
    labels = np.full(34, -1)
    labels[[0, 33]] = 0, 1
    links = nx.to_numpy_array(club, weight=None)
    result = fit(Network.build(links, labels=labels), small(seed=seed))
    assert right(result, classes, labels) >= 0.95
    (line,) = [notice for notice in result.history["notices"] if "too few labels" in notice]
    assert line.endswith("the answer follows labels spread along links")


def few(words, links, labels, n_classes):
    network = Network.build(links, words, labels)
    views = look(network, readings(network), 16, 5).types["node"]
    return opinion_of_few(walk_within(network, "node"), views, labels, n_classes, 5)


@pytest.mark.parametrize(("agreeing", "way"), [(True, BOTH), (False, LINKS)])
def test_items_alike_are_asked_where_linked_items_are_alike(agreeing, way):
    rng = np.random.default_rng(0)
    classes = np.repeat([0, 1, 2], 60)
    links = joined(rng, classes, 0.05, 0.005)
    about = classes if agreeing else rng.permutation(classes)
    words = rng.random((180, 24)) < np.where(np.arange(24) % 3 == about[:, None], 0.5, 0.1)
    labels = np.full(180, -1)
    labels[[0, 60, 120]] = 0, 1, 2
    opinion, chosen = few(words, links, labels, 3)
    assert chosen == way
    alone = spread(walk_within(Network.build(links), "node"), labels, 3, 50)
    hidden = labels < 0
    found, simple = (np.mean(each.argmax(axis=1)[hidden] == classes[hidden]) for each in (opinion, alone))
    assert found >= simple


def test_labels_left_out_overrule_links_that_mislead():
    rng = np.random.default_rng(0)
    classes = np.repeat([0, 1], 60)
    words = rng.random((120, 24)) < np.where(np.arange(24) % 2 == classes[:, None], 0.5, 0.1)
    labels = np.full(120, -1)
    labels[:5], labels[60:65] = 0, 1
    opinion, chosen = few(words, joined(rng, classes, 0.0, 0.1), labels, 2)
    assert chosen == ALIKE
    assert np.mean(opinion.argmax(axis=1) == classes) > 0.9


def test_as_many_classes_as_labels_are_told_as_spreading_tells_them():
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(100), 4)
    links = joined(rng, classes, 1.0, 0.001)
    labels = np.where(np.arange(400) % 4 == 0, classes, -1)
    network = Network.build(links, labels=labels)
    result = fit(network, small(validation_pairs=0.0))
    alone = spread(walk_within(network, "node"), labels, 100, 50)
    hidden = labels < 0
    assert right(result, classes, labels) >= np.mean(alone.argmax(axis=1)[hidden] == classes[hidden]) > 0.9


def test_coordinates_that_are_noise_are_not_read():
    """Of 200 coordinates the first tells the classes; 40 labels cannot tell the rest from chance."""
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 2, 400)
    known = np.where(np.arange(400) < 40, classes, -1)
    position = np.column_stack([2.0 * classes - 1 + rng.normal(0, 0.5, 400), rng.normal(size=(400, 199))])
    own = LabelledType(known, 2, folds_of(known, 0), None)
    shown = [SimpleNamespace(dense={"position": position.astype(np.float32)})] * FOLDS

    def accuracy(told):
        return np.mean(np.mean(told, axis=0).argmax(axis=1)[40:] == classes[40:])

    assert accuracy(linear(shown, own)) == accuracy(_linear(shown, own, 16, PENALTY)) > 0.8
    assert accuracy(_linear(shown, own, 200, PENALTY)) < 0.75


def members_of(classes, known, **accuracy):
    """Members that are right with a probability each, and a type with these labels."""
    rng = np.random.default_rng(0)
    own = LabelledType(known, 3, folds_of(known, 0), None)
    members = {}
    for name, chance in accuracy.items():
        told = np.where(rng.random(len(classes)) < chance, classes, rng.integers(0, 3, len(classes)))
        # bolder the less it is right, as those are who learn by heart
        members[name] = [np.eye(3)[told] * 3.0 / chance] * FOLDS
    return members, own


def test_what_is_said_together_is_not_below_the_best_member():
    classes = np.random.default_rng(1).integers(0, 3, 900)
    known = np.where(np.arange(900) % 2, classes, -1)
    members, own = members_of(classes, known, discriminators=0.3, linear=0.9, spreading=0.2)
    found = _combined(members, own)
    assert found.accuracy["together"] >= found.accuracy["linear"] - 0.02
    hidden = known < 0
    assert np.mean(found.opinion.argmax(axis=1)[hidden] == classes[hidden]) > 0.88


def test_labels_of_a_fold_have_no_part_in_what_that_fold_says(monkeypatch):
    classes = np.random.default_rng(1).integers(0, 3, 300)
    members, own = members_of(classes, classes, discriminators=0.4, linear=0.7)
    heard = []
    monkeypatch.setattr(label_ensemble, "cross_conformal", lambda by_fold, *_: heard.append(by_fold))
    _combined(members, own)
    changed = np.where(own.folds == 0, (classes + 1) % 3, classes)
    _combined(members, replace(own, labels=changed))
    np.testing.assert_array_equal(heard[0][0], heard[1][0])
    assert not np.array_equal(heard[0][1], heard[1][1])


def test_who_leans_towards_the_links_is_as_sure_as_is_right():
    """Opinions that are right as often as they say; a mean over links says it of itself less often."""
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 3, 1500)
    evidence = np.eye(3)[classes] + rng.normal(0, 0.7, (1500, 3))
    said = np.exp(evidence / 0.49)
    said /= said.sum(axis=1, keepdims=True)
    known = np.where(np.arange(1500) < 500, classes, -1)
    walk = walk_within(Network.build(joined(rng, classes, 0.02, 0.004)), "node")
    own = LabelledType(known, 3, folds_of(known, 0), walk)
    found = how_far_to_lean([said] * FOLDS, own, (0.0, 0.5, 0.8))
    assert found.strength > 0
    hidden = known < 0
    right = np.mean(found.of(said, own).argmax(axis=1)[hidden] == classes[hidden])
    assert right > np.mean(said.argmax(axis=1)[hidden] == classes[hidden]) + 0.05
    meek = own.smoothed(said, found.strength).max(axis=1)[hidden].mean()
    assert abs(found.of(said, own).max(axis=1)[hidden].mean() - right) < 0.03 < right - meek


def test_a_model_that_leans_is_as_sure_as_the_ensemble():
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 3, 600)
    labels = np.where(rng.random(600) < 0.1, classes, -1)
    network = Network.build(joined(rng, classes, 0.05, 0.01), labels=labels)
    opinion = np.where(np.arange(3) == classes[:, None], 0.9, 0.05).astype(np.float32)
    prepared = SimpleNamespace(strengths={"node": 0.8}, opinions={"node": opinion}, whole={})
    rows = Partition.whole(600)
    found = extraction._leaning(torch.as_tensor(opinion), network, "node", rows, prepared).numpy()
    hidden = labels < 0
    meek = smoothed(walk_within(network, "node"), opinion, network.labels, 0.8)
    assert meek[hidden].max(axis=1).mean() < 0.8
    assert found[hidden].max(axis=1).mean() == pytest.approx(0.9, abs=0.03)


def test_a_member_that_is_ahead_is_followed_and_named(monkeypatch):
    classes = np.random.default_rng(1).integers(0, 3, 900)
    known = np.where(np.arange(900) % 2, classes, -1)
    members, own = members_of(classes, known, discriminators=0.4, linear=0.9)
    weighed = label_ensemble.stacked

    def misled(told, truth):
        return np.array([5.0, 0.1]) if len(told) == 2 else weighed(told, truth)

    monkeypatch.setattr(label_ensemble, "stacked", misled)
    found = _combined(members, own)
    assert (found.follows, found.share) == ("linear", 1.0)
    assert found.accuracy["together"] == found.accuracy["linear"]
    assert "ahead of all: linear, which the answer follows" in found.in_words("")


def test_the_answer_of_a_fit_is_that_of_the_member_that_is_ahead(monkeypatch):
    """Links, which lead to the other class, tell it; who combines members goes by an untrained one."""
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 2, 300)
    labels = np.where(np.arange(300) < 60, classes, -1)
    words = rng.random((300, 40)) < 0.2
    network = Network.build(joined(rng, classes, 0.002, 0.06), words, labels)
    weighed, gathered, members = label_ensemble.stacked, label_ensemble.gather_members, {}

    def misled(told, truth):
        return np.eye(len(told))[0] if len(told) > 1 else weighed(told, truth)

    def overheard(*what):
        members.update(gathered(*what))
        return members

    monkeypatch.setattr(label_ensemble, "stacked", misled)
    monkeypatch.setattr(label_ensemble, "gather_members", overheard)
    result = fit(network, small())
    said = [line for line in result.history["notices"] if "which the answer follows" in line]
    assert len(said) == 1
    ahead = said[0].split("ahead of all: ")[1].split(",")[0]
    assert ahead != "discriminators"
    told = np.mean(softmax(members[ahead], axis=2), axis=0).argmax(axis=1)
    hidden = labels < 0
    assert np.mean(result.probabilities.argmax(axis=1)[hidden] == told[hidden]) >= 0.95
    assert right(result, classes, labels) > 0.9


@pytest.mark.parametrize(("labelled", "asked"), [(200, True), (201, False)])
def test_with_few_labels_views_are_asked_one_by_one(labelled, asked):
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 3, 300)
    labels = np.where(np.arange(300) < labelled, classes, -1)
    network = Network.build(joined(rng, classes, 0.06, 0.002), rng.random((300, 40)) < 0.2, labels)
    result = fit(network, small(epochs=1))
    found = set(result.history["out_of_fold"]["node"])
    assert found >= {"discriminators", "linear", "spreading", "together"}
    assert ("linear by view" in found) == asked


def test_spared_labels_say_whether_the_model_is_to_be_trusted(demo, monkeypatch):
    """One step from where it started a model knows nothing, and the ensemble answers in its place."""
    monkeypatch.setattr(label_ensemble, "ENOUGH", 200)
    labels = demo.labels.copy()
    labels[np.random.default_rng(0).permutation(demo.n_nodes)[:700]] = -1
    linear = label_ensemble.linear
    monkeypatch.setattr(label_ensemble, "discriminators", lambda shown, own, _: linear(shown, own))
    result = fit(demo.with_labels(labels), small(epochs=1, validation_pairs=0.0))
    (line,) = [notice for notice in result.history["notices"] if "are answered by" in notice]
    assert line == "classes are answered by the label ensemble: best on 77 labels"
    assert right(result, demo.labels, labels) > 0.9
