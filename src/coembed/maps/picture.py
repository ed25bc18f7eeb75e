"""The map as a picture: items by class and type, attributes as marks, names, ellipses for uncertainty."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coembed.errors import InputError
from coembed.files import replacing_file
from coembed.fitted.class_answers import leading_classes
from coembed.maps.layout import TITLES, Layout, spreads
from coembed.maps.naming import INK, PAPER, Named, attribute_types, name_again, name_some, short
from coembed.maps.palette import COLOURS, MARKS, class_mark
from coembed.network.network import Network

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted
    from coembed.maps.figure_style import Picture

FORMATS = ("png", "svg", "pdf")
FAINT = "#8A8A8A"
_OTHER = (("s", "#5E4B8B"), ("D", "#8B5E3C"), ("^", "#3C7A8B"), ("v", "#7A7A3C"), ("P", "#8B3C5E"))
"""Mark and colour of the entities that are not drawn by class."""
_MARKS = dict(zip(MARKS, ("o", "s", "^", "D", "v", "P"), strict=True))
WIDENED = 0.15
"""Share of its extent by which the map grows on each side for the ellipses of what is named."""


def draw_map(
    fitted: Fitted,
    layout: Layout,
    path: str | os.PathLike[str],
    *,
    words: int = 40,
    names: int = 14,
    title: str = "",
) -> Path:
    """Draw a layout to a ``.png``, ``.svg`` or ``.pdf``; the file is there complete or not at all."""
    target = Path(path)
    check_picture(target)
    figure = map_figure(fitted, layout, words=words, names=names, title=title)
    with replacing_file(target) as sibling:
        # no date in the file: the same map gives the same bytes
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(target.suffix.lower()[1:])
        figure.savefig(sibling, format=target.suffix.lower()[1:], metadata=metadata, facecolor=PAPER)
    return target


def map_figure(
    fitted: Fitted, layout: Layout, *, words: int = 40, names: int = 14, title: str = ""
) -> Picture:
    """A layout as a figure.

    Parameters
    ----------
    words, names
        At most so many attributes and other items are named: the commonest and best linked that do not
        overlap.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from coembed.maps.figure_style import Picture

    figure = Picture(figsize=(12, 9), dpi=150, facecolor=PAPER)
    FigureCanvasAgg(figure)  # measures the names, whatever the format
    axes = figure.add_axes((0.02, 0.03, 0.755, 0.89))
    network = fitted.network
    size = float(np.clip(3.2e4 / max(len(network.items(coloured_type(network))), 1), 3, 26))
    _draw_attributes(axes, network, layout)
    legend = _draw_coloured(axes, fitted, layout, size)
    _draw_others(axes, network, layout, size)
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.03)
    figure.draw_without_rendering()  # settles the limits, so that names are measured where they will be
    named = name_some(figure, axes, fitted, layout, words, names)
    ellipses = _ellipses(fitted, layout, named)
    if _make_room(axes, *ellipses):
        figure.draw_without_rendering()
        named = name_again(figure, axes, named)
        ellipses = _ellipses(fitted, layout, named)
    for place, covariance in zip(*ellipses, strict=True):
        _draw_ellipse(axes, place, covariance)
    _explain(figure, fitted, layout, legend, title)
    return figure


def check_picture(path: Path) -> None:
    """Refuse a name of no known format; asked before the work, so that none is done in vain."""
    if path.suffix.lower().lstrip(".") not in FORMATS:
        raise InputError(f"{path} must end in .png, .svg or .pdf")


def coloured_type(network: Network) -> str:
    """The type whose classes are the colours of the map: the first that has classes, else the main one."""
    return (network.labelled_types or [network.main.name])[0]


def _other_types(network: Network) -> list[str]:
    """Entities that are not drawn by class."""
    return [name for name in network.entity_types if name != coloured_type(network)]


def _draw_attributes(axes: Any, network: Network, layout: Layout) -> None:
    style: dict[str, Any] = {"marker": "+", "s": 16, "linewidths": 0.7, "color": FAINT, "alpha": 0.8}
    for name in attribute_types(network):
        axes.scatter(*layout.places[name].T, zorder=2, **style)


def _draw_others(axes: Any, network: Network, layout: Layout, size: float) -> None:
    for i, name in enumerate(_other_types(network)):
        mark, colour = _OTHER[i % len(_OTHER)]
        style: dict[str, Any] = {"s": size, "linewidths": 0.8, "alpha": 0.7, "zorder": 1}
        axes.scatter(*layout.places[name].T, marker=mark, facecolor="none", edgecolor=colour, **style)


def _draw_coloured(axes: Any, fitted: Fitted, layout: Layout, size: float) -> list[Any]:
    """Items of every class, observed ones solid and rimmed; returns the handles of the legend."""
    from matplotlib.colors import to_rgb
    from matplotlib.lines import Line2D

    type = coloured_type(fitted.network)
    items, places, probabilities = (
        fitted.network.items(type),
        layout.places[type],
        fitted.probabilities_of(type),
    )
    if items.labels is None or not items.n_classes or probabilities is None:
        axes.scatter(*places.T, s=size, color=COLOURS[0], alpha=0.6, linewidths=0, zorder=1)
        return [Line2D([], [], marker="o", linestyle="", color=COLOURS[0], label=short(type, 24))]
    observed = items.labels.is_known
    classes = leading_classes(fitted, type, np.arange(len(items)))
    sureness = probabilities.max(axis=1)
    handles = []
    for k, name in enumerate(items.labels.classes):
        colour, mark = class_mark(k)[0], _MARKS[class_mark(k)[1]]
        free, seen = (classes == k) & ~observed, (classes == k) & observed
        # the paler, the less sure the model is
        tint = np.append(to_rgb(colour), 0)[None].repeat(free.sum(), axis=0)
        tint[:, 3] = 0.12 + 0.5 * sureness[free] ** 1.5
        axes.scatter(*places[free].T, s=size, c=tint, marker=mark, linewidths=0, zorder=1)
        axes.scatter(
            *places[seen].T,
            s=size * 1.6,
            facecolor=colour,
            edgecolor=INK,
            marker=mark,
            linewidths=0.6,
            zorder=3,
        )
        handles.append(Line2D([], [], marker=mark, linestyle="", color=colour, label=short(name, 24)))
    return handles


def _ellipses(fitted: Fitted, layout: Layout, named: list[Named]) -> tuple[np.ndarray, np.ndarray]:
    """Places and covariances of what is named."""
    rows = {
        type: np.array([each.row for each in named if each.type == type], dtype=np.int64)
        for type in fitted.network.types
    }
    places = np.vstack([layout.places[type][some] for type, some in rows.items()])
    return places, spreads(fitted, layout, rows)


def _make_room(axes: Any, places: np.ndarray, covariances: np.ndarray) -> bool:
    """Widen the axes until ellipses are whole, but never by much; whether that was needed."""
    if not len(places):
        return False
    reach = np.sqrt(np.maximum(np.einsum("nii->ni", covariances), 0))
    old = np.array([axes.get_xlim(), axes.get_ylim()]).T
    most = WIDENED * (old[1] - old[0])
    low = np.maximum(np.minimum(old[0], (places - reach).min(axis=0)), old[0] - most)
    high = np.minimum(np.maximum(old[1], (places + reach).max(axis=0)), old[1] + most)
    if np.allclose([low, high], old):
        return False
    # the one of both extents that is too short for the shape of the axes grows with the other
    box = axes.get_window_extent()
    scale = ((high - low) / (box.width, box.height)).max()
    middle, half = (low + high) / 2, scale * np.array([box.width, box.height]) / 2
    axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
    axes.set_ylim(middle[1] - half[1], middle[1] + half[1])
    return True


def _draw_ellipse(axes: Any, place: np.ndarray, covariance: np.ndarray) -> None:
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
    type = coloured_type(network)
    labelled = bool(network.items(type).n_classes)
    shapes = []
    if labelled:
        plain: dict[str, Any] = {"linestyle": "", "color": FAINT, "marker": "o"}
        shapes += [
            Line2D([], [], label="label known", markeredgecolor=INK, **plain),
            Line2D([], [], label="predicted, paler: less sure", alpha=0.4, markeredgewidth=0, **plain),
        ]
    for i, name in enumerate(_other_types(network)):
        mark, colour = _OTHER[i % len(_OTHER)]
        hollow: dict[str, Any] = {"markerfacecolor": "none", "markeredgecolor": colour, "linestyle": ""}
        shapes.append(Line2D([], [], label=short(name, 24), marker=mark, **hollow))
    if any(len(network.items(name)) for name in attribute_types(network)):
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
    heading = _heading(network, type) if labelled else None
    first = figure.legend(
        handles=shown,
        bbox_to_anchor=(0.78, 0.915),
        title=heading,
        alignment="left",
        title_fontsize=10.5,
        **style,
    )
    figure.add_artist(first)
    figure.legend(handles=shapes, bbox_to_anchor=(0.78, 0.89 - 0.031 * (len(shown) + 1)), **style)
    method = TITLES[layout.method]
    what = "nodes and attributes" if network.is_plain else "all items"
    figure.text(
        0.03, 0.955, title or f"{short(network.name, 60)}: {what} in one space", fontsize=15, color=INK
    )
    counts = [(len(items), name) for name, items in network.types.items()]
    if network.is_plain:
        counts = [(count, f"{name}s") for count, name in counts]
    sizes = ", ".join(f"{count:,} {short(name, 24)}" for count, name in counts[:6])
    sizes += f" and {len(counts) - 6} more types" if len(counts) > 6 else ""
    figure.text(
        0.03,
        0.93,
        f"{sizes}{_known_labels(network)}; {method} of their {fitted.code_dim} coordinates",
        fontsize=10,
        color=FAINT,
    )


def _known_labels(network: Network) -> str:
    """How many labels are known, of each type that has classes."""
    counts = [
        (len(items.labels.known), name)
        for name, items in network.types.items()
        if items.labels is not None and items.n_classes
    ]
    if len(counts) < 2:
        return "".join(f", {count:,} known labels" for count, _ in counts)
    return ", known labels of " + " and ".join(f"{count:,} {short(name, 24)}" for count, name in counts)


def _heading(network: Network, type: str) -> str:
    return "class" if network.is_plain else short(f"class of {type}", 24)
