"""Figures of one model: how its training went, and whether its probabilities mean what they say."""

from __future__ import annotations

from typing import Any

from coembed.errors import InputError
from coembed.fitted.fitted import Fitted
from coembed.fitted.history_lines import epoch_figures
from coembed.fitted.label_quality import judge
from coembed.maps.figure_style import FAINT, INK, Picture, legend, name_axes, new_figure
from coembed.maps.palette import COLOURS
from coembed.network import Network

MOST_LINES = 8
"""In a panel: the largest parts of the loss, and the first validation figures."""


def training_figure(fitted: Fitted) -> Picture:
    """The loss and its parts, and the validation figures, by epoch; a line where the model was kept."""
    curves: dict[str, tuple[list[int], list[float]]] = {}
    for epoch, figures in epoch_figures(fitted.history):
        for name, value in figures.items():
            at, values = curves.setdefault(name, ([], []))
            at.append(epoch)
            values.append(value)
    if not curves:
        raise InputError("this model has no history of its training to draw")
    watched = [name for name in curves if name.startswith("validation")]
    parts = [name for name in curves if name != "loss" and name not in watched]
    parts = sorted(parts, key=lambda name: -abs(curves[name][1][0]))[:MOST_LINES]
    figure, axes = new_figure(2 if watched else 1, width=5.2, height=3.6)
    axes[0].plot(*curves["loss"], label="loss", color=INK, linewidth=2)
    for name, colour in zip(parts, COLOURS, strict=False):
        axes[0].plot(*curves[name], label=name, color=colour, linewidth=1.1)
    if all(value > 0 for name in ("loss", *parts) for value in curves[name][1]):
        axes[0].set_yscale("log")
        axes[0].yaxis.set_major_formatter("{x:g}")
    name_axes(axes[0], "epoch", "", "Loss and its parts")
    for name, colour in zip(watched[:MOST_LINES], COLOURS, strict=False):
        text = name.removeprefix("validation ")
        axes[1].plot(*curves[name], label=text, color=colour, marker="o", markersize=3, linewidth=1.3)
    best = fitted.history.get("best_epoch")
    for panel in axes:
        if best is not None:
            panel.axvline(best, color=FAINT, linestyle=":", linewidth=1.2, label=f"kept: epoch {best}")
        legend(panel, loc="upper left", bbox_to_anchor=(-0.02, -0.13), ncols=3)
    if watched:
        left = len(watched) - MOST_LINES
        more = f" ({left} more not drawn)" if left > 0 else ""
        name_axes(axes[1], "epoch", "", f"On what was kept aside{more}")
    return figure


def reliability_figure(fitted: Fitted, truth: Network, type: str | None = None) -> Picture:
    """Of answers of each probability the share that is right, by labels that the fit did not see."""
    quality = judge(fitted, truth, type)
    figure, [axes] = new_figure(width=4.8, height=4.4)
    told, right, counts = quality.reliability.T
    axes.plot([0, 1], [0, 1], color=FAINT, linestyle="--", linewidth=1, label="as said")
    axes.plot(told, right, color=COLOURS[0], linewidth=1.4, zorder=2)
    size: Any = 20 + 280 * counts / counts.max()
    axes.scatter(told, right, s=size, color=COLOURS[0], alpha=0.75, zorder=3, label="answers, by number")
    for x, y, count in zip(told, right, counts, strict=True):
        axes.annotate(f"{count:,.0f}", (x, y), (0, -14), textcoords="offset points", ha="center", fontsize=7)
    axes.set(xlim=(0, 1.04), ylim=(0, 1.04), aspect="equal")
    figures = quality.figures
    judged = f"{quality.type}: {len(quality.nodes):,} items, accuracy {figures['accuracy']:.3f}"
    error = f"calibration error {figures['calibration error']:.3f}"
    name_axes(axes, "probability that was told", "share that is right", f"{judged}\n{error}")
    legend(axes, loc="upper left")
    return figure
