"""Made-up networks: exact counts, heavy tails, and a signal that lies in links and attributes both."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from coembed.errors import InputError
from coembed.network import Network, synthesize, true_classes

SIZES = {"nodes": 3000, "links": 15_000, "attributes": 400, "entries": 60_000, "classes": 6}


@pytest.fixture(scope="module")
def network():
    return synthesize(**SIZES)


def test_the_counts_are_exact_and_the_network_is_sound(network, assert_same):
    assert (network.n_nodes, network.n_links, network.attributes.nnz) == (3000, 15_000, 60_000)
    assert (network.n_attributes, network.n_classes) == (400, 6)
    rebuilt = Network.build(
        network.links,
        network.attributes,
        network.labels,
        node_names=network.node_names,
        attribute_names=network.attribute_names,
        class_names=network.class_names,
    )
    assert rebuilt.notices == ()  # no loops, no direction
    assert_same(rebuilt, network)  # no duplicates, sorted
    assert set(network.links.data) == set(network.attributes.data) == {1}
    assert network.links.indices.dtype == network.attributes.indptr.dtype == np.int32


def test_the_same_seed_gives_the_same_network_and_another_one_another(network, assert_same):
    assert_same(synthesize(**SIZES), network)
    other = synthesize(**SIZES, seed=1)
    assert (other.links != network.links).nnz > network.links.nnz
    assert (other.labels != network.labels).any()


def test_labels_are_a_share_of_every_class_and_true(network):
    truth = true_classes(3000, 6)
    shown = network.labelled
    assert (network.labels[shown] == truth[shown]).all()
    sizes = np.bincount(truth, minlength=6)
    np.testing.assert_array_equal(np.bincount(network.labels[shown], minlength=6), np.ceil(0.1 * sizes))
    everything = synthesize(**SIZES, labels=1.0)
    np.testing.assert_array_equal(everything.labels, truth)
    assert (everything.links != network.links).nnz == 0
    assert len(synthesize(**SIZES, labels=0.0).labelled) == 0


def test_degrees_and_popularity_have_heavy_tails(network):
    degrees = np.diff(network.links.indptr)
    popularity = np.bincount(network.attributes.indices, minlength=400)
    for counts in (degrees, popularity):
        assert counts.max() > 6 * np.median(counts)
    # a Poisson network of this mean degree has no node with 40 links
    assert (degrees > 40).sum() > 10


def test_links_and_attributes_each_tell_a_part(network):
    truth = true_classes(3000, 6)
    seen, asked = network.labelled, np.flatnonzero(network.labels < 0)
    words = normalize(network.attributes)
    pass_on = sp.diags_array(1 / np.maximum(np.diff(network.links.indptr), 1)) @ network.links
    shown = sp.csr_array((np.ones(len(seen)), (seen, network.labels[seen])), shape=(3000, 6))
    around = sp.hstack([2 * pass_on @ words, 3 * pass_on @ shown], format="csr")

    def accuracy(features):
        model = LogisticRegression(C=10, max_iter=300).fit(features[seen], truth[seen])
        return (model.predict(features[asked]) == truth[asked]).mean()

    by_chance = np.bincount(truth).max() / 3000
    by_words = accuracy(words)
    by_labels = accuracy(3 * (pass_on @ shown))
    by_both = accuracy(sp.hstack([words, around], format="csr"))
    assert min(by_words, by_labels) > by_chance + 0.1
    assert by_both > by_words + 0.08
    assert by_both > by_labels + 0.08
    assert by_both < 0.97


def test_without_signal_links_ignore_the_classes():
    truth = true_classes(3000, 6)
    network = synthesize(**SIZES, homophily=0.0)
    rows, columns = network.links.nonzero()
    inside = (truth[rows] == truth[columns]).mean()
    expected = ((np.bincount(truth) / 3000) ** 2).sum()
    assert abs(inside - expected) < 0.05


@pytest.mark.parametrize(
    "sizes",
    [
        {"nodes": 1, "links": 0, "attributes": 0, "entries": 0, "classes": 1},
        {"nodes": 50, "links": 300, "attributes": 3, "entries": 37, "classes": 9},
        {"nodes": 40, "links": 195, "attributes": 30, "entries": 300, "classes": 2},
        {"nodes": 40, "links": 0, "attributes": 30, "entries": 0, "classes": 40},
    ],
)
def test_odd_sizes_are_exact_too(sizes):
    network = synthesize(**sizes)
    assert (network.n_nodes, network.n_links) == (sizes["nodes"], sizes["links"])
    assert (network.n_attributes, network.attributes.nnz) == (sizes["attributes"], sizes["entries"])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"nodes": 0}, "at least one node"),
        ({"links": -1}, "no negative count"),
        ({"links": 3000 * 2999 // 2}, "more than a quarter"),
        ({"entries": 3000 * 400}, "more than a quarter"),
        ({"labels": 1.5}, "labels must be a share"),
        ({"homophily": -0.1}, "homophily must be a share"),
    ],
)
def test_impossible_sizes_are_explained(changes, said):
    with pytest.raises(InputError, match=said):
        synthesize(**{**SIZES, **changes})


@pytest.mark.filterwarnings("error")
def test_popularity_falls_as_ranks_rise_and_activity_is_bounded(network):
    """Of attributes with the shifted rank: 1 / (rank + 10)."""
    counts = np.sort(np.bincount(network.attributes.indices, minlength=400))[::-1]
    assert counts[0] < 2 * counts[5]
    assert counts[10] / counts[100] == pytest.approx(110 / 20, rel=0.35)
    assert counts[100] / counts[300] == pytest.approx(310 / 110, rel=0.35)
    # the most active are thirty times as active as the least, who are not much behind the middle
    per_node = np.diff(network.attributes.indptr)
    assert per_node.max() < 13 * np.median(per_node)
