"""Splits hide what they ask for, from everything."""

import numpy as np
import pytest
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network import (
    UNKNOWN,
    Items,
    Network,
    Relation,
    hide,
    published_masks,
    split_attributes,
    split_labels,
    split_links,
    split_pairs,
)
from coembed.network.pairs import ACROSS, DIRECTED, UNDIRECTED, matched_negatives, true_pairs

SPLITS = [("links", split_links), ("attributes", split_attributes)]
ARRAYS = (
    "validation",
    "test",
    "validation_negatives",
    "test_negatives",
    "test_matched_positives",
    "test_matched",
)


def codes(pairs, width):
    return pairs[:, 0] * width + pairs[:, 1]


def values_at(matrix, pairs):
    return np.asarray(matrix[pairs[:, 0], pairs[:, 1]]).ravel()


def assert_canonical(matrix):
    again = sp.csr_array(matrix.toarray())
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(matrix, part), getattr(again, part))


def test_so_many_of_every_class(demo):
    split = split_labels(demo, labels=5, seed=3)
    given = np.concatenate([split.train, split.validation])
    assert np.bincount(demo.labels[given]).tolist() == [5] * demo.n_classes
    assert len(split.validation) == len(given) // 5
    everybody = np.sort(np.concatenate([given, split.test]))
    np.testing.assert_array_equal(everybody, np.flatnonzero(demo.labels >= 0))
    # a class that has no more gives all that it has
    many = split_labels(demo, labels=200)
    counts, sizes = (np.bincount(demo.labels[each]) for each in (many.visible(demo).labelled, everybody))
    np.testing.assert_array_equal(counts, np.minimum(sizes, 200))


def test_label_split_is_a_partition_of_the_labelled(demo):
    network = demo.with_labels(np.where(np.arange(demo.n_nodes) % 3, demo.labels, UNKNOWN))
    split = split_labels(network, labels=0.25, validation=0.4, seed=3)
    parts = [split.train, split.validation, split.test]
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), network.labelled)
    given = len(split.train) + len(split.validation)
    assert given == round(0.25 * len(network.labelled))
    assert len(split.validation) == round(0.4 * given)


def test_visible_labels_are_the_given_ones_and_no_others(demo):
    split = split_labels(demo, seed=1)
    visible = split.visible(demo)
    given = np.concatenate([split.train, split.validation])
    np.testing.assert_array_equal(visible.labels[given], demo.labels[given])
    assert (visible.labels[split.test] == UNKNOWN).all()
    assert visible.n_classes == demo.n_classes


def test_values_of_labels_have_no_say_in_their_split(demo):
    flipped = demo.with_labels((demo.labels + 1) % demo.n_classes)
    for part in ("train", "validation", "test"):
        np.testing.assert_array_equal(
            getattr(split_labels(demo, seed=5), part), getattr(split_labels(flipped, seed=5), part)
        )


def test_label_split_is_uniform_over_nodes(demo):
    times = np.zeros(demo.n_nodes)
    for seed in range(200):
        split = split_labels(demo, labels=0.5, seed=seed)
        times[np.concatenate([split.train, split.validation])] += 1
    # binomial(200, 1/2): standard deviation 7.07, of the class means far smaller
    assert abs(times.mean() - 100) < 1
    for k in range(demo.n_classes):
        assert abs(times[demo.labels == k].mean() - 100) < 5


@pytest.mark.parametrize(("kind", "split"), SPLITS)
def test_pair_split_hides_its_pairs_in_both_directions(demo, kind, split):
    made = split(demo, validation=0.05, test=0.1, seed=2)
    visible = made.visible(demo)
    full, left = getattr(demo, kind), getattr(visible, kind)
    hidden = np.concatenate([made.validation, made.test])
    assert (values_at(full, hidden) != 0).all()
    assert (values_at(left, hidden) == 0).all()
    each = 2 if kind == "links" else 1
    assert left.nnz == full.nnz - each * len(hidden)
    if kind == "links":
        assert (values_at(left, hidden[:, ::-1]) == 0).all()
        assert (left != left.T).nnz == 0
    total = full.nnz // each
    assert (len(made.validation), len(made.test)) == (round(0.05 * total), round(0.1 * total))
    other = "attributes" if kind == "links" else "links"
    assert getattr(visible, other) is getattr(demo, other)
    assert_canonical(left)


@pytest.mark.parametrize(("kind", "split"), SPLITS)
def test_negatives_are_absent_distinct_and_canonical(demo, kind, split):
    made = split(demo, seed=4)
    full = getattr(demo, kind)
    for name in ARRAYS:
        pairs = getattr(made, name)
        assert pairs.dtype == np.int64
        assert pairs.shape == (len(pairs), 2)
        if kind == "links":
            assert (pairs[:, 0] < pairs[:, 1]).all()
    assert len(made.validation_negatives) == len(made.validation)
    assert len(made.test_negatives) == len(made.test)
    for pairs in (made.test_negatives, made.test_matched):
        assert (values_at(full, pairs) == 0).all()
    assert (values_at(getattr(made.visible(demo), kind), made.validation_negatives) == 0).all()
    for pairs in (made.validation_negatives, made.test_negatives, made.test_matched):
        assert len(np.unique(codes(pairs, full.shape[1]))) == len(pairs)
    assert not np.isin(codes(made.validation_negatives, 10**6), codes(made.validation, 10**6)).any()


@pytest.mark.parametrize(("kind", "split"), SPLITS)
def test_matched_negatives_have_exactly_the_popularity_of_the_positives(demo, kind, split):
    made = split(demo, seed=0)
    assert len(made.test_matched) == len(made.test_matched_positives) == len(made.test) - made.unmatched
    assert made.unmatched < 0.02 * len(made.test)
    sides = [slice(None)] if kind == "links" else [0, 1]
    for side in sides:
        positive = np.bincount(made.test_matched_positives[:, side].ravel(), minlength=demo.n_nodes)
        negative = np.bincount(made.test_matched[:, side].ravel(), minlength=demo.n_nodes)
        np.testing.assert_array_equal(positive, negative)


def test_an_attribute_that_everybody_owns_is_left_unmatched():
    rng = np.random.default_rng(0)
    attributes = (rng.random((200, 30)) < 0.2).astype(float)
    attributes[:, 7] = 1
    network = Network.build(np.zeros((200, 200)), attributes)
    made = split_attributes(network, test=0.3, seed=0)
    owned = int((made.test[:, 1] == 7).sum())
    assert owned > 0
    assert made.unmatched >= owned
    assert not (made.test_matched_positives[:, 1] == 7).any()
    assert not (made.test_negatives[:, 1] == 7).any()


def test_uniform_negatives_are_uniform():
    links = np.zeros((6, 6))
    links[0, 1] = links[1, 0] = links[2, 3] = links[3, 2] = 1
    network = Network.build(links)
    counts = np.zeros((6, 6))
    for seed in range(2000):
        negative = split_links(network, validation=0.0, test=0.5, seed=seed).test_negatives
        counts[negative[:, 0], negative[:, 1]] += 1
    absent = counts[np.triu_indices(6, 1)]
    absent = absent[absent > 0]
    assert len(absent) == 13
    assert (abs(absent - 2000 / 13) < 4 * np.sqrt(2000 / 13)).all()


def test_validation_takes_pairs_of_the_test_for_absent_ones():
    """Every pair that is neither seen nor of the validation is as probable, whether or not it is tested."""
    links = np.zeros((6, 6))
    links[0, 1:] = links[1:, 0] = 1
    network = Network.build(links)
    counts = np.zeros((6, 6))
    tested = 0
    for seed in range(4000):
        made = split_links(network, validation=0.2, test=0.4, seed=seed)
        negative = made.validation_negatives
        counts[negative[:, 0], negative[:, 1]] += 1
        tested += np.isin(codes(negative, 6), codes(made.test, 6)).sum()
    assert abs(tested - 4000 * 2 / 12) < 4 * np.sqrt(4000 * 2 / 12)  # two tested pairs, ten absent ones
    absent = counts[1:, 1:][np.triu_indices(5, 1)]
    assert (abs(absent - 4000 / 12) < 4 * np.sqrt(4000 / 12)).all()


@pytest.mark.parametrize(("kind", "split"), SPLITS)
def test_visible_does_not_depend_on_anything_asked(demo, kind, split):
    """Flip every hidden entry and every negative: the visible network stays bit-equal."""
    made = split(demo, seed=6)
    full = getattr(demo, kind).tolil()
    for pairs, value in (
        (made.validation, 0),
        (made.test, 0),
        (made.validation_negatives, 9),
        (made.test_negatives, 9),
        (made.test_matched, 9),
    ):
        full[pairs[:, 0], pairs[:, 1]] = value
        if kind == "links":
            full[pairs[:, 1], pairs[:, 0]] = value
    flipped = sp.csr_array(full, dtype=np.float32)
    flipped.eliminate_zeros()
    flipped.sort_indices()
    before = getattr(made.visible(demo), kind)
    after = getattr(made.visible(demo.with_matrices(**{kind: flipped})), kind)
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(before, part), getattr(after, part))


@pytest.mark.parametrize("split", [split_links, split_attributes])
def test_the_seed_decides(demo, split):
    first, again, other = split(demo, seed=1), split(demo, seed=1), split(demo, seed=2)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    assert not np.array_equal(first.test, other.test)


def test_hide_takes_the_share_of_both_and_keeps_links_symmetric(demo):
    hidden = hide(demo, 0.15, seed=0)
    assert hidden.n_links == demo.n_links - round(0.15 * demo.n_links)
    assert hidden.attributes.nnz == demo.attributes.nnz - round(0.15 * demo.attributes.nnz)
    assert (hidden.links != hidden.links.T).nnz == 0
    assert_canonical(hidden.links)
    assert hide(demo, 0.0).links.nnz == demo.links.nnz


def test_published_masks_leak_most_test_links_but_no_attribute(demo):
    visible, links, attributes = published_masks(demo, seed=0)
    leaked = values_at(visible.links, links.test)
    assert 0.75 < leaked.mean() < 0.95
    assert (values_at(visible.attributes, attributes.test) == 0).all()
    assert (visible.links != visible.links.T).nnz == 0
    assert set(np.unique(visible.links.data)) == {1}
    assert len(links.test) == int(0.10 * demo.links.nnz)
    assert (values_at(demo.links, links.test_negatives) == 0).all()
    # an entry is visible unless both directions were hidden
    hidden = np.concatenate([links.validation, links.test])
    both = np.isin(codes(hidden, demo.n_nodes), codes(hidden[:, ::-1], demo.n_nodes)).sum()
    assert visible.links.nnz == demo.links.nnz - both


def test_networks_that_cannot_be_split_are_explained():
    full = Network.build(1 - np.eye(4), np.ones((4, 3)), [0, 1, 0, 1])
    with pytest.raises(InputError, match="absent"):
        split_links(full, test=0.5)
    with pytest.raises(InputError, match="absent"):
        split_attributes(full, test=0.5)
    with pytest.raises(InputError, match="too few"):
        split_links(Network.build([[0, 1], [1, 0]]))


@pytest.mark.parametrize(
    "call",
    [
        lambda n: split_labels(n, labels=1.5),
        lambda n: split_labels(n, validation=-0.1),
        lambda n: split_links(n, test=1.0),
        lambda n: hide(n, float("nan")),
        lambda n: split_labels(n, seed=-1),
    ],
)
def test_senseless_shares_and_seeds_are_refused(demo, call):
    with pytest.raises(InputError, match="must be"):
        call(demo)


def test_a_split_is_not_applied_to_a_network_of_other_size(demo, odd):
    with pytest.raises(InputError, match="was made for"):
        split_labels(demo).visible(odd)
    with pytest.raises(InputError, match="was made for"):
        split_links(demo).visible(odd)


def test_a_network_without_labels_gives_an_empty_label_split():
    split = split_labels(Network.build([[0, 1], [1, 0]]))
    assert len(split.train) == len(split.test) == 0


@pytest.mark.parametrize("pairing", [ACROSS, UNDIRECTED, DIRECTED])
@pytest.mark.parametrize("density", [0.1, 0.6])
def test_matched_negatives_are_absent_and_as_popular(pairing, density):
    """None is a pair that is there, none occurs twice, and every item occurs as often as in the positives."""
    rng = np.random.default_rng(0)
    dense = rng.random((40, 40)) < density
    if pairing.same:
        dense &= ~np.eye(40, dtype=bool)
    if pairing.undirected:
        dense = np.triu(dense, 1)
        dense |= dense.T
    matrix = sp.csr_array(dense.astype(np.float32))
    pairs = true_pairs(matrix, pairing)
    some = pairs[rng.choice(len(pairs), len(pairs) // 3, replace=False)]
    positives, negatives = matched_negatives(matrix, pairing, some, rng)
    assert len(positives) == len(negatives) > len(some) / 4
    assert not dense[negatives[:, 0], negatives[:, 1]].any()
    assert len(np.unique(negatives, axis=0)) == len(negatives)
    if pairing.same:
        assert (negatives[:, 0] != negatives[:, 1]).all()
    if pairing.undirected:
        counts = [np.bincount(each.ravel(), minlength=40) for each in (positives, negatives)]
        np.testing.assert_array_equal(*counts)
    else:
        for end in (0, 1):
            counts = [np.bincount(each[:, end], minlength=40) for each in (positives, negatives)]
            np.testing.assert_array_equal(*counts)


def test_a_share_too_small_for_one_pair_hides_none():
    links = np.zeros((6, 6))
    links[[0, 1, 2], [1, 2, 3]] = 1
    network = Network.build(links + links.T)
    assert [hide(network, share).n_links for share in (0.0, 0.1, 0.4)] == [3, 3, 2]


def test_relations_that_are_alike_hide_different_pairs():
    matrix = np.add.outer(np.arange(20), np.arange(20)) % 2 * 1.0
    types = [Items.build("one", 20), Items.build("other", 20)]
    network = Network.of(types, [Relation.build(name, "one", "other", matrix) for name in ("saw", "likes")])
    saw, likes = (split_pairs(network, name) for name in ("saw", "likes"))
    assert not np.array_equal(np.sort(codes(saw.test, 20)), np.sort(codes(likes.test, 20)))
