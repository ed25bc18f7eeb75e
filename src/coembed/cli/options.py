"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from coembed.errors import InputError

NetworkPaths = Annotated[
    list[Path],
    typer.Argument(
        metavar="NETWORK...",
        help="A folder or file of a network, or its tables of links, attributes and labels.",
        show_default=False,
    ),
]
ModelPath = Annotated[
    Path, typer.Argument(metavar="MODEL", help="The folder that `coembed train` wrote.", show_default=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no remarks.")]
Count = Annotated[int, typer.Option("-k", min=1, help="How many answers.")]
Node = Annotated[str, typer.Option("--node", "-n", help="Name of the node.", show_default=False)]
Known = Annotated[bool, typer.Option("--known", help="Rank also what the network already holds.")]
Kind = Annotated[
    str | None,
    typer.Option("--kind", help="`node` or `attribute`, if a name is both.", show_default=False),
]
Preset = Annotated[str, typer.Option("--preset", help="Where the settings come from.")]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a setting; may be repeated.", show_default=False),
]
LabelColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--label",
        metavar="TYPE.COLUMN",
        help="A column that holds labels; may be repeated.",
        show_default=False,
    ),
]
ColumnKinds = Annotated[
    list[str] | None,
    typer.Option(
        "--as",
        metavar="NAME=KIND",
        help="What a column is, where it should not be found out; may be repeated.",
        show_default=False,
    ),
]
SchemaPath = Annotated[
    Path | None,
    typer.Option("--schema", metavar="FILE", help="What the tables are, as TOML.", show_default=False),
]


def reading(
    labels: list[str] | None = None, kinds: list[str] | None = None, schema: Path | None = None
) -> dict[str, Any]:
    """Keyword arguments of :func:`coembed.read`: those that were given.

    Examples
    --------
    >>> reading(["people.job"], ["age=number"])
    {'labels': ['people.job'], 'kinds': {'age': 'number'}}
    """
    given: dict[str, Any] = {}
    if labels:
        given["labels"] = labels
    if kinds:
        named = [text.partition("=") for text in kinds]
        for name, equals, kind in named:
            if not (name and equals and kind):
                raise InputError(f"{name + equals + kind!r} is not of the form NAME=KIND")
        given["kinds"] = {name: kind for name, _, kind in named}
    if schema is not None:
        given["schema"] = schema
    return given
