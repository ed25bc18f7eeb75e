"""The map as a picture: nodes by class, attributes as marks, a few names, ellipses for the uncertainty."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coembed.errors import InputError
from coembed.network.atomic import replacing_file
from coembed.network.data import UNKNOWN
from coembed.result.layout import Layout, spreads

if TYPE_CHECKING:
    from coembed.result.fitted import Fitted

FORMATS = ("png", "svg", "pdf")
# Okabe and Ito's colours, told apart by nearly every eye; a second round of classes takes another mark
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8A500", "#6A6A6A")
MARKS = ("o", "s", "^", "D", "v", "P")
INK, PAPER, FAINT = "#222222", "#FFFFFF", "#8A8A8A"


def draw_map(
    fitted: Fitted,
    layout: Layout,
    path: str | os.PathLike[str],
    *,
    words: int = 40,
    names: int = 14,
    title: str = "",
) -> Path:
    """Draw a layout to a ``.png``, ``.svg`` or ``.pdf``; the file is there complete or not at all.

    Parameters
    ----------
    words, names
        At most so many attributes and nodes are named: the commonest and best linked that do not overlap.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    target = Path(path)
    check_picture(target)
    figure = Figure(figsize=(12, 9), dpi=150, facecolor=PAPER)
    FigureCanvasAgg(figure)  # measures the names, whatever the format
    axes = figure.add_axes((0.02, 0.03, 0.79, 0.89))
    size = float(np.clip(3.2e4 / max(fitted.network.n_nodes, 1), 3, 26))
    _draw_attributes(axes, layout)
    legend = _draw_nodes(axes, fitted, layout, size)
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.03)
    figure.draw_without_rendering()  # settles the limits, so that names are measured where they will be
    _name_some(figure, axes, fitted, layout, words, names)
    _explain(figure, fitted, layout, legend, title)
    with replacing_file(target) as sibling:
        # no date in the file: the same map gives the same bytes
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(target.suffix.lower()[1:])
        figure.savefig(sibling, format=target.suffix.lower()[1:], metadata=metadata, facecolor=PAPER)
    return target


def check_picture(path: Path) -> None:
    """Refuse a name of no known format; asked before the work, so that none is done in vain."""
    if path.suffix.lower().lstrip(".") not in FORMATS:
        raise InputError(f"{path} must end in .png, .svg or .pdf")


def _draw_attributes(axes: Any, layout: Layout) -> None:
    axes.scatter(*layout.attributes.T, marker="+", s=16, linewidths=0.7, color=FAINT, alpha=0.8, zorder=2)


def _draw_nodes(axes: Any, fitted: Fitted, layout: Layout, size: float) -> list[Any]:
    """Nodes of every class, observed ones solid and rimmed; returns the handles of the legend."""
    from matplotlib.lines import Line2D

    network = fitted.network
    if not network.n_classes:
        axes.scatter(*layout.nodes.T, s=size, color=COLOURS[0], alpha=0.6, linewidths=0, zorder=1)
        return [Line2D([], [], marker="o", linestyle="", color=COLOURS[0], label="node")]
    observed = network.labels != UNKNOWN
    classes = np.where(observed, network.labels, fitted.probabilities.argmax(axis=1))
    handles = []
    for k, name in enumerate(network.class_names):
        colour, mark = COLOURS[k % len(COLOURS)], MARKS[k // len(COLOURS) % len(MARKS)]
        free, seen = layout.nodes[(classes == k) & ~observed], layout.nodes[(classes == k) & observed]
        axes.scatter(*free.T, s=size, color=colour, marker=mark, alpha=0.38, linewidths=0, zorder=1)
        axes.scatter(
            *seen.T, s=size * 1.6, facecolor=colour, edgecolor=INK, marker=mark, linewidths=0.6, zorder=3
        )
        handles.append(Line2D([], [], marker=mark, linestyle="", color=colour, label=_short(name, 24)))
    return handles


def _name_some(figure: Any, axes: Any, fitted: Fitted, layout: Layout, words: int, names: int) -> None:
    """Name items from the weightiest on, wherever there is room, and give those named an ellipse."""
    from matplotlib.patheffects import withStroke

    network = fitted.network
    halo = [withStroke(linewidth=2.6, foreground=PAPER, alpha=0.9)]
    renderer = figure.canvas.get_renderer()
    room = axes.get_window_extent(renderer)
    taken: list[Any] = []
    named: list[list[int]] = []
    owners = np.bincount(network.attributes.indices, minlength=network.n_attributes)
    kinds = (
        (layout.nodes, _by_turns(fitted), network.node_names, names, {"weight": "bold", "fontsize": 8.5}),
        (
            layout.attributes,
            np.argsort(-owners, kind="stable"),
            network.attribute_names,
            words,
            {"style": "italic", "fontsize": 8.5},
        ),
    )
    for places, order, texts, most, style in kinds:
        chosen: list[int] = []
        for i in order[: 25 * most]:
            if len(chosen) == most:
                break
            text = axes.annotate(
                _short(texts[i], 22),
                places[i],
                (4, 4),
                textcoords="offset points",
                color=INK,
                zorder=6,
                **style,
            )
            text.set_path_effects(halo)
            box = text.get_window_extent(renderer).padded(5)
            inside = box.x1 < room.x1 and box.y1 < room.y1
            if not inside or any(box.overlaps(other) for other in taken):
                text.remove()
            else:
                taken.append(box)
                chosen.append(int(i))
        named.append(chosen)
    nodes, attributes = (np.array(chosen, dtype=np.int64) for chosen in named)
    places = np.vstack([layout.nodes[nodes], layout.attributes[attributes]])
    for place, covariance in zip(places, spreads(fitted, layout, nodes, attributes), strict=True):
        _ellipse(axes, place, covariance)


def _by_turns(fitted: Fitted) -> np.ndarray:
    """Nodes from the best linked on, one of every class in turn: no class takes all the names."""
    degrees = np.diff(fitted.network.links.indptr)
    order = np.argsort(-degrees, kind="stable")
    if not fitted.network.n_classes:
        return order
    labels = fitted.network.labels
    classes = np.where(labels != UNKNOWN, labels, fitted.probabilities.argmax(axis=1))[order]
    turn = np.empty(len(order), dtype=np.int64)
    for k in range(fitted.network.n_classes):
        turn[classes == k] = np.arange(np.count_nonzero(classes == k))
    return order[np.argsort(turn, kind="stable")]


def _ellipse(axes: Any, place: np.ndarray, covariance: np.ndarray) -> None:
    from matplotlib.patches import Ellipse

    variances, directions = np.linalg.eigh(covariance)
    width, height = 2 * np.sqrt(np.maximum(variances, 0))
    angle = float(np.degrees(np.arctan2(directions[1, 0], directions[0, 0])))
    axes.add_patch(
        Ellipse(
            (float(place[0]), float(place[1])),
            width,
            height,
            angle=angle,
            facecolor=INK,
            edgecolor=INK,
            alpha=0.08,
            lw=0.8,
            zorder=4,
        )
    )


def _explain(figure: Any, fitted: Fitted, layout: Layout, classes: list[Any], title: str) -> None:
    from matplotlib.lines import Line2D

    network = fitted.network
    shapes = []
    if network.n_classes:
        plain: dict[str, Any] = {"linestyle": "", "color": FAINT, "marker": "o"}
        shapes += [
            Line2D([], [], label="label known", markeredgecolor=INK, **plain),
            Line2D([], [], label="label predicted", alpha=0.4, markeredgewidth=0, **plain),
        ]
    if network.n_attributes:
        shapes.append(Line2D([], [], label="attribute", linestyle="", color=FAINT, marker="+"))
    shapes.append(
        Line2D(
            [],
            [],
            label="one standard deviation",
            linestyle="",
            color=INK,
            marker="o",
            markersize=13,
            alpha=0.13,
        )
    )
    style: dict[str, Any] = {"frameon": False, "fontsize": 9.5, "loc": "upper left", "labelspacing": 0.7}
    shown = classes[:24]
    heading = "class" if network.n_classes else None
    first = figure.legend(
        handles=shown,
        bbox_to_anchor=(0.815, 0.915),
        title=heading,
        alignment="left",
        title_fontsize=10.5,
        **style,
    )
    figure.add_artist(first)
    figure.legend(handles=shapes, bbox_to_anchor=(0.815, 0.89 - 0.031 * (len(shown) + 1)), **style)
    method = {"pca": "PCA", "tsne": "t-SNE"}[layout.method]
    figure.text(
        0.03, 0.955, title or f"{network.name}: nodes and attributes in one space", fontsize=15, color=INK
    )
    sizes = f"{network.n_nodes:,} nodes, {network.n_attributes:,} attributes"
    known = f", {len(network.labelled):,} known labels" if network.n_classes else ""
    figure.text(
        0.03,
        0.93,
        f"{sizes}{known}; {method} of their {fitted.code_dim} coordinates",
        fontsize=10,
        color=FAINT,
    )


def _short(text: str, most: int) -> str:
    # a dollar sign would start a formula
    text = str(text).replace("$", r"\$")
    return text if len(text) <= most else text[: most - 1] + "…"
