"""Selections with names, kept beside a model in ``selections.json``; by ids: they outlive a retraining."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from coembed.errors import InputError, one_line
from coembed.files import replacing_file

if TYPE_CHECKING:
    from coembed.network.network import Network

FILE = "selections.json"
FORMAT = "coembed selections"
LONGEST = 80
MOST_KEPT = 1_000
Rows = dict[str, np.ndarray]


@dataclass(frozen=True)
class Kept:
    """Items by type and id; `query` is how they were found, if a query alone found them."""

    name: str
    items: Mapping[str, tuple[str, ...]]
    query: str | None = None

    def rows(self, network: Network) -> Rows:
        """Positions in a network; items that it does not have are left out."""
        found = {type: np.empty(0, dtype=np.int64) for type in network.types}
        for type, ids in self.items.items():
            if type in found:
                there = (network.items(type).find(id) for id in ids)
                found[type] = np.array(sorted(row for row in there if row is not None), dtype=np.int64)
        return found


def kept_of(network: Network, name: str, rows: Rows, query: str | None = None) -> Kept:
    """A selection by ids; its name must be one."""
    if not name.strip() or name != name.strip() or len(name) > LONGEST or not name.isprintable():
        raise InputError(f"a selection needs a name of 1 to {LONGEST} letters, without spaces around it")
    chosen = {type: each for type, each in rows.items() if len(each)}
    if not chosen:
        raise InputError(f"no items are selected; {name[:LONGEST]!r} would be empty")
    items = {type: tuple(str(network.items(type).ids[int(i)]) for i in each) for type, each in chosen.items()}
    return Kept(name, items, query)


def read_selections(folder: Path) -> dict[str, Kept]:
    """The selections beside a model, by name; none if there is no file."""
    path = folder / FILE
    if not path.exists():
        return {}
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        if told["format"] != FORMAT:
            raise ValueError("another format")
        kept = [
            Kept(
                str(each["name"]),
                {str(type): tuple(map(str, ids)) for type, ids in each["items"].items()},
                None if each["query"] is None else str(each["query"]),
            )
            for each in told["selections"]
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path} cannot be read as selections ({one_line(error, 80)}); move it away"
        ) from None
    return {each.name: each for each in kept}


def write_selections(folder: Path, kept: Iterable[Kept]) -> None:
    listed = list(kept)
    if len(listed) > MOST_KEPT:
        raise InputError(f"more than {MOST_KEPT:,} selections are kept; remove one first")
    text = json.dumps({"format": FORMAT, "selections": [asdict(each) for each in listed]})
    with replacing_file(folder / FILE) as part:
        part.write_text(text + "\n", encoding="utf-8")
