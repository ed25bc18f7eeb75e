"""Do sets of classes hold the true one as often as promised? The label ensemble alone, over many splits.

    python benchmarks/coverage.py --data DIR --out FILE.jsonl [--network NAME ...] [--splits 100]

A tenth of the labels is known. A line of JSON for each network and split, written when it is done; those
there are not run again. Ends with a table of means; with --table that is all. With --kept FOLDER what members
say is kept there, so that rules of sets can be compared in a moment.

Beside our sets: plain thresholding (the likeliest classes that sum to the coverage) and plain split-conformal
sets (one fold of the labels kept aside, -p for a score).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from ensemble_alone import NETWORKS, EnsembleAlone

from coembed.experiments.record_file import RecordFile
from coembed.fitted.conformal import class_sets, p_values
from coembed.metrics import expected_calibration_error
from coembed.network import split_labels

TARGETS = (0.9, 0.95, 0.99)
FEWEST = 10
"""Calibration labels of a class from which on it counts."""


def one_split(alone: EnsembleAlone, seed: int) -> dict:
    """Coverage, size, coverage by thirds of degrees and by class, of every target."""
    network = alone.network
    split = split_labels(network, labels=0.1, seed=seed)
    known = split.visible(network).labels
    ensemble = alone.asked(known, seed)
    test, truth, degrees = split.test, network.labels, np.diff(network.links.indptr)
    thirds = np.argsort(np.argsort(degrees, kind="stable")) * 3 // len(degrees)
    assert ensemble.doubt is not None
    record = {
        "accuracy": float(np.mean(ensemble.opinion.argmax(axis=1)[test] == truth[test])),
        "ece": expected_calibration_error(truth[test], ensemble.opinion[test]),
        "labels": np.bincount(known[known >= 0], minlength=network.n_classes).tolist(),
    }
    for target in TARGETS:
        inside = class_sets(ensemble.doubt.p_values, ensemble.opinion, target)
        held = inside[np.arange(len(truth)), truth]
        others = {
            "threshold": _thresholded(ensemble.opinion, target),
            "split": _split_conformal(alone, known, target),
        }
        record[str(target)] = {
            "coverage": float(held[test].mean()),
            "size": float(inside[test].sum(axis=1).mean()),
            "thirds": [float(held[test][thirds[test] == third].mean()) for third in range(3)],
            "classes": [float(held[test][truth[test] == k].mean()) for k in range(network.n_classes)],
        } | {
            name: [float(each[test, truth[test]].mean()), float(each[test].sum(axis=1).mean())]
            for name, each in others.items()
        }
    return record


def _thresholded(opinion: np.ndarray, target: float) -> np.ndarray:
    order = np.argsort(-opinion, axis=1)
    ordered = np.take_along_axis(opinion, order, axis=1)
    inside = np.empty(opinion.shape, dtype=bool)
    np.put_along_axis(inside, order, ordered.cumsum(axis=1) - ordered < target, axis=1)
    return inside


def _split_conformal(alone: EnsembleAlone, known: np.ndarray, target: float) -> np.ndarray:
    """By the first fold alone; never empty, too."""
    told, rows = alone.by_fold[0], np.flatnonzero(alone.folds == 0)
    inside = p_values(-told, np.sort(-told[rows, known[rows]])) > 1 - target
    inside[np.arange(len(inside)), told.argmax(axis=1)] = True
    return inside


def table(done: RecordFile, networks: list[str]) -> None:
    """Means over splits; of thirds and classes the least. Classes with few labels are told apart."""
    print("| network | target | coverage | size | thirds | classes | few | threshold | split |")
    for name in networks:
        found = [each for each in done.records().values() if each["network"] == name]
        if not found:
            continue
        told = [f"{_mean(found, key):.3f}" for key in ("accuracy", "ece")]
        print(f"{name}: {len(found)} splits, accuracy {told[0]}, ECE {told[1]}")
        enough = np.array([each["labels"] for each in found]) >= FEWEST
        for target in map(str, TARGETS):
            parts = [each[target] for each in found]
            by_class = np.array([each["classes"] for each in parts])
            figures = [_mean(parts, "coverage"), _mean(parts, "size")]
            figures.append(np.mean([each["thirds"] for each in parts], axis=0).min())
            figures += [_least(by_class, which) for which in (enough, ~enough)]
            plain = [np.mean([each[how] for each in parts], axis=0) for how in ("threshold", "split")]
            others = [f"{coverage:.3f} ({size:.2f})" for coverage, size in plain]
            print("|", " | ".join([name, target, *(f"{each:.3f}" for each in figures), *others]), "|")


def _least(by_class: np.ndarray, which: np.ndarray) -> float:
    """The smallest mean coverage of a class, over the splits in which it counts."""
    counted = [by_class[which[:, k], k].mean() for k in range(which.shape[1]) if which[:, k].any()]
    return float(min(counted, default=np.nan))


def _mean(records: list[dict], key: str) -> float:
    return float(np.mean([each[key] for each in records]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--network", nargs="*", default=list(NETWORKS))
    parser.add_argument("--splits", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="the first split")
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    done = RecordFile(given.out, ("network", "seed"))
    for name in [] if given.table else given.network:
        alone = None
        for seed in range(given.first, given.first + given.splits):
            if done.get(name, seed) is None:
                alone = alone or EnsembleAlone.read(given.data, name, given.kept)
                done.append({"network": name, "seed": seed} | one_split(alone, seed))
    table(done, given.network)


if __name__ == "__main__":
    main()
