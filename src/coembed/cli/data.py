"""The command that gets public networks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from coembed.cli.console import print_json, print_rows, say
from coembed.cli.explore import WorkProgress
from coembed.cli.options import Json, Quiet
from coembed.errors import InputError


def _names(incomplete: str) -> list[str]:
    from coembed.network.public_data import CATALOGUE

    return [name for name in CATALOGUE if name.startswith(incomplete)]


def data(
    action: Annotated[str, typer.Argument(metavar="list|get", help="What to do.", show_default=False)],
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Of `get`.", autocompletion=_names)
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="DIR", help="Take the files from here, and check them.", show_default=False
        ),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            "--cache",
            metavar="DIR",
            envvar="COEMBED_CACHE",
            help="Where they are kept; ~/.cache/coembed.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Public networks by name. `get` prints the file, which all commands take.

    **Examples**

    `coembed data list`

    `coembed train $(coembed data get pubmed) -o model`

    `coembed data get cora --from SCAN/data`
    """
    from coembed.network.public_data import CATALOGUE, cache_folder, get_data, kept_at

    place = cache or cache_folder()
    if action == "list" and name is None:
        rows: list[dict[str, Any]] = [
            {
                "name": each.name,
                "about": each.about,
                "licence": each.licence,
                "here": kept_at(each, place).exists(),
                "fetched": bool(each.url),
                "how": each.how,
                "url": each.url or None,
            }
            for each in CATALOGUE.values()
        ]
        if json:
            print_json(rows)
            return
        shown = ("name", "about", "licence", "here", "fetched", "how")
        print_rows(shown, [[row[column] for column in shown] for row in rows])
        return
    if action != "get" or name is None:
        raise InputError("say `coembed data list`, or `coembed data get NAME`")
    with WorkProgress(f"fetching {name}", quiet) as progress:
        path = get_data(name, place, source, progress)
    if json:
        print_json({"name": name, "path": str(path), "licence": CATALOGUE[name].licence})
        return
    print(path)
    say(f"licence: {CATALOGUE[name].licence}; next: coembed train {path} -o model", "green")
