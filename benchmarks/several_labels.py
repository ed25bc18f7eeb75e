"""Several classes an item, a tenth of the labels seen: the default beside floors, in mean average precision.

OMP_NUM_THREADS=1 python benchmarks/several_labels.py FILE.jsonl [--tables FOLDER] [--seeds 1]
    [--first-seed 0]

On a made-up network (800 people, each with some of six interests that follow from three hidden traits, which
their words and acquaintances show, too); and, with --tables, on a folder like that of the bundled tables,
whose verbs have the column `frames`. What is in the file is not run again.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from coembed import evaluate
from coembed.network import Labels, Network, read

METHODS = ("scan", "one-vs-rest", "classifier-chains", "class-frequencies")


def made_up(seed: int = 0, people: int = 800, interests: int = 6, words: int = 60) -> Network:
    """People whose interests, words and acquaintances follow from three hidden traits."""
    rng = np.random.default_rng(seed)
    traits = rng.standard_normal((people, 3))
    wanted = 1.5 * traits @ rng.standard_normal((3, interests)) - 0.8
    shown = traits @ rng.standard_normal((3, words)) - 3
    near = traits @ traits.T - 6
    has, says, knows = (each + rng.logistic(size=each.shape) > 0 for each in (wanted, shown, near))
    links = np.triu(knows, 1)
    labels = Labels.of_several(has.astype(int), [f"interest {k}" for k in range(interests)])
    network = Network.build(links + links.T, says, name="made-up")
    return replace(network, types={**network.types, "node": replace(network.main, labels=labels)})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first-seed", type=int, default=0)
    asked = parser.parse_args()
    networks = {"made-up": (made_up(), "node")}
    if asked.tables is not None:
        networks["frames"] = read(asked.tables, labels=["verbs.frames"]), "verbs"
    lines = [json.loads(line) for line in asked.file.read_text().splitlines()] if asked.file.exists() else []
    done = {(line["network"], line["method"], line["seed"]) for line in lines}
    for name, (network, type) in networks.items():
        for seed in range(asked.first_seed, asked.first_seed + asked.seeds):
            for method in METHODS:
                if (name, method, seed) in done:
                    continue
                # the common space has no say in classes
                changes = ["space_dim=0", "pair_scores=false"] if method == "scan" else []
                report = evaluate(
                    network, "classification", method, type=type, first_seed=seed, seeds=1, changes=changes
                )
                figures = {figure: round(each["mean"], 4) for figure, each in report["metrics"].items()}
                line = {"network": name, "method": method, "seed": seed, "metrics": figures}
                with asked.file.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
                print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
