"""Commands that ask a model. None of them needs torch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coembed.cli.answers import asked_items, asked_type, print_answers
from coembed.cli.console import print_json, print_rows, say
from coembed.cli.options import Count, ItemList, Json, Kind, ModelPath, NodeList, Type
from coembed.cli.standard_input import from_standard_input
from coembed.errors import InputError

if TYPE_CHECKING:
    from coembed.fitted import Fitted
    from coembed.fitted.row_predictions import Predictions

SHOWN = 20
"""Rows of a prediction on a terminal."""

Named = Annotated[str, typer.Argument(metavar="ID", help="An item, or an attribute.", show_default=False)]


def predict(
    model: ModelPath,
    new: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[TABLE]...",
            help="New rows (`-`: on standard input), and tables of links that they are part of.",
            show_default=False,
            callback=from_standard_input,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write .csv, .tsv, .parquet or .json.", show_default=False
        ),
    ] = None,
    item: Annotated[
        list[str] | None,
        typer.Option(
            "--item",
            "-i",
            "--node",
            "-n",
            metavar="ID",
            help="Only this item; may be repeated.",
            show_default=False,
        ),
    ] = None,
    type: Annotated[
        str | None,
        typer.Option("--type", metavar="TYPE", help="Whose classes; by default the main type's."),
    ] = None,
    unlabelled: Annotated[
        bool, typer.Option("--unlabelled", help="Only items without a known label.")
    ] = False,
    id: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="Of new rows: the column of ids.", show_default=False),
    ] = None,
    as_new: Annotated[
        bool, typer.Option("--as-new", help="Of new rows: by what they hold, even if their ids are known.")
    ] = False,
    coverage: Annotated[
        float | None,
        typer.Option(
            "--coverage",
            metavar="SHARE",
            help="Also a set of classes that holds the true one so often, such as 0.9.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """The class of every item of a type, or of every row of a new table, with its probability.

    New rows are read as the table of training was. What is missing, unknown or strange in them is told, and
    columns that differ much from those of training.

    **Examples**

    `coembed predict model --unlabelled -o classes.csv`

    `coembed predict model --node ann --json`

    `coembed predict model --unlabelled --coverage 0.9`

    `coembed predict model new.csv -o classes.csv`

    `coembed predict model new.csv friends.csv --type customers --as-new`
    """
    import sys

    from coembed.cli.predictions import first_column, load_to_write, predicted_type, write_table
    from coembed.fitted.row_predictions import predict_known

    fitted = load_to_write(model, output, *(new or ()))
    if new:
        if item or unlabelled:
            raise InputError("new rows are all answered; leave --item and --unlabelled out")
        first, *beside = new
        found = fitted.predict_rows(first, type, id=id, as_new=as_new, beside=beside, coverage=coverage)
        _say_rows(found)
    else:
        if id is not None or as_new:
            raise InputError("--id and --as-new are about a table of new rows; give one")
        found = predict_known(fitted, predicted_type(fitted, type), item, unlabelled, coverage)
        others = [name for name in fitted.network.labelled_types if name != found.type]
        if type is None and others:
            said = (
                f"these are classes of {found.type}; {', '.join(others)} have some, too: choose with --type"
            )
            say(said, "dim")
    first_name, count = first_column(fitted, found.type), len(found.ids)
    table = found.as_columns(first_name)
    if output is not None:
        write_table(table, output)
        say(f"wrote {output}: {count:,} {'nodes' if first_name == 'node' else f'items of type {found.type}'}")
        return
    if json:
        print_json([dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)])
        return
    headings = [first_name, "predicted", "probability", *(["set"] if coverage else []), "known"]
    if table["title"] != table[first_name]:
        headings.insert(1, "title")
    rows = list(zip(*(table[name] for name in headings), strict=True))
    short = sys.stdout.isatty() and count > SHOWN
    print_rows(headings, rows[:SHOWN] if short else rows)
    if short:
        say(f"... and {count - SHOWN:,} more; write them all with -o classes.csv", "dim")


def _say_rows(found: Predictions) -> None:
    """What was done with new rows, and how they differ."""
    for notice in found.notices:
        say(f"note: {notice}", "yellow")
    for drift in found.drifts:
        say(f"drift: {drift.text}", "yellow")
    if found.agreement is not None:
        count, share = found.agreement
        told = "of them are" if found.said is None else "of all that each has or has not is"
        say(f"{count:,} new row(s) came with a class: {share:.0%} {told} told rightly")


def profile(
    model: ModelPath,
    item: Named,
    k: Count = 10,
    type: Type = None,
    kind: Kind = None,
    json: Json = False,
) -> None:
    """What an item is about (its nearest attributes), or who stands for an attribute (its nearest items).

    **Examples**

    `coembed profile demo/model Denmark.n.01`

    `coembed profile demo/model fish -k 5`
    """
    fitted = _load(model)
    found = asked_type(fitted.network, item, type or kind)
    owner = fitted.network.owner_type(found)
    to = fitted.network.attribute_type(found) if owner is None else owner
    if to is None:
        raise InputError(f"items of type {found} have no attributes; ask with nearest --to TYPE")
    print_answers({item: fitted.nearest(item, to, k, type=found)}, "cosine", json)
    _say_if_approximate(fitted, to)


def similar(
    model: ModelPath,
    item: Named,
    k: Count = 10,
    type: Type = None,
    kind: Kind = None,
    json: Json = False,
) -> None:
    """The items most like this one, among those of its type.

    **Examples**

    `coembed similar demo/model Denmark.n.01`

    `coembed similar demo/model river --type attribute`
    """
    fitted = _load(model)
    found = asked_type(fitted.network, item, type or kind)
    print_answers({item: fitted.similar(item, k, found)}, "cosine", json)
    _say_if_approximate(fitted, found)


def nearest(
    model: ModelPath,
    item: ItemList = None,
    node: NodeList = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="TYPE", help="Of which type; by default its own.")
    ] = None,
    type: Type = None,
    k: Count = 10,
    json: Json = False,
) -> None:
    """The items of any type that are nearest to an item of any type.

    **Examples**

    `coembed nearest demo/model --item fish --to node`

    `coembed nearest model --item ann --to film -k 5`
    """
    fitted = _load(model)
    names, found = asked_items(fitted, item, node, type)
    print_answers({name: fitted.nearest(name, to, k, type=found) for name in names}, "cosine", json)
    _say_if_approximate(fitted, to or found or fitted.main)


def _load(model: Path) -> Fitted:
    from coembed.fitted import load

    return load(model)


def _say_if_approximate(fitted: Fitted, type: str) -> None:
    from coembed.fitted.nearest_index import index_of

    index = index_of(fitted, type)
    if index is not None:
        say(index.note(), "dim")
