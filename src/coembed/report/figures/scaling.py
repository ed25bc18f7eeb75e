"""Cost of an epoch against the size of the network, on logarithmic axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from coembed.experiments.benchmark_networks import TITLES
from coembed.experiments.epoch_costs import SYNTHETIC
from coembed.experiments.results import Results
from coembed.maps.figure_style import FAINT, INK, OURS, PRINTED, legend, name_axes, new_figure
from coembed.report.printed import TEN_EPOCHS
from coembed.report.statistics import slope


def measured_sizes(results: Results, row: str) -> dict[float, float]:
    """Nodes to seconds of an epoch, on the made-up networks."""
    found = {}
    for at in results.places("scaling", row, SYNTHETIC):
        found[at] = results.values("scaling", row, SYNTHETIC, "wall_per_epoch", at=at)[0]
    return found


def scaling_figure(results: Results) -> Any:
    """Made-up networks as a line with its slope, real ones as marks, the paper's two beside them."""
    rows = [row for row in OURS if measured_sizes(results, row)]
    if not rows:
        return None
    figure, (panel,) = new_figure(1, 1, width=6.4, height=4.4)
    panel.set_xscale("log")
    panel.set_yscale("log")
    for row in rows:
        sizes, colour = measured_sizes(results, row), OURS[row]
        title = f"preset {row.removeprefix('scan-')}"
        if len(sizes) > 1:
            exponent = slope(list(sizes), list(sizes.values()))
            title += f": slope {exponent:.2f}"
            _fitted_line(panel, sizes, exponent, colour)
        panel.plot(list(sizes), list(sizes.values()), color=colour, marker="o", markersize=5, label=title)
    _ruler(panel, measured_sizes(results, rows[-1]))
    real: dict[str, float] = {}
    for row in rows:
        for network in TITLES:
            cells = results.cells("scaling", row, network)
            if 0 in cells:
                nodes, seconds = cells[0]["details"]["nodes"], cells[0]["metrics"]["wall_per_epoch"]
                panel.scatter([nodes], [seconds], marker="D", s=22, color=OURS[row], alpha=0.75, zorder=3)
                real[network] = max(real.get(network, 0), seconds)
                if row == rows[-1]:
                    # steeper than the curves, and apart from each other where networks are alike in size
                    _name(panel, TITLES[network], (nodes, real[network]), (3, 5), rotation=60)
    for network, ten in TEN_EPOCHS.items():
        cells = results.cells("scaling", rows[0], network)
        if 0 in cells:
            nodes = cells[0]["details"]["nodes"]
            panel.scatter([nodes], [ten / 10], marker="X", s=55, color=PRINTED, zorder=3)
            _name(panel, f"{TITLES[network]}, printed", (nodes, ten / 10), (7, -3), color=PRINTED)
    if any(len(measured_sizes(results, row)) > 1 for row in rows):
        panel.plot([], [], color=FAINT, linewidth=6, alpha=0.35, label="least-squares line")
    if real:
        panel.plot(
            [], [], linestyle="", marker="D", markersize=5, color=INK, alpha=0.7, label="real networks"
        )
    name_axes(panel, "nodes", "seconds of an epoch")
    legend(panel, loc="lower right", fontsize=8.5)
    return figure


def _fitted_line(panel: Any, sizes: dict[float, float], exponent: float, colour: str) -> None:
    """The least-squares line through the logarithms, whose slope the legend names."""
    nodes, seconds = np.array(list(sizes)), np.array(list(sizes.values()))
    centre = np.log(seconds).mean() - exponent * np.log(nodes).mean()
    panel.plot(nodes, np.exp(centre) * nodes**exponent, color=colour, linewidth=6, alpha=0.18, zorder=1)


def _ruler(panel: Any, sizes: dict[float, float]) -> None:
    """Ticks at the sizes measured, and a faint line of slope one, below the curve."""
    first, last = min(sizes), max(sizes)
    start = 0.5 * sizes[first]
    panel.plot(
        [first, last],
        [start, start * last / first],
        color=FAINT,
        linewidth=1,
        linestyle=":",
        label="slope 1",
        zorder=1,
    )
    panel.set_xticks(list(sizes), [f"{size / 1000:g}k" for size in sizes])
    panel.minorticks_off()
    panel.yaxis.set_major_formatter("{x:g}")


def _name(panel: Any, text: str, place: tuple[float, float], offset: tuple[int, int], **style: Any) -> None:
    usual = {"fontsize": 7.5, "color": INK, "rotation_mode": "anchor"}
    panel.annotate(text, place, offset, textcoords="offset points", **(usual | style))
