"""Should the settings of a discriminator follow the network? Discriminators alone, out of fold.

    python benchmarks/discriminator_settings.py --out FILE.jsonl [--data DIR] [--network NAME ...]
        [--change CHANGE ...] [--seeds 0] [--table]

Each setting in turn is changed from what `best` has, on networks from 60 to 20,000 nodes, of 2 to 100 classes
and 24 to 10,000 labels, most of them made up. A line of JSON for each network, seed and change: accuracy and
cross entropy of labels by discriminators that have not seen them, the latter at the best temperature. Nobody
looks at hidden labels. Those there are not run again. Ends with a table of differences.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import torch
from ensemble_alone import EnsembleAlone
from made_up import heterophilous, made_up, no_attributes

from coembed.experiments.record_file import RecordFile
from coembed.network import Network, read
from coembed.settings import preset_settings
from coembed.training import label_members
from coembed.training.label_combination import best_temperature, out_of_fold
from coembed.training.label_members import MOST_EPOCHS, discriminators
from coembed.training.label_views import FOLDS, label_views
from coembed.views import Seen

MADE_UP: dict[str, tuple[Callable[[int], Network], int]] = {
    "60 x 2": (lambda seed: made_up(60, 2, seed), 24),
    "300 x 2": (lambda seed: made_up(300, 2, seed), 30),
    "1000 x 5": (lambda seed: made_up(1000, 5, seed), 100),
    "1000 x 20": (lambda seed: made_up(1000, 20, seed), 400),
    "heterophilous": (heterophilous, 300),
    "no-attributes": (no_attributes, 300),
    "3000 x 5": (lambda seed: made_up(3000, 5, seed), 300),
    "3000 x 5, many labels": (lambda seed: made_up(3000, 5, seed), 2000),
    "5000 x 100": (lambda seed: made_up(5000, 100, seed), 2000),
    "10000 x 2": (lambda seed: made_up(10_000, 2, seed), 1000),
    "10000 x 30, few labels": (lambda seed: made_up(10_000, 30, seed), 300),
    "20000 x 50": (lambda seed: made_up(20_000, 50, seed), 2000),
    "20000 x 10, many labels": (lambda seed: made_up(20_000, 10, seed), 10_000),
}
"""With how many labels are known."""
BENCHMARKS = {"wordnet-demo": 0.1, "cora": 0.1, "citeseer": 0.1, "blogcatalog": 0.1}
"""With the share of labels that is known."""
CHANGES: dict[str, dict[str, float]] = {
    "as it is": {},
    "dropout 0.3": {"dropout": 0.3},
    "dropout 0.6": {"dropout": 0.6},
    "dropout 0.9": {"dropout": 0.9},
    "input dropout 0": {"input_dropout": 0.0},
    "input dropout 0.4": {"input_dropout": 0.4},
    "decay / 10": {"label_decay": 0.01},
    "decay / 3": {"label_decay": 0.033},
    "decay x 3": {"label_decay": 0.3},
    "hidden 16": {"hidden": 16},
    "hidden 32": {"hidden": 32},
    "hidden 128": {"hidden": 128},
    "epochs 50": {"epochs": 50},
    "epochs 200": {"epochs": 200},
    "dropout 0.5, decay / 10": {"dropout": 0.5, "label_decay": 0.01},
    "dropout 0.6, decay / 10": {"dropout": 0.6, "label_decay": 0.01},
    "dropout 0.6, decay x 3": {"dropout": 0.6, "label_decay": 0.3},
    "dropout 0.9, decay / 10": {"dropout": 0.9, "label_decay": 0.01},
    "dropout 0.9, decay x 3": {"dropout": 0.9, "label_decay": 0.3},
    "decay of ten classes": {"FEW_CLASSES": 1_000_000},
}
"""Settings, and in capitals constants of the label members: the last one has no rule for many classes."""


def labelled(network: Network, count: int, seed: int) -> np.ndarray:
    """So many labels, drawn at random; the others are unknown."""
    known = np.flatnonzero(network.labels >= 0)
    shown = np.random.default_rng([seed, 3]).permutation(known)[:count]
    found = np.full(network.n_nodes, -1)
    found[shown] = network.labels[shown]
    return found


def opened(name: str, data: Path, seed: int) -> tuple[Network, Seen, np.ndarray]:
    """A network, what is seen of it, and the labels that are known."""
    if name in MADE_UP:
        maker, count = MADE_UP[name]
        network = maker(seed)
    else:
        network = read(data / f"{name}.npz")
        count = int(BENCHMARKS[name] * np.count_nonzero(network.labels >= 0))
    return network, EnsembleAlone.of(network).seen, labelled(network, count, seed)


def figures(network: Network, seen: Seen, labels: np.ndarray, seed: int, change: dict) -> dict:
    """What discriminators say of labels that they have not seen."""
    began = time.process_time()
    constants = {name: value for name, value in change.items() if name.isupper()}
    change = {"epochs": MOST_EPOCHS} | {name: value for name, value in change.items() if name.islower()}
    type, settings = network.main.name, preset_settings("best", seed=seed, **change)
    around = label_views(network.with_labels(labels, type), seed)
    own, views = around.types[type], seen.types[type]
    shown = [replace(views, dense={**views.dense, **around.of(type, fold)}) for fold in range(FOLDS)]
    with patch.multiple(label_members, MOST_EPOCHS=settings.epochs, **constants):
        told = out_of_fold(discriminators(shown, own, settings), own)
    truth = own.labels[own.folds >= 0]
    logits, rows = torch.as_tensor(told), np.arange(len(truth))
    sure = torch.log_softmax(logits / best_temperature(logits, torch.eye(own.n_classes)[truth]), dim=1)
    cost = -sure.numpy()[rows, truth]
    return {
        "labels": len(truth),
        "accuracy": float(np.mean(told.argmax(axis=1) == truth)),
        "cost": float(cost.mean()),
        "cpu_seconds": time.process_time() - began,
    }


def table(done: RecordFile, names: list[str]) -> None:
    """Accuracy and cost as it is, and by how much, in hundredths, each change is better (+) or worse."""
    print("|".join(["network", "labels", *CHANGES]))
    for name in names:
        found = [each for each in done.records().values() if each["network"] == name]
        seeds = sorted({each["seed"] for each in found})
        if not seeds:
            continue

        def mean(change: str, figure: str, name: str = name, seeds: list[int] = seeds) -> float:
            of_seeds = [done.get(name, seed, change) for seed in seeds]
            return float(np.mean([each[figure] for each in of_seeds if each] or [np.nan]))

        base = mean("as it is", "accuracy"), mean("as it is", "cost")
        cells = [f"{base[0]:.3f} {base[1]:.3f}"]
        for change in list(CHANGES)[1:]:
            better = mean(change, "accuracy") - base[0], base[1] - mean(change, "cost")
            cells.append(f"{100 * better[0]:+.1f} {100 * better[1]:+.1f}")
        print("|".join([name, str(found[0]["labels"]), *cells]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=Path())
    parser.add_argument("--network", nargs="*", default=[*MADE_UP, *BENCHMARKS])
    parser.add_argument("--change", nargs="*", default=list(CHANGES))
    parser.add_argument("--seeds", type=int, nargs="*", default=[0])
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    done = RecordFile(given.out, ("network", "seed", "change"))
    for name in [] if given.table else given.network:
        for seed in given.seeds:
            missing = [change for change in given.change if done.get(name, seed, change) is None]
            what = opened(name, given.data, seed) if missing else None
            for change in missing if what is not None else []:
                record = {"network": name, "seed": seed, "change": change}
                done.append(record | figures(*what, seed, CHANGES[change]))
    table(done, given.network)


if __name__ == "__main__":
    main()
