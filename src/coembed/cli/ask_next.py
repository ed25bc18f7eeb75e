"""The command that says what to label next."""

from __future__ import annotations

from typing import Annotated

import typer

from coembed.cli.console import print_json, print_rows
from coembed.cli.options import Json, ModelPath


def ask_next(
    model: ModelPath,
    k: Annotated[int, typer.Option("-k", help="How many.")] = 20,
    type: Annotated[
        str | None,
        typer.Option("--type", metavar="TYPE", help="Whose labels; by default the main type's."),
    ] = None,
    json: Json = False,
) -> None:
    """The items whose labels would help most, best first.

    Each is taken for the doubt that it would settle: its own, and that of items which look at it, by links or
    as items alike, and which those before it have left in doubt. Label all of them, then train again.

    **Examples**

    `coembed ask-next demo/model -k 20`

    `coembed ask-next model --type customers --json`
    """
    from coembed.cli.predictions import predicted_type
    from coembed.fitted import load

    fitted = load(model)
    found = fitted.ask_next(k, predicted_type(fitted, type))
    if json:
        print_json([each.as_dict() for each in found])
        return
    headings = ["name", "title", "predicted", "doubt", "settles"]
    if all(each.title == each.name for each in found):
        headings.remove("title")
    print_rows(headings, [tuple(each.as_dict()[name] for name in headings) for each in found])
