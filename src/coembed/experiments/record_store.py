"""The folder of records: one small JSON file a cell, each there complete or not at all."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coembed.errors import InputError
from coembed.experiments.cell import Cell, Record
from coembed.files import replacing_file

_FLAT_LIST = re.compile(r"\[\s+([-+.\deE,\s]+?)\s+\]")
MOST_ATTEMPTS = 3
"""A cell that ended the whole process so many times (out of memory, say) is given up until asked again."""


@dataclass(frozen=True)
class Store:
    """Records below ``folder/cells``.

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

    def read(self, cell: Cell) -> Record:
        """What is known of a cell; empty if nothing."""
        path = self.cells / cell.file
        return read_record(path) if path.exists() else {}

    def done(self, cell: Cell) -> bool:
        """Whether the cell is finished, made the way it is asked for now."""
        record = self.read(cell)
        return record.get("state") == "done" and cell.same_way(record)

    def attempts(self, cell: Cell) -> int:
        """How often the cell was begun and not finished."""
        record = self.read(cell)
        return 0 if record.get("state") == "done" else int(record.get("attempts", 0))

    def doubtful(self, cell: Cell) -> bool:
        """Whether the cell has failed, or was cut off more than once: others should not wait for it."""
        return self.read(cell).get("state") == "failed" or self.attempts(cell) > 1

    def begin(self, cell: Cell) -> None:
        """Note that the cell is being worked on: if nothing follows, it took the process down with it."""
        by = {"host": platform.node(), "pid": os.getpid()}
        self.write(cell, {"state": "running", "attempts": self.attempts(cell) + 1, "by": by})

    def busy(self, cell: Cell) -> bool:
        """Whether another process of this machine is at the cell right now."""
        record = self.read(cell)
        by = record.get("by", {})
        if record.get("state") != "running" or by.get("host") != platform.node() or by["pid"] == os.getpid():
            return False
        try:
            os.kill(by["pid"], 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True  # it is there, and somebody else's
        return True

    def write(self, cell: Cell, outcome: Record) -> None:
        """Keep what became of a cell."""
        known = {"attempts": max(1, self.attempts(cell)), "configuration": cell.configuration}
        with replacing_file(self.cells / cell.file) as sibling:
            sibling.write_text(as_text({**cell.identity, **known, **outcome}), encoding="utf-8")

    def records(self, state: str = "done") -> Iterator[Record]:
        """All records in a state, in the order of their names."""
        for path in sorted(self.cells.glob("*/*.json")):
            if path.name.startswith("."):
                continue  # half-written, by a process that was killed or still writes
            record = read_record(path)
            if record.get("state") == state:
                yield record


def as_text(record: Record) -> str:
    """A record as JSON, lists of numbers in a line each.

    Examples
    --------
    >>> print(as_text({"state": "done", "counts": [1, 2]}), end="")
    {
     "state": "done",
     "counts": [1, 2]
    }
    """
    text = json.dumps(record, indent=1, allow_nan=False)
    return _FLAT_LIST.sub(lambda found: "[" + " ".join(found[1].split()) + "]", text) + "\n"


def read_record(path: Path) -> Record:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path} is no record of a cell ({error}); delete it, and it is made again"
        ) from None
    if not isinstance(record, dict):
        raise InputError(f"{path} is no record of a cell; delete it, and it is made again")
    return record
