"""Tiny and odd networks: is the default as good as labels that spread along the links?

    python benchmarks/odd_networks.py --out FILE.jsonl [--case NAME ...] [--seeds 10] [--table]

A line of JSON for each case and seed: accuracy of the default and of plain label propagation on the hidden
labels, and what the training report says of the classes. Those there are not run again.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import scipy.sparse as sp
from made_up import made_up

from coembed.experiments.record_file import RecordFile
from coembed.network import Network, demo_network
from coembed.settings import preset_settings
from coembed.training import fit
from coembed.training.label_views import spread, walk_within

ROUNDS = 50
Case = tuple[Network, np.ndarray]
"""With the labels that are seen, and all of them."""


def karate(seed: int) -> Case:
    """34 members of a club that falls apart; the two leaders are known, and no attributes."""
    club = nx.karate_club_graph()
    classes = np.array([int(club.nodes[who]["club"] != "Mr. Hi") for who in club])
    return _seen(Network.build(nx.to_numpy_array(club, weight=None)), classes, np.array([0, 33]))


def two_labels(seed: int) -> Case:
    """300 nodes with attributes, two classes, one label each."""
    network = made_up(300, 2, seed, homophily=0.9)
    return _seen(network, network.labels, _some(network.labels, 1, seed))


def no_attributes(seed: int) -> Case:
    """1,000 nodes, five classes, a tenth of the labels, links alone."""
    network = made_up(1000, 5, seed, homophily=0.8)
    shown = np.random.default_rng(seed).permutation(1000)[:100]
    return _seen(Network.build(network.links.toarray()), network.labels, shown)


def no_links(seed: int) -> Case:
    """1,000 nodes, five classes, a tenth of the labels, attributes alone."""
    network = made_up(1000, 5, seed)
    shown = np.random.default_rng(seed).permutation(1000)[:100]
    without = network.with_values({"links": sp.csr_array(network.links.shape, dtype=np.float32)})
    return _seen(without, network.labels, shown)


def one_label_of_a_class(seed: int) -> Case:
    """The bundled network; of one of its classes a single label is known, of the others a tenth."""
    network = demo_network()
    shown = np.random.default_rng(seed).permutation(network.n_nodes)[: network.n_nodes // 10]
    rare = seed % network.n_classes
    of_rare = shown[network.labels[shown] == rare]
    return _seen(network, network.labels, np.setdiff1d(shown, of_rare[1:]))


def many_classes_one_label(seed: int) -> Case:
    """500 classes of four nodes that are linked, one label each."""
    classes = np.repeat(np.arange(500), 4)
    return _seen(_groups(classes, seed), classes, np.arange(0, 2000, 4))


def many_classes_few_labels(seed: int) -> Case:
    """500 classes of twelve nodes that are linked, three labels each."""
    classes = np.repeat(np.arange(500), 12)
    return _seen(_groups(classes, seed), classes, np.flatnonzero(np.arange(6000) % 12 < 3))


def one_class(seed: int) -> Case:
    """All labels that are known are of one class."""
    network = made_up(300, 3, seed)
    return _seen(network, np.zeros(300, dtype=int), np.arange(30))


CASES: dict[str, Callable[[int], Case]] = {
    each.__name__.replace("_", "-"): each
    for each in (
        karate,
        two_labels,
        no_attributes,
        no_links,
        one_label_of_a_class,
        many_classes_one_label,
        many_classes_few_labels,
        one_class,
    )
}


def _seen(network: Network, classes: np.ndarray, shown: np.ndarray) -> Case:
    labels = np.full(len(classes), -1)
    labels[shown] = classes[shown]
    names = [f"class {k}" for k in range(int(classes.max()) + 1)]
    return Network.build(network.links, network.attributes, labels, class_names=names), classes


def _some(classes: np.ndarray, count: int, seed: int) -> np.ndarray:
    order = np.random.default_rng(seed).permutation(len(classes))
    return np.concatenate([order[classes[order] == k][:count] for k in np.unique(classes)])


def _groups(classes: np.ndarray, seed: int) -> Network:
    """Links between half of the pairs of a class, and as many again between any nodes."""
    rng, count = np.random.default_rng(seed), len(classes)
    same = sp.coo_array(sp.kron(sp.eye(count // (classes == 0).sum()), np.ones([(classes == 0).sum()] * 2)))
    left, right = same.coords
    kept = (left < right) & (rng.random(len(left)) < 0.5)
    ends = np.concatenate([np.stack([left, right])[:, kept], rng.integers(0, count, (2, kept.sum()))], axis=1)
    ends = ends[:, ends[0] != ends[1]]
    links = sp.coo_array((np.ones(ends.shape[1]), ends), shape=(count, count)).tocsr()
    return Network.build(sp.csr_array(((links + links.T) > 0).astype(np.float32)))


def one_case(name: str, seed: int) -> dict:
    network, classes = CASES[name](seed)
    hidden = network.labels < 0
    result = fit(network, preset_settings("best", seed=seed))
    plain = spread(walk_within(network, network.main.name), network.labels, network.n_classes, ROUNDS)

    def right(told: np.ndarray) -> float:
        return float(np.mean(told.argmax(axis=1)[hidden] == classes[hidden]))

    said = [line for line in result.history["notices"] if line.startswith("classes")]
    return {"accuracy": right(result.probabilities), "propagation": right(plain), "said": said[:1]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--case", nargs="*", default=list(CASES))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    done = RecordFile(given.out, ("case", "seed"))
    for name in [] if given.table else given.case:
        for seed in range(given.seeds):
            if done.get(name, seed) is None:
                done.append({"case": name, "seed": seed} | one_case(name, seed))
    for name in given.case:
        found = [each for each in done.records().values() if each["case"] == name]
        if found:
            told = [np.mean([each[how] for each in found]) for how in ("accuracy", "propagation")]
            least = min(each["accuracy"] - each["propagation"] for each in found)
            print(
                f"{name:24} {len(found)} seeds: {told[0]:.3f}, propagation {told[1]:.3f}, least {least:+.3f}"
            )
            print("   ", *found[0]["said"])


if __name__ == "__main__":
    main()
