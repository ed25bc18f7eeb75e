"""What every ingredient of preset `best` is worth: it alone is taken away, all else stays.

    python benchmarks/ablation.py --data DIR --out DIR [--network NAME ...] [--task TASK ...]
                                  [--seeds 3] [--without NAME ...]

One JSON for each ingredient, network and task, written when it is done; those that exist are not run again.
Ends with a table of differences to the whole.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from coembed.network import read
from coembed.settings import Task
from coembed.tasks import evaluate

NETWORKS = ("wordnet-demo", "cora", "citeseer", "blogcatalog", "flickr", "pubmed")
TASKS: dict[Task, str] = {"classification": "accuracy", "attributes": "auc", "links": "auc"}
WITHOUT: dict[str, list[str]] = {
    "nothing": [],
    "views": [
        "encoder=graph",
        "companions=false",
        "hidden=128",
        "attribute_inputs=unit",
        "calibrate=false",
        "jury=0",
    ],
    "biases": ["biases=false"],
    "companions": ["companions=false"],
    "label decoding": ["label_decoding=0"],
    "jury": ["jury=0"],
    "label decay": ["label_decay=0"],
    "dropout of the discriminator": ["dropout=0"],
    "dropout of columns": ["input_dropout=0"],
    "dropout of the encoders": ["encoder_dropout=0"],
    "weight of the divergence": ["kl_weight=1"],
    "gradient of the ELBO in q(y)": ["labels=hard"],
}


def run(
    data: Path, out: Path, networks: list[str], tasks: list[Task], seeds: int, ingredients: list[str]
) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for name in networks:
        network = read(data / f"{name}.npz")
        for task in tasks:
            for ingredient in ingredients:
                changes, place = WITHOUT[ingredient], cell(out, ingredient, name, task)
                if place.exists():
                    continue
                report = evaluate(network, task, preset="best", seeds=seeds, changes=changes)
                half = place.with_suffix(".tmp")
                half.write_text(json.dumps({"without": ingredient, "changes": changes, **report}, indent=1))
                os.replace(half, place)
                print(place.name, report["metrics"][TASKS[task]]["mean"], flush=True)


def cell(out: Path, ingredient: str, network: str, task: Task) -> Path:
    name = ingredient.translate(str.maketrans(" ", "-", "()"))
    return out / f"{task}-{network}-without-{name}.json"


def table(out: Path, networks: list[str], tasks: list[Task]) -> str:
    """A row an ingredient, a column a network and task: the difference to the whole, in points."""
    columns = [(network, task) for task in tasks for network in networks]
    lines = ["| without | " + " | ".join(f"{network}, {task}" for network, task in columns) + " |"]
    lines.append("| --- |" + " --- |" * len(columns))
    for ingredient in WITHOUT:
        cells = [_difference(out, ingredient, network, task) for network, task in columns]
        lines.append(f"| {ingredient} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _difference(out: Path, ingredient: str, network: str, task: Task) -> str:
    here, whole = cell(out, ingredient, network, task), cell(out, "nothing", network, task)
    if not (here.exists() and whole.exists()):
        return "-"
    mean = [json.loads(place.read_text())["metrics"][TASKS[task]]["mean"] for place in (here, whole)]
    return f"{mean[0]:.3f}" if ingredient == "nothing" else f"{100 * (mean[0] - mean[1]):+.1f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--network", action="append")
    parser.add_argument("--task", action="append", choices=TASKS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--without", action="append", choices=WITHOUT, help="only these (default all)")
    options = parser.parse_args()
    chosen = options.network or list(NETWORKS)
    tasks = options.task or list(TASKS)
    run(options.data, options.out, chosen, tasks, options.seeds, options.without or list(WITHOUT))
    print(table(options.out, chosen, tasks))
