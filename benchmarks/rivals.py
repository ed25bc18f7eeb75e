"""A table of all rivals and floors on the benchmark networks, beside the values that the SCAN paper prints.

    python benchmarks/rivals.py

reads the cells that ``coembed reproduce`` has left in ``docs/results/cells``, made by commands like

    coembed reproduce table1 -o docs/results --data FOLDER --methods seano --networks pubmed --seeds 0-2

and ``docs/results/rivals``: older reports of ``coembed evaluate`` on several seeds. Where both
have a seed, the cell counts. (The paper's values were made under another protocol.)
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from coembed.reproduce.rows import ROWS, Row

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "results"
NETWORKS = ("pubmed", "flickr", "blogcatalog", "cora")
TABLES = {"classification": "table1", "attributes": "table2"}
FIGURES = {"classification": ("accuracy", "macro_f1"), "attributes": ("auc", "ap", "auc_matched")}
SEEDS = 3


# accuracy; AUC, AP
PRINTED: dict[tuple[str, str], tuple[float, ...]] = {
    ("gcn", "pubmed"): (0.850,),
    ("gcn", "flickr"): (0.309,),
    ("gcn", "blogcatalog"): (0.538,),
    ("planetoid", "pubmed"): (0.823,),
    ("planetoid", "flickr"): (0.733,),
    ("planetoid", "blogcatalog"): (0.817,),
    ("seano", "pubmed"): (0.850,),
    ("seano", "flickr"): (0.741,),
    ("seano", "blogcatalog"): (0.648,),
    ("graphsgan", "pubmed"): (0.841,),
    ("graphsgan", "flickr"): (0.702,),
    ("graphsgan", "blogcatalog"): (0.719,),
    ("san", "pubmed"): (0.579, 0.572),
    ("san", "flickr"): (0.653, 0.660),
    ("san", "blogcatalog"): (0.694, 0.710),
    ("edgeexp", "pubmed"): (0.586, 0.576),
    ("edgeexp", "flickr"): (0.678, 0.685),
    ("edgeexp", "blogcatalog"): (0.684, 0.744),
    ("bla", "pubmed"): (0.622, 0.602),
    ("bla", "flickr"): (0.730, 0.769),
    ("bla", "blogcatalog"): (0.787, 0.792),
    ("can", "pubmed"): (0.670, 0.652),
    ("can", "flickr"): (0.867, 0.868),
    ("can", "blogcatalog"): (0.867, 0.865),
}


class Figures(NamedTuple):
    """What is known of one method on one network."""

    metrics: dict[int, dict[str, float]]
    """By seed."""
    seconds: list[float]
    """Of each fit: of the processor in a cell, of the clock in an older report."""


def known(task: str, row: Row, network: str) -> Figures:
    """The figures of both places."""
    metrics: dict[int, dict[str, float]] = {}
    seconds: dict[int, float] = {}
    file = RESULTS / "rivals" / f"{task}-{row.name}-{network}.json"
    if file.exists():
        report = json.loads(file.read_text(encoding="utf-8"))
        for place, seed in enumerate(report["seeds"]):
            metrics[seed] = {name: values["values"][place] for name, values in report["metrics"].items()}
            seconds[seed] = report["seconds"]["fit"][place]
    for seed in range(SEEDS):
        file = RESULTS / "cells" / f"{TABLES[task]}-strict" / f"{row.name}.{network}.{seed}.json"
        record = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        if record.get("state") == "done":
            metrics[seed] = record["metrics"]
            seconds[seed] = record["seconds"]["fit_cpu"]
    return Figures(metrics, list(seconds.values()))


def short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def cell_text(task: str, row: Row, network: str, figures: Figures) -> str:
    """The means over seeds, and what the paper prints."""
    seeds = figures.metrics.values()
    ours = "-"
    if seeds:
        ours = " / ".join(short(fmean(each[name] for each in seeds)) for name in FIGURES[task])
        if len(seeds) < SEEDS:
            ours += f" [{len(seeds)} seed(s)]"
    printed = PRINTED.get((row.name.removesuffix("-tuned"), network))
    return ours if printed is None else f"{ours} ({' / '.join(map(short, printed))})"


def table() -> None:
    for task in TABLES:
        rows = [row for row in ROWS[task] if row.group != "ours"]
        print(f"\n**{task}**: {', '.join(FIGURES[task])}; in brackets the printed values\n")
        print(f"| | {' | '.join(NETWORKS)} | seconds a fit |")
        print("| --- |" + " --- |" * (len(NETWORKS) + 1))
        for row in rows:
            found = [known(task, row, network) for network in NETWORKS]
            cells = [cell_text(task, row, *each) for each in zip(NETWORKS, found, strict=True)]
            times = " ".join(f"{fmean(each.seconds):.0f}" if each.seconds else "-" for each in found)
            print(f"| {row.name} | {' | '.join(cells)} | {times} |")


if __name__ == "__main__":
    table()
