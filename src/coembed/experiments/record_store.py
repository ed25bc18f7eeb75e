"""The folder of records: a file of JSON lines for every table and protocol, and marks of what is running."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from coembed.experiments.cell import IDENTITY, Cell, cell_of
from coembed.experiments.record_file import Record, RecordFile
from coembed.files import replacing_file

MOST_ATTEMPTS = 3
"""A cell that ended the whole process so many times (out of memory, say) is given up until asked again."""


@dataclass(frozen=True)
class Mark:
    """A cell is being worked on: for which time, and by which process."""

    attempts: int = 1
    host: str = field(default_factory=platform.node)
    pid: int = field(default_factory=os.getpid)

    @property
    def of_another(self) -> bool:
        """Whether the process is another one of this machine, and still there."""
        if self.host != platform.node() or self.pid == os.getpid():
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True  # it is there, and somebody else's
        return True


@dataclass(frozen=True)
class Store:
    """Records below ``folder/cells``: ``table1-strict.jsonl`` and so on.

    Examples
    --------
    >>> import tempfile
    >>> store = Store(Path(tempfile.mkdtemp()))
    >>> cell = Cell("table1", "majority", "wordnet-demo", 0, method="majority")
    >>> store.write(cell, {"state": "done", "metrics": {"accuracy": 0.4}})
    >>> store.done(cell), [record["metrics"] for record in store.records()]
    (True, [{'accuracy': 0.4}])
    """

    folder: Path

    @property
    def cells(self) -> Path:
        return self.folder / "cells"

    @property
    def marks(self) -> Path:
        """A small file for every cell that is being worked on, removed when it is settled."""
        return self.cells / ".running"

    def table(self, name: str) -> RecordFile:
        """The records of one experiment under one protocol."""
        return RecordFile(self.cells / f"{name}.jsonl", IDENTITY)

    def read(self, cell: Cell) -> Record:
        """What became of a cell; empty if nothing yet."""
        return self.table(cell.table).get(*cell.identity.values()) or {}

    def done(self, cell: Cell) -> bool:
        """Whether the cell is finished, made the way it is asked for now."""
        record = self.read(cell)
        return record.get("state") == "done" and cell.same_way(record)

    def attempts(self, cell: Cell) -> int:
        """How often the cell was begun and not finished."""
        mark, record = self.mark(cell), self.read(cell)
        if mark is not None:
            return mark.attempts
        return 0 if record.get("state") == "done" else int(record.get("attempts", 0))

    def doubtful(self, cell: Cell) -> bool:
        """Whether the cell has failed, or was cut off more than once: others should not wait for it."""
        return self.read(cell).get("state") == "failed" or self.attempts(cell) > 1

    def begin(self, cell: Cell) -> None:
        """Note that the cell is being worked on: if nothing follows, it took the process down with it."""
        self.put_mark(cell, Mark(self.attempts(cell) + 1))

    def put_mark(self, cell: Cell, mark: Mark) -> None:
        with replacing_file(self._mark(cell)) as sibling:
            sibling.write_text(json.dumps(asdict(mark)), encoding="utf-8")

    def mark(self, cell: Cell) -> Mark | None:
        """Who is or was at the cell; None if nobody, or it was finished."""
        try:
            return Mark(**json.loads(self._mark(cell).read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError):
            return Mark()  # lost when the machine went down: begun once, and nobody else is at it

    def running(self, cell: Cell) -> bool:
        """Whether the cell was begun, and nothing has become of it."""
        return self.mark(cell) is not None

    def busy(self, cell: Cell) -> bool:
        """Whether another process of this machine is at the cell right now."""
        mark = self.mark(cell)
        return mark is not None and mark.of_another

    def write(self, cell: Cell, outcome: Record) -> None:
        """Keep what became of a cell."""
        known = {"attempts": max(1, self.attempts(cell)), "configuration": cell.configuration}
        self.table(cell.table).append({**cell.identity, **known, **outcome})
        self._mark(cell).unlink(missing_ok=True)

    def records(self, state: str = "done") -> Iterator[Record]:
        """All records in a state, in the order of their names."""
        for path in sorted(self.cells.glob("*.jsonl")):
            found = self.table(path.stem).records().values()
            yield from sorted(
                (record for record in found if record.get("state") == state),
                key=lambda record: cell_of(record).name,
            )

    def _mark(self, cell: Cell) -> Path:
        return self.marks / f"{cell.name.replace('/', '.')}.json"
