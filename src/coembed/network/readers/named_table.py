"""A table of items or of pairs: columns with names of their own, text or Parquet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from coembed.errors import InputError, no_such
from coembed.network.adapters.frames import as_table
from coembed.network.columns import Cells
from coembed.network.readers.delimited_text import SAMPLE_ROWS, head, is_number, looks_like_header, read_text
from coembed.network.readers.sheet import read_parquet


@dataclass(frozen=True, eq=False)
class NamedTable:
    """Columns by name.

    Attributes
    ----------
    name
        Of the file, without endings.
    place
        Says where row r is, for messages: ``"customers.csv, line 7"``.
    """

    path: Path
    name: str
    columns: dict[str, Cells]
    place: Callable[[int], str]

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def cells(self, column: str) -> Cells:
        if column not in self.columns:
            raise no_such(f"column in {self.path}:", column, self.columns)
        return self.columns[column]

    def take(self, rows: pa.Array) -> NamedTable:
        """Some of its rows."""
        kept = {name: Cells(name, cells.array.take(rows)) for name, cells in self.columns.items()}
        return NamedTable(self.path, self.name, kept, lambda row: self.place(rows[row].as_py()))


def table_name(path: Path) -> str:
    """What a file is called without its endings.

    Examples
    --------
    >>> table_name(Path("shop/customers.csv.gz"))
    'customers'
    """
    return path.name.split(".")[0] or path.name


def read_named_table(path: Path, said: list[str]) -> NamedTable:
    """Read a table; one without a header gets columns called ``column1``, ``column2``, ..., which is said."""
    if head(path, 4) == b"PAR1":
        sheet = read_parquet(path)
        return NamedTable(
            path, table_name(path), _by_name(path, sheet.titles or (), sheet.columns), sheet.place
        )
    sheet = read_text(path, has_header=False, line_ends=True)
    first = [column[0].as_py() if len(column) else "" for column in sheet.columns]
    if not names_columns(first, sheet.columns):
        said.append(f"{path.name} has no header: its columns are called column1, column2, ...")
        return NamedTable(
            path, table_name(path), _by_name(path, [""] * len(first), sheet.columns), sheet.place
        )
    body = [column.slice(1) for column in sheet.columns]
    return NamedTable(path, table_name(path), _by_name(path, first, body), lambda row: sheet.place(row + 1))


def named_table(name: str, table: Any) -> NamedTable:
    """A table in memory: of pyarrow, or a data frame of any library that hands its columns to others.

    Examples
    --------
    >>> named_table("people", pa.table({"id": ["ann"], "age": [31]})).place(0)
    'people, row 1'
    """
    columns = as_table(name, table)
    found = _by_name(Path(name), [str(each) for each in columns.column_names], columns.columns)
    return NamedTable(Path(name), name, found, lambda row: f"{name}, row {row + 1}")


def names_columns(first: list[str], columns: tuple[pa.ChunkedArray, ...]) -> bool:
    """Whether a first row is a header: as in lists of links, or if none of its cells is a number.

    Examples
    --------
    >>> names_columns(["height", "town"], (pa.chunked_array([["height", "1.7"]]),))
    True
    >>> names_columns(["5.1", "setosa"], (pa.chunked_array([["5.1", "4.9"]]),))
    False
    """
    sample = pa.table({f"f{i}": column.slice(1, SAMPLE_ROWS) for i, column in enumerate(columns)})
    return not any(is_number(cell) for cell in first if cell) or looks_like_header(first, sample)


def _by_name(path: Path, titles: list[str] | tuple[str, ...], columns: object) -> dict[str, Cells]:
    found: dict[str, Cells] = {}
    for i, (title, column) in enumerate(zip(titles, columns, strict=True)):  # type: ignore[call-overload]
        name = title.strip()
        if not name and _is_empty(column):  # a delimiter at the end of every line
            continue
        name = name or f"column{i + 1}"
        if name in found:
            raise InputError(f"{path}: two columns are called {name!r}; give each its own name")
        found[name] = Cells.of(name, column)
    return found


def _is_empty(column: pa.ChunkedArray) -> bool:
    text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    return text and not pc.any(pc.not_equal(column, "")).as_py()
