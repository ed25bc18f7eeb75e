"""Predictions as a table, on a screen or in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from coembed.errors import InputError
from coembed.files import replacing_file
from coembed.fitted import Fitted
from coembed.network.network import NODE

ENDINGS = (".csv", ".tsv", ".parquet", ".json")
TEXTS = ("known", "type", "title")
"""Columns of text, though all of it may be missing."""


def first_column(fitted: Fitted, type: str) -> str:
    return "node" if fitted.network.is_plain and type == NODE else "id"


def predicted_type(fitted: Fitted, type: str | None) -> str:
    """The type that was named, or the main one, or else the first that has classes."""
    labelled = fitted.network.labelled_types
    if type is None and labelled and fitted.main not in labelled:
        return labelled[0]
    return fitted.network.items(type).name


def check_ending(path: Path) -> str:
    """The ending of a table to write; asked before the work, so that none is done in vain."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"{path} must end in .csv, .tsv, .parquet or .json")
    return ending


def write_table(table: dict[str, list[Any]], path: Path) -> None:
    """Write columns in the format of the ending, complete or not at all."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    ending = check_ending(path)
    with replacing_file(path) as sibling:
        if ending == ".json":
            rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
            sibling.write_text(json.dumps(rows, ensure_ascii=False) + "\n", encoding="utf-8")
            return
        types = dict.fromkeys(TEXTS, pa.string())
        columns = pa.table({name: pa.array(values, type=types.get(name)) for name, values in table.items()})
        if ending == ".parquet":
            parquet.write_table(columns, sibling)
        else:
            csv.write_csv(columns, sibling, csv.WriteOptions(delimiter="\t" if ending == ".tsv" else ","))
