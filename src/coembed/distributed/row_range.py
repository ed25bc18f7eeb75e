"""Some rows out of all: those of a process, or of a part that is worked on at a time."""

from __future__ import annotations

from typing import NamedTuple


class Rows(NamedTuple):
    """The rows from `start` to `stop` of `total`.

    Examples
    --------
    >>> Rows(10, 30, 100).part(slice(5, 8))
    Rows(start=15, stop=18, total=100)
    """

    start: int
    stop: int
    total: int

    @classmethod
    def all(cls, total: int) -> Rows:
        return cls(0, total, total)

    @property
    def size(self) -> int:
        return self.stop - self.start

    def part(self, rows: slice) -> Rows:
        """Some of these rows, counted from the first of them."""
        start, stop, _ = rows.indices(self.size)
        return Rows(self.start + start, self.start + stop, self.total)
