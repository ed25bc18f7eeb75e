"""A folder of made-up records: every table and figure has something to show, and nothing is fitted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coembed.experiments.cell import Cell
from coembed.experiments.plan import PLANS, Choice, plan
from coembed.experiments.record_store import Store

CLASSES = ("accuracy", "macro_f1", "micro_f1", "ece", "error_auroc")
SVM = ("svm_accuracy", "svm_macro_f1", "svm_micro_f1")
PAIRS = ("auc", "ap", "auc_matched", "ap_matched", "mrr", "recall_at_10", "ndcg_at_10")


def made_up(cell: Cell) -> dict:
    """A record as the grid would leave it, with figures that depend on the cell alone."""
    rng = np.random.default_rng([cell.seed, *cell.name.encode()])
    level = {"scan-best": 0.9, "scan-paper": 0.85, "gcn": 0.8}.get(cell.row, 0.7)
    names = (*CLASSES, *SVM) if cell.task == "classification" else PAIRS
    metrics = {name: round(level + 0.004 * float(rng.standard_normal()), 4) for name in names}
    details: dict = {}
    if cell.experiment == "scaling":
        nodes = cell.at or 5000.0
        metrics, details = {"wall_per_epoch": nodes / 5e4}, {"nodes": int(nodes)}
    elif cell.experiment == "datasets":
        metrics = dict.fromkeys(("nodes", "links", "attributes", "classes", "entries"), 7)
        metrics |= {"isolated_nodes": 0, "nodes_without_attributes": 0, "links_inside_a_class": 0.5}
    elif cell.experiment == "map":
        x, y, std = rng.standard_normal((3, 40)).round(3)
        places = {"x": x.tolist(), "y": y.tolist()}
        spread = {"x_std": np.abs(std).tolist(), "y_std": np.abs(std).tolist()}
        details = {"labels": [0, 1] * 20, "classes": ["a", "b"], "tsne": places | spread}
        flat = {"xx": (std**2).tolist(), "xy": [0.0] * 40, "yy": (std**2).tolist(), "explained": 0.5}
        details["pca"] = places | flat
        metrics = {"vote_tsne": 0.5, "vote_pca": 0.5}
    elif cell.task == "classification":
        bins = np.linspace(0.1, 0.95, 15)
        details["reliability"] = {"counts": [50] * 15, "confidence": bins.tolist(), "right": bins.tolist()}
        line = {"spearman": -0.5, "mean": 0.5, "evidence": [0, 3.0, 9.0], "variance": [0.6, 0.5, 0.4]}
        details["variance"] = dict.fromkeys(("degree", "attribute_count", "owners"), line)
        details["curves"] = {"loss": {"epoch": [1, 2], "value": [2.0, 1.0]}}
        details["sets"] = {key: {"coverage": 0.95, "size": 1.2} for key in ("0.9", "0.95", "0.99")}
    return {
        "state": "done",
        "metrics": metrics,
        "seconds": {"fit": 1.0, "fit_cpu": 1.0, "total": 2.0, "total_cpu": 2.0},
        "details": details,
        "code": "0.0 test",
        "finished": "2026-01-01T00:00:00Z",
    }


@pytest.fixture(scope="session")
def records(tmp_path_factory) -> Path:
    """All experiments on two networks, three seeds, both protocols."""
    folder = tmp_path_factory.mktemp("records")
    store = Store(folder)
    choice = Choice(("blogcatalog", "cora"), seeds=(0, 1, 2), quick=False)
    cells = plan(PLANS, choice)
    cells += plan(
        ["table1", "table2", "links"], replace(choice, protocol="published", methods=("scan", "can"))
    )
    for cell in cells:
        store.write(cell, made_up(cell))
    failed = Cell("table1", "seano", "cora", 9, method="seano")
    store.write(failed, {"state": "failed", "error": "MemoryError: too large", "seconds": {}})
    return folder
