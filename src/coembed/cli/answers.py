"""Items that a command is asked about, and answers as people and programs read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coembed.cli.console import print_json, print_rows
from coembed.errors import InputError

if TYPE_CHECKING:
    from coembed.fitted import Fitted, Match
    from coembed.network import Network
    from coembed.network.relations import Column


def asked_items(
    fitted: Fitted,
    items: Sequence[str] | None,
    nodes: Sequence[str] | None,
    type: str | None,
    output: Path | None = None,
    relation: str | None = None,
) -> tuple[list[str], str | None]:
    """The ids that were given, each once, and their type; a node is of the main type.

    Where the answers go to a file there need not be any: that is all items of a type. Of ids that several
    types have, an end of the `relation` is meant.
    """
    if items and nodes:
        raise InputError("give items (--item) or nodes (--node), not both")
    if output is None and not items and not nodes:
        raise InputError("give an item with --item ID, or a file with -o for the answers of all")
    names = list(dict.fromkeys([*(items or ()), *(nodes or ())]))
    if nodes:
        return names, type or fitted.main
    if not names:
        return names, type
    types = {asked_type(fitted.network, name, type, relation) for name in names}
    if len(types) > 1:
        listed = ", ".join(sorted(types))
        raise InputError(f"the items are of several types ({listed}); ask for one type at a time")
    return names, types.pop()


def asked_type(network: Network, item: str, type: str | None, relation: str | None = None) -> str:
    """The type of an item, or of a number by one of its poles."""
    from coembed.fitted.matches import type_of
    from coembed.fitted.poles import find_pole

    joined = network.relations.get(relation or "")
    if type is None and joined is not None:
        for end in (joined.source, joined.target):
            if network.items(end).find(item) is not None:
                return end
    pole = find_pole(network, item, type)
    return type_of(network, item, type) if pole is None else pole.type


def print_answers(
    found: Mapping[str, Sequence[Match]],
    score: str,
    json: bool,
    column: Column | None = None,
    coverage: float = 0.9,
) -> None:
    """What one item is answered with, or several, each under its id.

    Numbers come in the unit of their column, as they are expected and as they are known.
    """
    several = len(found) > 1
    if json:
        answers = [
            {"item": item, "answers": [match.as_dict() for match in matches]}
            for item, matches in found.items()
        ]
        print_json(answers if several else answers[0]["answers"])
        return
    matches = [match for each in found.values() for match in each]
    if not matches:
        raise InputError("there is nothing to rank: the model holds no other items of that type")
    columns: dict[str, list[Any]] = {
        "item": [item for item, each in found.items() for _ in each],
        "name": [match.name for match in matches],
        "title": [match.title for match in matches],
    }
    if column is not None and column.numeric and matches[0].name == column.name:
        from coembed.fitted.cell_texts import cell_text, cell_texts, interval_text

        texts = [cell_texts(column, match.score, match.std) for match in matches]
        columns[column.name], columns["±"] = ([text[place] for text in texts] for place in (0, 1))
        if any(match.low is not None for match in matches):
            columns[f"{coverage:.0%}"] = [interval_text(column, match.low, match.high) for match in matches]
        columns["cell"] = [
            "unknown" if match.cell is None else cell_text(column, match.cell) for match in matches
        ]
        del columns["title"]
    else:
        columns[score], columns["±"] = [match.score for match in matches], [match.std for match in matches]
        columns["known"] = [match.known for match in matches]
        columns["cell"] = [None if match.cell is None else bool(match.cell) for match in matches]
    columns["label"] = [match.label for match in matches]
    if not several:
        del columns["item"]
    if columns.get("title") == columns["name"]:
        del columns["title"]
    for name in ("cell", "label"):
        if all(each is None for each in columns[name]):
            del columns[name]
    print_rows(list(columns), list(zip(*columns.values(), strict=True)))
