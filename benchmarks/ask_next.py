"""How many labels does good advice save? The label ensemble alone, asked for what to label next.

    python benchmarks/ask_next.py --data DIR --out FILE.jsonl [--network NAME ...] [--seeds 3]

Two labels a class to begin with, then ten rounds of two a class: chosen at random, by doubt alone, or by
what `ask-next` says. A line of JSON for each network, seed and way, with the accuracy after
every round; those there are not run again. Ends with a table of how many labels each way needs to be as good
as random is at the end; with --table that is all.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from ensemble_alone import NETWORKS, EnsembleAlone

from coembed.experiments.record_file import RecordFile
from coembed.fitted.label_advice import looks_at, most_settling
from coembed.network.ways import links_within

ROUNDS = 10
WAYS = ("random", "doubt", "advice")


def one_run(alone: EnsembleAlone, seed: int, way: str) -> list[list[float]]:
    """Labels and accuracy after every round."""
    network, rng = alone.network, np.random.default_rng(seed)
    truth, n_classes, type = network.labels, network.n_classes, network.main.name
    order = rng.permutation(len(truth))
    labels = np.full(len(truth), -1)
    for k in range(n_classes):
        first = order[truth[order] == k][:2]
        labels[first] = k
    looks = looks_at(links_within(network, type), alone.seen.types[type].alike, len(truth))
    curve = []
    for turn in range(ROUNDS + 1):
        opinion = alone.asked(labels, seed).opinion
        unknown = labels < 0
        right = opinion.argmax(axis=1)[unknown] == truth[unknown]
        # the accuracy of all answers: those that are known are right
        curve.append([int((~unknown).sum()), float((right.sum() + (~unknown).sum()) / len(truth))])
        if turn == ROUNDS:
            break
        if way == "random":
            chosen = order[unknown[order]][: 2 * n_classes]
        elif way == "doubt":
            chosen = np.argsort(np.where(unknown, opinion.max(axis=1), 2))[: 2 * n_classes]
        else:
            chosen = most_settling(opinion, unknown, looks, 2 * n_classes)[0]
        labels[chosen] = truth[chosen]
    return curve


def table(done: RecordFile, networks: list[str]) -> None:
    print("| network | seeds | random ends at | " + " | ".join(f"labels by {way}" for way in WAYS) + " |")
    for name in networks:
        found = done.records()
        seeds = sorted({key[1] for key in found if key[0] == name})
        seeds = [seed for seed in seeds if all((name, seed, way) in found for way in WAYS)]
        if not seeds:
            continue
        curves = {way: np.mean([found[name, seed, way]["curve"] for seed in seeds], axis=0) for way in WAYS}
        wanted = curves["random"][-1, 1]
        needed = [f"{_needed(curves[way], wanted):.0f}" for way in WAYS]
        print("|", " | ".join([name, str(len(seeds)), f"{wanted:.3f}", *needed]), "|")


def _needed(curve: np.ndarray, wanted: float) -> float:
    """Labels at which a curve first reaches an accuracy, between two rounds by a straight line."""
    reached = np.flatnonzero(curve[:, 1] >= wanted)
    if not len(reached):
        return float("inf")
    at = reached[0]
    if at == 0:
        return float(curve[0, 0])
    return float(np.interp(wanted, curve[at - 1 : at + 1, 1], curve[at - 1 : at + 1, 0]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--network", nargs="*", default=list(NETWORKS))
    parser.add_argument("--way", nargs="*", default=list(WAYS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    done = RecordFile(given.out, ("network", "seed", "way"))
    for name in [] if given.table else given.network:
        alone = None
        for seed in range(given.first, given.first + given.seeds):
            for way in given.way:
                if done.get(name, seed, way) is None:
                    alone = alone or EnsembleAlone.read(given.data, name)
                    curve = one_run(alone, seed, way)
                    done.append({"network": name, "seed": seed, "way": way, "curve": curve})
                    print(name, seed, way, [round(accuracy, 3) for _, accuracy in curve], flush=True)
    table(done, given.network)


if __name__ == "__main__":
    main()
