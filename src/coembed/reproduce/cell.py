"""A cell: one fit of one method on one network under one seed, and what is written down about it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from coembed.settings import Task
from coembed.tasks.evaluation import Protocol

Record = dict[str, Any]
"""What is kept of a cell: what it was, its state, and, once it is done, its figures."""

_NAMES = ("experiment", "row", "network", "seed", "protocol", "at")


@dataclass(frozen=True)
class Cell:
    """What to run. The first six say which number this is, the rest how it is made.

    Attributes
    ----------
    experiment
        `table1`, `table2`, `links`, `beta` ...
    row
        Name of the row: a method under a preset and options.
    at
        Where on the horizontal axis of a figure: beta, share of labels, number of nodes.
    task, method, preset, labels, changes
        As :func:`coembed.tasks.evaluate` takes them.

    Examples
    --------
    >>> cell = Cell("table1", "gcn", "cora", 0, "strict", task="classification", method="gcn")
    >>> cell.file
    'table1-strict/gcn.cora.0.json'
    """

    experiment: str
    row: str
    network: str
    seed: int
    protocol: Protocol = "strict"
    at: float | None = None
    task: Task = "classification"
    method: str = "scan"
    preset: str = "best"
    labels: float = 0.1
    changes: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """Where its record is kept, below the folder of all cells."""
        row = self.row if self.at is None else f"{self.row}@{self.at:g}"
        return f"{self.experiment}-{self.protocol}/{row}.{self.network}.{self.seed}.json"

    @property
    def identity(self) -> Record:
        """The names of the number."""
        return {name: value for name, value in asdict(self).items() if name in _NAMES}

    @property
    def configuration(self) -> Record:
        """All that decides how the number is made, settings of our own model spelled out."""
        chosen: Record = {
            "task": self.task,
            "method": self.method,
            "preset": self.preset if self.method == "scan" else None,
            "labels": self.labels,
            "changes": list(self.changes),
        }
        if self.method == "scan":
            chosen["settings"] = self._settings()
        return chosen

    def _settings(self) -> Record:
        from coembed.settings import preset_settings
        from coembed.tasks.evaluation import PUBLISHED_CHANGES

        fixed = PUBLISHED_CHANGES if self.protocol == "published" else ()
        settings = preset_settings(self.preset, self.task, seed=self.seed)
        return settings.parse([*fixed, *self.changes]).as_dict()

    def same_way(self, record: Record) -> bool:
        """Whether a record was made as this cell asks for.

        A setting that did not exist yet when the record was written does not count against it.
        """
        made, asked = record.get("configuration", {}), self.configuration
        made_settings, asked_settings = made.get("settings") or {}, asked.pop("settings", {})
        return all(made.get(name, value) == value for name, value in asked.items()) and all(
            made_settings.get(name, value) == value for name, value in asked_settings.items()
        )


class Job(NamedTuple):
    """A cell, where its network lies, and how many threads it may use."""

    cell: Cell
    data: Path
    threads: int
