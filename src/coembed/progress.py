"""How those who watch something long are told about it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

STATUS = Path("/proc/self/status")
"""Where Linux tells a process about itself."""

EpochProgress = Callable[[int, int, dict[str, float]], None]
"""Called after every epoch with its number (from 1), the number of epochs, and the figures so far."""

LOSS_PARTS = ("links", "attributes", "kl", "label", "classification")
"""Figures of an epoch that add up to its loss, in the order in which they are shown."""

CountProgress = Callable[[int, int], None]
"""Called on the way with the number of steps done and the number of all."""

Tell = Callable[[str], None]
"""Called with a sentence, or the name of the step that begins."""


def peak_memory_mb() -> float | None:
    """The most memory that this process has held, mapped files included; None where nobody says."""
    if STATUS.exists():
        # not `ru_maxrss`, which begins with what the process that started this one held
        lines = STATUS.read_text(encoding="utf-8", errors="replace").splitlines()
        found = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
        if found:
            return round(int(found[0]) / 2**10, 1)
    try:
        import resource
    except ImportError:  # Windows
        return None
    # macOS counts bytes where others count kilobytes
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit, 1)


def figures_text(figures: dict[str, float]) -> str:
    """The loss, its parts, and the validation figures, in a line.

    Examples
    --------
    >>> figures_text({"loss": 1.5, "links": 1.0, "kl": 0.5, "validation accuracy": 0.81})
    'loss 1.500 = links 1.000, kl 0.500 | validation accuracy 0.810'
    """
    parts = ", ".join(f"{name} {figures[name]:.3f}" for name in LOSS_PARTS if name in figures)
    loss = f"loss {figures['loss']:.3f}" if "loss" in figures else ""
    watched = ", ".join(f"{name} {value:.3f}" for name, value in _watched(figures).items())
    return " | ".join(text for text in (" = ".join(filter(None, (loss, parts))), watched) if text)


def _watched(figures: dict[str, float]) -> dict[str, float]:
    """The validation figures; of many relations and columns the means, for a line that fits a screen.

    Examples
    --------
    >>> _watched({f"validation AUC of r{i}": i / 10 for i in range(6)})
    {'validation AUC': 0.25}
    """
    found = {name: value for name, value in figures.items() if name.startswith("validation")}
    if len(found) <= 4:
        return found
    grouped: dict[str, list[float]] = {}
    for name, value in found.items():
        grouped.setdefault(name.split(" of ")[0], []).append(value)
    return {name: sum(values) / len(values) for name, values in grouped.items()}


SECONDS = 0.2
"""Between two pictures: a browser should not have to draw more."""


class NotebookProgress:
    """Told of every epoch and every step, it changes one output in place."""

    def __init__(self) -> None:
        from IPython.display import HTML, display

        self.html = HTML
        self.output: Any = display(HTML(""), display_id=True)
        self.start = self.shown = time.monotonic()
        self.bar = self.figures = ""

    def __call__(self, epoch: int, epochs: int, figures: dict[str, float]) -> None:
        left = (time.monotonic() - self.start) / epoch * (epochs - epoch)
        self.bar = (
            f'<progress value="{epoch}" max="{epochs}"></progress> epoch {epoch}/{epochs}, {left:.0f} s left'
        )
        self.figures = figures_text(figures)
        if epoch == epochs or time.monotonic() - self.shown > SECONDS:
            self._show(self.figures)

    def step(self, doing: str) -> None:
        """Something before or after the epochs that takes a while."""
        if not self.bar:
            self.start = time.monotonic()
        self._show(doing)

    def end(self) -> None:
        """Leave the last figures."""
        self.bar = f"fitted in {time.monotonic() - self.start:.0f} s"
        self._show(self.figures)

    def _show(self, line: str) -> None:
        self.shown = time.monotonic()
        self.output.update(self.html(f"<div>{self.bar}</div><div><small>{escape(line)}</small></div>"))


def notebook_progress() -> NotebookProgress | None:
    """One, where this runs in a notebook.

    Examples
    --------
    >>> notebook_progress() is None
    True
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return NotebookProgress() if type(shell).__name__ == "ZMQInteractiveShell" else None
