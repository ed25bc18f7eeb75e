"""Hidden cells of public tables: error beside simple imputers, and whether 90 % intervals hold 90 %.

OMP_NUM_THREADS=1 python benchmarks/imputation.py FOLDER FILE.jsonl [--seeds 1] [--tables penguins,fair]

Tables are those of benchmarks/tables.py. A tenth of the known cells is hidden, the default model is trained
on the rest, and each imputer fills them in. Of numbers: the root of the mean squared error, in standard
deviations of the column, and the share of cells within the interval that is told for a coverage of .9 (where
too few cells were kept aside for one, within 1.645 spreads); of others: the share told wrongly. One line of
the file a table and seed; what is there is not run again.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from tables import TABLES, network_of

from coembed import fit, preset_settings
from coembed.baselines import METHODS
from coembed.evaluation import Problem
from coembed.fitted import Fitted
from coembed.fitted.conformal import widening
from coembed.fitted.questions import cell_answers
from coembed.network import Network, Relation
from coembed.network.cell_values import attribute_range, cell_values
from coembed.network.splits import split_cells

COVERAGE = 0.9
WITHIN = 1.6449
"""Spreads on either side of the mean of a normal between which 90 % are."""


def told_by_model(fitted: Fitted, relation: Relation) -> tuple[np.ndarray, np.ndarray]:
    everybody = np.arange(relation.values.shape[0])
    features = fitted.cell_features(relation.source, everybody)
    return cell_answers(fitted, relation, fitted.latents(relation.source), features)


def spreads_told(fitted: Fitted, column: str) -> float:
    """How many spreads either way the interval goes that is told."""
    errors = fitted.relations[column].errors
    width = widening(errors, COVERAGE) if errors is not None else np.inf
    return width if np.isfinite(width) else WITHIN


def told_by_chained_equations(network: Network, type: str) -> dict[str, np.ndarray]:
    """scikit-learn's IterativeImputer on all columns with cells; categories as one column a value."""
    parts: dict[str, np.ndarray] = {}
    for relation in network.columns(type):
        if relation.column is None or not relation.column.has_cells:
            continue
        known = cell_values(relation)
        if relation.column.kind == "category":
            own = attribute_range(relation)
            known = np.where(
                np.isnan(known)[:, None], np.nan, known[:, None] == np.arange(own.stop - own.start)
            )
        parts[relation.name] = known.reshape(len(known), -1)
    together = np.hstack(list(parts.values()))
    filled = IterativeImputer(random_state=0, keep_empty_features=True).fit_transform(together)
    ends = np.cumsum([part.shape[1] for part in parts.values()])[:-1]
    return dict(zip(parts, np.split(filled, ends, axis=1), strict=True))


def judged(relation: Relation, rows: np.ndarray, told: np.ndarray) -> float:
    """The error of what is told of hidden cells: a column an attribute."""
    assert relation.column is not None
    truth = cell_values(relation)
    if relation.column.numeric:
        return float(np.sqrt(np.mean((truth[rows] - told[:, 0]) ** 2)) / np.nanstd(truth))
    said = told.argmax(axis=1) if told.shape[1] > 1 else told[:, 0] > 0.5
    return float(np.mean(truth[rows] != said))


def run(name: str, folder: Path, seed: int) -> dict[str, Any]:
    network = network_of(name, folder)
    type = TABLES[name].label.partition(".")[0]
    split = split_cells(network, type, 0.1, seed)
    seen = split.visible(network)
    start = time.process_time()
    fitted = fit(seen, preset_settings("best", seed=seed, space_dim=0))
    seconds = time.process_time() - start
    others = {"iterative": told_by_chained_equations(seen, type)}
    problem = Problem("columns", seen, type=type, seed=seed)
    for method in ("mean-or-mode", "knn-cells"):
        answer = METHODS[method].fit(problem)
        others[method] = {
            column: answer.cells(column, np.arange(len(network.items(type)))) for column in split.hidden
        }
    found = []
    for column, pairs in split.hidden.items():
        relation, rows = network.relation(column), pairs[:, 0]
        assert relation.column is not None
        if not len(rows):
            continue
        expected, spread = told_by_model(fitted, seen.relation(column))
        errors = {"coembed": judged(relation, rows, expected[rows])}
        errors |= {
            method: judged(relation, rows, told[column][rows].reshape(len(rows), -1))
            for method, told in others.items()
        }
        one: dict[str, Any] = {"column": column, "kind": relation.column.kind, "cells": len(rows)}
        one["errors"] = {method: round(error, 4) for method, error in errors.items()}
        if relation.column.numeric:
            off = np.abs(cell_values(relation)[rows] - expected[rows, 0])
            one["covered"] = int(np.sum(off <= spreads_told(fitted, column) * spread[rows, 0]))
        found.append(one)
    return {"table": name, "seed": seed, "seconds": round(seconds, 1), "columns": found}


def show(lines: list[dict[str, Any]]) -> None:
    print("table\tnumbers: error of coembed, iterative, kNN, mean\tin 90 % intervals\tothers: the same")
    for name in dict.fromkeys(line["table"] for line in lines):
        columns = [column for line in lines if line["table"] == name for column in line["columns"]]
        numbers = [column for column in columns if "covered" in column]
        others = [column for column in columns if "covered" not in column]

        def mean(of: list[dict[str, Any]]) -> str:
            names = ("coembed", "iterative", "knn-cells", "mean-or-mode")
            return " ".join(f"{np.mean([column['errors'][each] for column in of]):.3f}" for each in names)

        cells = sum(column["cells"] for column in numbers)
        share = f"{sum(column['covered'] for column in numbers) / cells:.3f} of {cells:,}" if cells else "-"
        print(f"{name}\t{mean(numbers) if numbers else '-'}\t{share}\t{mean(others) if others else '-'}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--tables", default=",".join(TABLES))
    asked = parser.parse_args()
    lines = [json.loads(line) for line in asked.file.read_text().splitlines()] if asked.file.exists() else []
    done = {(line["table"], line["seed"]) for line in lines}
    for seed in range(asked.seeds):
        for name in asked.tables.split(","):
            if (name, seed) not in done:
                lines.append(run(name, asked.folder, seed))
                with asked.file.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(lines[-1]) + "\n")
    show(lines)


if __name__ == "__main__":
    main()
