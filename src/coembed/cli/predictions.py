"""Predictions as a table, on a screen or in a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coembed.errors import InputError
from coembed.files import replacing_file
from coembed.fitted import Fitted
from coembed.network.network import UNKNOWN

ENDINGS = (".csv", ".tsv", ".parquet", ".json")


def prediction_table(
    fitted: Fitted, unlabelled: bool = False, nodes: Sequence[str] | None = None
) -> dict[str, list[Any]]:
    """Columns: node, predicted class, its probability, the known class if any, probability of every class.

    Of all nodes, or of those named; and of these only the unlabelled ones, if asked.
    """
    network, probabilities = fitted.network, fitted.predict_proba()
    rows = np.array([network.node_index(n) for n in nodes]) if nodes else np.arange(network.n_nodes)
    if unlabelled:
        rows = rows[network.labels[rows] == UNKNOWN]
    best = probabilities[rows].argmax(axis=1)
    known = [str(network.class_names[k]) if k != UNKNOWN else None for k in network.labels[rows]]
    table: dict[str, list[Any]] = {
        "node": [str(name) for name in network.node_names[rows]],
        "predicted": [str(name) for name in network.class_names[best]],
        "probability": [float(p) for p in probabilities[rows, best]],
        "known": known,
    }
    return table | {
        f"p({name})": [float(p) for p in probabilities[rows, k]] for k, name in enumerate(network.class_names)
    }


def write_table(table: dict[str, list[Any]], path: Path) -> None:
    """Write columns in the format of the ending, complete or not at all."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"{path} must end in .csv, .tsv, .parquet or .json")
    with replacing_file(path) as sibling:
        if ending == ".json":
            rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
            sibling.write_text(json.dumps(rows, ensure_ascii=False) + "\n", encoding="utf-8")
            return
        types = {"known": pa.string()}
        columns = pa.table({name: pa.array(values, type=types.get(name)) for name, values in table.items()})
        if ending == ".parquet":
            parquet.write_table(columns, sibling)
        else:
            csv.write_csv(columns, sibling, csv.WriteOptions(delimiter="\t" if ending == ".tsv" else ","))
