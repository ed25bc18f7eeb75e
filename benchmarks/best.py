"""The figures of preset `best` for docs/results/best.md, from the cells that ``coembed reproduce`` has left.

coembed reproduce table1 table2 links -o docs/results --data FOLDER --methods scan-best --seeds 0-2
python benchmarks/best.py
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

CELLS = Path(__file__).resolve().parents[1] / "docs" / "results" / "cells"
NETWORKS = ("blogcatalog", "flickr", "pubmed", "cora", "citeseer", "wordnet-demo")
SEEDS = 3

Record = dict[str, Any]
Column = tuple[str, str, Callable[[Record], float | None]]
"""Title, experiment, and the figure in a record of it."""


def metric(experiment: str, title: str, name: str) -> Column:
    return title, experiment, lambda record: record["metrics"].get(name)


def spearman(title: str, name: str) -> Column:
    return title, "table1", lambda record: record["details"]["variance"][name]["spearman"]


def alone(experiment: str, how: str, name: str) -> Column:
    title = f"{experiment} {name} {how}".replace("table2", "attributes")
    return title, experiment, lambda record: record["details"]["model alone"][how][name]


TABLES: dict[str, list[Column]] = {
    "Answers": [
        metric("table1", "accuracy DIS", "accuracy"),
        metric("table1", "SVM", "svm_accuracy"),
        metric("table2", "attributes AUC", "auc"),
        metric("table2", "AP", "ap"),
        metric("table2", "AUC, matched", "auc_matched"),
        metric("links", "links AUC", "auc"),
        metric("links", "AP", "ap"),
        metric("links", "AUC, matched", "auc_matched"),
    ],
    "More of them": [
        metric("table1", "macro F1", "macro_f1"),
        metric("table2", "attributes recall@10", "recall_at_10"),
        metric("table2", "MRR", "mrr"),
        metric("links", "links recall@10", "recall_at_10"),
        metric("links", "MRR", "mrr"),
    ],
    "Uncertainty": [
        metric("table1", "calibration error", "ece"),
        metric("table1", "error detection AUROC", "error_auroc"),
        spearman("variance with links + attributes", "evidence"),
        spearman("with links", "degree"),
        spearman("variance of attributes with owners", "owners"),
    ],
    "Variances known or not": [
        alone(experiment, how, name)
        for experiment in ("table2", "links")
        for name in ("auc", "ece")
        for how in ("expected", "means")
    ],
}


def records(experiment: str, network: str) -> list[Record]:
    """Those that are done, of the first seeds."""
    files = (CELLS / f"{experiment}-strict" / f"scan-best.{network}.{seed}.json" for seed in range(SEEDS))
    found = [json.loads(file.read_text(encoding="utf-8")) for file in files if file.exists()]
    return [record for record in found if record["state"] == "done"]


def shown(column: Column, network: str) -> str:
    """The mean over seeds; in brackets their number, where it is not the usual one."""
    values = [column[2](record) for record in records(column[1], network)]
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    text = f"{fmean(known):.3f}".replace("0.", ".", 1)
    return text if len(known) == SEEDS else f"{text} ({len(known)})"


def table(columns: list[Column]) -> str:
    lines = ["| | " + " | ".join(title for title, *_ in columns) + " |", "| --- |" + " --- |" * len(columns)]
    for network in NETWORKS:
        lines.append(f"| {network} | " + " | ".join(shown(column, network) for column in columns) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    for name, columns in TABLES.items():
        print(f"{name}\n\n{table(columns)}\n")
