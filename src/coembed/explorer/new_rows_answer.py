"""Rows of a new table, as they come in JSON: their classes, and what there is to say of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from coembed.errors import InputError
from coembed.explorer.asking import Explorer
from coembed.explorer.cards import class_probabilities
from coembed.explorer.new_items import cell_text
from coembed.fitted.class_answers import named_sets

Cell = str | float | bool | list[str] | None


def table_of_rows(rows: Sequence[Mapping[str, Cell]]) -> pa.Table:
    """A table with every column that any row names.

    Examples
    --------
    >>> table_of_rows([{"age": 31, "tags": ["chess"]}, {"age": None, "member": True}]).to_pylist()[1]
    {'age': '', 'tags': [], 'member': 'yes'}
    """
    names = dict.fromkeys(name for row in rows for name in row)
    return table_of_columns({name: [row.get(name) for row in rows] for name in names})


def table_of_columns(columns: Mapping[str, Sequence[Cell]]) -> pa.Table:
    """A table of cells as they come in JSON: texts, and lists where any cell of the column is one."""
    if len({len(cells) for cells in columns.values()}) > 1:
        raise InputError("all columns must have the same number of cells")
    arrays = {}
    for name, cells in columns.items():
        if any(isinstance(cell, list) for cell in cells):
            lists = [cell if isinstance(cell, list) else [cell] if cell is not None else [] for cell in cells]
            texts = [[cell_text(each) for each in cell] for cell in lists]
            arrays[cell_text(name)] = pa.array(texts, pa.list_(pa.large_string()))
        else:
            arrays[cell_text(name)] = pa.array([cell_text(cell) for cell in cells], pa.large_string())  # type: ignore[arg-type]
    if len(arrays) < len(columns):
        raise InputError("two columns have the same name; give each its own")
    return pa.table(arrays)


def predict_rows(
    explorer: Explorer,
    rows: Sequence[Mapping[str, Cell]],
    type: str | None,
    id: str | None,
    as_new: bool,
    coverage: float | None = None,
) -> dict[str, Any]:
    """The class of each row, as :meth:`coembed.fitted.Fitted.predict_rows` tells it."""
    found = explorer.fitted.predict_rows(table_of_rows(rows), type, id=id, as_new=as_new, coverage=coverage)
    facts = explorer.facts(found.type)
    columns = found.as_columns()
    sets = None if found.sets is None else named_sets(found.classes, found.probabilities, found.sets)
    items = [
        {
            "id": columns["id"][i],
            "type": found.type,
            "title": found.titles[i],
            "predicted": columns["predicted"][i],
            "probability": columns["probability"][i],
            "known": columns["known"][i],
            "new": bool(found.new[i]),
            "probabilities": class_probabilities(facts, found.probabilities[i]),
            "set": None if sets is None else list(sets[i]),
        }
        for i in range(len(found.ids))
    ]
    return {
        "items": items,
        "notices": list(found.notices),
        "drift": [drift.as_dict() for drift in found.drifts],
    }
