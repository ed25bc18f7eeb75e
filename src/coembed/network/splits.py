"""Hiding a part of a network to be asked about it later: labels, links on undirected pairs, attributes.

What is hidden is chosen uniformly at random and never looked at otherwise: which entries are hidden depends
on where entries are, never on their values or on the values of labels.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from coembed.errors import InputError
from coembed.network.network import UNKNOWN, Network
from coembed.network.pairs import Kind, matched_negatives, true_pairs, uniform_negatives, without

# one stream of random numbers for every purpose, so that equal seeds do not make them depend on one another
_LABELS, _LINKS, _ATTRIBUTES, _HIDE = range(4)


@dataclass(frozen=True, eq=False)
class LabelSplit:
    """Nodes whose label is learnt from, chosen with, and asked for (sorted indices).

    Attributes
    ----------
    fingerprint
        Of the network it was made for, see :func:`fingerprint`.
    """

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray
    fingerprint: str

    def visible(self, network: Network) -> Network:
        """The network with the labels of `train` and `validation` only."""
        _same_size(self.fingerprint, network)
        given = np.concatenate([self.train, self.validation])
        labels = np.full(network.n_nodes, UNKNOWN)
        labels[given] = network.labels[given]
        return network.with_labels(labels)


@dataclass(frozen=True, eq=False)
class PairSplit:
    """Hidden pairs and as many absent ones; every array is int64 of shape (n, 2).

    Links are undirected pairs with the smaller index first; attributes are (node, attribute).

    Attributes
    ----------
    validation, test
        Hidden true pairs.
    validation_negatives, test_negatives
        Pairs absent from the *full* network, uniformly drawn, none twice.
    test_matched_positives, test_matched
        Test pairs, and absent pairs in which each node and attribute occurs as often as in them.
    unmatched
        Test pairs without a partner to trade ends with, left out of both of the former.
    fingerprint
        Of the network it was made for, see :func:`fingerprint`.
    """

    kind: Kind
    validation: np.ndarray
    test: np.ndarray
    validation_negatives: np.ndarray
    test_negatives: np.ndarray
    test_matched_positives: np.ndarray
    test_matched: np.ndarray
    unmatched: int
    fingerprint: str

    def visible(self, network: Network) -> Network:
        """The network without any pair that is asked about.

        The negatives are cleared as well: they are absent already from the network of this split, and it
        makes plain that nothing of the result depends on them.
        """
        _same_size(self.fingerprint, network)
        asked = np.concatenate(
            [self.validation, self.test, self.validation_negatives, self.test_negatives, self.test_matched]
        )
        if self.kind == "links":
            return network.with_matrices(links=without(network.links, asked, "links"))
        return network.with_matrices(attributes=without(network.attributes, asked, "attributes"))


def split_labels(network: Network, labels: float = 0.1, validation: float = 0.2, seed: int = 0) -> LabelSplit:
    """Give the share `labels` of the known labels, of which `validation` is kept to choose with.

    Uniform at random over the labelled nodes, as in the paper, not class by class: a small class may be left
    without any given label.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> demo = demo_network()
    >>> split = split_labels(demo, labels=0.1, seed=1)
    >>> len(split.train), len(split.validation), len(split.test)
    (118, 30, 1328)
    >>> len(split.visible(demo).labelled)
    148
    """
    _fraction("labels", labels, 1.0)
    _fraction("validation", validation, 1.0)
    order = _rng(seed, _LABELS).permutation(network.labelled)
    n_given = _share(labels, len(order))
    n_validation = _share(validation, n_given, at_least_one=False)
    return LabelSplit(
        train=np.sort(order[n_validation:n_given]),
        validation=np.sort(order[:n_validation]),
        test=np.sort(order[n_given:]),
        fingerprint=fingerprint(network),
    )


def split_links(network: Network, validation: float = 0.05, test: float = 0.10, seed: int = 0) -> PairSplit:
    """Hide undirected links: both directions of a pair go together.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> demo = demo_network()
    >>> split = split_links(demo)
    >>> len(split.validation), len(split.test), split.visible(demo).n_links
    (184, 368, 3130)
    """
    return _split_pairs(network, "links", validation, test, _rng(seed, _LINKS))


def split_attributes(
    network: Network, validation: float = 0.05, test: float = 0.10, seed: int = 0
) -> PairSplit:
    """Hide entries of the attributes.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> demo = demo_network()
    >>> split = split_attributes(demo)
    >>> len(split.test), len(split.test_negatives), split.visible(demo).attributes.nnz
    (877, 877, 7454)
    """
    return _split_pairs(network, "attributes", validation, test, _rng(seed, _ATTRIBUTES))


def hide(network: Network, fraction: float, seed: int = 0) -> Network:
    """The network without a share of its (undirected) links and of its attribute entries.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> hide(demo_network(), 0.5).n_links
    1841
    """
    _fraction("fraction", fraction, 1.0)
    rng = _rng(seed, _HIDE)
    kept = {}
    kinds: tuple[Kind, ...] = ("links", "attributes")
    for kind in kinds:
        matrix = getattr(network, kind)
        pairs = rng.permutation(true_pairs(matrix, kind))
        kept[kind] = without(matrix, pairs[: _share(fraction, len(pairs), at_least_one=False)], kind)
    return network.with_matrices(**kept)


def fingerprint(network: Network) -> str:
    """A short text that differs between networks: sizes and a checksum of structure and labels.

    Examples
    --------
    >>> fingerprint(Network.build([[0, 1], [1, 0]], [[1], [0]], [0, 1]))
    '2 nodes, 1 attributes, 1 links, 1 entries, 7d03dbd7'
    """
    checksum = 0
    for array in (
        network.links.indptr,
        network.links.indices,
        network.attributes.indptr,
        network.attributes.indices,
        network.labels,
    ):
        checksum = zlib.crc32(np.ascontiguousarray(array, dtype="<i8").tobytes(), checksum)
    return f"{_sizes(network)}, {network.n_links} links, {network.attributes.nnz} entries, {checksum:08x}"


def make_pair_split(
    network: Network, kind: Kind, validation: np.ndarray, test: np.ndarray, rng: np.random.Generator
) -> PairSplit:
    """Add the negatives to the hidden pairs."""
    matrix = getattr(network, kind)
    negatives = uniform_negatives(matrix, kind, len(validation) + len(test), rng)
    matched_positives, matched = matched_negatives(matrix, kind, test, rng)
    return PairSplit(
        kind=kind,
        validation=validation,
        test=test,
        validation_negatives=negatives[: len(validation)],
        test_negatives=negatives[len(validation) :],
        test_matched_positives=matched_positives,
        test_matched=matched,
        unmatched=len(test) - len(matched),
        fingerprint=fingerprint(network),
    )


def _split_pairs(
    network: Network, kind: Kind, validation: float, test: float, rng: np.random.Generator
) -> PairSplit:
    _fraction("validation", validation, 0.95)
    _fraction("test", test, 0.95 - validation)
    pairs = rng.permutation(true_pairs(getattr(network, kind), kind))
    n_validation, n_test = _share(validation, len(pairs)), _share(test, len(pairs))
    if n_validation + n_test > len(pairs):
        raise InputError(
            f"{network.name} has {len(pairs)} {kind}, too few to hide some; give a larger network"
        )
    return make_pair_split(
        network, kind, pairs[:n_validation], pairs[n_validation : n_validation + n_test], rng
    )


def _rng(seed: int, purpose: int) -> np.random.Generator:
    if seed < 0:
        raise InputError(f"seed must be at least 0, got {seed}")
    return np.random.default_rng([purpose, seed])


def _fraction(name: str, value: float, high: float) -> None:
    if not 0 <= value <= high:
        raise InputError(f"{name} must be a share between 0 and {high:g}, got {value}")


def _share(fraction: float, count: int, at_least_one: bool = True) -> int:
    return min(max(round(fraction * count), int(at_least_one and fraction > 0)), count)


def _sizes(network: Network) -> str:
    return f"{network.n_nodes} nodes, {network.n_attributes} attributes"


def _same_size(expected: str, network: Network) -> None:
    if not expected.startswith(_sizes(network) + ","):
        raise InputError(
            f"{network.name} has {_sizes(network)}, but the split was made for {expected}; "
            "split this network anew"
        )
