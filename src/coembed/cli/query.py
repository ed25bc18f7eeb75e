"""Commands that ask a model. None of them needs torch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coembed.cli.console import print_json, print_rows, say
from coembed.cli.options import Count, Item, Json, Kind, Known, ModelPath, Node, Type
from coembed.cli.standard_input import from_standard_input
from coembed.errors import InputError

if TYPE_CHECKING:
    from coembed.fitted import Fitted, Match
    from coembed.fitted.row_predictions import Predictions
    from coembed.network import Relation

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
    json: Json = False,
) -> None:
    """The class of every item of a type, or of every row of a new table, with its probability.

    New rows are read as the table of training was. What is missing, unknown or strange in them is told, and
    columns that differ much from those of training.

    **Examples**

    `coembed predict model --unlabelled -o classes.csv`

    `coembed predict model --node ann --json`

    `coembed predict model new.csv -o classes.csv`

    `coembed predict model new.csv friends.csv --type customers --as-new`
    """
    import sys

    from coembed.cli.predictions import check_output, first_column, predicted_type, write_table
    from coembed.fitted.row_predictions import predict_known

    if output is not None:
        check_output(output, *(new or ()))
    fitted = _load(model)
    if new:
        if item or unlabelled:
            raise InputError("new rows are all answered; leave --item and --unlabelled out")
        first, *beside = new
        found = fitted.predict_rows(first, type, id=id, as_new=as_new, beside=beside)
        _say_rows(found)
    else:
        if id is not None or as_new:
            raise InputError("--id and --as-new are about a table of new rows; give one")
        found = predict_known(fitted, predicted_type(fitted, type), item, unlabelled)
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
    headings = [first_name, "predicted", "probability", "known"]
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
        say(f"{count:,} new row(s) came with a class: {share:.0%} of them are told rightly")


def complete(
    model: ModelPath,
    item: Item = None,
    node: Node = None,
    type: Type = None,
    relation: Annotated[
        str | None,
        typer.Option("--relation", "-r", metavar="NAME", help="Rank the far end of a relation."),
    ] = None,
    column: Annotated[
        str | None, typer.Option("--column", "-c", metavar="NAME", help="Say what a cell should hold.")
    ] = None,
    k: Count = 10,
    known: Known = False,
    json: Json = False,
) -> None:
    """What an item most likely lacks: attributes, entries of a relation, or the cell of a column.

    A number is told in its unit with its spread, a category as probabilities. Of tags and relations, training
    weighs present and absent pairs alike (setting `balance`), so a probability compares a pair with as many
    absent ones: it ranks, but it is not how often such pairs exist.

    **Examples**

    `coembed complete demo/model --node Denmark.n.01`

    `coembed complete model --item ann --column income`

    `coembed complete model --item ann --relation saw -k 20 --json`
    """
    if relation is not None and column is not None:
        raise InputError("give a relation or a column, not both")
    fitted = _load(model)
    name, type = _named(fitted, item, node, type)
    if column is not None:
        _check_column(fitted, column, type, name)
    _complete(fitted, name, type, relation or column, k, known, json)


def links(
    model: ModelPath,
    item: Item = None,
    node: Node = None,
    type: Type = None,
    relation: Annotated[
        str | None,
        typer.Option("--relation", "-r", metavar="NAME", help="Which; by default the first of its type."),
    ] = None,
    backwards: Annotated[
        bool, typer.Option("--backwards", help="Of a directed relation: who should point to the item.")
    ] = False,
    k: Count = 10,
    known: Known = False,
    json: Json = False,
) -> None:
    """The items to which an item should be linked.

    Training weighs present and absent pairs alike (setting `balance`), so a probability compares a pair with
    as many absent ones: it ranks, but it is not how often such pairs exist.

    **Examples**

    `coembed links demo/model --node Denmark.n.01`

    `coembed links model --item ann --relation follows -k 20 --json`
    """
    from coembed.fitted.matches import type_of

    fitted = _load(model)
    name, type = _named(fitted, item, node, type)
    if relation is None:
        type = type_of(fitted.network, name, type)
        joining = fitted.network.joining(type)
        if not joining:
            raise InputError(f"items of type {type} have no relation to others; ask with complete --column")
        relation = joining[0].name
        if len(joining) > 1:
            others = ", ".join(each.name for each in joining[1:])
            say(f"this is {relation}; there is {others}, too: choose with --relation", "dim")
    _complete(fitted, name, type, relation, k, known, json, backwards)


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
    from coembed.fitted.matches import type_of

    fitted = _load(model)
    found = type_of(fitted.network, item, type or kind)
    owner = fitted.network.owner_type(found)
    to = fitted.network.attribute_type(found) if owner is None else owner
    if to is None:
        raise InputError(f"items of type {found} have no attributes; ask with nearest --to TYPE")
    _answer(fitted.nearest(item, to, k, type=found), "cosine", json)
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
    from coembed.fitted.matches import type_of

    fitted = _load(model)
    found = type_of(fitted.network, item, type or kind)
    _answer(fitted.similar(item, k, found), "cosine", json)
    _say_if_approximate(fitted, found)


def nearest(
    model: ModelPath,
    item: Item = None,
    node: Node = None,
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
    from coembed.fitted.matches import type_of

    fitted = _load(model)
    name, type = _named(fitted, item, node, type)
    found = type_of(fitted.network, name, type)
    _answer(fitted.nearest(name, to, k, type=found), "cosine", json)
    _say_if_approximate(fitted, to or found)


def _load(model: Path) -> Fitted:
    from coembed.fitted import load

    return load(model)


def _named(fitted: Fitted, item: str | None, node: str | None, type: str | None) -> tuple[str, str | None]:
    """The id and the type that were given; a node is of the main type."""
    if item is not None and node is not None:
        raise InputError("give an item (--item) or a node (--node), not both")
    if node is not None:
        return node, type or fitted.main
    if item is None:
        raise InputError("give an item with --item ID")
    return item, type


def _check_column(fitted: Fitted, column: str, type: str | None, item: str) -> None:
    from coembed.errors import no_such
    from coembed.fitted.matches import type_of

    found = type_of(fitted.network, item, type)
    owner = fitted.network.owner_type(found) or found
    columns = [each.column.name for each in fitted.network.columns(owner) if each.column]
    if column not in columns and column not in [each.name for each in fitted.network.columns(owner)]:
        raise no_such(f"column of {owner}", column, columns)


def _complete(
    fitted: Fitted,
    item: str,
    type: str | None,
    relation: str | None,
    k: int,
    known: bool,
    json: bool,
    backwards: bool = False,
) -> None:
    from coembed.fitted.matches import type_of
    from coembed.fitted.questions import named_relation

    if relation is None or relation not in fitted.network.relations:
        type = type_of(fitted.network, item, type)
    joined = fitted.network.relation(named_relation(fitted, relation, type))
    found = fitted.complete(item, joined.name, k, type=type, known=known, backwards=backwards)
    if not json and joined.column is not None and joined.column.numeric:
        _print_numbers(joined, found)
        return
    unit = "probability" if fitted.relations[joined.name].likelihood in _PROBABLE else "value"
    _answer(found, unit, json)


_PROBABLE = ("bernoulli", "categorical")


def _say_if_approximate(fitted: Fitted, type: str) -> None:
    from coembed.fitted.nearest_index import index_of

    index = index_of(fitted, type)
    if index is not None:
        say(index.note(), "dim")


def _print_numbers(relation: Relation, found: list[Match]) -> None:
    """Numbers in the unit of their column, as they are expected and as they are known."""
    from coembed.fitted.cell_texts import cell_text, cell_texts

    assert relation.column is not None
    column = relation.column
    rows = [
        [
            match.name,
            *cell_texts(column, match.score, match.std),
            "unknown" if match.cell is None else cell_text(column, match.cell),
        ]
        for match in found
    ]
    print_rows(["name", column.name, "±", "cell"], rows)


def _answer(matches: list[Match], score: str, json: bool) -> None:
    if json:
        print_json([match.as_dict() for match in matches])
        return
    if not matches:
        raise InputError("there is nothing to rank: the model holds no other items of that type")
    columns: dict[str, list[Any]] = {
        "name": [match.name for match in matches],
        "title": [match.title for match in matches],
        score: [match.score for match in matches],
        "±": [match.std for match in matches],
        "known": [match.known for match in matches],
        "cell": [None if match.cell is None else bool(match.cell) for match in matches],
        "label": [match.label for match in matches],
    }
    if columns["title"] == columns["name"]:
        del columns["title"]
    for name in ("cell", "label"):
        if all(each is None for each in columns[name]):
            del columns[name]
    print_rows(list(columns), list(zip(*columns.values(), strict=True)))
