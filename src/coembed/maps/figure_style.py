"""One look for all figures: sizes, colours, axes."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from coembed.files import replacing_file

INK, FAINT, GRID, PAPER = "#1F2933", "#8A94A0", "#E4E7EB", "#FFFFFF"
PRINTED = "#B9A27C"
"""The paper's own values: sand, dashed, behind ours."""

OURS = {"scan-best": "#0072B2", "scan-paper": "#D55E00"}
RIVALS = {
    "gcn": "#009E73",
    "gcn-tuned": "#5DBB9D",
    "planetoid": "#CC79A7",
    "seano": "#E69F00",
    "graphsgan": "#7A5BA6",
    "linear-views": "#6A6A6A",
    "linear-smooth": "#9A9A9A",
}
NETWORKS = {
    "pubmed": "#0072B2",
    "flickr": "#D55E00",
    "blogcatalog": "#009E73",
    "cora": "#CC79A7",
    "citeseer": "#E69F00",
    "wordnet-demo": "#6A6A6A",
}


class Picture(Figure):
    """A figure that a notebook shows by itself, without any set-up of matplotlib there."""

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.savefig(buffer, format="png", facecolor=PAPER)
        return buffer.getvalue()


def colour_of(row: str) -> str:
    return (OURS | RIVALS).get(row, FAINT)


def new_figure(
    columns: int = 1, rows: int = 1, width: float = 4.2, height: float = 3.4, **options: Any
) -> Any:
    """A figure and its axes, in a grid that leaves room for titles; axes come back as a flat list."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    size = (width * columns, height * rows)
    layout = ConstrainedLayoutEngine(wspace=0.05)
    figure = Picture(figsize=size, dpi=130, facecolor=PAPER, layout=layout)
    axes = figure.subplots(rows, columns, squeeze=False, **options).ravel().tolist()
    for each in axes:
        tidy(each)
    return figure, axes


def tidy(axes: Any) -> None:
    axes.set_facecolor(PAPER)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(FAINT)
    axes.tick_params(colors=INK, labelsize=8, length=3, color=FAINT)
    axes.grid(True, color=GRID, linewidth=0.7)
    axes.set_axisbelow(True)


def name_axes(axes: Any, x: str, y: str, title: str = "") -> None:
    axes.set_xlabel(x, fontsize=9, color=INK)
    axes.set_ylabel(y, fontsize=9, color=INK)
    if title:
        axes.set_title(title, fontsize=10, color=INK, loc="left", fontweight="bold")


def legend(axes: Any, **options: Any) -> None:
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        axes.legend(handles, labels, **({"fontsize": 7.5, "frameon": False, "loc": "best"} | options))


def shared_legend(figure: Any, entries: dict[str, dict[str, Any]], **options: Any) -> None:
    """One legend for all panels, outside of them: names with the style of their line or mark."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], label=name, **style) for name, style in entries.items()]
    columns = min(len(handles), int(figure.get_figwidth() / 1.5))  # a name takes up to so many inches
    usual = {"loc": "outside lower center", "ncols": columns, "fontsize": 8.5, "frameon": False}
    figure.legend(handles=handles, labelcolor=INK, **(usual | options))


def save_figure(figure: Any, folder: Path, name: str) -> None:
    """Write a figure as SVG and PNG; the same figure gives the same bytes."""
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
        for ending, metadata in (("svg", {"Date": None}), ("png", {"Software": None})):
            with replacing_file(folder / f"{name}.{ending}") as sibling:
                figure.savefig(sibling, format=ending, metadata=metadata, facecolor=PAPER)
