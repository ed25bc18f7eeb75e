"""What every ingredient of a preset is worth: it alone is taken away, all else stays.

    python benchmarks/ablation.py --data DIR --out FILE.jsonl [--preset best] [--network NAME ...]
                                  [--task TASK ...] [--seeds 3] [--without NAME ...]

Of `paper` those that the paper does not have, so that without them stands its letter, and those that make the
method. A line of JSON for each ingredient, network and task, written when it is done; those there are not run
again. Ends with a table of differences to the whole; with --table that is all.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from coembed.evaluation import evaluate
from coembed.experiments.record_file import RecordFile
from coembed.network import read
from coembed.settings import Task

NETWORKS = ("wordnet-demo", "cora", "citeseer", "blogcatalog", "flickr", "pubmed")
TASKS: dict[Task, tuple[str, str]] = {
    "classification": ("accuracy", "svm_accuracy"),
    "attributes": ("auc", "auc_matched"),
    "links": ("auc", "auc_matched"),
}
LETTER = {
    "balanced pairs": ["balance=false"],
    "sampled pairs": ["all_pairs=exact"],
    "cosine schedule": ["schedule=constant"],
    "dropout": ["dropout=0", "encoder_dropout=0"],
    "unit rows of attributes": ["attribute_inputs=raw"],
    "one payment a relation": ["kl_accounting=atomic"],
}
"""What preset `paper` has beyond the paper."""
OF_PAPER: dict[str, list[str]] = {
    "nothing": [],
    **LETTER,
    "any of these: the letter": [change for changes in LETTER.values() for change in changes],
    "gradient of the ELBO in q(y)": ["labels=hard"],
    "samples of labels, but their exact mean": ["labels=exact"],
    "entropy of q(y)": ["entropy_weight=0"],
    "divergence from the prior": ["kl_weight=0"],
    "links explained": ["beta=0"],
    "attributes explained": ["beta=1"],
    "anything explained but classes": ["alpha=1000000"],
}
OF_BEST: dict[str, list[str]] = {
    "nothing": [],
    "views": [
        "encoder=graph",
        "pair_scores=false",
        "hidden=128",
        "attribute_inputs=unit",
        "calibrate=false",
        "label_ensemble=0",
        "space_dim=0",
    ],
    "biases": ["biases=false"],
    "closed-form scores": ["pair_scores=false"],
    "common space": ["space_dim=0"],
    "label decoding": ["label_decoding=0"],
    "label ensemble": ["label_ensemble=0"],
    "label decay": ["label_decay=0"],
    "dropout of the discriminator": ["dropout=0"],
    "dropout of columns": ["input_dropout=0"],
    "dropout of the encoders": ["encoder_dropout=0"],
    "weight of the divergence": ["kl_weight=1"],
    "gradient of the ELBO in q(y)": ["labels=hard"],
}
WITHOUT = {"best": OF_BEST, "paper": OF_PAPER}


def records(out: Path) -> RecordFile:
    return RecordFile(out, ("without", "network", "task"))


def run(
    data: Path,
    out: Path,
    networks: list[str],
    tasks: list[Task],
    seeds: int,
    preset: str,
    ingredients: list[str],
) -> None:
    done = records(out)
    for name in networks:
        network = read(data / f"{name}.npz")
        for task in tasks:
            for ingredient in ingredients:
                if done.get(ingredient, name, task) is not None:
                    continue
                changes = WITHOUT[preset][ingredient]
                report = evaluate(network, task, preset=preset, seeds=seeds, changes=changes)
                # under the name of the file, whatever the network calls itself
                done.append({"without": ingredient, "changes": changes, **report, "network": name})
                print(task, name, ingredient, report["metrics"][TASKS[task][0]]["mean"], flush=True)


def table(out: Path, networks: list[str], tasks: list[Task], preset: str) -> str:
    """A row an ingredient, a column a network and task: both figures, then the differences in points."""
    found = records(out)
    columns = [
        (network, task) for task in tasks for network in networks if found.get("nothing", network, task)
    ]
    heads = [f"{network}, {task}: {' / '.join(TASKS[task])}" for network, task in columns]
    lines = ["| without | " + " | ".join(heads) + " |", "| --- |" + " --- |" * len(columns)]
    for ingredient in WITHOUT[preset]:
        cells = [_differences(found, ingredient, network, task) for network, task in columns]
        lines.append(f"| {ingredient} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _differences(found: RecordFile, ingredient: str, network: str, task: Task) -> str:
    here, whole = found.get(ingredient, network, task), found.get("nothing", network, task)
    if here is None or whole is None:
        return "-"
    now, before = here["metrics"], whole["metrics"]
    if ingredient == "nothing":
        return " / ".join(f"{now[name]['mean']:.3f}".lstrip("0") for name in TASKS[task])
    gains = [100 * (now[name]["mean"] - before[name]["mean"]) for name in TASKS[task]]
    return " / ".join(f"{gain:+.1f}" for gain in gains)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--network", action="append")
    parser.add_argument("--task", action="append", choices=TASKS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--preset", choices=WITHOUT, default="best")
    parser.add_argument("--without", action="append", help="only these (default all)")
    parser.add_argument("--table", action="store_true", help="run nothing, print what is there")
    options = parser.parse_args()
    chosen = options.network or list(NETWORKS)
    tasks = options.task or list(TASKS)
    if not options.table:
        ingredients = options.without or list(WITHOUT[options.preset])
        run(options.data, options.out, chosen, tasks, options.seeds, options.preset, ingredients)
    print(table(options.out, chosen, tasks, options.preset))
