"""Commands on networks: what is in it, and the same in another format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coembed.cli.console import Steps, print_json, print_rows, say
from coembed.cli.options import (
    ColumnKinds,
    Json,
    LabelColumns,
    NetworkPaths,
    SchemaFile,
    reading_options,
)
from coembed.cli.standard_input import from_standard_input
from coembed.errors import InputError

if TYPE_CHECKING:
    from coembed.network import Network


def info(
    network: NetworkPaths,
    label: LabelColumns = None,
    kinds: ColumnKinds = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Write what was found in tables as TOML, to edit.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write the TOML.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """What is in a network: sizes, gaps, ranges, classes; of tables the types, columns and relations.

    **Examples**

    `coembed info my-network/`

    `coembed info edges.csv attributes.csv labels.csv --json`

    `coembed info shop/ --schema -o shop/network.toml`
    """
    from coembed.network import read, summary

    options = reading_options(label, kinds)
    if schema or output is not None:
        _write_schema(network, options, output)
        return
    figures = summary(read(*network, **options))
    if json:
        print_json(figures)
        return
    notices = figures.pop("notices")
    if "types" in figures:
        _print_general(figures)
    else:
        sizes = figures.pop("class_sizes")
        rows: list[tuple[str, str]] = [
            (key.replace("_", " "), _readable(value)) for key, value in figures.items() if value is not None
        ]
        rows += [(f"class {name}", f"{size:,} nodes") for name, size in sizes.items()]
        print_rows(("figure", "value"), rows)
    for notice in notices:
        say(f"note: {notice}", "yellow")


def _write_schema(paths: list[Path], options: dict[str, Any], output: Path | None) -> None:
    from coembed.files import replacing_file
    from coembed.network.readers.read import Asked, open_items
    from coembed.network.readers.table_schema import write_schema

    for path in paths:
        if not path.exists():
            raise InputError(f"{path} does not exist; check the path")
    if output is not None and output.suffix.lower() != ".toml":
        raise InputError(f"{output} must end in .toml")
    found = open_items(*paths, asked=Asked(**options))
    if found is None:
        raise InputError(f"{paths[0]} holds no tables of items: only of these there is a schema")
    for notice in found.said:
        say(f"note: {notice}", "yellow")
    text = write_schema(found.schema)
    if output is None:
        print(text, end="")
        return
    with replacing_file(output) as sibling:
        sibling.write_text(text, encoding="utf-8")
    say(f"wrote {output}")


def _print_general(figures: dict[str, Any]) -> None:
    """Types, relations and columns, a table each."""
    types = [
        (
            each["name"],
            f"{each['count']:,}",
            "" if each["label"] is None else f"{each['label']}: {len(each['class_sizes'])} classes",
            f"{each['labelled']:,}" if each["label"] is not None else "",
        )
        for each in figures["types"]
    ]
    print_rows(("type", "items", "label", "known"), types)
    if figures["relations"]:
        print_rows(
            ("relation", "from", "to", "entries", "directed"),
            [
                (each["name"], each["source"], each["target"], f"{each['entries']:,}", each["directed"])
                for each in figures["relations"]
            ],
        )
    if figures["columns"]:
        rows = [
            (
                f"{each['type']}.{each['name']}",
                each["kind"],
                _values(each),
                "" if each["missing"] is None else f"{each['missing']:.1%}",
            )
            for each in figures["columns"]
        ]
        print_rows(("column", "kind", "values", "missing"), rows)


def _values(column: dict[str, Any]) -> str:
    """How many values a column has, or from where to where they go."""
    if column["kind"] == "yes/no":
        return "yes, no"
    if column["range"] is None:
        return f"{column['attributes']:,}"
    if column["kind"] == "date":
        import numpy as np

        return " to ".join(str(np.datetime64(round(end), "D")) for end in column["range"])
    return _readable(column["range"])


def convert(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="IN",
            help="A network; `-`: a table on standard input.",
            show_default=False,
            callback=from_standard_input,
        ),
    ],
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
    label: LabelColumns = None,
    kinds: ColumnKinds = None,
    schema: SchemaFile = None,
) -> None:
    """Write a network in another format.

    Tables become a `mapped` folder without being read into memory as a whole, if duckdb is installed (extra
    `coembed[large]`).

    **Examples**

    `coembed convert BlogCatalog.mat blogcatalog.npz`

    `coembed convert cora.edge cora/ --format parquet`

    `coembed convert edges.csv large --format mapped`

    `coembed convert shop/ shop.mapped --label customers.segment`
    """
    from coembed.network import read, write
    from coembed.network.readers.database import can_stream
    from coembed.network.readers.read import find_tables, unread_beside
    from coembed.network.readers.streaming import stream_tables
    from coembed.network.readers.write import chosen_format

    to_mapped = chosen_format(target, format) == "mapped" and source.exists()
    options = reading_options(label, kinds, schema)
    links = find_tables(source) if to_mapped and can_stream() and not any(options.values()) else None
    if links is None:
        network = read(source, **options)
        write(network, target, format)
    else:
        with Steps() as steps:
            network = stream_tables(*links, target, memory=memory, progress=steps)
        for notice in unread_beside(source) if source.is_file() else ():
            say(f"note: {notice}", "yellow")
    for notice in network.notices:
        say(f"note: {notice}", "yellow")
    say(f"wrote {target}: {_sizes(network)}")


def _sizes(network: Network) -> str:
    if network.is_plain:
        return f"{network.n_nodes:,} nodes, {network.n_links:,} links, {network.n_attributes:,} attributes"
    types = [f"{len(network.types[name]):,} {name}" for name in network.entity_types]
    columns = len(network.relations) - len(network.entity_relations)
    return f"{', '.join(types)}, {len(network.entity_relations)} relations, {columns} columns"


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
