"""Predictions as a table, on a screen or in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coembed.errors import InputError
from coembed.files import replacing_file

if TYPE_CHECKING:
    import pyarrow as pa

    from coembed.fitted import Fitted
    from coembed.network import Network

ENDINGS = (".csv", ".tsv", ".parquet", ".json")
OF_MODELS = (".json", ".jsonl", ".safetensors")
"""What the files of a model end in."""
PLAIN_TABLES = {"nodes", "edges", "labels"}
"""How tables of a plain network are called."""
TEXTS = ("known", "type", "title")
"""Columns of text, though all of it may be missing."""


def first_column(fitted: Fitted, type: str) -> str:
    from coembed.network.network import NODE

    return "node" if fitted.network.is_plain and type == NODE else "id"


def predicted_type(fitted: Fitted, type: str | None) -> str:
    """The type that was named, or the main one, or else the first that has classes."""
    labelled = fitted.network.labelled_types
    if type is None and labelled and fitted.main not in labelled:
        return labelled[0]
    return fitted.network.items(type).name


def check_output(path: Path, *inputs: Path) -> str:
    """The ending of a table to write; asked before the work, so that none is done in vain."""
    check_apart(path, *inputs)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"{path} must end in .csv, .tsv, .parquet or .json")
    return ending


def check_apart(path: Path, *inputs: Path) -> None:
    """Refuse to write over what was given to read: a file, what is in a folder, or a part of a model.

    Nor is a table put among the tables of a folder, where it would be one of them from then on.
    """
    from coembed.fitted.storage import RECORD

    for given in inputs:
        if not given.exists():
            continue
        if path.exists() and path.samefile(given):
            raise InputError(f"{path} is what is read: writing there would lose it; give another file")
        if not given.is_dir() or not path.parent.exists() or not path.parent.samefile(given):
            continue
        if (given / RECORD).is_file():
            if path.suffix.lower() in OF_MODELS:
                raise InputError(
                    f"{path} would be taken for a part of the model in that folder; give a file elsewhere"
                )
        elif path.exists():
            raise InputError(
                f"{path} is a part of what is read: writing there would lose it; give another file"
            )
        elif path.suffix.lower() in ENDINGS:
            raise InputError(
                f"{path} would be one of the tables of {given} from then on; give a file in another folder"
            )


def load_to_write(model: Path, path: Path | None, *inputs: Path, table: bool = True) -> Fitted:
    """A model whose answers go there, if anywhere, once it is certain that they may."""
    from coembed.fitted import load

    if path is not None:
        (check_output if table else check_apart)(path, model, *inputs)
    fitted = load(model)
    if path is not None:
        _check_no_table(path, fitted.network)
    return fitted


def _check_no_table(path: Path, network: Network) -> None:
    """Refuse to write over a table that the model may have learnt from, or among several of them."""
    types = PLAIN_TABLES if network.is_plain else set(network.types)
    names = types | set(network.relations)
    beside = path.parent.iterdir() if path.parent.is_dir() else ()
    tables = {each.stem for each in beside if each.suffix.lower() in ENDINGS}
    there = sorted(tables & types)
    if there and path.exists() and path.stem in names:
        raise InputError(
            f"{path} is called as a table that the model learnt from: writing there may lose it; "
            "give another file"
        )
    if len(there) > 1 and path.suffix.lower() in ENDINGS:
        listed = " and ".join(there[:2])
        raise InputError(
            f"{path} would be one of the tables beside {listed} from then on; give a file in another folder"
        )


def write_table(table: dict[str, list[Any]], path: Path) -> None:
    """Write columns in the format of the ending, complete or not at all."""
    import pyarrow as pa

    types = dict.fromkeys(TEXTS, pa.string())
    write_arrow(
        pa.table({name: pa.array(values, type=types.get(name)) for name, values in table.items()}), path
    )


def write_arrow(table: pa.Table, path: Path) -> None:
    """The same, of a table of pyarrow."""
    from pyarrow import csv, parquet

    ending = check_output(path)
    with replacing_file(path) as sibling:
        if ending == ".json":
            rows = json.dumps(table.to_pylist(), ensure_ascii=False, default=str)
            sibling.write_text(rows + "\n", encoding="utf-8")
        elif ending == ".parquet":
            parquet.write_table(table, sibling)
        else:
            options = csv.WriteOptions(delimiter="\t" if ending == ".tsv" else ",")
            csv.write_csv(_with_flat_cells(table), sibling, options)


def _with_flat_cells(table: pa.Table) -> pa.Table:
    """Lists, and what else holds several things in a cell, as texts that are read as lists again.

    Examples
    --------
    >>> import pyarrow as pa
    >>> _with_flat_cells(pa.table({"id": ["a", "b"], "tags": [["x", "y"], None]}))["tags"].to_pylist()
    ['["x", "y"]', None]
    """
    import pyarrow as pa

    for at, field in enumerate(table.schema):
        if pa.types.is_nested(field.type):
            cells = [
                None if cell is None else json.dumps(cell, ensure_ascii=False, default=str)
                for cell in table.column(at).to_pylist()
            ]
            table = table.set_column(at, field.name, pa.array(cells, pa.string()))
    return table
