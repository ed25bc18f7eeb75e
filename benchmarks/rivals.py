"""All rivals and floors on the benchmark networks: one command and one JSON file each, and a table of them.

    COEMBED_DATA=FOLDER python benchmarks/rivals.py run [--only METHOD ...] [--networks NAME ...]
    python benchmarks/rivals.py table

`run` calls ``coembed evaluate`` for whatever is missing, each seed in a process of its own, one after the
other. Each file has the report of the seeds done so far and the commands that made it. `table` prints them as
Markdown, beside the values that the SCAN paper prints (which had another protocol).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "results" / "rivals"
NETWORKS = {
    "classification": ("pubmed", "flickr", "blogcatalog", "cora"),
    "attributes": ("pubmed", "flickr", "blogcatalog", "cora"),
}
FIGURES = {"classification": ("accuracy", "macro_f1"), "attributes": ("auc", "ap", "auc_matched")}
SEEDS = 3


class Row(NamedTuple):
    """A method under some options, by the name that it has in the table."""

    name: str
    method: str
    changes: tuple[str, ...] = ()


ROWS = {
    "classification": (
        Row("majority", "majority"),
        Row("knn", "knn"),
        Row("propagation", "propagation"),
        Row("linear-x", "linear-x"),
        Row("linear-ax", "linear-ax"),
        Row("linear-smooth", "linear-smooth"),
        Row("linear-views", "linear-views"),
        Row("gcn", "gcn"),
        Row("gcn-tuned", "gcn", ("inputs=unit", "weight_decay=5e-5")),
        Row("planetoid", "planetoid"),
        Row("seano", "seano"),
        Row("graphsgan", "graphsgan"),
    ),
    "attributes": (
        Row("popularity", "popularity"),
        Row("degree", "degree"),
        Row("neighbours", "neighbours"),
        Row("svd", "svd"),
        Row("ridge", "ridge"),
        Row("san", "san"),
        Row("edgeexp", "edgeexp"),
        Row("bla-links", "bla", ("rounds=0",)),
        Row("bla", "bla"),
        Row("can", "can"),
    ),
}

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


def runs() -> Iterator[tuple[str, Row, str, Path]]:
    """Every task, row and network, and the file of its report."""
    for task, rows in ROWS.items():
        for row in rows:
            for network in NETWORKS[task]:
                yield task, row, network, RESULTS / f"{task}-{row.name}-{network}.json"


def measure(task: str, row: Row, network: str, folder: Path, seed: int) -> dict[str, Any]:
    """The report of one method on one network under one seed, with the command that made it."""
    words = ["evaluate", f"{network}.npz", "--task", task, "--method", row.method]
    words += ["--first-seed", str(seed), "--seeds", "1"]
    for change in row.changes:
        words += ["--set", change]
    words += ["--json", "--quiet"]
    done = subprocess.run(
        [Path(sys.executable).with_name("coembed"), *words], cwd=folder, check=True, stdout=subprocess.PIPE
    )
    return {"commands": [" ".join(["coembed", *words])], **json.loads(done.stdout)}


def joined(reports: list[dict[str, Any]]) -> dict[str, Any]:
    """One report of several seeds, as ``coembed evaluate --seeds`` would give it."""
    metrics = {}
    for name in reports[0]["metrics"]:
        values = [value for report in reports for value in report["metrics"][name]["values"]]
        spread = stdev(values) if len(values) > 1 else 0.0
        metrics[name] = {"mean": fmean(values), "std": spread, "values": values}
    return {
        **reports[0],
        "commands": [command for report in reports for command in _commands(report)],
        "seeds": [seed for report in reports for seed in report["seeds"]],
        "metrics": metrics,
        "seconds": {"fit": [second for report in reports for second in report["seconds"]["fit"]]},
        "peak_rss_mb": max(report["peak_rss_mb"] for report in reports),
    }


def _commands(report: dict[str, Any]) -> list[str]:
    return report["commands"] if "commands" in report else [report["command"]]


def run(only: list[str], networks: list[str]) -> None:
    folder = os.environ.get("COEMBED_DATA")
    if not folder:
        sys.exit("COEMBED_DATA is not set; let it name the folder of the benchmark networks")
    RESULTS.mkdir(parents=True, exist_ok=True)
    for task, row, network, file in runs():
        if (only and row.name not in only) or (networks and network not in networks):
            continue
        reports = [json.loads(file.read_text(encoding="utf-8"))] if file.exists() else []
        done = [seed for report in reports for seed in report["seeds"]]
        for seed in sorted(set(range(SEEDS)) - set(done)):
            reports = [joined([*reports, measure(task, row, network, Path(folder), seed)])]
            part = file.with_suffix(".part")
            part.write_text(json.dumps(reports[0], indent=2) + "\n", encoding="utf-8")
            os.replace(part, file)
            print(
                task, row.name, network, f"seed {seed}:", figures(reports[0]), seconds(reports[0]), flush=True
            )


def figures(report: dict[str, Any]) -> str:
    """The figures of a report for a cell of a table."""
    means = [report["metrics"][name]["mean"] for name in FIGURES[report["task"]]]
    return " / ".join(f"{value:.3f}".removeprefix("0") for value in means)


def seconds(report: dict[str, Any]) -> str:
    fits = report["seconds"]["fit"]
    return f"{sum(fits) / len(fits):.0f} s"


def table() -> None:
    for task, rows in ROWS.items():
        names = NETWORKS[task]
        print(f"\n**{task}**: {', '.join(FIGURES[task])}; in brackets the printed values\n")
        print(f"| | {' | '.join(names)} | seconds a fit |")
        print("| --- |" + " --- |" * (len(names) + 1))
        for row in rows:
            files = [RESULTS / f"{task}-{row.name}-{name}.json" for name in names]
            reports = [json.loads(file.read_text()) if file.exists() else None for file in files]
            cells = [_cell(row, name, report) for name, report in zip(names, reports, strict=True)]
            times = " ".join(seconds(report).removesuffix(" s") if report else "-" for report in reports)
            print(f"| {row.name} | {' | '.join(cells)} | {times} |")


def _cell(row: Row, network: str, report: dict[str, Any] | None) -> str:
    ours = figures(report) if report else "-"
    if report and len(report["seeds"]) < SEEDS:
        ours += f" [{len(report['seeds'])} seed(s)]"
    printed = PRINTED.get((row.name, network))
    if printed is None:
        return ours
    return f"{ours} ({' / '.join(f'{value:.3f}'.removeprefix('0') for value in printed)})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("--only", nargs="*", default=[], metavar="METHOD")
    parser.add_argument("--networks", nargs="*", default=[], metavar="NAME")
    given = parser.parse_args()
    if given.what == "run":
        run(given.only, given.networks)
    else:
        table()
