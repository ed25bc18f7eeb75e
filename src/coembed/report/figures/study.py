"""The picture of a search for settings: how it went, and what each setting was worth."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from coembed.experiments.own_tuning import Tried, Tuning
from coembed.files import replacing_file
from coembed.maps.figure_style import FAINT, INK, OURS, PAPER, legend, name_axes, new_figure

BEST, OWN = OURS["scan-best"], OURS["scan-paper"]


def draw_study(tuning: Tuning, metric: str, path: Path) -> None:
    """Write it as the ending says: .png, .svg or .pdf."""
    worked = [each for each in tuning.trials if each.value is not None]
    names = sorted({name for each in worked for name in each.settings})
    columns = min(3, len(names) + 1)
    figure, axes = new_figure(columns, -(-(len(names) + 1) // columns), width=3.6, height=2.8)
    _course(axes[0], tuning, metric)
    for name, panel in zip(names, axes[1:], strict=False):
        _setting(panel, [each for each in worked if name in each.settings], name, tuning)
        name_axes(panel, name, metric)
    for left in axes[len(names) + 1 :]:
        left.set_visible(False)
    with replacing_file(path) as sibling:
        figure.savefig(sibling, format=path.suffix.lstrip("."), facecolor=PAPER)


def _course(axes: Any, tuning: Tuning, metric: str) -> None:
    at = [(place, each.value) for place, each in enumerate(tuning.trials, 1) if each.value is not None]
    places, values = [place for place, _ in at], [value for _, value in at]
    axes.plot(places, values, "o", color=FAINT, markersize=4, label="a trial")
    axes.step(places, list(accumulate(values, max)), where="post", color=BEST, label="best so far")
    if tuning.own.value is not None:
        axes.axhline(tuning.own.value, color=OWN, linestyle="--", linewidth=1, label="usual settings")
    name_axes(axes, "trial", f"{metric} (validation)", "The search")
    axes.xaxis.get_major_locator().set_params(integer=True)
    legend(axes)


def _setting(axes: Any, trials: Sequence[Tried], name: str, tuning: Tuning) -> None:
    values = [each.settings[name] for each in trials]
    words = any(isinstance(value, (str, bool)) for value in values)
    spots = [str(value) for value in values] if words else values
    axes.plot(spots, [each.value for each in trials], "o", color=INK, alpha=0.5, markersize=4)
    if name in tuning.best.settings:
        chosen = tuning.best.settings[name]
        axes.plot([str(chosen) if words else chosen], [tuning.best.value], "o", color=BEST, markersize=7)
    if not words and min(values) > 0 and max(values) / min(values) > 20:
        axes.set_xscale("log")
