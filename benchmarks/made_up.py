"""Classes of made-up networks: is the default ever below a simple method?

    python benchmarks/made_up.py --out FILE.jsonl [--network NAME ...] [--seeds 0 1 2] [--table]

A tenth of the labels is known. Networks: `homophilous`; `heterophilous` (links lead to the class after one's
own); `no-attributes`; `fifty-classes` (20,000 nodes, 50 classes); `many-classes` (100,000 nodes, 50 classes).
A line of JSON for each network, method and seed, the seed being the generator's, too; those there are not run
again. Ends with a table of accuracies.
Method `ensemble` is the default's label ensemble without its model, for networks that take the model long.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from ensemble_alone import EnsembleAlone

from coembed.baselines import floors
from coembed.evaluation import run_trial
from coembed.evaluation.problem import Problem
from coembed.experiments.record_file import RecordFile
from coembed.network import Network, split_labels
from coembed.network.synthetic import synthesize, true_classes


def made_up(nodes: int, classes: int, seed: int, **how: float) -> Network:
    """Five links and fifteen entries a node; all labels there."""
    found = synthesize(nodes, 5 * nodes, max(200, nodes // 10), 15 * nodes, classes, seed=seed, **how)
    return found.with_labels(true_classes(nodes, classes, seed))


def heterophilous(seed: int) -> Network:
    """The far end of every link becomes a node of the class after its own."""
    network, rng = made_up(3000, 5, seed), np.random.default_rng([seed, 7])
    classes = network.labels
    members = [np.flatnonzero(classes == k) for k in range(network.n_classes)]
    left, right = sp.triu(network.links, k=1).nonzero()
    after = (classes[right] + 1) % network.n_classes
    for k, those in enumerate(members):
        right[after == k] = rng.choice(those, int((after == k).sum()))
    kept = left != right
    links = sp.coo_array((np.ones(kept.sum()), (left[kept], right[kept])), network.links.shape).tocsr()
    links = ((links + links.T) > 0).astype(np.float32)
    return network.with_values({"links": sp.csr_array(links)})


def no_attributes(seed: int) -> Network:
    full = made_up(3000, 5, seed)
    return Network.plain(
        links=full.links,
        attributes=sp.csr_array((full.n_nodes, 0), dtype=np.float32),
        labels=full.labels,
        node_names=full.node_names,
        attribute_names=np.empty(0, dtype=object),
        class_names=full.class_names,
    )


NETWORKS: dict[str, Callable[[int], Network]] = {
    "homophilous": lambda seed: made_up(3000, 5, seed),
    "heterophilous": heterophilous,
    "no-attributes": no_attributes,
    "fifty-classes": lambda seed: made_up(20_000, 50, seed),
    "many-classes": lambda seed: made_up(100_000, 50, seed),
}


def table(done: RecordFile, networks: list[str]) -> None:
    """Mean accuracy of every method, best first, and what a fit costs."""
    for name in networks:
        methods: dict[str, list[dict]] = {}
        for each in done.records().values():
            if each["network"] == name:
                methods.setdefault(each["method"], []).append(each)
        means = {key: np.mean([each["accuracy"] for each in found]) for key, found in methods.items()}
        for key in sorted(means, key=means.__getitem__, reverse=True):
            seconds = np.mean([each["cpu_seconds"] for each in methods[key]])
            print(f"{name:14} {key:26} {means[key]:.3f} {len(methods[key])} seeds, {seconds:.0f} s")


def _trial(network: Network, method: str, seed: int) -> dict:
    outcome = run_trial(network, "classification", method, seed)
    return {"accuracy": outcome.figures["accuracy"], "cpu_seconds": outcome.cpu_seconds}


def _ensemble(network: Network, method: str, seed: int) -> dict:
    """On the same split as all others."""
    began, split = time.process_time(), split_labels(network, seed=seed)
    found = EnsembleAlone.of(network).asked(split.visible(network).labels, seed)
    right = found.opinion[split.test].argmax(axis=1) == network.labels[split.test]
    seconds = time.process_time() - began
    return {"accuracy": float(right.mean()), "cpu_seconds": seconds, "said": found.in_words("")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--network", nargs="*", default=list(NETWORKS))
    parser.add_argument("--method", nargs="*")
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    done = RecordFile(given.out, ("network", "method", "seed"))
    for name in [] if given.table else given.network:
        for seed in given.seeds:
            network = replace(NETWORKS[name](seed), name=name)
            methods = given.method or ["scan", *floors(Problem("classification", network))]
            for method in methods:
                if done.get(name, method, seed) is None:
                    record = {"network": name, "method": method, "seed": seed}
                    done.append(
                        record | (_ensemble if method == "ensemble" else _trial)(network, method, seed)
                    )
    table(done, given.network)


if __name__ == "__main__":
    main()
