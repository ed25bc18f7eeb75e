"""How far a run of many cells has come, as people see it."""

from __future__ import annotations

import time

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
from rich.text import Text

from coembed.cli.console import WithBar, to_stderr
from coembed.experiments.cell import Cell
from coembed.experiments.grid import Tally
from coembed.experiments.record_file import Record

SHOWN = ("accuracy", "svm_accuracy", "auc", "ap", "auc_matched", "seconds_per_epoch")


class GridProgress(WithBar):
    """A bar over all cells with the time left, and a line for every cell that is settled."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.console = to_stderr()
        self.live = not quiet and self.console.is_terminal
        self.bar = Progress(
            SpinnerColumn(),
            TextColumn("[bold]cells"),
            BarColumn(bar_width=28),
            TextColumn("{task.completed}/{task.total}"),
            TextColumn("[cyan]{task.fields[left]}"),
            TextColumn("[dim]{task.fields[doing]}"),
            console=self.console,
            transient=True,
            disable=not self.live,
        )
        self.task = self.bar.add_task("", total=None, left="", doing="")

    def epoch(self, epoch: int, epochs: int, figures: dict[str, float]) -> None:
        """A cell in this process goes on."""
        if self.live:
            self.bar.update(self.task, doing=f"epoch {epoch}/{epochs}")

    def __call__(self, tally: Tally, cell: Cell | None, record: Record) -> None:
        left = f"{duration(tally.seconds_left)} left" if tally.seconds_left else ""
        self.bar.update(self.task, total=tally.total, completed=tally.settled, left=left, doing="")
        if self.quiet or (cell is None and self.live):
            return
        said = f"{tally.kept} of {tally.total} cells are there" if cell is None else cell_line(cell, record)
        count = "" if cell is None else f"{time.strftime('%H:%M:%S')} {tally.settled}/{tally.total} "
        style = "red" if record.get("state") == "failed" else ""
        # without a bar the line says how long it will take
        tail = f"  ({left})" if left and not self.live else ""
        self.bar.console.print(Text(f"{count}{said}{tail}", style=style), soft_wrap=True)


def cell_line(cell: Cell, record: Record) -> str:
    """A cell and its first figures, in a line."""
    at = "" if cell.at is None else f" at {cell.at:g}"
    what = f"{cell.experiment} {cell.row}{at} {cell.network} seed {cell.seed}"
    if record["state"] == "failed":
        return f"{what} FAILED: {record['error']}"
    metrics = record.get("metrics", {})
    figures = ", ".join(f"{name} {metrics[name]:.3f}" for name in SHOWN if name in metrics)
    return f"{what}: {figures}, {duration(record['seconds']['total'])}"


def duration(seconds: float) -> str:
    """A length of time, as short as its size allows.

    Examples
    --------
    >>> duration(4.2), duration(125), duration(7300)
    ('4 s', '2 min', '2 h 2 min')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
