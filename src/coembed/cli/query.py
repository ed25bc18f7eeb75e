"""Commands that ask a model. None of them needs torch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coembed.cli.console import print_json, print_rows, say
from coembed.cli.options import Count, Json, Kind, Known, ModelPath, Node
from coembed.errors import InputError

if TYPE_CHECKING:
    from coembed.fitted import Fitted, Match
    from coembed.fitted.matches import ItemKind

SHOWN = 20
"""Rows of a prediction on a terminal."""


def predict(
    model: ModelPath,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write .csv, .tsv, .parquet or .json.", show_default=False
        ),
    ] = None,
    node: Annotated[
        list[str] | None,
        typer.Option("--node", "-n", help="Only this node; may be repeated.", show_default=False),
    ] = None,
    unlabelled: Annotated[
        bool, typer.Option("--unlabelled", help="Only nodes without a known label.")
    ] = False,
    json: Json = False,
) -> None:
    """The class of every node, with its probability.

    **Examples**

    `coembed predict model --unlabelled -o classes.csv`

    `coembed predict model --node ann --json`
    """
    import sys

    from coembed.cli.predictions import prediction_table, write_table
    from coembed.fitted import load

    table = prediction_table(load(model), unlabelled, node)
    count = len(table["node"])
    if output is not None:
        write_table(table, output)
        say(f"wrote {output}: {count:,} nodes")
        return
    if json:
        print_json([dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)])
        return
    columns = {name: table[name] for name in ("node", "predicted", "probability", "known")}
    rows = list(zip(*columns.values(), strict=True))
    short = sys.stdout.isatty() and count > SHOWN
    print_rows(tuple(columns), rows[:SHOWN] if short else rows)
    if short:
        say(f"... and {count - SHOWN:,} more; write them all with -o classes.csv", "dim")


def complete(model: ModelPath, node: Node, k: Count = 10, known: Known = False, json: Json = False) -> None:
    """The attributes that a node most likely lacks.

    Training weighs present and absent pairs alike (setting `balance`), so a probability compares a pair with
    as many absent ones: it ranks, but it is not how often such pairs exist.

    **Examples**

    `coembed complete demo/model --node Denmark.n.01`

    `coembed complete model --node ann -k 20 --json`
    """
    fitted = _load(model)
    _answer(fitted.complete_attributes(node, k, known=known), _worth(fitted, "attributes"), json)


def links(model: ModelPath, node: Node, k: Count = 10, known: Known = False, json: Json = False) -> None:
    """The nodes to which a node should be linked.

    Training weighs present and absent pairs alike (setting `balance`), so a probability compares a pair with
    as many absent ones: it ranks, but it is not how often such pairs exist.

    **Examples**

    `coembed links demo/model --node Denmark.n.01`

    `coembed links model --node ann -k 20 --json`
    """
    fitted = _load(model)
    _answer(fitted.suggest_links(node, k, known=known), _worth(fitted, "links"), json)


def profile(
    model: ModelPath,
    item: Annotated[str, typer.Argument(metavar="ID", help="A node, or an attribute.", show_default=False)],
    k: Count = 10,
    kind: Kind = None,
    json: Json = False,
) -> None:
    """What a node is about (its nearest attributes), or who stands for an attribute (its nearest nodes).

    **Examples**

    `coembed profile demo/model Denmark.n.01`

    `coembed profile demo/model fish -k 5`
    """
    from coembed.fitted.matches import kind_of

    fitted = _load(model)
    found = kind_of(fitted.network, item, kind)  # type: ignore[arg-type]
    _answer(fitted.profile(item, k) if found == "node" else fitted.nodes_about(item, k), "cosine", json)
    _say_if_approximate(fitted, "attribute" if found == "node" else "node")


def similar(
    model: ModelPath,
    item: Annotated[str, typer.Argument(metavar="ID", help="A node, or an attribute.", show_default=False)],
    k: Count = 10,
    kind: Kind = None,
    json: Json = False,
) -> None:
    """The items most like this one, among those of its kind.

    **Examples**

    `coembed similar demo/model Denmark.n.01`

    `coembed similar demo/model river --kind attribute`
    """
    from coembed.fitted.matches import kind_of

    fitted = _load(model)
    found = kind_of(fitted.network, item, kind)  # type: ignore[arg-type]
    _answer(fitted.similar(item, k, found), "cosine", json)
    _say_if_approximate(fitted, found)


def _load(model: Path) -> Fitted:
    from coembed.fitted import load

    return load(model)


def _say_if_approximate(fitted: Fitted, kind: ItemKind) -> None:
    from coembed.fitted.nearest_index import index_of

    index = index_of(fitted, kind)
    if index is not None:
        say(index.note(), "dim")


def _worth(fitted: Fitted, relation: Any) -> str:
    return "value" if fitted.gaussian(relation) else "probability"


def _answer(matches: list[Match], score: str, json: bool) -> None:
    if json:
        print_json([match.as_dict() for match in matches])
        return
    if not matches:
        raise InputError("there is nothing to rank: the model holds no other items of that kind")
    headings = ["name", score, "±", "known"]
    rows: list[list[Any]] = [[match.name, match.score, match.std, match.known] for match in matches]
    if any(match.label is not None for match in matches):
        headings.append("label")
        rows = [[*row, match.label] for row, match in zip(rows, matches, strict=True)]
    print_rows(headings, rows)
