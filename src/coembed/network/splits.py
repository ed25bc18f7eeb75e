"""Hiding a part of a network to be asked about it later: labels, pairs of a relation, cells of columns.

What is hidden is chosen uniformly at random and never looked at otherwise: which entries are hidden depends
on where entries are, never on their values or, unless so many of every class are asked for, on the values of
labels.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network.cell_values import without_rows
from coembed.network.items import Items
from coembed.network.network import ATTRIBUTES, LINKS, UNKNOWN, Network
from coembed.network.pairs import ACROSS, matched_negatives, true_pairs, uniform_negatives, without
from coembed.network.relations import Relation

# one stream of random numbers for every purpose, so that equal seeds do not make them depend on one another
_LABELS, _LINKS, _ATTRIBUTES, _HIDE, _PAIRS, _CELLS = range(6)


@dataclass(frozen=True, eq=False)
class LabelSplit:
    """Items whose label is learnt from, chosen with, and asked for (sorted indices).

    Attributes
    ----------
    fingerprint
        Of the network it was made for, see :func:`fingerprint`.
    type
        Of the items; the main one if nothing is said.
    """

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray
    fingerprint: str
    type: str = ""

    def visible(self, network: Network) -> Network:
        """The network with the labels of `train` and `validation` only."""
        _same_size(self.fingerprint, network)
        given = np.concatenate([self.train, self.validation])
        items = network.items(self.type or None)
        if items.labels is None:
            return network.with_labels(np.full(len(items), UNKNOWN), items.name)
        return network.with_labels(items.labels.only(given).values, items.name)


@dataclass(frozen=True, eq=False)
class PairSplit:
    """Hidden pairs and as many absent ones; every array is int64 of shape (n, 2).

    Undirected pairs have the smaller index first.

    Attributes
    ----------
    validation, test
        Hidden true pairs.
    test_negatives
        Pairs absent from the *full* network, uniformly drawn, none twice.
    validation_negatives
        Pairs neither visible nor of the validation, likewise: who has not seen the test takes its pairs,
        too, for absent ones.
    test_matched_positives, test_matched
        Test pairs, and absent pairs in which each item occurs as often as in them.
    unmatched
        Test pairs without a partner to trade ends with, left out of both of the former.
    fingerprint
        Of the network it was made for, see :func:`fingerprint`.
    """

    relation: str
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
        relation = network.relation(self.relation)
        return network.with_values({relation.name: without(relation.values, asked, relation.pairing)})


@dataclass(frozen=True, eq=False)
class CellSplit:
    """Known cells of the columns of one type that are hidden: by relation, the entries (n, 2) to be told.

    Whatever a hidden cell holds is taken out, so that nothing of the result depends on it.
    """

    type: str
    hidden: dict[str, np.ndarray]

    def visible(self, network: Network) -> Network:
        """The network without the cells that are asked about."""
        return network.with_values(
            {
                name: without_rows(network.relation(name).values, pairs[:, 0])
                for name, pairs in self.hidden.items()
            }
        )


def split_labels(
    network: Network, labels: float = 0.1, validation: float = 0.2, seed: int = 0, type: str | None = None
) -> LabelSplit:
    """Give the share `labels` of the known labels of a type, of which `validation` is kept to choose with.

    Uniform at random over the labelled items, as in the paper, not class by class: a small class may be left
    without any given label. From 1 on, `labels` is how many of every class are given.

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
    check_labels(labels)
    _fraction("validation", validation, 1.0)
    items = network.items(type)
    known = np.empty(0, dtype=np.int64) if items.labels is None else items.labels.known
    order = _rng(seed, _LABELS, list(network.types).index(items.name)).permutation(known)
    if labels < 1:
        n_given = _share(labels, len(order))
    else:
        order, n_given = _some_of_each_class(order, items, int(labels))
    n_validation = _share(validation, n_given, at_least_one=False)
    return LabelSplit(
        train=np.sort(order[n_validation:n_given]),
        validation=np.sort(order[:n_validation]),
        test=np.sort(order[n_given:]),
        fingerprint=fingerprint(network),
        type=items.name,
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
    return split_pairs(network, LINKS, validation, test, seed)


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
    return split_pairs(network, ATTRIBUTES, validation, test, seed)


def split_pairs(
    network: Network, relation: str, validation: float = 0.05, test: float = 0.10, seed: int = 0
) -> PairSplit:
    """Hide pairs of a relation."""
    _fraction("validation", validation, 0.95)
    _fraction("test", test, 0.95 - validation)
    joined, first = _own_columns(network.relation(relation))
    rng = _rng(
        seed, {LINKS: _LINKS, ATTRIBUTES: _ATTRIBUTES}.get(relation, _PAIRS), _place(network, relation)
    )
    pairs = rng.permutation(true_pairs(joined.values, joined.pairing))
    n_validation, n_test = _share(validation, len(pairs)), _share(test, len(pairs))
    if n_validation + n_test > len(pairs):
        raise InputError(
            f"{network.name} has {len(pairs)} {relation}, too few to hide some; give a larger network"
        )
    split = make_pair_split(
        network, joined, pairs[:n_validation], pairs[n_validation : n_validation + n_test], rng
    )
    return _moved(split, first) if first else split


def split_cells(network: Network, type: str | None = None, test: float = 0.10, seed: int = 0) -> CellSplit:
    """Hide known cells of all columns of a type that have one cell an item (numbers, categories, ...)."""
    _fraction("test", test, 0.95)
    items = network.items(type)
    hidden = {}
    for relation in network.columns(items.name):
        if relation.column is not None and relation.column.has_cells:
            rng = _rng(seed, _CELLS, _place(network, relation.name))
            pairs = rng.permutation(true_pairs(relation.values, ACROSS))
            hidden[relation.name] = pairs[: _share(test, len(pairs))]
    if not hidden:
        raise InputError(f"{network.name}: type {items.name} has no column with cells to hide")
    return CellSplit(items.name, hidden)


def hide(network: Network, fraction: float, seed: int = 0) -> Network:
    """The network without a share of the pairs of each relation.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> hide(demo_network(), 0.5).n_links
    1841
    """
    _fraction("fraction", fraction, 1.0)
    rng = _rng(seed, _HIDE)
    kept = {}
    for name, relation in network.relations.items():
        pairs = rng.permutation(true_pairs(relation.values, relation.pairing))
        hidden = pairs[: _share(fraction, len(pairs), at_least_one=False)]
        kept[name] = without(relation.values, hidden, relation.pairing)
    return network.with_values(kept)


def fingerprint(network: Network) -> str:
    """A short text that differs between networks: sizes and a checksum of structure and labels.

    Examples
    --------
    >>> fingerprint(Network.build([[0, 1], [1, 0]], [[1], [0]], [0, 1]))
    '2 nodes, 1 attributes, 1 links, 1 entries, 7d03dbd7'
    """
    checksum = 0
    for relation in network.relations.values():
        checksum = _checksum((relation.values.indptr, relation.values.indices), checksum)
    for items in network.types.values():
        if items.labels is not None:
            checksum = _checksum((items.labels.values,), checksum)
    if network.is_plain:
        pairs = f"{network.n_links} links, {network.attributes.nnz} entries"
    else:
        pairs = f"{sum(relation.n_entries for relation in network.relations.values())} entries"
    return f"{_sizes(network)}, {pairs}, {checksum:08x}"


def make_pair_split(
    network: Network,
    relation: Relation,
    validation: np.ndarray,
    test: np.ndarray,
    rng: np.random.Generator,
) -> PairSplit:
    """Add the negatives to the hidden pairs."""
    matrix, pairing = relation.values, relation.pairing
    negatives = uniform_negatives(matrix, pairing, len(validation) + len(test), rng)
    matched_positives, matched = matched_negatives(matrix, pairing, test, rng)
    # of the pairs that are not seen, so many are of the test
    absent = pairing.possible(*matrix.shape) - len(true_pairs(matrix, pairing))
    mistaken = min(rng.binomial(len(validation), len(test) / (absent + len(test) or 1)), len(test))
    taken_for_absent = rng.choice(test, mistaken, replace=False)
    return PairSplit(
        relation=relation.name,
        validation=validation,
        test=test,
        validation_negatives=np.concatenate([taken_for_absent, negatives[mistaken : len(validation)]]),
        test_negatives=negatives[len(validation) :],
        test_matched_positives=matched_positives,
        test_matched=matched,
        unmatched=len(test) - len(matched),
        fingerprint=fingerprint(network),
    )


def _rng(seed: int, purpose: int, place: int = 0) -> np.random.Generator:
    if seed < 0:
        raise InputError(f"seed must be at least 0, got {seed}")
    return np.random.default_rng([purpose, seed, place] if place else [purpose, seed])


def _own_columns(relation: Relation) -> tuple[Relation, int]:
    """A column of a table without the attributes of others, and where its own begin."""
    column = relation.column
    if column is None or column.stop - column.start == relation.values.shape[1]:
        return relation, 0
    return relation.with_values(sp.csr_array(relation.values[:, column.start : column.stop])), column.start


def _moved(split: PairSplit, first: int) -> PairSplit:
    """A split of columns counted from the first of their own, counted from the first of all."""
    arrays = {each.name: getattr(split, each.name) for each in fields(split)}
    shift = np.array([0, first])
    return replace(split, **{n: a + shift for n, a in arrays.items() if isinstance(a, np.ndarray)})


def _place(network: Network, relation: str) -> int:
    """A number of its own for each relation, but none for those of a plain network."""
    return 0 if network.is_plain else 1 + list(network.relations).index(relation)


def _checksum(arrays: Sequence[np.ndarray], before: int) -> int:
    for array in arrays:
        before = zlib.crc32(np.ascontiguousarray(array, dtype="<i8").tobytes(), before)
    return before


def check_labels(labels: float) -> None:
    """Refuse what is neither a share of the labels nor how many of every class."""
    if not (0 <= labels < 1 or (labels >= 1 and labels == int(labels))):
        raise InputError(
            f"labels must be a share from 0 to below 1, or from 1 on how many of every class, got {labels}"
        )


def _some_of_each_class(order: np.ndarray, items: Items, count: int) -> tuple[np.ndarray, int]:
    """The labelled items, the first of every class before all others; and how many those first are."""
    if items.labels is None or items.labels.several:
        raise InputError(
            f"{items.name} have no classes of which so many could be given; name a share of the labels"
        )
    classes = items.labels.values[order]
    by_class = np.argsort(classes, kind="stable")
    starts = np.searchsorted(classes[by_class], classes[by_class])
    given = np.empty(len(order), dtype=bool)
    given[by_class] = np.arange(len(order)) - starts < count
    return order[np.argsort(~given, kind="stable")], int(given.sum())


def _fraction(name: str, value: float, high: float) -> None:
    if not 0 <= value <= high:
        raise InputError(f"{name} must be a share between 0 and {high:g}, got {value}")


def _share(fraction: float, count: int, at_least_one: bool = True) -> int:
    return min(max(round(fraction * count), int(at_least_one and fraction > 0)), count)


def _sizes(network: Network) -> str:
    if network.is_plain:
        return f"{network.n_nodes} nodes, {network.n_attributes} attributes"
    return ", ".join(f"{len(items)} {name}" for name, items in network.types.items())


def _same_size(expected: str, network: Network) -> None:
    if not expected.startswith(_sizes(network) + ","):
        raise InputError(
            f"{network.name} has {_sizes(network)}, but the split was made for {expected}; "
            "split this network anew"
        )
