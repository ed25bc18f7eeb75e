"""A fit from start to result: any legal network, the same bits, nothing learnt from what is held out."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from coembed.network import UNKNOWN, Network
from coembed.settings import preset_of, preset_settings
from coembed.training import Holdout, fit
from coembed.training.holdout import hold_out

ARRAYS = ("node_mean", "node_std", "probabilities", "label_shift", "attribute_mean", "attribute_std")


def small_network(seed=0, n_nodes=30, n_attributes=12, n_classes=3):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n_nodes, n_nodes)) < 0.2, 1)
    labels = rng.permutation(np.arange(n_nodes) % n_classes)
    return Network.build(upper | upper.T, rng.random((n_nodes, n_attributes)) < 0.3, labels)


def settings_of(**changes):
    return preset_settings("paper", dim=4, hidden=6, epochs=12).change(**changes)


def assert_same(one, other):
    for name in ARRAYS:
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


def alone(values, labels=(0,)):
    return Network.build(np.zeros((1, 1)), values, np.array(labels))


def weighted():
    rng = np.random.default_rng(0)
    upper = np.triu(rng.normal(size=(20, 20)) * (rng.random((20, 20)) < 0.3), 1)
    values = rng.normal(size=(20, 8)) * (rng.random((20, 8)) < 0.6)
    return Network.build(upper + upper.T, values, rng.integers(0, 2, 20))


def without_attributes():
    network = small_network()
    return Network.build(network.links, None, network.labels)


def empty_attributes():
    network = small_network()
    return network.with_matrices(attributes=sp.csr_array((30, 12), dtype=np.float32))


def isolated_nodes():
    network = small_network()
    links = network.links.toarray()
    links[:5] = links[:, :5] = 0
    attributes = network.attributes.toarray()
    attributes[3:8] = 0  # some nodes have neither links nor attributes
    attributes[:, 2] = 0  # and one attribute has no owner
    return Network.build(links, attributes, network.labels)


def classes_without_a_label():
    labels = np.full(30, UNKNOWN)
    labels[:4] = [0, 0, 2, 2]
    network = small_network()
    return Network.build(network.links, network.attributes, labels, class_names=["a", "b", "c", "d"])


GAUSSIAN = {"links": "gaussian", "attributes": "gaussian"}
CASES = {
    "all there": (small_network, {}),
    "no attributes": (without_attributes, {}),
    "attributes without entries": (empty_attributes, {}),
    "no links": (
        lambda: Network.build(np.zeros((30, 30)), small_network().attributes, small_network().labels),
        {},
    ),
    "nothing at all": (lambda: Network.build(np.zeros((4, 4))), {}),
    "no labels": (lambda: Network.build(small_network().links, small_network().attributes), {}),
    "classes, but no label": (lambda: small_network().with_labels(np.full(30, UNKNOWN)), {}),
    "one class": (lambda: small_network(n_classes=1), {}),
    "classes without a labelled node": (classes_without_a_label, {}),
    "one node": (lambda: alone([[1.0, 0.0]]), {}),
    "one node without anything": (lambda: Network.build(np.zeros((1, 1))), {}),
    "two nodes": (lambda: Network.build([[0, 1], [1, 0]], [[1], [0]], [0, 1]), {}),
    "isolated nodes": (isolated_nodes, {}),
    "weights taken as presence": (weighted, {}),
    "complete": (lambda: Network.build(1 - np.eye(6), np.ones((6, 3)), np.arange(6) % 2), {}),
    "weighted links": (weighted, GAUSSIAN),
    "binary as real": (small_network, GAUSSIAN),
    "one node, real": (lambda: alone([[1.5, 0.0]]), GAUSSIAN),
    "no attributes, real": (without_attributes, GAUSSIAN),
    "nothing at all, real": (lambda: Network.build(np.zeros((4, 4))), GAUSSIAN),
    "isolated nodes, real": (isolated_nodes, GAUSSIAN),
}
VARIANTS = {
    "default": {},
    "exact": {"labels": "exact", "all_pairs": "exact", "block": 7},
    "sampled": {"block": 1},
    "validated": {"validation": 0.2, "validation_pairs": 0.2},
    "frequency": {"label_prior": "frequency", "kl_accounting": "atomic"},
}

FULL = ("two nodes", "complete")
"""Networks with all possible links."""


def test_where_all_pairs_are_there_none_is_kept_aside():
    for case in FULL:
        network = CASES[case][0]()
        fitted = fit(network, settings_of(validation_pairs=0.2))
        assert fitted.network.links.nnz == network.links.nnz
        assert "validation link AUC" not in fitted.history


@pytest.mark.parametrize(
    ("case", "variant"), [(c, v) for c in CASES for v in VARIANTS if not (v == "validated" and c in FULL)]
)
def test_any_legal_network_can_be_fitted(case, variant):
    make, changes = CASES[case]
    network = make()
    fitted = fit(network, settings_of(epochs=5, **changes, **VARIANTS[variant]))
    for name in ARRAYS:
        assert np.isfinite(getattr(fitted, name)).all(), name
    assert fitted.probabilities.shape == (network.n_nodes, network.n_classes)
    assert fitted.attribute_mean.shape == (network.n_attributes, 4 + network.n_classes)
    if network.n_classes:
        assert np.allclose(fitted.probabilities.sum(axis=1), 1, atol=1e-5)
    assert np.isfinite(fitted.history["loss"]).all()
    assert fitted.history["notices"] == []


def test_fitting_leaves_the_network_as_it_was():
    network = small_network()
    before = network.links.copy(), network.attributes.copy(), network.labels.copy()
    fit(network, settings_of(validation=0.2, validation_pairs=0.2))
    assert (before[0] != network.links).nnz == 0
    assert (before[1] != network.attributes).nnz == 0
    assert np.array_equal(before[2], network.labels)


class TestHoldout:
    def test_labels_of_held_out_nodes_are_not_learnt_from(self):
        network, held = small_network(), np.array([1, 5, 9, 20])
        lies = network.labels.copy()
        lies[held] = (lies[held] + 1) % 3
        # the last state, not the best: which epoch is best is all that the held-out labels may say
        one, other = (
            fit(n, settings_of(epochs=4), holdout=Holdout(labels={"node": held}))
            for n in (network, network.with_labels(lies))
        )
        assert_same(one, other)
        assert (one.network.labels[held] == UNKNOWN).all()
        assert "validation accuracy" in one.history

    def test_shares_of_the_settings_are_taken_out_of_what_is_seen(self):
        network = small_network()
        settings = settings_of(validation=0.2, validation_pairs=0.1)
        seen, held = hold_out(network, settings)
        assert len(held.labels["node"]) == round(0.2 * len(network.labelled))
        assert seen.n_links == network.n_links - round(0.1 * network.n_links)
        assert seen.attributes.nnz == network.attributes.nnz - round(0.1 * network.attributes.nnz)
        fitted = fit(network, settings)
        assert len(fitted.network.labelled) == round(0.8 * len(network.labelled))
        # learnt from or not, the pairs are known
        assert fitted.network.n_links == network.n_links
        assert fitted.network.attributes.nnz == network.attributes.nnz
        for figure in ("accuracy", "link AUC", "attribute AUC"):
            values = fitted.history[f"validation {figure}"]
            assert len(values) == len(fitted.history["validated_at"])
            assert all(0 <= value <= 1 for value in values)

    def test_pairs_only_choose_the_epoch(self):
        network = small_network()
        rng = np.random.default_rng(0)
        pairs = [np.sort(rng.permutation(30)[:20].reshape(-1, 2), axis=1) for _ in range(2)]
        settings = settings_of(epochs=4)
        watched = fit(network, settings, holdout=Holdout(pairs={"links": (pairs[0], pairs[1])}))
        assert_same(watched, fit(network, settings, holdout=Holdout()))

    def test_an_empty_holdout_keeps_nothing_aside(self):
        fitted = fit(small_network(), settings_of(validation=0.5), holdout=Holdout())
        assert len(fitted.network.labelled) == 30
        assert fitted.history["validated_at"] == []


SCRIPT = """
import hashlib
from coembed.network import demo_network
from coembed.settings import preset_of, preset_settings
from coembed.training import fit

fitted = fit(demo_network(), preset_settings("paper", epochs=3, dropout=0.3, block=256, validation=0.1))
digest = hashlib.sha256()
for name in {arrays!r}:
    digest.update(getattr(fitted, name).tobytes())
print(digest.hexdigest(), fitted.history["loss"])
"""


def test_the_same_seed_gives_the_same_bits_in_two_processes():
    command = [sys.executable, "-c", SCRIPT.format(arrays=ARRAYS)]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(2)]
    assert runs[0].stdout == runs[1].stdout
    assert not runs[0].stderr  # no warning of a library either


def test_another_seed_gives_other_bits():
    network = small_network()
    first = fit(network, settings_of())
    assert_same(first, fit(network, settings_of()))
    assert not np.array_equal(first.node_mean, fit(network, settings_of(seed=1)).node_mean)


def test_a_result_is_called_as_its_settings_or_as_is_said():
    settings = settings_of(epochs=1)
    assert fit(small_network(), settings).preset == preset_of(settings)
    assert fit(small_network(), settings, preset="mine").preset == "mine"
