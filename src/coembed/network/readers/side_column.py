"""The column of a table by which a split is made: groups, or times; whatever else the column is taken for."""

from __future__ import annotations

from typing import Literal

import numpy as np

from coembed.errors import InputError, no_such
from coembed.network.columns.dates import looks_like_dates, parse_dates
from coembed.network.columns.numbers import parse_numbers
from coembed.network.honest_splits import Sides, sides_of
from coembed.network.network import Network
from coembed.network.readers.table_folder import Tables


def read_sides(
    found: Tables, network: Network, type: str, kind: Literal["group", "time"], column: str
) -> Sides:
    """What a column says of each item of a type.

    Groups are equal texts; times are dates, or numbers.
    """
    name = column.removeprefix(f"{type}.")
    schema = found.schema.types.get(type)
    if schema is None:
        raise no_such("table", type, found.schema.types)
    if kind == "group" and name == schema.label:
        raise InputError(
            f"{name!r} is what is asked: its groups leave no label of any class to learn; choose another"
        )
    table = found.tables[schema.file]
    if name not in table.columns:
        raise no_such(f"column of {type}", name, table.columns)
    cells = table.cells(name)
    if cells.is_list or cells.is_nested:
        raise InputError(f"{table.path}: {name!r} holds {cells.type}; split by a column of single values")
    if kind == "group":
        values = np.where(cells.known, np.arange(len(cells.distinct), dtype=np.float64), np.nan)[cells.codes]
    elif cells.is_date or looks_like_dates(cells):
        values = parse_dates(cells)
    else:
        values = parse_numbers(cells)
        if not np.isfinite(values).any():
            raise InputError(f"{table.path}: {name!r} holds neither dates nor numbers; choose another column")
    if schema.id is not None and len(cells) != len(network.items(type)):  # rows that are there twice are one
        first = np.unique(table.cells(schema.id).codes, return_index=True)[1]
        values = values[np.sort(first)]
    return sides_of(network.items(type), kind, values, name)
