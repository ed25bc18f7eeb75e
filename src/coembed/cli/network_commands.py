"""Commands on networks: what is in it, and the same in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from coembed.cli.console import Steps, print_json, print_rows, say
from coembed.cli.options import Json, NetworkPaths


def info(network: NetworkPaths, json: Json = False) -> None:
    """What is in a network: sizes, gaps, ranges, classes.

    **Examples**

    `coembed info my-network/`

    `coembed info edges.csv attributes.csv labels.csv --json`
    """
    from coembed.network import read, summary

    figures = summary(read(*network))
    if json:
        print_json(figures)
        return
    sizes, notices = figures.pop("class_sizes"), figures.pop("notices")
    rows: list[tuple[str, str]] = [
        (key.replace("_", " "), _readable(value)) for key, value in figures.items() if value is not None
    ]
    rows += [(f"class {name}", f"{size:,} nodes") for name, size in sizes.items()]
    print_rows(("figure", "value"), rows)
    for notice in notices:
        say(f"note: {notice}", "yellow")


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="A network.", show_default=False)],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="A file.npz, or a folder.", show_default=False)
    ],
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "--to",
            help="`npz`, `csv`, `parquet` or `mapped`; by default what the name of OUT says.",
        ),
    ] = None,
    memory: Annotated[
        str,
        typer.Option("--memory", help="What converting tables to `mapped` may use; the disk has the rest."),
    ] = "3GB",
) -> None:
    """Write a network in another format.

    Tables become a `mapped` folder without being read into memory as a whole, if duckdb is installed (extra
    `coembed[large]`).

    **Examples**

    `coembed convert BlogCatalog.mat blogcatalog.npz`

    `coembed convert cora.edge cora/ --format parquet`

    `coembed convert edges.csv large --format mapped`
    """
    from coembed.network import read, write
    from coembed.network.readers.database import can_stream
    from coembed.network.readers.read import find_tables, unread_beside
    from coembed.network.readers.streaming import stream_tables
    from coembed.network.readers.write import chosen_format

    to_mapped = chosen_format(target, format) == "mapped" and source.exists()
    tables = find_tables(source) if to_mapped and can_stream() else None
    if tables is None:
        network = read(source)
        write(network, target, format)
    else:
        with Steps() as steps:
            network = stream_tables(*tables, target, memory=memory, progress=steps)
        for notice in unread_beside(source) if source.is_file() else ():
            say(f"note: {notice}", "yellow")
    for notice in network.notices:
        say(f"note: {notice}", "yellow")
    say(
        f"wrote {target}: {network.n_nodes:,} nodes, {network.n_links:,} links, "
        f"{network.n_attributes:,} attributes"
    )


def _readable(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return " to ".join(f"{each:g}" for each in value)
    return str(value)
