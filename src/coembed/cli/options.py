"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from coembed.cli.completion import assignments, kinds, presets
from coembed.cli.standard_input import from_standard_input
from coembed.errors import InputError

NetworkPaths = Annotated[
    list[Path],
    typer.Argument(
        metavar="NETWORK...",
        help="A folder or file of a network, or its tables; `-`: a table on standard input.",
        show_default=False,
        callback=from_standard_input,
    ),
]
ModelPath = Annotated[
    Path, typer.Argument(metavar="MODEL", help="The folder that `coembed train` wrote.", show_default=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no remarks.")]
Count = Annotated[int, typer.Option("-k", min=1, help="How many answers.")]
ItemList = Annotated[
    list[str] | None,
    typer.Option(
        "--item", "-i", metavar="ID", help="The item, by its id; may be repeated.", show_default=False
    ),
]
NodeList = Annotated[
    list[str] | None,
    typer.Option(
        "--node", "-n", metavar="ID", help="Short for an item of the main type.", show_default=False
    ),
]
Type = Annotated[
    str | None,
    typer.Option("--type", metavar="TYPE", help="Its type, if an id is of several.", show_default=False),
]
Known = Annotated[bool, typer.Option("--known", help="Rank also what the network already holds.")]
Kind = Annotated[str | None, typer.Option("--kind", hidden=True, help="What --type was called before.")]
Preset = Annotated[
    str, typer.Option("--preset", help="Where the settings come from.", autocompletion=presets)
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a setting; may be repeated.",
        show_default=False,
        autocompletion=assignments,
    ),
]
LabelColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--label",
        metavar="TYPE.COLUMN",
        help="Of tables: the column that holds the labels; may be repeated, once a type.",
        show_default=False,
    ),
]
ColumnKinds = Annotated[
    list[str] | None,
    typer.Option(
        "--as",
        metavar="COLUMN=KIND",
        help="Of tables: what a column is: `number`, `category`, `yes/no`, `tags`, `counts`, `text`, `date` "
        "or `skip`; may be repeated.",
        show_default=False,
        autocompletion=kinds,
    ),
]
SchemaFile = Annotated[
    Path | None,
    typer.Option(
        "--schema",
        metavar="FILE",
        help="Of tables: a network.toml that says what they are.",
        show_default=False,
    ),
]


def reading_options(
    labels: Sequence[str] | None, given_kinds: Sequence[str] | None, schema: Path | None = None
) -> dict[str, Any]:
    """What `coembed.network.read` is told of tables.

    Examples
    --------
    >>> reading_options(["city"], ["shop.age=number", "a=b=skip"])
    {'labels': ['city'], 'kinds': {'shop.age': 'number', 'a=b': 'skip'}, 'schema': None}
    """
    found = {}
    for given in given_kinds or ():
        name, mark, kind = given.rpartition("=")
        if not mark or not name:
            raise InputError(f"--as {given}: give a column and its kind, such as --as age=number")
        found[name] = kind
    return {"labels": list(labels or ()), "kinds": found, "schema": schema}
