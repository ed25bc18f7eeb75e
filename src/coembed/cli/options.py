"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
