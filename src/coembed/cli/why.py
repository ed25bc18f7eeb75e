"""The command that says why a model answers as it does."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from coembed.cli.console import print_json, print_rows, say
from coembed.cli.options import Count, Json, ModelPath, Type
from coembed.errors import InputError

if TYPE_CHECKING:
    from coembed.fitted import Fitted
    from coembed.fitted.reasons import Why


def why(
    model: ModelPath,
    item: Annotated[str, typer.Argument(metavar="ID", help="The item, by its id.", show_default=False)],
    label: Annotated[
        str | None,
        typer.Option("--class", metavar="CLASS", help="Why this class; by default the likeliest."),
    ] = None,
    relation: Annotated[
        str | None,
        typer.Option("--relation", "-r", metavar="NAME", help="Why something at the far end of a relation."),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option("--column", "-c", metavar="NAME", help="Why what a cell should hold."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="ID",
            help="At the far end, or a value of the column; by default the likeliest.",
        ),
    ] = None,
    backwards: Annotated[
        bool,
        typer.Option("--backwards", help="Of a directed relation: why who should point to it."),
    ] = False,
    type: Type = None,
    k: Count = 10,
    json: Json = False,
) -> None:
    """Which links, attributes and cells of an item speak for an answer about it, and how much.

    The item is placed anew without parts of what is known of it. What a part contributes is what the answer
    loses when it is left out, on average over the orders of leaving everything out; so contributions add up
    to what is claimed. *Beyond* is what the item placed anew does not have: what training has learnt of the
    item itself, and scores beside the model's own.

    **Examples**

    `coembed why demo/model Denmark.n.01`

    `coembed why demo/model Denmark.n.01 --relation attributes --target fish`

    `coembed why model ann --column income --json`
    """
    from coembed.fitted import load

    fitted = load(model)
    found = fitted.why(
        item,
        type=type,
        label=label,
        relation=relation,
        column=column,
        target=target,
        backwards=backwards,
        k=k,
    )
    if json:
        print_json(found.as_dict())
        return
    _print(fitted, found)


def _print(fitted: Fitted, found: Why) -> None:
    from coembed.fitted.cell_texts import date_text

    column = fitted.network.relation(found.relation).column if found.relation else None
    what = f"{found.relation} {found.title}" if found.relation else f"class {found.title}"
    if column is not None and column.numeric:
        what = found.title
    numbers = [found.claimed, found.nothing, found.beyond, *(each.contribution for each in found.reasons)]
    if not all(map(math.isfinite, numbers)):
        raise InputError(f"the answer to {what} is beyond all numbers; there is nothing to explain")
    dated = column is not None and column.kind == "date"
    largest = max(map(abs, numbers))
    decimals = min(max(3 - math.ceil(math.log10(largest)), 0), 12) if largest > 1 else 3

    def text(value: float, sign: str = "+") -> str:
        return f"{value:{sign},.{decimals}f}"

    def moved(value: float) -> str:
        return f"{value:+,.0f} days" if dated else text(value)

    def whole(value: float, sign: str = "") -> str:
        return date_text(value) if dated else text(value, sign)

    rows = [("nothing known", "", whole(found.nothing, "+"), "")]
    rows += [
        (each.title, each.relation or "its class", moved(each.contribution), whole(each.without))
        for each in found.reasons
    ]
    if found.others_count:
        rows.append((f"{found.others_count} more", "", moved(found.others), ""))
    rows += [("beyond", "", moved(found.beyond), ""), (f"= {what}", "", whole(found.claimed), "")]
    print_rows(["because of", "by", "contribution", "alone left out"], rows)
    if found.owners:
        more = f" and {len(found.owners) - 5} more" if len(found.owners) > 5 else ""
        say(f"linked items that have it: {', '.join(found.owners[:5])}{more}", "dim")
