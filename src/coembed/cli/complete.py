"""Commands that say what items should have: one item, several, or all of a type at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coembed.cli.answers import asked_items, print_answers
from coembed.cli.console import say
from coembed.cli.options import Count, ItemList, Json, Known, ModelPath, NodeList, Type
from coembed.cli.predictions import load_to_write
from coembed.errors import InputError, no_such

if TYPE_CHECKING:
    from coembed.fitted import Fitted

AllOutput = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write .csv, .tsv, .parquet or .json; without an item, for all of the type.",
        show_default=False,
    ),
]

Fdr = Annotated[
    float | None,
    typer.Option(
        "--fdr",
        metavar="SHARE",
        help="Only what is so sure that at most this share of all lists is wrong; may be nothing.",
        show_default=False,
    ),
]


def complete(
    model: ModelPath,
    item: ItemList = None,
    node: NodeList = None,
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
    fdr: Fdr = None,
    coverage: Annotated[
        float, typer.Option("--coverage", metavar="SHARE", help="How often an interval holds a number.")
    ] = 0.9,
    output: AllOutput = None,
    json: Json = False,
) -> None:
    """What an item most likely lacks: attributes, entries of a relation, or the cell of a column.

    A number is told in its unit with its spread, a category as probabilities. Of tags and relations, a
    probability is how often such a pair exists among all that could; where that is not known, it is called a
    score, and only ranks.

    **Examples**

    `coembed complete demo/model --node Denmark.n.01`

    `coembed complete model --item ann --item bob --column income`

    `coembed complete model --item ann --relation saw -k 20 --json`

    `coembed complete model --relation saw -k 5 -o proposals.parquet`

    `coembed complete model --relation saw --fdr 0.1 -o sure.parquet`
    """
    if relation is not None and column is not None:
        raise InputError("give a relation or a column, not both")
    fitted = load_to_write(model, output)
    items, type = asked_items(fitted, item, node, type, output, relation)
    if column is not None:
        _check_column(fitted, column, type or fitted.main)
    if relation is None and column is None:
        type = type or fitted.main
        relation = _first_relation(fitted, type)
    _complete(fitted, items, type, relation or column, k, known, json, output, fdr=fdr, coverage=coverage)


def links(
    model: ModelPath,
    item: ItemList = None,
    node: NodeList = None,
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
    fdr: Fdr = None,
    output: AllOutput = None,
    json: Json = False,
) -> None:
    """The items to which an item should be linked.

    Training weighs present and absent pairs alike (setting `balance`), so a probability compares a pair with
    as many absent ones: it ranks, but it is not how often such pairs exist.

    **Examples**

    `coembed links demo/model --node Denmark.n.01`

    `coembed links model --item ann --relation follows -k 20 --json`

    `coembed links model -k 5 -o proposals.csv`
    """
    fitted = load_to_write(model, output)
    items, type = asked_items(fitted, item, node, type, output, relation)
    if relation is None:
        type = type or fitted.main
        joining = fitted.network.joining(type)
        if not joining:
            raise InputError(f"items of type {type} have no relation to others; ask with complete --column")
        relation = joining[0].name
        if len(joining) > 1:
            others = ", ".join(each.name for each in joining[1:])
            say(f"this is {relation}; there is {others}, too: choose with --relation", "dim")
    _complete(fitted, items, type, relation, k, known, json, output, backwards, fdr)


def _complete(
    fitted: Fitted,
    items: list[str],
    type: str | None,
    relation: str | None,
    k: int,
    known: bool,
    json: bool,
    output: Path | None,
    backwards: bool = False,
    fdr: float | None = None,
    coverage: float = 0.9,
) -> None:
    from coembed.fitted.chances import score_name
    from coembed.fitted.questions import named_relation, sure_from

    joined = fitted.network.relation(named_relation(fitted, relation, type))
    doubt = fitted.relations[joined.name].doubt
    if fdr is not None:
        sure_from(fitted, joined, fdr)
        assert doubt is not None
        say(doubt.in_words(fdr), "dim")
    how: dict[str, Any] = {
        "type": type,
        "known": known,
        "backwards": backwards,
        "coverage": coverage,
        "fdr": fdr,
    }
    if output is not None:
        from coembed.cli.batch import write_batch

        write_batch(fitted.complete_all(relation, k, items=items or None, **how), output)
        return
    found = {item: fitted.complete(item, joined.name, k, **how) for item in items}
    if fdr is not None and not json and not any(found.values()):
        return
    print_answers(found, score_name(fitted, joined.name), json, joined.column, coverage)


def _first_relation(fitted: Fitted, type: str) -> str:
    """What is completed where nothing was named; if there is more of its kind, that is said."""
    from coembed.fitted.questions import named_relation

    first = named_relation(fitted, None, type)
    owner = fitted.network.owner_type(type) or type
    lists = [each.name for each in fitted.network.columns(owner) if each.column and not each.column.has_cells]
    others = [name for name in lists if name != first] if first in lists else []
    if others:
        say(f"this is {first}; there is {', '.join(others)}, too: choose with --column", "dim")
    return first


def _check_column(fitted: Fitted, column: str, type: str) -> None:
    from coembed.fitted.questions import check_no_classes

    owner = fitted.network.owner_type(type) or fitted.network.items(type).name
    columns = [each.column.name for each in fitted.network.columns(owner) if each.column]
    if column not in columns and column not in [each.name for each in fitted.network.columns(owner)]:
        check_no_classes(fitted, column, owner)
        raise no_such(f"column of {owner}", column, columns)
