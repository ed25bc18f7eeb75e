"""Does uncertainty mean anything? Variance against evidence, reliability, detection of errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from coembed.experiments.benchmark_networks import TITLES
from coembed.experiments.results import Results
from coembed.experiments.table_rows import ROWS
from coembed.maps.figure_style import (
    FAINT,
    INK,
    NETWORKS,
    OURS,
    colour_of,
    legend,
    name_axes,
    new_figure,
    shared_legend,
)
from coembed.metrics import Reliability, pooled_reliability
from coembed.report.statistics import mean_of

EVIDENCE = {
    "degree": ("degree of the node", "node"),
    "attribute_count": ("attributes of the node", "node"),
    "owners": ("nodes that have the attribute", "attribute"),
}
COMPARED = ("scan-best", "scan-paper", "gcn", "planetoid", "seano", "graphsgan", "linear-views")
_TITLES = {row.name: row.title for row in ROWS["classification"]}


def spearman(results: Results, row: str, network: str, kind: str) -> float | None:
    """Rank correlation of variance and evidence, mean over seeds."""
    cells = results.cells("table1", row, network).values()
    found = [cell.get("details", {}).get("variance", {}).get(kind, {}).get("spearman") for cell in cells]
    known = [value for value in found if value is not None]
    return float(np.mean(known)) if known else None


def variance_figure(results: Results) -> Any:
    """Mean variance in ten groups by evidence, a line a network; rank correlations in the legend."""
    rows = [row for row in OURS if row in results.rows("table1")]
    lines = {
        (row, network): cells[min(cells)].get("details", {}).get("variance")
        for row in rows
        for network in results.networks("table1")
        if (cells := results.cells("table1", row, network))
    }
    lines = {key: value for key, value in lines.items() if value}
    if not lines:
        return None
    rows = [row for row in rows if any(key[0] == row for key in lines)]
    figure, axes = new_figure(len(EVIDENCE), len(rows), width=3.9, height=3.4)
    for place, (row, (kind, (x, what))) in enumerate(
        (row, item) for row in rows for item in EVIDENCE.items()
    ):
        panel = axes[place]
        panel.set_xscale("symlog", linthresh=1)
        panel.xaxis.set_major_formatter("{x:g}")
        panel.axhline(1, color=FAINT, linewidth=0.8)
        for network in TITLES:
            line = lines.get((row, network), {}).get(kind)
            if not line or line["spearman"] is None:
                continue
            rank = spearman(results, row, network, kind)
            panel.plot(
                line["evidence"],
                np.array(line["variance"]) / line.get("mean", np.mean(line["variance"])),
                color=NETWORKS[network],
                marker="o",
                markersize=3,
                linewidth=1.3,
                label=f"{TITLES[network]} {rank:+.2f}",
            )
        name_axes(panel, x, f"variance of the {what} / mean", f"SCAN ({row.removeprefix('scan-')})")
        below = {"loc": "upper left", "bbox_to_anchor": (-0.04, -0.17), "ncols": 3, "alignment": "left"}
        narrow = {"columnspacing": 0.9, "handlelength": 1.2, "fontsize": 7.2}
        legend(panel, **below, **narrow, title="Spearman", title_fontsize=7.2)
    return figure


def reliability_figure(results: Results) -> Any:
    """How often right against how sure; the diagonal is what a probability should mean.

    Methods are named once for all panels; their calibration errors stand in each, in the same order.
    """
    networks = [n for n in results.networks("table1") if any(_bins(results, row, n) for row in COMPARED)]
    if not networks:
        return None
    columns = min(3, len(networks))
    figure, axes = new_figure(columns, -(-len(networks) // columns), width=3.7, height=3.5)
    for panel in axes[len(networks) :]:
        panel.set_axis_off()
    styles = {row: _reliability_style(row) for row in COMPARED}
    drawn = set()
    for panel, network in zip(axes, networks, strict=False):
        panel.plot([0, 1], [0, 1], color=FAINT, linewidth=1, linestyle="--", zorder=1)
        for row in COMPARED:
            bins = _bins(results, row, network)
            if bins is None:
                continue
            counts, confidence, right = bins
            enough = counts >= 20  # an average over fewer nodes is noise
            error = mean_of(results.values("table1", row, network, "ece"))
            label = f"{error.mean:.3f}" if error else "not known"
            panel.plot(confidence[enough], right[enough], label=label, **styles[row])
            drawn.add(row)
        panel.set_xlim(0, 1.02)
        panel.set_ylim(0, 1.02)
        name_axes(panel, "confidence in the likeliest class", "share of right answers", TITLES[network])
        # hardly a node is unsure and mostly right: this corner stays free if the column is narrow
        narrow = {"handlelength": 1.2, "alignment": "left", "borderaxespad": 0.2}
        legend(panel, **narrow, loc="upper left", fontsize=6.5, title="calibration error", title_fontsize=6.5)
    shared_legend(figure, {_TITLES[row]: styles[row] for row in COMPARED if row in drawn})
    return figure


def _reliability_style(row: str) -> dict[str, Any]:
    """Ours stand out: thicker, and above the others."""
    ours = row in OURS
    weight = {"linewidth": 1.7, "alpha": 1.0, "zorder": 3} if ours else {"linewidth": 1.0, "alpha": 0.8}
    return {"color": colour_of(row), "marker": "o", "markersize": 3} | weight


def error_figure(results: Results) -> Any:
    """Chance that a wrong answer is less sure than a right one, a dot a method."""
    networks = results.networks("table1")
    rows = [row.name for row in ROWS["classification"] if row.name != "majority"]
    found = {
        (row, network): mean
        for row in rows
        for network in networks
        if (mean := mean_of(results.values("table1", row, network, "error_auroc")))
    }
    if not found:
        return None
    rows = [row for row in rows if any(key[0] == row for key in found)][::-1]
    networks = [network for network in networks if any(key[1] == network for key in found)]
    figure, (panel,) = new_figure(1, 1, width=7.2, height=max(2.0, 0.7 + 0.36 * len(rows)))
    panel.set_ylim(-0.6, len(rows) - 0.4)
    offsets = np.linspace(0.26, -0.26, len(networks)) if len(networks) > 1 else [0.0]
    for network, offset in zip(networks, offsets, strict=True):
        for place, row in enumerate(rows):
            mean = found.get((row, network))
            if mean:
                panel.errorbar(
                    mean.mean,
                    place + offset,
                    xerr=mean.std,
                    fmt="o",
                    markersize=4,
                    color=NETWORKS[network],
                    linewidth=1,
                )
        panel.plot([], [], "o", markersize=4, color=NETWORKS[network], label=TITLES[network])
    panel.axvline(0.5, color=FAINT, linewidth=1, linestyle="--")
    panel.set_yticks(range(len(rows)), [_TITLES[row] for row in rows], color=INK)
    panel.grid(False, axis="y")
    name_axes(panel, "AUROC: wrong answers by their entropy (.5: no idea)", "")
    legend(panel, loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)
    return figure


def _bins(results: Results, row: str, network: str) -> Reliability | None:
    """Bins of all seeds together."""
    cells = results.cells("table1", row, network).values()
    found = [cell["details"]["reliability"] for cell in cells if "reliability" in cell.get("details", {})]
    if not found:
        return None
    return pooled_reliability(
        Reliability(*(np.array(bins[name]) for name in Reliability._fields)) for bins in found
    )
