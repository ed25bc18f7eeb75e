"""The command that finds items by what is said of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coembed.cli.console import print_json, print_rows, say
from coembed.cli.options import Json, ModelPath
from coembed.errors import InputError


def find(
    model: ModelPath,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="As `class:fish p<0.6 has:river`.")],
    k: Annotated[int, typer.Option("-k", min=1, help="How many are printed at most.")] = 50,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write all of them with all their columns: .csv, .tsv, .parquet or .json.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Items that fit a query: by class, probability, attributes, columns, links and names.

    **Examples**

    `coembed find demo/model "class:animal p<0.6 has:river"`

    `coembed find shop "income>50000 city:Lille,Rome -is:labelled" -o some.csv`
    """
    from coembed.cli.predictions import load_to_write, write_arrow
    from coembed.fitted.item_table import item_table
    from coembed.fitted.kept_selections import read_selections

    fitted = load_to_write(model, output)
    found = fitted.find(query, read_selections(model))
    tables = {type: item_table(fitted, type, rows) for type, rows in found.rows.items() if len(rows)}
    if output is not None:
        if len(tables) > 1:
            listed = " or ".join(f"type:{each}" for each in tables)
            raise InputError(f"items of several types fit, which are no one table; add {listed} to the query")
        if not tables:
            raise InputError("nothing fits the query; there is no table to write")
        [table] = tables.values()
        write_arrow(table, output)
        say(f"wrote {output}: {table.num_rows:,} rows")
        return
    rows = [{"type": type, **row} for type, table in tables.items() for row in table.to_pylist()]
    if json:
        print_json(rows[:k])
        return
    names = ["id", "type", "title", "class", "p", "degree"]
    shown = [name for name in names if any(row.get(name) is not None for row in rows)]
    print_rows(shown or ["id"], [[row.get(name) for name in shown] for row in rows[:k]])
    if len(rows) > k:
        say(f"{k:,} of {len(rows):,}; -k prints more, --output writes all")
