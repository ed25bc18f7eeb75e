"""What people see: data on standard output, everything else on standard error."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Self

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.table import Table
from rich.text import Text

from coembed.progress import figures_text


def to_stdout() -> Console:
    return Console(highlight=False)


def to_stderr() -> Console:
    return Console(stderr=True, highlight=False)


_HUSHED = ContextVar("hushed", default=False)


def say(message: str, style: str = "") -> None:
    """A remark for the person at the terminal."""
    if not _HUSHED.get():
        to_stderr().print(Text(message, style=style), soft_wrap=True)


@contextmanager
def hushed(quiet: bool) -> Iterator[None]:
    """Without remarks, if it should be quiet; what goes wrong is still told by who called.

    Examples
    --------
    >>> with hushed(True):
    ...     say("nobody hears this")
    """
    before = _HUSHED.set(quiet or _HUSHED.get())
    try:
        yield
    finally:
        _HUSHED.reset(before)


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))


def print_rows(headings: Sequence[str], rows: Iterable[Sequence[Any]], title: str = "") -> None:
    """A table for a terminal; tab-separated lines, nothing cut, for a pipe or a file."""
    if sys.stdout.isatty():
        table = Table(title=title or None, title_justify="left", title_style="bold", box=None, pad_edge=False)
        for place, heading in enumerate(headings):
            table.add_column(heading, style="bold" if place == 0 else "", header_style="dim", overflow="fold")
        for row in rows:
            table.add_row(*(Text(_text(value)) for value in row))
        to_stdout().print(table)
        return
    print("\t".join(headings))
    for row in rows:
        print("\t".join(" ".join(_text(value).split()) for value in row))


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return str(value)
    return (
        f"{value:.3f}" if value == 0 or abs(value) >= 0.01 else f"{value:.2g}"
    )  # of all pairs few are there


def bar(share: float, width: int = 24) -> str:
    """A bar of block characters, in eighths.

    Examples
    --------
    >>> bar(0.5, width=4), bar(0.3, width=2)
    ('██  ', '▋ ')
    """
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")).ljust(width)


class Steps:
    """What is being done now: a line that changes on a terminal, else a line for every new step.

    Examples
    --------
    >>> with Steps(quiet=True) as steps:
    ...     steps("reading links")
    """

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.status = to_stderr().status("")

    def __enter__(self) -> Steps:
        if not self.quiet:
            self.status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.status.stop()

    def __call__(self, step: str) -> None:
        if self.status.console.is_terminal:
            self.status.update(Text(step))
        elif not self.quiet:
            say(step, "dim")


class WithBar:
    """Whoever shows a bar as long as something goes on."""

    bar: Progress

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.bar.stop()


class TrainingProgress(WithBar):
    """A bar with the parts of the loss, the validation figures and the time left, as ``fit`` calls it.

    Where standard error is no terminal it is a line every tenth of the way.

    Examples
    --------
    >>> with TrainingProgress(quiet=True) as progress:
    ...     progress(1, 10, {"loss": 0.5})
    """

    def __init__(self, what: str = "training", quiet: bool = False) -> None:
        self.what, self.quiet = what, quiet
        self.console = to_stderr()
        self.ended: list[tuple[float, float]] = []
        self.began = _now()
        self.live = not quiet and self.console.is_terminal
        self.bar: _Bar = _Bar(
            SpinnerColumn(),
            TextColumn("[bold]{task.description}"),
            BarColumn(bar_width=28),
            TextColumn("epoch {task.completed}/{task.total}"),
            _TimeLeft(),
            console=self.console,
            transient=True,
            disable=not self.live,
        )
        self.tasks: dict[float | None, Any] = {}

    def step(self, doing: str) -> None:
        """Something before or after the epochs that takes a while."""
        if not self.ended:
            self.began = _now()
        if self.live:
            self.bar.figures = doing
            self.bar.refresh()
        elif not self.quiet:
            self.console.print(Text(f"{self.what}: {doing}"), soft_wrap=True)

    def __call__(self, epoch: int, epochs: int, figures: dict[str, float]) -> None:
        self.ended.append(_now())
        seed = figures.get("seed")
        what = self.what if seed is None else f"{self.what}, seed {seed:g}"
        if self.live:
            if seed not in self.tasks:
                self.tasks[seed] = self.bar.add_task(what, total=epochs)
            self.bar.figures = figures_text(figures)
            self.bar.update(self.tasks[seed], completed=epoch)
        elif not self.quiet and (epoch == epochs or epoch % max(1, epochs // 10) == 0):
            self.console.print(Text(f"{what} {epoch}/{epochs}  {figures_text(figures)}"), soft_wrap=True)

    @property
    def seconds_per_epoch(self) -> tuple[float, float] | None:
        """On the clock and of the processor: means, validation included.

        Without what comes before the end of the first epoch, if there are more.
        """
        if not self.ended:
            return None
        first, *others = [self.began, *self.ended] if len(self.ended) == 1 else self.ended
        last = others[-1]
        return (last[0] - first[0]) / len(others), (last[1] - first[1]) / len(others)


def _now() -> tuple[float, float]:
    """On the clock, and what this process has had of the processor."""
    return time.monotonic(), time.process_time()


class _Bar(Progress):
    """A bar with the figures under it, where they have room."""

    figures = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        yield from super().get_renderables()
        for line in filter(None, self.figures.split(" | ")):
            yield Text(f"  {line}", style="dim", no_wrap=True, overflow="ellipsis")


class _TimeLeft(ProgressColumn):
    """Seconds left at the mean pace so far: epochs are alike, so the mean is the steadiest guess."""

    max_refresh = 0.5

    def render(self, task: Task) -> Text:
        if not task.completed or task.elapsed is None or not task.total:
            return Text("")
        left = task.elapsed / task.completed * (task.total - task.completed)
        minutes, seconds = divmod(round(left), 60)
        return Text(f"{minutes}:{seconds:02d} left" if minutes else f"{seconds} s left", style="cyan")
