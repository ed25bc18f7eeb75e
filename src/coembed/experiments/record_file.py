"""Many records in one file of JSON lines: read at once, added to line by line, by any number of processes.

A line is written whole under a lock and is on the disk before the lock is given back. A process that is
killed in the middle of it leaves half a line at the end: readers pass over it, and the next writer cuts it
off. Nothing is ever written over; of two lines about the same thing the later one holds.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from coembed.errors import InputError
from coembed.files import hold

Record = dict[str, Any]
"""What is kept of a cell, a study or a measurement: what it was, and its figures."""
_Key = tuple[Any, ...]


class _Seen(NamedTuple):
    """A file as it was when it was parsed: which one, its size, when it was changed."""

    inode: int
    size: int
    changed: int


_PARSED: dict[Path, tuple[_Seen, dict[_Key, Record]]] = {}
"""A table is asked for every cell of a run: it is parsed again only when the file is another one."""


@dataclass(frozen=True)
class RecordFile:
    """Records that some of their fields tell apart.

    Examples
    --------
    >>> import tempfile
    >>> file = RecordFile(Path(tempfile.mkdtemp()) / "figures.jsonl", ("network", "seed"))
    >>> for auc in (0.7, 0.8):
    ...     file.append({"network": "cora", "seed": 0, "auc": auc})
    >>> file.records()
    {('cora', 0): {'network': 'cora', 'seed': 0, 'auc': 0.8}}
    """

    path: Path
    told_apart_by: tuple[str, ...]

    def records(self) -> dict[_Key, Record]:
        """The last line of everything, by what tells it apart.

        They are not to be changed: whoever asks again before the file has changed is given the same ones.
        """
        place = self.path.absolute()
        try:
            if place in _PARSED and _PARSED[place][0] == _seen(os.stat(place)):
                return _PARSED[place][1]
            with place.open("rb") as file:
                hold(file, shared=True)
                found = self._parsed(file.read())
                _PARSED[place] = _seen(os.fstat(file.fileno())), found
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise InputError(f"{self.path} cannot be read ({error.strerror})") from None
        return found

    def get(self, *key: Any) -> Record | None:
        """One record; None if there is nothing of it."""
        return self.records().get(key)

    def append(self, record: Record) -> None:
        """Add a record, or replace the one that is told apart by the same."""
        line = json.dumps(record, allow_nan=False).encode() + b"\n"
        known = self.records()  # refuses a file that is none of ours before anything is written
        place = self.path.absolute()
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("a+b") as file:
                hold(file)
                alone = place in _PARSED and _PARSED[place][0] == _seen(os.fstat(file.fileno()))
                _heal(file)
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
                if alone:  # nobody else has written since: what was parsed and this line are the file
                    after = {**known, self._key(record): json.loads(line)}
                    _PARSED[place] = _seen(os.fstat(file.fileno())), after
        except OSError as error:
            raise InputError(f"{self.path} cannot be written ({error.strerror})") from None

    def _key(self, record: Record) -> _Key:
        return tuple(record.get(name) for name in self.told_apart_by)

    def _parsed(self, text: bytes) -> dict[_Key, Record]:
        found: dict[_Key, Record] = {}
        *lines, last = text.split(b"\n")
        for number, line in enumerate(lines, start=1):
            if line.strip():
                record = _record(line)
                if record is None:
                    raise InputError(
                        f"{self.path}, line {number} is no record; delete the line, and it is made again"
                    )
                found[self._key(record)] = record
        unended = _record(last)
        return found if unended is None else {**found, self._key(unended): unended}


def _record(line: bytes) -> Record | None:
    """What a line says; None if that is no record. A part of an object is never an object."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _heal(file: BinaryIO) -> None:
    """Let the file end with a whole line: end the last one if only that is missing, else cut it off."""
    size = file.seek(0, os.SEEK_END)
    step, tail = 1 << 16, b""
    while len(tail) < size and b"\n" not in tail:
        begin = max(0, size - len(tail) - step)
        file.seek(begin)
        tail = file.read(size - len(tail) - begin) + tail
    last = tail[tail.rfind(b"\n") + 1 :]
    if last and _record(last) is not None:
        file.write(b"\n")
    elif last:
        file.truncate(size - len(last))


def _seen(found: os.stat_result) -> _Seen:
    return _Seen(found.st_ino, found.st_size, found.st_mtime_ns)
