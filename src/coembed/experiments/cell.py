"""A cell: one fit of one method on one network under one seed, and what is written down about it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from coembed.evaluation.evaluation import Protocol
from coembed.experiments.record_file import Record
from coembed.settings import Task, current_names

IDENTITY = ("experiment", "row", "network", "seed", "protocol", "at")
"""The fields of a cell that say which number it is: its record has them under the same names."""
BY_COSINE = "space_"
"""How figures of the vectors alone begin, in records that have those of what is answered, too."""


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
        As :func:`coembed.evaluation.evaluate` takes them.

    Examples
    --------
    >>> cell = Cell("table1", "gcn", "cora", 0, "strict", task="classification", method="gcn")
    >>> cell.name
    'table1-strict/gcn.cora.0'
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
    def table(self) -> str:
        """Name of the file that has its record, among others of the same experiment and protocol."""
        return f"{self.experiment}-{self.protocol}"

    @property
    def name(self) -> str:
        """What people call it, and the order of all cells."""
        row = self.row if self.at is None else f"{self.row}@{self.at:g}"
        return f"{self.table}/{row}.{self.network}.{self.seed}"

    @property
    def identity(self) -> Record:
        """The names of the number."""
        return {name: value for name, value in asdict(self).items() if name in IDENTITY}

    @property
    def configuration(self) -> Record:
        """All that decides how the number is made, every setting or option of the method spelled out."""
        chosen: Record = {
            "task": self.task,
            "method": self.method,
            "preset": self.preset if self.method == "scan" else None,
            "labels": self.labels,
            "changes": list(self.changes),
        }
        settings = self._settings()
        return {**chosen, "settings": settings} if settings else chosen

    def _settings(self) -> Record:
        """Every setting or option of the method by name; nothing if it has none."""
        from coembed.baselines import METHODS
        from coembed.baselines.can import PRESET
        from coembed.baselines.method_options import changed
        from coembed.evaluation.evaluation import PUBLISHED_CHANGES
        from coembed.settings import preset_settings

        fixed = PUBLISHED_CHANGES if self.protocol == "published" else ()
        changes = [*fixed, *self.changes]
        if self.method in ("scan", "can"):
            preset = PRESET if self.method == "can" else self.preset
            return preset_settings(preset, self.task, seed=self.seed).parse(changes).as_dict()
        kind = METHODS[self.method].options if self.method in METHODS else None
        return asdict(changed(kind, changes)) if kind else {}

    def same_way(self, record: Record) -> bool:
        """Whether a record was made as this cell asks for.

        A setting or option that was not written down with the record does not count against it.
        """
        made, asked = record.get("configuration", {}), self.configuration
        made_settings, asked_settings = current_names(made.get("settings") or {}), asked.pop("settings", {})
        return all(made.get(name, value) == value for name, value in asked.items()) and all(
            made_settings.get(name, value) == value for name, value in asked_settings.items()
        )


def cell_of(record: Record) -> Cell:
    """The cell that a record is about; how it was made stays in the record."""
    return Cell(**{name: record[name] for name in IDENTITY})


class CellJob(NamedTuple):
    """A cell, where its network lies, and how many threads it may use."""

    cell: Cell
    data: Path
    threads: int
