"""Rows of a new table in the space of a model: read by its columns, and placed some at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.fitted.newcomers import Newcomers, place_newcomers
from coembed.network.readers.named_table import NamedTable, named_table, read_named_table
from coembed.network.readers.new_rows import NewRows, read_new_rows

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted

AT_ONCE = 10_000
"""New rows that are placed at a time."""
Beside = Mapping[str, Any] | Sequence[str | PathLike[str]]
"""Tables of links that new rows are part of: by name, or paths."""


def read_rows(
    fitted: Fitted, table: Any, type: str | None, id: str | None, beside: Beside = ()
) -> tuple[NewRows, list[str]]:
    """The rows of a table, by its path or in memory, and what there is to say of them."""
    said: list[str] = []
    named = beside if isinstance(beside, Mapping) else {Path(each).name: each for each in beside}
    tables = [_table(name, each, said) for name, each in {"rows": table, **named}.items()]
    rows = read_new_rows(fitted.network, tables, type, id)
    return rows, [*said, *rows.notices]


def _table(name: str, given: Any, said: list[str]) -> NamedTable:
    if isinstance(given, NamedTable):
        return given
    if not isinstance(given, (str, PathLike)):
        return named_table(name, given)
    if not Path(given).is_file():
        raise InputError(f"{given} is no file; give a table of rows")
    return read_named_table(Path(given), said)


def placed_parts(
    fitted: Fitted, rows: NewRows, chosen: np.ndarray, labels: np.ndarray | None = None
) -> Iterator[tuple[np.ndarray, Newcomers]]:
    """Some of the rows, placed by what they hold; such as are linked to one another all at once."""
    step = AT_ONCE if not rows.among else max(len(chosen), 1)
    held = rows.rows or _nothing(fitted, rows)
    for start in range(0, len(chosen), step):
        part = chosen[start : start + step]
        own = {way: matrix[part] for way, matrix in held.items()}
        among = {way: matrix[part][:, part] for way, matrix in rows.among.items()}
        given = None if labels is None else labels[part]
        yield part, place_newcomers(fitted, rows.type, own, given, among)


def _nothing(fitted: Fitted, rows: NewRows) -> dict[str, sp.csr_array]:
    """Rows of which only the ids were given."""
    joined = [*fitted.network.columns(rows.type), *fitted.network.joining(rows.type)]
    way = f"{joined[0].name}{'>' if joined[0].source == rows.type else '<'}"
    width = joined[0].values.shape[int(way.endswith(">"))]
    return {way: sp.csr_array((len(rows.items), width), dtype=np.float32)}
