"""Embeddings on a plane: t-SNE as in the paper, and a linear map whose ellipses are exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from coembed.experiments.benchmark_networks import TITLES
from coembed.experiments.record_file import Record
from coembed.experiments.results import Results
from coembed.experiments.table_rows import ROWS
from coembed.maps.figure_style import FAINT, INK, new_figure
from coembed.maps.palette import class_mark

_TITLES = {row.name: row.title for row in ROWS["classification"]}
ORDER = ("gcn", "seano", "planetoid", "graphsgan", "scan-paper", "scan-best")
"""As in the paper: rivals first."""
DRAWN = 8
"""Ellipses of every class on a map."""


def tsne_figure(results: Results) -> Any:
    """A panel a method; of ours the ellipses of the paper, from the two halves of the dimensions."""
    found = _maps(results, "tsne")
    if not found:
        return None
    columns = {1: 1, 2: 2, 4: 2}.get(len(found), 3)
    figure, axes = new_figure(columns, -(-len(found) // columns), width=4.3, height=4.3)
    for panel in axes:
        panel.set_axis_off()
    for panel, (row, record) in zip(axes, found.items(), strict=False):
        places, remark = record["details"]["tsne"], ""
        _scatter(panel, record, places, size=3.2)
        if "x_std" in places:
            std = np.array([places["x_std"], places["y_std"]])
            times = _enlarged(std, places)
            covariances = np.zeros((std.shape[1], 2, 2))
            covariances[:, 0, 0], covariances[:, 1, 1] = (times * std) ** 2
            some = _some_of_each(np.array(record["details"]["labels"]))
            _ellipses(panel, record, places, covariances, some)
            remark = f"; ellipses enlarged {times:.0f} times"
        share = record["metrics"]["vote_tsne"]
        _title(panel, row, f"{share:.0%} of the 10 nearest are of a node's class{remark}")
    _legend(figure, next(iter(found.values())))
    return figure


def pca_figure(results: Results) -> Any:
    """The two main axes of the means, every node with the ellipse of one standard deviation."""
    found = _maps(results, "pca")
    if not found:
        return None
    figure, axes = new_figure(len(found), 1, width=6.2, height=5.8)
    for panel, (row, record) in zip(axes, found.items(), strict=True):
        panel.set_axis_off()
        places = record["details"]["pca"]
        covariances = np.array([[places["xx"], places["xy"]], [places["xy"], places["yy"]]]).transpose(
            2, 0, 1
        )
        _scatter(panel, record, places, size=3)
        some = _some_of_each(np.array(record["details"]["labels"]))
        _ellipses(panel, record, places, covariances, some)
        _frame(panel, places, covariances)
        _title(panel, row, f"{places['explained']:.0%} of the variance of the means")
    _legend(figure, next(iter(found.values())))
    return figure


def _maps(results: Results, kind: str) -> dict[str, Record]:
    """The drawn fits of the first network that has any, by row."""
    for network in results.networks("map"):
        cells = {row: results.cells("map", row, network).get(0) for row in ORDER}
        found = {row: cell for row, cell in cells.items() if cell and kind in cell["details"]}
        if found:
            return found
    return {}


def _scatter(panel: Any, record: Record, places: Record, size: float) -> None:
    labels = np.array(record["details"]["labels"])
    colours = np.array([class_mark(k)[0] for k in range(labels.max() + 1)])[labels]
    # thousands of marks as one picture: an SVG of single ones would be megabytes
    panel.scatter(
        places["x"], places["y"], s=size, c=colours, linewidths=0, alpha=0.8, rasterized=True, zorder=2
    )
    panel.set_aspect("equal", adjustable="datalim")


def _ellipses(
    panel: Any,
    record: Record,
    places: Record,
    covariances: np.ndarray,
    nodes: np.ndarray,
) -> None:
    """One standard deviation around some nodes."""
    from matplotlib.collections import EllipseCollection
    from matplotlib.colors import to_rgba

    covariances = covariances[nodes]
    variances, directions = np.linalg.eigh(covariances)
    angles = np.degrees(np.arctan2(directions[:, 1, 0], directions[:, 0, 0]))
    widths, heights = (2 * np.sqrt(np.maximum(variances, 0))).T
    colours = [class_mark(k)[0] for k in np.array(record["details"]["labels"])[nodes]]
    panel.add_collection(
        EllipseCollection(
            widths,
            heights,
            angles,
            units="xy",
            offsets=np.column_stack([places["x"], places["y"]])[nodes],
            offset_transform=panel.transData,
            facecolors=[to_rgba(colour, 0.07) for colour in colours],
            edgecolors=[to_rgba(colour, 0.45) for colour in colours],
            linewidths=0.9,
            zorder=3,
        )
    )


def _enlarged(std: np.ndarray, places: Record) -> float:
    """How many times, for ellipses to be seen: t-SNE has no unit, only their proportions mean anything."""
    span = np.ptp([places["x"], places["y"]], axis=1).max()
    return max(1.0, float(0.02 * span / np.median(std)))


def _some_of_each(labels: np.ndarray) -> np.ndarray:
    """A few nodes of every class: a few dozen ellipses can be read, thousands cannot."""
    order = np.random.default_rng(0).permutation(len(labels))
    return np.concatenate([order[labels[order] == k][:DRAWN] for k in range(labels.max() + 1)])


def _frame(panel: Any, places: Record, covariances: np.ndarray) -> None:
    """Limits that hold nearly all nodes and their ellipses: a single stray node would shrink all others."""
    for axis, name in enumerate(("x", "y")):
        low, high = np.quantile(places[name], [0.005, 0.995])
        margin = 1.3 * float(np.median(np.sqrt(covariances[:, axis, axis])))
        (panel.set_xlim if axis == 0 else panel.set_ylim)(low - margin, high + margin)
    panel.set_aspect("equal", adjustable="box", anchor="N")


def _title(panel: Any, row: str, remark: str) -> None:
    panel.set_title(_TITLES[row], fontsize=11, color=INK, loc="left", fontweight="bold", pad=16)
    panel.annotate(
        remark, (0, 1), (0, 4), xycoords="axes fraction", textcoords="offset points", fontsize=8, color=FAINT
    )


def _legend(figure: Any, record: Record) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="", marker="o", markersize=5, color=class_mark(k)[0], label=name)
        for k, name in enumerate(record["details"]["classes"])
    ]
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=min(9, len(handles)),
        frameon=False,
        fontsize=8,
        title=f"class ({TITLES[record['network']]})",
        title_fontsize=8,
    )
