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
from coembed.fitted.matches import position
from coembed.network.items import UNKNOWN
from coembed.network.network import NODE

ENDINGS = (".csv", ".tsv", ".parquet", ".json")


def prediction_table(
    fitted: Fitted, type: str, unlabelled: bool = False, ids: Sequence[str] | None = None
) -> dict[str, list[Any]]:
    """Columns: id, predicted class, its probability, the known class if any, probability of every class.

    Of all items of a type, or of those named; and of these only the unlabelled ones, if asked. The ids of a
    plain network's nodes are in the column ``node``, those of other types in ``id``.
    """
    network, probabilities, observed = fitted.network, fitted.predict_proba(type), fitted.labels_of(type)
    items = network.items(type)
    assert items.labels is not None
    classes = items.labels.classes
    rows = np.array([position(network, each, type) for each in ids]) if ids else np.arange(len(items))
    if unlabelled:
        rows = rows[observed[rows] == UNKNOWN]
    best = probabilities[rows].argmax(axis=1)
    table: dict[str, list[Any]] = {
        first_column(fitted, type): [str(name) for name in items.ids[rows]],
        "predicted": [str(name) for name in classes[best]],
        "probability": [float(p) for p in probabilities[rows, best]],
        "known": [str(classes[k]) if k != UNKNOWN else None for k in observed[rows]],
        "type": [type] * len(rows),
        "title": [items.title(int(row)) for row in rows],
    }
    return table | {
        f"p({name})": [float(p) for p in probabilities[rows, k]] for k, name in enumerate(classes)
    }


def first_column(fitted: Fitted, type: str) -> str:
    return "node" if fitted.network.is_plain and type == NODE else "id"


def predicted_type(fitted: Fitted, type: str | None) -> str:
    """The type that was named, or the main one, or else the first that has classes."""
    labelled = fitted.network.labelled_types
    if type is None and labelled and fitted.main not in labelled:
        return labelled[0]
    return fitted.network.items(type).name


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
        types = {"known": pa.string(), "type": pa.string(), "title": pa.string()}
        columns = pa.table({name: pa.array(values, type=types.get(name)) for name, values in table.items()})
        if ending == ".parquet":
            parquet.write_table(columns, sibling)
        else:
            csv.write_csv(columns, sibling, csv.WriteOptions(delimiter="\t" if ending == ".tsv" else ","))
