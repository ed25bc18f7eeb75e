"""The little of duckdb that is used: a database on disk for the time of a conversion."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from coembed.errors import InputError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FETCHED_ROWS = 1 << 20
"""Rows fetched at a time."""


def can_stream() -> bool:
    """Whether duckdb is installed."""
    return find_spec("duckdb") is not None


class Database:
    """Statements and their answers."""

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self._connection = connection

    def run(self, statement: str) -> None:
        self._connection.execute(statement).fetchall()

    def row(self, query: str) -> tuple[Any, ...]:
        """The one row of an answer."""
        (found,) = self._connection.execute(query).fetchall()
        return tuple(found)

    def count(self, query: str) -> int:
        """The one number of an answer."""
        return int(self.row(query)[0])

    def batches(self, query: str) -> Iterator[pa.RecordBatch]:
        """A long answer, piece by piece."""
        return (batch for batch in self._connection.sql(query).to_arrow_reader(FETCHED_ROWS) if len(batch))

    @contextmanager
    def lent(self, name: str, columns: dict[str, Any]) -> Iterator[None]:
        """Arrays that statements can read as a table, without a copy, as long as the block lasts."""
        self._connection.register(name, pa.table(columns))
        try:
            yield
        finally:
            self._connection.unregister(name)


@contextmanager
def database(folder: Path, memory: str) -> Iterator[Database]:
    """A database in a folder of its own, which is gone afterwards; its troubles become one sentence.

    Examples
    --------
    >>> import tempfile
    >>> with database(Path(tempfile.mkdtemp()) / "work", "500MB") as tables:
    ...     tables.run("CREATE TABLE few AS SELECT 7 AS i")
    ...     tables.row("SELECT count(*), min(i) FROM few")
    (1, 7)
    """
    if not can_stream():
        raise InputError("tables larger than memory need duckdb; install coembed[large]")
    import duckdb

    folder.mkdir()
    settings: dict[str, Any] = {
        "memory_limit": memory,
        "temp_directory": str(folder / "spilled"),
        "preserve_insertion_order": False,  # positions are stored; rows may come in any order
    }
    try:
        with duckdb.connect(str(folder / "tables.duckdb"), config=settings) as connection:
            connection.execute("SET enable_progress_bar = false").fetchall()
            yield Database(connection)
    except duckdb.Error as error:
        reason = str(error).strip().splitlines()[0]
        raise InputError(
            f"the tables could not be converted ({reason}); give more memory, or a place with more disk"
        ) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
