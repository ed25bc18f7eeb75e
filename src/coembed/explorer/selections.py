"""Selections as the page has them: given by a query, by ids, by bits; listed, as tables, with their links."""

from __future__ import annotations

import base64
import binascii
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coembed.errors import InputError
from coembed.explorer.asking import Explorer
from coembed.explorer.cards import listed
from coembed.fitted.cell_texts import cell_text, date_text
from coembed.fitted.enrichment import Apart, set_apart
from coembed.fitted.item_fields import Field, field_names, field_of
from coembed.fitted.item_query import WORDS
from coembed.fitted.kept_selections import Kept, Rows, read_selections
from coembed.fitted.query_syntax import quoted

if TYPE_CHECKING:
    from coembed.explorer.selection_schemas import Selection

DRAWN = 4_000
"""Links within a selection that are sent to be drawn, of each relation."""


def kept_selections(explorer: Explorer) -> dict[str, Kept]:
    """Those beside the model, as they are now: another worker may have kept one."""
    return {} if explorer.folder is None else read_selections(explorer.folder)


def chosen_rows(explorer: Explorer, selection: Selection) -> Rows:
    """Positions by type of what is selected: what fits all that is given."""
    network = explorer.network
    inside = {type: np.ones(len(items), dtype=bool) for type, items in network.types.items()}
    given = []
    if selection.query is not None:
        given.append(explorer.fitted.find(selection.query, kept_selections(explorer)).rows)
    if selection.bits is not None:
        given.append({type: _from_bits(explorer, type, text) for type, text in selection.bits.items()})
    if selection.ids is not None:
        given.append(
            {
                explorer.facts(type).name: np.array([explorer.at(id, type) for id in ids], dtype=np.int64)
                for type, ids in selection.ids.items()
            }
        )
    if not given:
        raise InputError("say what is selected: by a query, ids or bits")
    for rows in given:
        for type, mask in inside.items():
            here = np.zeros_like(mask)
            here[rows.get(type, [])] = True
            mask &= here
    return {type: np.flatnonzero(mask) for type, mask in inside.items()}


def all_bits(explorer: Explorer, rows: Rows) -> dict[str, str]:
    return {type: to_bits(each, len(explorer.types[type])) for type, each in rows.items()}


def to_bits(rows: np.ndarray, count: int) -> str:
    """Which of all items, a bit each, the first in the lowest bit.

    Examples
    --------
    >>> to_bits(np.array([0, 9]), 12)
    'AQI='
    """
    mask = np.zeros(count, dtype=bool)
    mask[rows] = True
    return base64.b64encode(np.packbits(mask, bitorder="little").tobytes()).decode()


def _from_bits(explorer: Explorer, type: str, text: str) -> np.ndarray:
    count = len(explorer.facts(type))
    try:
        octets = np.frombuffer(base64.b64decode(text, validate=True), dtype=np.uint8)
    except (binascii.Error, ValueError):
        raise InputError(f"the bits of {type} are not written in base64") from None
    bits = np.unpackbits(octets, bitorder="little")
    if len(octets) != (count + 7) // 8 or bits[count:].any():
        raise InputError(f"the bits of {type} are not of its {count:,} items; load the page again")
    return np.flatnonzero(bits)


def found(explorer: Explorer, query: str, offset: int, limit: int, bits: bool) -> dict[str, Any]:
    """What fits a query: how many of each type, a page of them, and all as bits if asked for."""
    rows = explorer.fitted.find(query, kept_selections(explorer)).rows
    types = explorer.types
    every = [(types[type], int(row)) for type, each in rows.items() for row in each[: offset + limit]]
    return {
        "query": query,
        "total": sum(len(each) for each in rows.values()),
        "counts": {type: len(each) for type, each in rows.items()},
        "offset": offset,
        "items": [listed(facts, row) for facts, row in every[offset : offset + limit]],
        "bits": all_bits(explorer, rows) if bits else None,
    }


def fields(explorer: Explorer) -> dict[str, Any]:
    """What items can be asked for, coloured and sorted by."""
    every: dict[str, dict[str, Any]] = {}
    for type in explorer.types:
        for name, kind in field_names(explorer.fitted, type):
            every.setdefault(name, {"name": name, "kind": kind, "types": []})["types"].append(type)
    relations = [each.name for each in explorer.network.entity_relations]
    return {
        "fields": list(every.values()),
        "words": [*WORDS, *relations],
        "selections": [kept_entry(each) for each in kept_selections(explorer).values()],
    }


def kept_entry(kept: Kept) -> dict[str, Any]:
    counts = {type: len(ids) for type, ids in kept.items.items()}
    return {"name": kept.name, "query": kept.query, "counts": counts}


def values(explorer: Explorer, name: str) -> dict[str, Any]:
    """The value of a field for every item of every type that has it; ``has:NAME`` is a yes or no."""
    if name.startswith(f"{WORDS[0]}:"):
        rows = explorer.fitted.find(f"{WORDS[0]}:{quoted(name.partition(':')[2])}").rows
        owners = {each.source for each in explorer.network.relations.values() if each.column is not None}
        masks = {type: np.isin(np.arange(len(explorer.types[type])), rows[type]) for type in owners}
        told = [{"type": type, "values": mask.astype(int).tolist()} for type, mask in masks.items()]
        return {"field": name, "kind": "category", "names": ["no", "yes"], "types": told}
    there = {type: field_of(explorer.fitted, type, name) for type in explorer.types}
    fields = {type: field for type, field in there.items() if field is not None}
    if not fields:
        raise InputError(f"no items have a field {name[:80]!r}; /api/v1/fields lists them")
    kinds = {field.kind for field in fields.values()}
    if len(kinds) > 1 or "tags" in kinds:
        raise InputError(f"{name[:80]} has several values an item; choose one of them, as has:NAME")
    names = list(dict.fromkeys(each for field in fields.values() for each in field.names))
    at = {each: place for place, each in enumerate(names)}
    told = []
    for type, field in fields.items():
        if field.kind == "category":
            moved = np.array([*(at[each] for each in field.names), -1])
            told.append({"type": type, "values": moved[field.values].tolist()})
        else:
            told.append({"type": type, "values": [_short(each) for each in field.values.tolist()]})
    return {"field": name, "kind": kinds.pop(), "names": names, "types": told}


def _short(value: float) -> float | None:
    return None if value != value else float(f"{value:.6g}")


def apart(explorer: Explorer, selection: Selection, against: Selection | None, k: int) -> dict[str, Any]:
    """What sets a selection apart from the rest, or from another."""
    inside = chosen_rows(explorer, selection)
    outside = None if against is None else chosen_rows(explorer, against)
    lines = set_apart(explorer.fitted, inside, outside, k)
    return {
        "counts": {type: len(rows) for type, rows in inside.items()},
        "against": None if outside is None else {type: len(rows) for type, rows in outside.items()},
        "items": [_line(explorer, each) for each in lines],
    }


def _line(explorer: Explorer, line: Apart) -> dict[str, Any]:
    field = field_of(explorer.fitted, line.type, line.field)
    number = line.value is None
    texts = [_text(field, each) if number else f"{each:.0%}" for each in (line.inside, line.outside)]
    return {**line._asdict(), "query": _as_query(line), "texts": texts}


def _text(field: Field | None, value: float) -> str:
    column = None if field is None or field.relation is None else field.relation.column
    if column is not None:
        return cell_text(column, value)
    return date_text(value) if field is not None and field.kind == "date" else f"{value:.3g}"


def _as_query(line: Apart) -> str:
    """The term that finds items of its kind."""
    field = quoted(line.field, field=True)
    if line.value is None:
        bound = date_text(line.outside) if line.kind == "date" else f"{line.outside:.6g}"
        return f"{field}{'>' if line.effect > 0 else '<'}{bound}"
    return f"{field}:{quoted(line.value)}"


def links(explorer: Explorer, rows: Rows) -> dict[str, Any]:
    """The links whose both ends are selected, by relation: positions of both ends."""
    found = []
    for relation in explorer.network.entity_relations:
        inside = relation.values[rows[relation.source]][:, rows[relation.target]].tocoo()
        source, target = rows[relation.source][inside.row], rows[relation.target][inside.col]
        if relation.pairing.undirected:
            once = source < target
            source, target = source[once], target[once]
        step = max(1, -(-len(source) // DRAWN))  # of very many a regular sample
        found.append(
            {
                "relation": relation.name,
                "source": relation.source,
                "target": relation.target,
                "directed": relation.directed,
                "total": len(source),
                "from": source[::step].tolist(),
                "to": target[::step].tolist(),
            }
        )
    return {"relations": found}


def model_folder(explorer: Explorer) -> Path:
    if explorer.folder is None:
        raise InputError("this model is in no folder; save it, and explore that")
    return explorer.folder
