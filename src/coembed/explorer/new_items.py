"""New items on the map: what they have is typed, and they are placed without training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError, no_such
from coembed.explorer.asking import Explorer, UnknownItem
from coembed.explorer.cards import cell_dict, class_probabilities, in_words, plain, rounded
from coembed.fitted.chances import score_name
from coembed.fitted.newcomers import Newcomers, place_newcomers
from coembed.network.columns import KINDS, Cells
from coembed.network.known_columns import known_coding
from coembed.network.relations import Relation
from coembed.network.ways import Way

Cell = str | float | bool | list[str] | Mapping[str, float] | None
"""What a column of a new item holds: a cell as its table has it, or the names of attributes."""


@dataclass(frozen=True)
class Newcomer:
    """An item to be placed: its name, what it is joined to by each relation, and what its columns hold."""

    name: str
    type: str
    relations: dict[str, dict[str, float]] = field(default_factory=dict)
    columns: dict[str, Cell] = field(default_factory=dict)


@dataclass
class Rows:
    """The entries of new items in the ways of their type, and what was given and is not known."""

    entries: dict[str, list[tuple[int, int, float]]] = field(default_factory=dict)
    unknown: list[dict[str, list[str]]] = field(default_factory=list)


def welcome(explorer: Explorer, newcomers: list[Newcomer], k: int) -> list[dict[str, Any]]:
    """Where each falls, its likely class, what it should have, what lies near it."""
    types = {newcomer.type for newcomer in newcomers}
    if len(types) > 1:  # one type at a time, each in the order of the question
        found = {
            id(each): answer
            for type in types
            for chosen in [[each for each in newcomers if each.type == type]]
            for each, answer in zip(chosen, welcome(explorer, chosen, k), strict=True)
        }
        return [found[id(each)] for each in newcomers]
    type = newcomers[0].type
    placed, unknown = _placed(explorer, type, newcomers)
    places = explorer.plane.place(placed.codes, type)
    covariances = explorer.plane.spreads(placed.codes, type, places)
    return [
        {
            "id": newcomer.name,
            "type": type,
            "unknown": unknown[i],
            "place": {
                "x": float(places[i, 0]),
                "y": float(places[i, 1]),
                "covariance": rounded(covariances[i]),
            },
            **_answers(explorer, placed, i, k),
        }
        for i, newcomer in enumerate(newcomers)
    ]


def _answers(explorer: Explorer, placed: Newcomers, row: int, k: int) -> dict[str, Any]:
    facts = explorer.types[placed.type]
    probabilities: list[dict[str, Any]] = []
    if placed.probabilities is not None and facts.class_names:
        probabilities = class_probabilities(facts, placed.probabilities[row])
    columns = [each for each in explorer.network.columns(placed.type) if each.column is not None]
    cells = [each for each in columns if each.column is not None and each.column.has_cells]
    return {
        "probabilities": probabilities,
        "words": in_words(probabilities[0]["probability"]) if probabilities else None,
        "cells": [cell_dict(each, placed.complete(row, each.name, 5), None) for each in cells],
        "relations": [
            {
                "relation": way.relation,
                "other": way.other,
                "backwards": not way.forwards,
                "score": score_name(explorer.fitted, way.relation),
                "suggested": plain(placed.complete(row, way.relation, k, backwards=not way.forwards)),
            }
            for way in explorer.ways(placed.type)
            if len(explorer.types[way.other])
        ],
        "nearest": {
            to: plain(placed.nearest(row, to, k)) for to, others in explorer.types.items() if len(others)
        },
    }


def _placed(
    explorer: Explorer, type: str, newcomers: list[Newcomer]
) -> tuple[Newcomers, list[dict[str, list[str]]]]:
    """The new items by what they touch; what the model does not know is left out, and told."""
    facts = explorer.facts(type)
    if facts.owner is not None:
        raise InputError(f"{type} are attributes of {facts.owner}; place items of type {facts.owner}")
    rows = Rows()
    for i, newcomer in enumerate(newcomers):
        rows.unknown.append({})
        for name, joined in newcomer.relations.items():
            _join(explorer, rows, i, _way(explorer, type, name), name, joined)
        for name, cell in newcomer.columns.items():
            _fill(explorer, rows, i, _column(explorer, type, name), name, cell)
    count = len(newcomers)
    touched = np.zeros(count, dtype=np.int64)
    matrices = {}
    for way, entries in rows.entries.items():
        relation = explorer.network.relation(way[:-1])
        other = relation.target if way.endswith(">") else relation.source
        matrices[way] = _matrix(entries, (count, len(explorer.types[other])))
        touched += np.diff(matrices[way].indptr)
    for newcomer, some in zip(newcomers, touched, strict=True):
        if not some:
            raise UnknownItem(
                f"{newcomer.name[:80]!r} has nothing that the model knows; give at least one thing"
            )
    return place_newcomers(explorer.fitted, type, matrices), rows.unknown


def _way(explorer: Explorer, type: str, name: str) -> Way:
    """The way that a name stands for; ``name<`` is the relation from its far end."""
    ways = explorer.ways(type)
    for way in ways:
        if name == way.name or name == way.relation:
            return way
    raise no_such(f"relation of {type}", name, [way.relation for way in ways])


def _column(explorer: Explorer, type: str, name: str) -> Relation:
    columns = explorer.network.columns(type)
    for relation in columns:
        if relation.column is not None and name in (relation.column.name, relation.name):
            return relation
    raise no_such(f"column of {type}", name, [each.column.name for each in columns if each.column])


def _join(explorer: Explorer, rows: Rows, i: int, way: Way, name: str, joined: Mapping[str, float]) -> None:
    at = explorer.types[way.other].positions
    column = explorer.network.relation(way.relation).column
    titles = {} if column is None else explorer.types[way.other].value_places(column)
    for each, value in joined.items():
        found = at.get(each, titles.get(each))
        if found is not None and column is not None and not column.start <= found < column.stop:
            found = titles.get(each)  # an attribute of another column
        if found is None:
            rows.unknown[i].setdefault(name, []).append(each)
        elif value:
            rows.entries.setdefault(way.name, []).append((i, found, value))


def _fill(explorer: Explorer, rows: Rows, i: int, relation: Relation, name: str, cell: Cell) -> None:
    column = relation.column
    assert column is not None
    if cell is None or cell == "" or cell == []:
        return
    if isinstance(cell, (list, Mapping)):
        given = cell if isinstance(cell, Mapping) else dict.fromkeys(cell, 1.0)
        _join(explorer, rows, i, Way(relation.name, True, relation.target), name, given)
        return
    coding = known_coding(relation, explorer.types[relation.target].values(column))
    text = cell_text(cell)
    matrix = KINDS[column.kind].values(Cells.of(column.name, [text]), coding)
    if not matrix.nnz:
        rows.unknown[i].setdefault(name, []).append(text[:200])
    for place, value in zip(matrix.indices, matrix.data, strict=True):
        entry = (i, int(place) + column.start, float(value))
        rows.entries.setdefault(f"{relation.name}>", []).append(entry)


def cell_text(cell: str | float | bool | None) -> str:
    """A cell as a table has it."""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    # pyarrow takes no text that is no Unicode
    return "" if cell is None else str(cell).encode("utf-8", "replace").decode()


def _matrix(entries: list[tuple[int, int, float]], shape: tuple[int, int]) -> sp.csr_array:
    """Of entries one a cell, the last if one is there twice; a known zero is stored."""
    last = {(row, column): value for row, column, value in entries}
    rows, columns = (np.array([key[end] for key in last], dtype=np.int64) for end in (0, 1))
    matrix = sp.coo_array((np.array(list(last.values()), np.float32), (rows, columns)), shape=shape).tocsr()
    matrix.sort_indices()
    return matrix
