"""The items of a selection as rows: a page of them in any order, or all as a file."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from pyarrow import csv, parquet

from coembed.errors import InputError
from coembed.explorer.asking import Explorer, TypeFacts
from coembed.fitted.item_fields import field_names, field_of
from coembed.fitted.item_table import item_table
from coembed.fitted.kept_selections import Rows

FORMULA = r"^[=+\-@\t\r]"
"""What a program that opens a csv would take for a formula."""


def table_page(
    explorer: Explorer,
    rows: Rows,
    type: str | None,
    sort: str | None,
    descending: bool,
    offset: int,
    limit: int,
) -> dict[str, Any]:
    """A page of the selected items of a type with all of their columns, in the order of one of them."""
    first = next((name for name, each in rows.items() if len(each)), explorer.main.name)
    facts = explorer.facts(type or first)
    chosen = rows[facts.name]
    if sort is not None:
        chosen = chosen[_order(explorer, facts, chosen, sort, descending)]
    table = item_table(explorer.fitted, facts.name, chosen[offset : offset + limit])
    kinds = dict(field_names(explorer.fitted, facts.name))
    return {
        "type": facts.name,
        "total": len(chosen),
        "counts": {name: len(each) for name, each in rows.items()},
        "offset": offset,
        "columns": [{"name": name, "kind": kinds.get(name, "text")} for name in table.column_names],
        "rows": [list(row.values()) for row in table.to_pylist()],
    }


def _order(explorer: Explorer, facts: TypeFacts, rows: np.ndarray, sort: str, descending: bool) -> np.ndarray:
    """Where each goes; what is not known stands last either way."""
    if sort in ("id", "title"):
        names = (facts.ids if sort == "id" else facts.titles)[rows]
        found = np.argsort(names.astype(str), kind="stable")
        return found[::-1] if descending else found
    field = field_of(explorer.fitted, facts.name, sort)
    if field is None:
        raise InputError(f"{facts.name} has no column {sort[:80]!r} to sort by")
    if isinstance(field.values, sp.csr_array):
        keys = np.diff(field.values.indptr)[rows].astype(np.float64)
    elif field.kind == "category":
        alphabetic = np.argsort(np.argsort(np.array([*field.names, ""], dtype=str)[:-1], kind="stable"))
        codes = field.values[rows]
        keys = np.where(codes >= 0, np.append(alphabetic, 0)[codes], np.nan)
    else:
        keys = field.values[rows]
    return np.argsort(-keys if descending else keys, kind="stable")


def export(explorer: Explorer, rows: Rows, format: str) -> bytes:
    """All columns of the selected items of all types, with their places: csv or Parquet."""
    tables = []
    for type, each in rows.items():
        if len(each):
            table = item_table(explorer.fitted, type, each)
            places = explorer.layout.places[type][each]
            first = pa.array([type] * len(each), pa.large_string())
            table = table.add_column(0, _free("type", table), first)
            table = table.append_column(_free("x", table), pa.array(places[:, 0]))
            tables.append(table.append_column(_free("y", table), pa.array(places[:, 1])))
    if not tables:
        raise InputError("no items are selected; there is nothing to write")
    whole = pa.concat_tables(tables, promote_options="permissive")
    sink = io.BytesIO()
    if format == "parquet":
        parquet.write_table(whole, sink)
    else:
        csv.write_csv(_without_formulas(whole), sink)
    return sink.getvalue()


def _free(name: str, table: pa.Table) -> str:
    return name if name not in table.column_names else f".{name}"


def _without_formulas(table: pa.Table) -> pa.Table:
    """Texts that a program would take for a formula, with an apostrophe before them."""
    for place, name in enumerate(table.column_names):
        column = table[name]
        if pa.types.is_large_string(column.type):
            mark, nothing = (pa.scalar(text, column.type) for text in ("'", ""))
            risky = pc.match_substring_regex(column, FORMULA)
            safe = pc.if_else(risky, pc.binary_join_element_wise(mark, column, nothing), column)
            table = table.set_column(place, name, safe)
    return table
