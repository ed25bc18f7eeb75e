"""Delimited text to a sheet: encoding, delimiter and header are found out; errors name the line."""

from __future__ import annotations

import codecs
import csv
import io
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from coembed.errors import InputError
from coembed.network.readers.sheet import Sheet
from coembed.untrusted import check_unpacked

DELIMITERS = "\t,;| "
SAMPLE_BYTES = 1 << 16
MOST_SAMPLE_BYTES = 1 << 26
SAMPLE_ROWS = 200
BLOCK_BYTES = 1 << 22

# fmt: off
ID_TITLES = frozenset({
    "source", "target", "src", "dst", "from", "to", "fromnodeid", "tonodeid", "head", "tail", "start", "end",
    "node", "nodes", "node1", "node2", "node_1", "node_2", "node_id", "nodeid", "id", "ids", "name", "kind",
    "u", "v", "user", "user1", "user2", "user_id", "person", "follower", "followee",
    "citing", "cited", "paper",
})
"""Titles under which names of nodes stand; one of them at the left end makes a first row a header."""
ATTRIBUTE_TITLES = frozenset({
    "attribute", "attributes", "attr", "attribute_id", "feature", "feature_id", "word", "term", "tag",
    "keyword", "token", "skill", "interest", "item",
})
LABEL_TITLES = frozenset({
    "label", "labels", "class", "classes", "category", "group", "topic", "y", "subject", "community",
})
NUMBER_TITLES = frozenset({"weight", "weights", "value", "values", "w", "count", "strength"})
# fmt: on

PATIENCE = 1.0
"""Seconds that threads are waited for which are done but for a name."""


@dataclass(frozen=True)
class TextLayout:
    """How a text file is laid out, as far as its beginning shows."""

    delimiter: str
    columns: int
    skipped: int
    longest: int


def read_text(
    path: Path, has_header: bool | None = None, skipped: int | None = None, line_ends: bool = False
) -> Sheet:
    """Read a delimited file, compressed (gzip, bzip2, zstd, by ending or content) or not.

    Parameters
    ----------
    has_header
        None: found out from the first row.
    skipped
        Lines to leave out at the beginning; None: the comments, lines that start with ``"# "`` or ``"% "``.
    line_ends
        Whether quoted cells may hold some, as texts do; slower.
    """
    layout = _layout(path, skipped)
    try:
        with PlainBytes(path) as stream:
            with stream.lent():
                table = pa_csv.read_csv(stream, **_options(layout, BLOCK_BYTES, line_ends))
            _check_width(table, layout)
            if stream.quotes % 2 or _has_line_ends(table):
                _check_quotes(path, layout, line_ends)
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise _explained(path, layout, error) from None
    return _as_sheet(path, layout, table, _header(table, has_header), 0)


def stream_text(path: Path, block_bytes: int = BLOCK_BYTES, line_ends: bool = False) -> Iterator[Sheet]:
    """The same file as :func:`read_text` reads, in sheets of about `block_bytes`; at least one."""
    layout = _layout(path, None)
    first: list[str] | None = None
    done = 0
    try:
        with PlainBytes(path) as stream, stream.lent():
            for batch in pa_csv.open_csv(stream, **_options(layout, block_bytes, line_ends)):
                table = pa.Table.from_batches([batch])
                _check_width(table, layout)
                if not line_ends and _has_line_ends(table):
                    _check_quotes(path, layout, False)
                if done == 0:
                    first = _header(table, None)
                yield _as_sheet(path, layout, table, first, done)
                done += len(batch)
            if stream.quotes % 2:
                _check_quotes(path, layout, line_ends)
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise _explained(path, layout, error) from None


def _options(layout: TextLayout, block_bytes: int, line_ends: bool = False) -> dict[str, Any]:
    return {
        "read_options": pa_csv.ReadOptions(
            autogenerate_column_names=True,
            skip_rows=layout.skipped,
            block_size=max(block_bytes, 16 * layout.longest),  # a block must hold whole lines
        ),
        "parse_options": pa_csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=line_ends),
        "convert_options": pa_csv.ConvertOptions(
            column_types={f"f{i}": pa.string() for i in range(layout.columns)},
            strings_can_be_null=False,
        ),
    }


def _header(table: pa.Table, has_header: bool | None) -> list[str] | None:
    """The first row if it names the columns."""
    first = [column[0].as_py() for column in table.columns]
    if has_header is None:
        has_header = looks_like_header(first, table.slice(1, SAMPLE_ROWS))
    return first if has_header else None


def _as_sheet(path: Path, layout: TextLayout, table: pa.Table, header: list[str] | None, done: int) -> Sheet:
    """Rows of a file from row `done` on, counted with the header."""
    skipped = int(header is not None and done == 0)
    body = table.slice(skipped)
    return Sheet(
        path=path,
        titles=None if header is None else tuple(header),
        columns=tuple(pc.utf8_trim_whitespace(column) for column in body.columns),
        place=lambda row: f"{path}, line {_line_of_row(path, layout, done + row + skipped)}",
    )


def looks_like_header(first: list[str], sample: pa.Table) -> bool:
    """Whether a first row names the columns.

    It does if all of it are usual titles; or its left end is empty, or a usual title that is no node below;
    or it has no number, yet stands over a column of numbers.

    Examples
    --------
    >>> looks_like_header(["from", "to"], pa.table({"f0": ["a"], "f1": ["b"]}))
    True
    >>> looks_like_header(["a", "b"], pa.table({"f0": ["b"], "f1": ["c"]}))
    False
    >>> looks_like_header(["person", "years"], pa.table({"f0": ["a"], "f1": ["31"]}))
    True
    """
    titles = [cell.strip().lower() for cell in first]
    if len(titles) < 2:
        return titles[0] in ID_TITLES | LABEL_TITLES
    if all(title in ID_TITLES | ATTRIBUTE_TITLES | LABEL_TITLES | NUMBER_TITLES for title in titles):
        return True
    below = {str(cell).strip().lower() for cell in sample.column(0).to_pylist()}
    if titles[0] == "" or (titles[0] in ID_TITLES and titles[0] not in below):
        return True
    if any(is_number(title) for title in titles) or not sample.num_rows:
        return False
    return any(all(is_number(cell) for cell in column.to_pylist()) for column in sample.columns)


def is_number(cell: str) -> bool:
    """Whether Python reads the cell as a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


class PlainBytes(io.RawIOBase):
    """The bytes of a file, decompressed as far as that is in reason, UTF-16 as UTF-8; quotes are counted.

    Attributes
    ----------
    quotes
        Double quotes in what was read so far: if they are odd, perhaps one was not closed.
    """

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            magic = file.read(4)
        marks = {"gzip": b"\x1f\x8b", "bz2": b"BZh", "zstd": b"\x28\xb5\x2f\xfd"}
        self.compression = next((name for name, mark in marks.items() if magic.startswith(mark)), None)
        self.path, self.total, self.quotes = path, 0, 0
        self._stream = pa.input_stream(str(path), compression=self.compression)
        if magic.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # as spreadsheets save
            self._stream = pa.transcoding_input_stream(pa.input_stream(str(path), None), "utf-16", "utf-8")

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        piece = bytes(self._stream.read(None if size is None or size < 0 else size))
        self.total += len(piece)
        self.quotes += piece.count(b'"')
        if self.compression:
            check_unpacked(self.path, self.total)
        return piece

    def readinto(self, buffer: Any) -> int:
        piece = self.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    @contextmanager
    def lent(self) -> Iterator[None]:
        """While a library reads it: until its threads have let go of it, too.

        A thread that lets go of it while the interpreter ends aborts the process, after all was said.
        """
        holders = sys.getrefcount(self)
        try:
            yield
        finally:
            end = time.monotonic() + PATIENCE
            while sys.getrefcount(self) > holders and time.monotonic() < end:
                time.sleep(1e-4)

    def close(self) -> None:
        self._stream.close()
        super().close()


def head(path: Path, size: int = SAMPLE_BYTES) -> bytes:
    """The first bytes of a file, decompressed."""
    try:
        with PlainBytes(path) as stream:
            return stream.read(size)
    except (OSError, pa.ArrowException, UnicodeError) as error:
        raise InputError(f"{path} cannot be read ({error}); check the file") from None


def _check_width(table: pa.Table, layout: TextLayout) -> None:
    """Where lines end is not always clear: two readers must find the same columns."""
    if table.num_columns != layout.columns:
        raise pa.ArrowInvalid(f"{table.num_columns} columns, or {layout.columns}; its lines end in odd ways")


def _has_line_ends(table: pa.Table) -> bool:
    """Whether a cell goes over several lines: quoted on purpose, or because a quote was not closed."""
    return any(pc.any(pc.match_substring_regex(column, "[\r\n]")).as_py() for column in table.columns)


def _check_quotes(path: Path, layout: TextLayout, line_ends: bool) -> None:
    """Read again by the letter, slowly, and refuse a quote that swallows lines."""
    number = layout.skipped
    try:
        for number, row in _rows(path, layout, strict=True):
            if not line_ends and any("\n" in cell or "\r" in cell for cell in row):
                raise InputError(
                    f"{path}, line {number}: a quoted cell of it goes over several lines; "
                    "close the quote, or give a name without line ends"
                )
    except csv.Error as error:
        raise InputError(
            f"{path}, after line {number}: a quote is opened and not closed, or stands inside of a cell "
            f"({error}); close it, or double it"
        ) from None


def _layout(path: Path, skipped: int | None) -> TextLayout:
    raw = _sample(path)
    if not raw.strip():
        raise InputError(f"{path} is empty; give at least one line")
    lines = raw.decode("utf-8-sig", errors="replace").splitlines()
    if len(raw) >= SAMPLE_BYTES and not raw.endswith(b"\n") and len(lines) > 1:
        lines.pop()  # perhaps cut in the middle
    if skipped is None:
        skipped = 0
        while skipped < len(lines) and _is_comment(lines[skipped]):
            skipped += 1
    rows = [line for line in lines[skipped:] if line.strip()][:SAMPLE_ROWS]
    if not rows:
        raise InputError(f"{path} holds no rows; give at least one line")
    widths = {mark: _widths(rows, mark) for mark in DELIMITERS}
    steady = [mark for mark in DELIMITERS if widths[mark][0] > 1 and len(set(widths[mark])) == 1]
    some = [mark for mark in DELIMITERS if widths[mark][0] > 1]
    delimiter = (steady or some or [","])[0]
    return TextLayout(delimiter, widths[delimiter][0], skipped, max(len(row) for row in rows))


def _sample(path: Path) -> bytes:
    """The beginning of a file: enough for a few lines, however long (a wide table has long ones)."""
    size = SAMPLE_BYTES
    raw = head(path, size)
    while len(raw) == size and raw.count(b"\n") < 4 and size < MOST_SAMPLE_BYTES:
        size *= 4
        raw = head(path, size)
    return raw


def _widths(rows: list[str], delimiter: str) -> list[int]:
    try:
        return [len(row) for row in csv.reader(rows, delimiter=delimiter)]
    except csv.Error:  # a field too long: not this delimiter
        return [1]


def _is_comment(line: str) -> bool:
    """``#tag`` may well be a node, so a comment needs a blank after its mark."""
    return line.strip() in ("#", "%", "") or line.startswith(("# ", "% ", "#\t", "%\t"))


def _explained(path: Path, layout: TextLayout, error: Exception) -> InputError:
    """Find the line that the fast reader stumbled over; slow, but only once and for a person to read."""
    if isinstance(error, OSError) and not isinstance(error, pa.ArrowInvalid):
        return InputError(f"{path} cannot be read ({error}); check the file")
    try:
        with PlainBytes(path) as stream:
            for number, line in enumerate(io.BufferedReader(stream), start=1):
                try:
                    line.decode("utf-8")
                except UnicodeDecodeError:
                    return InputError(f"{path}, line {number}: not UTF-8 text; save the file as UTF-8")
        for number, row in _rows(path, layout):
            if len(row) != layout.columns:
                return InputError(
                    f"{path}, line {number}: expected {layout.columns} columns, found {len(row)}; "
                    "give every line the same columns"
                )
    except (OSError, csv.Error, UnicodeError) as also:
        error = also
    return InputError(f"{path} cannot be read as a table ({' '.join(str(error).split())}); check the file")


def _line_of_row(path: Path, layout: TextLayout, row: int) -> int:
    for position, (number, _) in enumerate(_rows(path, layout)):
        if position == row:
            return number
    return row + 1 + layout.skipped


@contextmanager
def _cells_of_any_length() -> Iterator[None]:
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _rows(path: Path, layout: TextLayout, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Rows as Python reads them, with the number of their (last) line."""
    with PlainBytes(path) as stream, _cells_of_any_length():
        lines = io.TextIOWrapper(
            io.BufferedReader(stream), encoding="utf-8-sig", errors="replace", newline=""
        )
        for _ in range(layout.skipped):
            next(lines, "")
        reader = csv.reader(lines, delimiter=layout.delimiter, strict=strict)
        for row in reader:
            if row:
                yield layout.skipped + reader.line_num, row
