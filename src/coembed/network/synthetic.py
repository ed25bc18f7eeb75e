"""Made-up networks of any size: a degree-corrected block model with attributes and labels.

Every node has a class, a weight for links and a weight for attributes, both with a power-law tail. A link
starts at a node drawn by weight; with probability h of that node it ends inside the node's own class, else
anywhere, again by weight. An entry starts likewise; with probability t of its node the attribute is one of
the class's own topic, else any, drawn by popularity (Zipf-Mandelbrot). h and t differ from node to node, so
some nodes are told by their links only, some by their attributes only, and some by neither.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.files import replacing_file
from coembed.network.names import Names
from coembed.network.network import UNKNOWN, Network
from coembed.progress import Tell

ANY = -1
"""Instead of a group: draw from all items."""

_TAIL = 2.5  # exponent of the degree distribution; most networks that were measured lie between 2 and 3
_SHIFT = 10.0  # Zipf-Mandelbrot: the few most popular attributes are about alike
_CLASS_TILT = 0.5  # class k has a size proportional to (k + 1)^-0.5
_ROUNDS = 12  # draws by weight before the last missing pairs are drawn evenly
_PART = 1 << 23  # pairs drawn at a time
_DENSEST = 0.25  # share of all possible pairs


def synthesize(
    nodes: int,
    links: int,
    attributes: int,
    entries: int,
    classes: int,
    labels: float = 0.1,
    seed: int = 0,
    *,
    homophily: float = 0.5,
    topicality: float = 0.3,
    name: str = "synthetic",
    progress: Tell | None = None,
) -> Network:
    """Make a network with exactly these counts, without duplicates or self-loops; same seed, same network.

    Parameters
    ----------
    nodes, links, attributes, entries, classes
        Sizes: undirected pairs of nodes, and pairs of a node and an attribute. A node may stay without links
        or entries, as in real networks.
    labels
        Share of every class that is visible, at least one node; :func:`true_classes` has all of them.
    homophily, topicality
        Mean share of the links that stay inside a class, and of the entries that stay inside its topic,
        beyond what chance puts there.
    progress
        Called with the name of each step.

    Examples
    --------
    >>> network = synthesize(nodes=200, links=800, attributes=50, entries=1500, classes=4)
    >>> network.n_nodes, network.n_links, network.attributes.nnz, len(network.labelled)
    (200, 800, 1500, 21)
    >>> truth = true_classes(nodes=200, classes=4)
    >>> bool((network.labels[network.labelled] == truth[network.labelled]).all())
    True
    """
    _check(nodes, links, attributes, entries, classes, labels, homophily, topicality)
    say = progress or (lambda step: None)
    of_links, of_entries, of_labels = (np.random.default_rng([seed, stream]) for stream in (1, 2, 3))
    truth = true_classes(nodes, classes, seed)
    say("links")
    joined = _link_codes(of_links, truth, links, classes, homophily)
    mirrored = np.concatenate([joined, joined % nodes * nodes + joined // nodes])
    mirrored.sort()
    link_matrix = _csr(mirrored, (nodes, nodes))
    del joined, mirrored
    say("attributes")
    owned = _entry_codes(of_entries, truth, attributes, entries, classes, topicality)
    attribute_matrix = _csr(owned, (nodes, attributes))
    class_names = np.empty(classes, dtype=object)
    class_names[:] = [f"class{k}" for k in range(classes)]
    return Network.plain(
        links=link_matrix,
        attributes=attribute_matrix,
        labels=_visible(of_labels, truth, labels),
        node_names=Names.numbered("node", nodes),
        attribute_names=Names.numbered("attribute", attributes),
        class_names=class_names,
        name=name,
    )


def true_classes(nodes: int, classes: int, seed: int = 0) -> np.ndarray:
    """The class of every node of the network that :func:`synthesize` makes, hidden ones included.

    Examples
    --------
    >>> np.bincount(true_classes(1000, 3)).tolist()
    [413, 314, 273]
    """
    sizes = np.arange(1, classes + 1) ** -_CLASS_TILT
    truth = np.random.default_rng([seed, 0]).choice(classes, size=nodes, p=sizes / sizes.sum())
    return truth.astype(np.int64)


def write_truth(network: Network, truth: np.ndarray, path: Path) -> None:
    """Write the class of every node, hidden ones too, as a table node, class."""
    table = {
        "node": Names.of(network.node_names).texts,
        "class": pa.array(network.class_names, type=pa.string()).take(pa.array(truth)),
    }
    with replacing_file(path) as sibling:
        pa_csv.write_csv(pa.table(table), sibling)


class Urn(NamedTuple):
    """Items to draw in proportion to their weights, from one group or from all.

    Items lie in order of their groups on one line, each as long as its weight: a group is an interval.
    """

    items: np.ndarray
    ends: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def fill(cls, weights: np.ndarray, groups: np.ndarray, n_groups: int) -> Urn:
        items = np.argsort(groups, kind="stable")
        ends = np.cumsum(weights[items])
        borders = np.append(0.0, ends)[np.append(0, np.cumsum(np.bincount(groups, minlength=n_groups)))]
        # the last interval is everything, so that group -1 means any; an empty group means any, too
        low, high = np.append(borders[:-1], 0.0), np.append(borders[1:], ends[-1])
        empty = low == high
        low[empty], high[empty] = 0.0, ends[-1]
        return cls(items, ends, low, high)

    def draw(self, rng: np.random.Generator, groups: np.ndarray) -> np.ndarray:
        """One item of each group named.

        Examples
        --------
        >>> urn = Urn.fill(np.ones(4), groups=np.array([1, 0, 1, 0]), n_groups=2)
        >>> urn.draw(np.random.default_rng(0), np.array([0, 0, 1, 1, ANY]))
        array([3, 1, 0, 0, 2])
        """
        places = self.low[groups] + rng.random(len(groups)) * (self.high - self.low)[groups]
        found = np.searchsorted(self.ends, places, side="right")
        return self.items[np.minimum(found, len(self.items) - 1)]


def _link_codes(
    rng: np.random.Generator, truth: np.ndarray, count: int, n_classes: int, homophily: float
) -> np.ndarray:
    """Sorted codes i * N + j with i < j."""
    n_nodes = len(truth)
    # the structural cut-off sqrt(N <k>): above it hubs would have to be linked to each other more than once
    weights = _power_law(rng, n_nodes, np.sqrt(n_nodes / max(2 * count / n_nodes, 1.0)))
    urn = Urn.fill(weights, truth, n_classes)
    own = _shares(rng, n_nodes, homophily)

    def draw(size: int, evenly: bool) -> np.ndarray:
        left = rng.integers(n_nodes, size=size) if evenly else _by_weight(rng, weights, size)
        groups = np.where(rng.random(size) < own[left], truth[left], ANY)
        right = rng.integers(n_nodes, size=size) if evenly else urn.draw(rng, groups)
        codes = np.minimum(left, right) * n_nodes + np.maximum(left, right)
        return codes[left != right]

    return _distinct(rng, count, draw)


def _entry_codes(
    rng: np.random.Generator,
    truth: np.ndarray,
    n_attributes: int,
    count: int,
    n_classes: int,
    topicality: float,
) -> np.ndarray:
    """Sorted codes i * M + j of node i and attribute j."""
    n_nodes = len(truth)
    if not count:
        return np.empty(0, dtype=np.int64)
    activity = _power_law(rng, n_nodes, 30.0)
    popularity = 1 / (rng.permutation(n_attributes) + _SHIFT)
    topics = rng.permutation(n_attributes) % n_classes
    urn = Urn.fill(popularity, topics, n_classes)
    own = _shares(rng, n_nodes, topicality)

    def draw(size: int, evenly: bool) -> np.ndarray:
        left = rng.integers(n_nodes, size=size) if evenly else _by_weight(rng, activity, size)
        groups = np.where(rng.random(size) < own[left], truth[left], ANY)
        right = rng.integers(n_attributes, size=size) if evenly else urn.draw(rng, groups)
        return left * n_attributes + right

    return _distinct(rng, count, draw)


def _by_weight(rng: np.random.Generator, weights: np.ndarray, size: int) -> np.ndarray:
    """Positions drawn in proportion to the weights, in order: counting is quicker than searching for each."""
    return np.repeat(np.arange(len(weights)), rng.multinomial(size, weights / weights.sum()))


def _power_law(rng: np.random.Generator, size: int, largest: float) -> np.ndarray:
    """Weights with density x^-2.5 from 1 on, cut off at `largest`."""
    return np.minimum(rng.random(size) ** (-1 / (_TAIL - 1)), max(largest, 2.0))


def _shares(rng: np.random.Generator, size: int, mean: float) -> np.ndarray:
    """Beta(2, b) of the given mean: most nodes near it, some near nothing."""
    if mean in (0.0, 1.0):
        return np.full(size, mean)
    return rng.beta(2.0, 2.0 * (1 - mean) / mean, size=size)


def _distinct(rng: np.random.Generator, count: int, draw: Callable[[int, bool], np.ndarray]) -> np.ndarray:
    """Exactly `count` different codes, sorted: draw, throw duplicates out, draw what is missing."""
    codes = np.empty(0, dtype=np.int64)
    round = 0
    while len(codes) < count:
        missing = count - len(codes)
        # in parts, so that the temporary arrays of a draw stay small beside the result
        sizes = [_PART] * (missing // _PART) + [missing % _PART + missing // 16 + 16]
        drawn = np.concatenate([draw(size, round >= _ROUNDS) for size in sizes])
        drawn.sort()
        codes = np.concatenate([codes, drawn])
        codes.sort(kind="stable")  # two sorted runs: this merges them
        codes = codes[np.append(True, codes[1:] != codes[:-1])]
        round += 1
    return np.delete(codes, rng.choice(len(codes), len(codes) - count, replace=False))


def _csr(codes: np.ndarray, shape: tuple[int, int]) -> sp.csr_array:
    """A matrix of ones from sorted codes row * width + column."""
    height, width = shape
    index = np.int32 if max(len(codes), width) < 2**31 else np.int64
    starts = np.searchsorted(codes, np.arange(height + 1) * width).astype(index)
    columns = (codes % max(width, 1)).astype(index)
    matrix = sp.csr_array((np.ones(len(codes), dtype=np.float32), columns, starts), shape=shape)
    matrix.has_canonical_format = True
    return matrix


def _visible(rng: np.random.Generator, truth: np.ndarray, share: float) -> np.ndarray:
    """The labels of a share of every class, rounded up; the others unknown."""
    shuffled = rng.permutation(len(truth))
    by_class = shuffled[np.argsort(truth[shuffled], kind="stable")]
    sizes = np.bincount(truth)
    place = np.arange(len(truth)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    shown = by_class[place < np.repeat(np.ceil(share * sizes), sizes)]
    labels = np.full(len(truth), UNKNOWN, dtype=np.int64)
    labels[shown] = truth[shown]
    return labels


def _check(
    nodes: int,
    links: int,
    attributes: int,
    entries: int,
    classes: int,
    labels: float,
    homophily: float,
    topicality: float,
) -> None:
    if nodes < 1 or classes < 1 or min(links, attributes, entries) < 0:
        raise InputError(
            "a synthetic network needs at least one node and one class, and no negative count; "
            f"got {nodes} nodes, {links} links, {attributes} attributes, {entries} entries, {classes} classes"
        )
    for what, share in (("labels", labels), ("homophily", homophily), ("topicality", topicality)):
        if not 0 <= share <= 1:
            raise InputError(f"{what} must be a share between 0 and 1, got {share}")
    for what, count, possible in (
        ("links", links, nodes * (nodes - 1) // 2),
        ("entries", entries, nodes * attributes),
    ):
        if count > _DENSEST * possible:
            raise InputError(
                f"{count} {what} are more than a quarter of the {possible} pairs there are; "
                "ask for fewer, or for more nodes"
            )
