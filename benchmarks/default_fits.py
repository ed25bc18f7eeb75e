"""The default as it is shipped, one fit for each network, task and seed, and all that is claimed of it.

    python benchmarks/default_fits.py --data DIR --out FILE.jsonl [--network NAME ...] [--task TASK ...]
        [--seeds 0 1 2] [--labels 0.1] [--preset best] [--set KEY=VALUE ...] [--table]

Strict protocol, a tenth of the labels known; `--labels 20`: twenty of every class. Of classes: accuracy,
calibration, coverage and size of the sets of classes. Of pairs: what is answered (AUC, AP, ranking), what the
vectors alone tell by cosine (recall, precision, mixing), and the rank correlation of variances with evidence.
Beside the means the committed figures of the same cells in docs/results. A line of JSON for each fit; those
there are not run again.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from coembed.evaluation import run_trial
from coembed.evaluation.evaluation import Outcome
from coembed.evaluation.profiling import score_profiling
from coembed.experiments.benchmark_networks import TITLES, open_network
from coembed.experiments.details import variance_and_evidence
from coembed.experiments.record_file import RecordFile
from coembed.network import Network

TASKS = ("classification", "attributes", "links")
TABLES = {"classification": "table1", "attributes": "table2", "links": "links"}
COVERAGES = (0.9, 0.95, 0.99)
SHOWN = {
    "classification": ("accuracy", "ece", "coverage_0.9", "size_0.9", "coverage_0.95", "coverage_0.99"),
    "attributes": (
        *("auc", "ap", "recall_at_10", "mrr", "ndcg_at_10"),
        *("space_recall_at_10", "space_precision_at_10", "space_mixing", "space_auc"),
    ),
    "links": ("auc", "ap", "recall_at_10", "mrr", "ndcg_at_10", "space_recall_at_10"),
}


def figures_of(network: Network, task: str, outcome: Outcome) -> dict[str, Any]:
    """All figures of one fit, by name."""
    fitted = outcome.answer.fitted
    found = dict(outcome.figures) | {"cpu_seconds": outcome.cpu_seconds}
    found["spearman"] = variance_and_evidence(fitted)["evidence"]["spearman"]
    if task != "classification":
        space = score_profiling(network, outcome.trial, outcome.answer)
        return found | {f"space_{name}": figure for name, figure in space.items()}
    nodes = outcome.trial.nodes
    names = np.array(network.main.labels.classes)[network.labels[nodes]]
    for coverage in COVERAGES:
        sets = fitted.predict_set(coverage)[nodes]
        held = [name in each for name, each in zip(names, sets, strict=True)]
        found[f"coverage_{coverage}"] = float(np.mean(held))
        found[f"size_{coverage}"] = float(np.mean([len(each) for each in sets]))
    return found


def table(done: RecordFile, given: argparse.Namespace) -> None:
    """Means over the seeds, in brackets the committed means of the same seeds."""
    for task in given.task:
        print("|".join(["", task, "fits", *SHOWN[task], "CPU s", ""]))
        committed = RecordFile(given.committed / f"{TABLES[task]}-strict.jsonl", ("row", "network", "seed"))
        for name in given.network:
            fits = [each for seed in given.seeds if (each := done.get(name, task, seed))]
            before = [committed.get("scan-best", name, each["seed"]) for each in fits]
            if not fits:
                continue
            cells = []
            for key in SHOWN[task]:
                cells.append(f"{np.mean([each[key] for each in fits]):.3f}")
                if all(each and key in each["metrics"] for each in before):
                    cells[-1] += f" ({np.mean([each['metrics'][key] for each in before]):.3f})"
            seconds = np.mean([each["cpu_seconds"] for each in fits])
            print("|".join(["", name, str(len(fits)), *cells, f"{seconds:.0f}", ""]), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path())
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--committed", type=Path, default=Path("docs/results/cells"))
    parser.add_argument("--network", nargs="*", default=list(reversed(TITLES)))
    parser.add_argument("--task", nargs="*", default=list(TASKS))
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument("--labels", type=float, default=0.1)
    parser.add_argument("--preset", default="best")
    parser.add_argument("--set", nargs="*", default=[])
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    done = RecordFile(given.out, ("network", "task", "seed"))
    for seed in [] if given.table else given.seeds:
        for name in given.network:
            for task in given.task:
                if done.get(name, task, seed) is None:
                    network = open_network(name, given.data)
                    how = {"preset": given.preset, "labels": given.labels, "changes": given.set}
                    outcome = run_trial(network, task, "scan", seed, **how)
                    record = {"network": name, "task": task, "seed": seed}
                    done.append(record | figures_of(network, task, outcome))
    table(done, given)


if __name__ == "__main__":
    main()
