"""A table as it lies in a file, text or Parquet: columns, perhaps a header, and where each row is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from coembed.errors import InputError
from coembed.untrusted import check_unpacked, reading

LARGE = 1 << 26
"""Bytes of a Parquet file from which its texts are taken as they are."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """Columns of one file.

    Attributes
    ----------
    titles
        Names of the columns as written; None when the file has no header. `header` has them in lower case.
    place
        Says where row r is, for messages: ``"edges.csv, line 7"``.
    """

    path: Path
    titles: tuple[str, ...] | None
    columns: tuple[pa.ChunkedArray, ...]
    place: Callable[[int], str]

    @property
    def header(self) -> tuple[str, ...] | None:
        return None if self.titles is None else tuple(title.strip().lower() for title in self.titles)

    @property
    def n_rows(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def text(self, column: int) -> pa.ChunkedArray:
        """A column as strings; what is missing becomes empty."""
        values = self.columns[column]
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        try:
            values = values.cast(pa.large_string())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise InputError(
                f"{self.path}: column {self.title(column)} holds {values.type}; give text or numbers"
            ) from None
        return values.fill_null("")

    def ids(self, column: int, what: str) -> pa.ChunkedArray:
        """A column of names, none of them empty."""
        names = self.text(column)
        empty = pc.equal(names, "")
        if pc.any(empty).as_py():
            raise InputError(
                f"{self.place(_first(empty))}: the {what} is empty; give a name or remove the row"
            )
        return names

    def numbers(self, column: int, what: str) -> np.ndarray:
        """A column of finite numbers, none missing."""
        found = self.numbers_or_gaps(column, what)
        if found is None:
            text = self.text(column)
            row = _first(pc.and_(pc.not_equal(text, ""), pc.invert(_readable(text))))
            raise InputError(
                f"{self.place(row)}: the {what} {text[row].as_py()[:40]!r} is not a number; "
                "give a number such as 1 or 0.5"
            )
        values, present = found
        if not present.all():
            row = int(np.argmin(present))
            raise InputError(f"{self.place(row)}: the {what} is empty; give a number or remove the row")
        return values

    def numbers_or_gaps(self, column: int, what: str) -> tuple[np.ndarray, np.ndarray] | None:
        """Finite numbers (0 where there is none) and which are there; None for a column of other text."""
        found = _as_numbers(self.columns[column])
        if found is None:
            return None
        values, present = found
        bad = present & ~np.isfinite(values)
        if bad.any():
            row = int(np.argmax(bad))
            raise InputError(
                f"{self.place(row)}: the {what} is {values[row]}, not a finite number; remove or replace it"
            )
        return values, present

    def is_numeric(self, column: int) -> bool:
        """Whether every cell is a number (NaN and infinity included) or empty, and not all are empty."""
        numbers = _as_numbers(self.columns[column])
        return numbers is not None and bool(numbers[1].any())

    def title(self, column: int) -> str:
        """What to call a column in messages."""
        return str(column + 1) if self.titles is None else f"{self.titles[column]!r}"


def read_parquet(path: Path) -> Sheet:
    """Read a Parquet file; its columns always have names."""
    with reading(path, "a whole Parquet file"):
        with pq.ParquetFile(path) as file:
            _check_cells(path, file.metadata)
            texts = [each.name for each in file.schema_arrow if _is_text(each.type)]
        small = path.stat().st_size < LARGE
        table = pq.read_table(path, read_dictionary=texts if small else None)
        table.validate(full=True)  # pyarrow trusts what it reads, and texts need not be UTF-8
        return _as_sheet(path, _with_texts(path, table), 0)


def _check_cells(path: Path, metadata: pq.FileMetaData) -> None:
    """How many cells it has: of a few bytes can be made a billion.

    Not by the parts of each column, which would count the entries of lists, too: if those are damaged pyarrow
    (26.0) does not raise an exception but ends the process.
    """
    check_unpacked(path, 8 * metadata.num_rows * metadata.num_columns)


def _with_texts(path: Path, table: pa.Table) -> pa.Table:
    """Texts in place of the numbers that stand for them, unless one long text stands in too many rows."""
    for i, column in enumerate(table.columns):
        if not pa.types.is_dictionary(column.type) or not _is_text(column.type.value_type):
            continue
        lengths = (pc.binary_length(chunk.dictionary).take(chunk.indices) for chunk in column.chunks)
        check_unpacked(path, sum(pc.sum(each).as_py() or 0 for each in lengths))
        table = table.set_column(i, table.field(i).name, column.cast(pa.large_string()))
    return table


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def stream_parquet(path: Path, rows: int = 1 << 20) -> Iterator[Sheet]:
    """The same file in sheets of `rows` rows; at least one."""
    done = 0
    with reading(path, "a whole Parquet file"), pq.ParquetFile(path) as file:
        _check_cells(path, file.metadata)
        for batch in file.iter_batches(rows):
            batch.validate(full=True)
            yield _as_sheet(path, pa.Table.from_batches([batch]), done)
            done += len(batch)
        if not done:
            yield _as_sheet(path, file.schema_arrow.empty_table(), 0)


def _as_sheet(path: Path, table: pa.Table, done: int) -> Sheet:
    kept = [i for i, name in enumerate(table.column_names) if not name.startswith("__index_level_")]
    return Sheet(
        path=path,
        titles=tuple(table.column_names[i] for i in kept),
        columns=tuple(table.column(i) for i in kept),
        place=lambda row: f"{path}, row {done + row + 1}",
    )


def _as_numbers(values: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray] | None:
    """Values, NaN and infinity included (0 where there is none), and presence; None for other text."""
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        values = pc.if_else(pc.equal(values, ""), pa.scalar(None, values.type), values)
    try:
        numbers = values.cast(pa.float64(), safe=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    present = np.asarray(numbers.is_valid(), dtype=bool)
    return np.asarray(numbers.fill_null(0.0), dtype=np.float64), present


def _readable(text: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.match_substring_regex(text, r"^(?i)[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|nan|inf|infinity)$")


def _first(mask: pa.ChunkedArray) -> int:
    return max(pc.index(mask, True).as_py(), 0)
