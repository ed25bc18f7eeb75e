"""Our drawings of the general model, of SCAN and of its graphical model, for the documentation.

    python benchmarks/drawings.py -o docs/images

writes ``general-model``, ``model`` and ``graphical-model`` as SVG and PNG. Look at them after a change.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Ellipse, FancyArrowPatch, FancyBboxPatch, Rectangle, Wedge

from coembed.maps.figure_style import save_figure

INK, SOFT, LINE, WASH = "#1F2933", "#616E7C", "#CBD2D9", "#F5F7FA"
BLUE, ORANGE, GREEN, PINK, GREY = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#9AA5B1"
Point = tuple[float, float]

# the small network of the drawing; its matrices are computed from it
NODES = {0: (0.45, 4.5), 1: (1.15, 4.85), 2: (1.85, 4.35), 3: (0.75, 3.65), 4: (1.6, 3.4), 5: (1.1, 4.15)}
LINKS = ((0, 1), (0, 5), (1, 5), (1, 2), (2, 5), (3, 5), (3, 4), (2, 4), (0, 3))
WORDS = {"a": (0.55, 2.2), "b": (1.2, 1.95), "c": (1.85, 2.25)}
HAS = ((3, "a"), (0, "a"), (5, "b"), (4, "b"), (4, "c"), (2, "c"))
LABELLED = {0: ORANGE, 2: PINK, 4: PINK}


def canvas(width: float, height: float) -> tuple[Figure, Any]:
    """A figure whose one unit is an inch."""
    figure = Figure(figsize=(width, height), dpi=150, facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)
    axes.set_axis_off()
    return figure, axes


def text(axes: Any, x: float, y: float, words: str, size: float = 9, **style: Any) -> None:
    axes.text(x, y, words, **({"fontsize": size, "color": INK, "ha": "center", "va": "center"} | style))


def box(axes: Any, centre: Point, size: Point, title: str, formula: str = "", colour: str = BLUE) -> None:
    (x, y), (width, height) = centre, size
    axes.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - height / 2),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.1",
            facecolor=colour + "14",
            edgecolor=colour,
            linewidth=1.3,
        )
    )
    text(axes, x, y + (0.15 if formula else 0), title, 9.5, fontweight="bold")
    if formula:
        text(axes, x, y - 0.15, formula, 9)


def arrow(axes: Any, start: Point, end: Point, colour: str = SOFT, bend: float = 0.0, **style: Any) -> None:
    axes.add_patch(
        FancyArrowPatch(
            start,
            end,
            **(
                {
                    "arrowstyle": "-|>",
                    "mutation_scale": 11,
                    "color": colour,
                    "linewidth": 1.3,
                    "shrinkA": 0,
                    "shrinkB": 0,
                    "connectionstyle": f"arc3,rad={bend}",
                }
                | style
            ),
        )
    )


def draw_model() -> Figure:
    """From the network through three inference networks to one space, and back to links and attributes."""
    figure, axes = canvas(12.4, 6.0)
    _headings(axes)
    _network(axes)
    _inputs(axes)
    for y, title, formula, colour in (
        (4.35, "label network", r"$q(y \mid F^n)=\mathrm{softmax}(\ldots)$", ORANGE),
        (2.9, "node network", r"$q(z^n \mid F^n, y)=\mathcal{N}(\mu,\sigma^2)$", BLUE),
        (1.45, "attribute network", r"$q(z^a \mid F^a)=\mathcal{N}(\mu,\sigma^2)$", GREEN),
    ):
        box(axes, (5.45, y), (2.3, 0.85), title, formula, colour)
    arrow(axes, (3.75, 4.05), (4.27, 4.35), ORANGE)
    arrow(axes, (3.75, 3.75), (4.27, 2.95), BLUE)
    arrow(axes, (3.75, 1.45), (4.27, 1.45), GREEN)
    # a node's label, observed or sampled, enters its own network
    arrow(axes, (5.45, 3.9), (5.45, 3.36), ORANGE)
    text(axes, 5.56, 3.63, "y: observed, or a sample", 8, ha="left", color=SOFT)
    _space(axes)
    arrow(axes, (6.62, 4.2), (7.3, 3.75), ORANGE)
    arrow(axes, (6.62, 2.9), (7.25, 3.0), BLUE)
    arrow(axes, (6.62, 1.6), (7.3, 2.2), GREEN)
    for y, title, formula, colour in (
        (4.0, "links", r"$\mathrm{sigmoid}\,\langle c_i, c_j\rangle$", BLUE),
        (1.95, "attributes", r"$\mathrm{sigmoid}\,\langle c_i, z_a\rangle$", GREEN),
    ):
        box(axes, (11.2, y), (1.85, 0.85), title, formula, colour)
    arrow(axes, (9.72, 3.35), (10.25, 3.9), BLUE)
    arrow(axes, (9.72, 2.55), (10.25, 2.05), GREEN)
    text(
        axes,
        6.2,
        0.42,
        r"loss  =  $\beta\cdot$ links  +  $(1-\beta)\cdot$ attributes  +  $\alpha\cdot$ known labels,"
        "   links and attributes each with their share of the divergence from N(0, I)",
        9,
        color=SOFT,
    )
    return figure


def _headings(axes: Any) -> None:
    for x, words in (
        (1.2, "network"),
        (3.2, "inputs"),
        (5.45, "inference"),
        (8.5, "one space"),
        (11.2, "decoding"),
    ):
        text(axes, x, 5.6, words, 11, color=SOFT)
    axes.plot([0.3, 12.1], [5.35, 5.35], color=LINE, linewidth=1)


def _network(axes: Any) -> None:
    """A handful of nodes, three of them labelled, and words that they have."""
    for left, right in LINKS:
        axes.plot(*zip(NODES[left], NODES[right], strict=True), color=GREY, linewidth=1.1, zorder=1)
    for node, word in HAS:
        axes.plot(
            *zip(NODES[node], WORDS[word], strict=True),
            color=LINE,
            linewidth=1.1,
            linestyle=(0, (3, 2)),
            zorder=0,
        )
    for node, place in NODES.items():
        face = LABELLED.get(node, "white")
        axes.add_patch(Circle(place, 0.14, facecolor=face, edgecolor=INK, linewidth=1.1, zorder=2))
        if node not in LABELLED:
            text(axes, *place, "?", 8, color=SOFT, zorder=3)
        outwards = -0.17 if place[0] < 1.3 else 0.17  # away from the links
        text(axes, place[0] + outwards, place[1] + 0.15, str(node + 1), 6.5, color=SOFT)
    for word, place in WORDS.items():
        square = (place[0] - 0.13, place[1] - 0.13)
        axes.add_patch(
            Rectangle(square, 0.26, 0.26, facecolor="#CCECE3", edgecolor=GREEN, linewidth=1.1, zorder=2)
        )
        text(axes, *place, word, 8, zorder=3)
    text(axes, 1.2, 1.45, "links, attributes,\na few labels", 8.5, color=SOFT)


def adjacency() -> np.ndarray:
    """Links of the drawn network, both ways."""
    matrix = np.zeros((len(NODES), len(NODES)), dtype=bool)
    for left, right in LINKS:
        matrix[left, right] = matrix[right, left] = True
    return matrix


def attributes() -> np.ndarray:
    """Words of the drawn nodes."""
    matrix = np.zeros((len(NODES), len(WORDS)), dtype=bool)
    for node, word in HAS:
        matrix[node, list(WORDS).index(word)] = True
    return matrix


def _inputs(axes: Any) -> None:
    numbers, words = [str(node + 1) for node in NODES], list(WORDS)
    _matrix(axes, (2.65, 3.5), adjacency(), BLUE, "A", numbers, numbers)
    _matrix(axes, (3.4, 3.5), attributes(), GREEN, "X", [], words)
    text(axes, 3.2, 3.3, r"$F^n=[A\,;X]$", 9)
    _matrix(axes, (2.85, 1.3), attributes().T, GREEN, "", words, numbers)
    text(axes, 3.2, 1.1, r"$F^a=X^\top$", 9)
    arrow(axes, (2.12, 3.9), (2.45, 3.9), SOFT)
    arrow(axes, (2.12, 2.0), (2.65, 1.62), SOFT)


def _matrix(
    axes: Any,
    corner: Point,
    values: np.ndarray,
    colour: str,
    name: str,
    rows: list[str],
    columns: list[str],
) -> None:
    """A grid of cells with what its rows and columns stand for."""
    (left, bottom), side = corner, 0.115
    top = bottom + side * len(values)
    for (row, column), value in np.ndenumerate(values):
        place = (left + side * column, top - side * (row + 1))
        face = colour + "AA" if value else "white"
        axes.add_patch(Rectangle(place, side, side, facecolor=face, edgecolor=LINE, linewidth=0.5))
    for row, words in enumerate(rows):
        text(axes, left - 0.06, top - side * (row + 0.5), words, 5.5, color=SOFT)
    for column, words in enumerate(columns):
        text(axes, left + side * (column + 0.5), top + 0.06, words, 5.5, color=SOFT)
    text(axes, left + side * values.shape[1] / 2, top + 0.22, name, 9)


def _space(axes: Any) -> None:
    """Nodes and attributes as ellipses in one plane."""
    axes.add_patch(
        FancyBboxPatch(
            (7.3, 1.35),
            2.4,
            3.2,
            boxstyle="round,pad=0,rounding_size=0.12",
            facecolor=WASH,
            edgecolor=LINE,
            linewidth=1.2,
        )
    )
    for x, y, width, height, angle, colour in (
        (7.85, 3.95, 0.5, 0.3, 20, ORANGE),
        (8.3, 3.6, 0.42, 0.3, -20, ORANGE),
        (7.75, 3.35, 0.75, 0.5, 35, ORANGE),
        (9.1, 2.6, 0.42, 0.32, 10, PINK),
        (8.75, 2.15, 0.55, 0.3, -30, PINK),
        (9.2, 2.05, 0.8, 0.55, 25, PINK),
    ):
        axes.add_patch(
            Ellipse(
                (x, y), width, height, angle=angle, facecolor=colour + "33", edgecolor=colour, linewidth=1
            )
        )
        axes.add_patch(Circle((x, y), 0.045, facecolor=colour, edgecolor=INK, linewidth=0.5))
    for x, y, word in ((8.2, 4.15, "a"), (8.35, 2.95, "b"), (8.75, 2.65, "c")):
        axes.add_patch(Ellipse((x, y), 0.42, 0.3, facecolor=GREEN + "22", edgecolor=GREEN, linewidth=1))
        text(axes, x, y, word, 8)
    text(axes, 8.5, 1.55, r"node: $c_i=[z_i\,;y_i]$", 8.5, color=SOFT)


PEOPLE = (
    ("id", "income", "city", "likes", "segment"),
    ("ann", "21 000", "Lille", "chess; go", "saver"),
    ("bob", "", "Oslo", "go", ""),
    ("eve", "52 000", "Lille", "sailing", ""),
)
FILMS = (("id", "genre"), ("f1", "drama"), ("f2", ""), ("f3", "western"))
ANSWERS = (
    ("class", "bob: saver 0.81", ORANGE),
    ("cell", "bob: income 24 000 ± 6 000", BLUE),
    ("tag", "eve: go 0.32", GREEN),
    ("link", "ann saw f2 0.12", PINK),
    ("nearest", "sailing: eve, f3, income high", GREY),
)
"""Of a made-up network: what kinds of answers there are, not what a model says."""


def draw_general_model() -> Figure:
    """From tables with gaps to one space of all types, and to answers of every kind."""
    figure, axes = canvas(12.4, 5.4)
    for x, words in (
        (2.0, "tables, relations, a few labels"),
        (5.55, "views and inference"),
        (8.3, "one space"),
        (11.0, "answers"),
    ):
        text(axes, x, 5.05, words, 11, color=SOFT)
    axes.plot([0.3, 12.1], [4.8, 4.8], color=LINE, linewidth=1)
    _table(axes, (0.3, 4.4), PEOPLE, (0.5, 0.7, 0.6, 0.85, 0.75), "people", BLUE)
    _table(axes, (0.3, 1.75), FILMS, (0.5, 0.75), "films", PINK)
    arrow(axes, (0.9, 2.63), (0.9, 2.1), PINK, bend=0.2)
    text(axes, 1.05, 2.38, "saw (a table of pairs)", 8, ha="left", color=PINK)
    text(axes, 1.85, 1.1, "? is asked for; an empty cell\nis unknown, not zero", 8, ha="left", color=SOFT)
    for y, title, formula, colour in (
        (3.9, "labels", r"$q(y_t \mid F_t)$", ORANGE),
        (2.75, "items of each type", r"$q(z_t \mid F_t, y_t)=\mathcal{N}(\mu,\sigma^2)$", BLUE),
        (1.6, "attributes", r"$q(z_a \mid F_a)=\mathcal{N}(\mu,\sigma^2)$", GREEN),
    ):
        box(axes, (5.55, y), (2.3, 0.85), title, formula, colour)
        arrow(axes, (3.95, 2.75), (4.36, y), SOFT)
        arrow(axes, (6.72, y), (7.12, 2.75 + (y - 2.75) * 0.6), colour)
    text(axes, 5.55, 0.85, "F: own columns, means over relations,\nitems alike, labels around", 8, color=SOFT)
    _space_of_types(axes)
    for number, (title, example, colour) in enumerate(ANSWERS):
        y = 4.2 - 0.78 * number
        box(axes, (11.0, y), (2.15, 0.62), title, colour=colour)
        axes.texts[-1].set_position((11.0, y + 0.13))
        text(axes, 11.0, y - 0.13, example, 8)
        arrow(axes, (9.48, 2.75 + (y - 2.65) * 0.5), (9.88, y), colour)
    text(
        axes,
        6.2,
        0.3,
        "score of a pair  =  ⟨code, code⟩ + biases;  a likelihood for each relation and column:"
        "  Bernoulli, Gaussian, categorical, Poisson",
        9,
        color=SOFT,
    )
    return figure


def _table(
    axes: Any,
    corner: Point,
    rows: tuple[tuple[str, ...], ...],
    widths: tuple[float, ...],
    name: str,
    colour: str,
) -> None:
    (left, top), height = corner, 0.32
    text(axes, left, top + 0.13, name, 9, ha="left", color=colour, fontweight="bold")
    for line, row in enumerate(rows):
        x = left
        for words, width in zip(row, widths, strict=True):
            asked = line > 0 and not words
            face = colour + "22" if not line else "#FDF3DC" if asked else "white"
            cell = (x, top - height * (line + 1))
            axes.add_patch(Rectangle(cell, width, height, facecolor=face, edgecolor=LINE, linewidth=0.7))
            style = {"fontweight": "bold"} if not line else {"color": ORANGE if asked else INK}
            at = (x + width / 2, cell[1] + height / 2)
            text(axes, *at, "?" if asked else words, 8, **style)
            x += width


def _space_of_types(axes: Any) -> None:
    """People, films and attributes as ellipses in one plane."""
    axes.add_patch(
        FancyBboxPatch(
            (7.15, 1.0),
            2.3,
            3.5,
            boxstyle="round,pad=0,rounding_size=0.12",
            facecolor=WASH,
            edgecolor=LINE,
            linewidth=1.2,
        )
    )
    for x, y, width, height, words, colour in (
        (7.75, 4.0, 0.62, 0.36, "ann", BLUE),
        (7.95, 3.2, 0.95, 0.55, "bob", BLUE),
        (8.85, 1.95, 0.62, 0.4, "eve", BLUE),
        (8.5, 3.65, 0.55, 0.36, "f1", PINK),
        (8.3, 2.6, 0.85, 0.5, "f2", PINK),
        (9.05, 2.45, 0.55, 0.36, "f3", PINK),
        (8.75, 4.2, 0.6, 0.3, "chess", GREEN),
        (7.6, 3.6, 0.4, 0.28, "go", GREEN),
        (8.75, 3.15, 0.6, 0.3, "Lille", GREEN),
        (7.65, 2.45, 0.6, 0.3, "Oslo", GREEN),
        (8.1, 1.55, 0.78, 0.34, "sailing", GREEN),
        (8.85, 1.35, 1.05, 0.36, "income high", GREEN),
    ):
        axes.add_patch(Ellipse((x, y), width, height, facecolor=colour + "26", edgecolor=colour, linewidth=1))
        text(axes, x, y, words, 7.5)


def draw_graphical_model() -> Figure:
    """Left the generative model, right what infers it; shaded is observed, half shaded for some nodes."""
    figure, axes = canvas(10.6, 4.9)
    for left, title, generative in ((0.2, "generation", True), (5.5, "inference", False)):
        text(axes, left + 2.4, 4.6, title, 12, color=SOFT)
        _plates(axes, left)
        _variables(axes, left, generative)
    _key(axes)
    return figure


def _plates(axes: Any, left: float) -> None:
    for x, y, width, height, name, colour in (
        (left + 0.15, 1.0, 2.85, 3.25, "N nodes", BLUE),
        (left + 1.75, 0.75, 3.0, 1.75, "M attributes", GREEN),
    ):
        axes.add_patch(
            FancyBboxPatch(
                (x, y),
                width,
                height,
                boxstyle="round,pad=0,rounding_size=0.12",
                facecolor="none",
                edgecolor=colour,
                linewidth=1.1,
                alpha=0.8,
            )
        )
        if colour == BLUE:
            text(axes, x + 0.1, y + height - 0.17, name, 8.5, ha="left", color=colour)
        else:
            text(axes, x + width - 0.1, y + 0.15, name, 8.5, ha="right", color=colour)


def _variables(axes: Any, left: float, generative: bool) -> None:
    places = {
        "y": (left + 0.8, 3.5),
        "z": (left + 2.3, 3.5),
        "A": (left + 0.8, 1.75),
        "X": (left + 2.3, 1.75),
    }
    places["za"] = (left + 3.95, 1.75)
    names = {"y": r"$y_i$", "z": r"$z_i$", "A": r"$A_{ij}$", "X": r"$X_{ia}$", "za": r"$z_a$"}
    if generative:
        arrows = (("y", "A"), ("z", "A"), ("y", "X"), ("z", "X"), ("za", "X"))
    else:
        arrows = (("A", "y"), ("X", "y"), ("A", "z"), ("X", "z"), ("X", "za"), ("y", "z"))
    for start, end in arrows:
        _join(axes, places[start], places[end], BLUE if generative else ORANGE, dashed=not generative)
    for name, place in places.items():
        _circle(axes, place, names[name], {"A": 1.0, "X": 1.0, "y": 0.5}.get(name, 0.0))
    text(axes, left + 0.8, 1.24, "pairs i ≠ j", 8, color=SOFT)
    text(axes, left + 2.3, 1.24, "pairs i, a", 8, color=SOFT)


RADIUS = 0.32


def _join(axes: Any, start: Point, end: Point, colour: str, dashed: bool) -> None:
    step = np.subtract(end, start)
    unit = step / np.linalg.norm(step)
    arrow(
        axes,
        tuple(start + unit * RADIUS),
        tuple(end - unit * (RADIUS + 0.02)),
        colour,
        linestyle=(0, (4, 2)) if dashed else "-",
    )


def _circle(axes: Any, place: Point, name: str, observed: float) -> None:
    axes.add_patch(Circle(place, RADIUS, facecolor="white", edgecolor="none", zorder=3))
    if observed:
        axes.add_patch(
            Wedge(place, RADIUS, 270 - 180 * observed, 270 + 180 * observed, color="#D9DEE4", zorder=4)
        )
    axes.add_patch(Circle(place, RADIUS, facecolor="none", edgecolor=INK, linewidth=1.3, zorder=5))
    text(axes, *place, name, 12, zorder=6)


def _key(axes: Any) -> None:
    for x, observed, words in (
        (0.7, 1.0, "observed"),
        (2.3, 0.5, "observed for some nodes"),
        (5.0, 0.0, "latent"),
    ):
        place = (x, 0.33)
        axes.add_patch(Circle(place, 0.12, facecolor="white", edgecolor="none", zorder=3))
        if observed:
            axes.add_patch(
                Wedge(place, 0.12, 270 - 180 * observed, 270 + 180 * observed, color="#D9DEE4", zorder=4)
            )
        axes.add_patch(Circle(place, 0.12, facecolor="none", edgecolor=INK, linewidth=1, zorder=5))
        text(axes, x + 0.2, 0.33, words, 9, ha="left", color=SOFT)
    arrow(axes, (6.3, 0.33), (6.75, 0.33), BLUE)
    text(axes, 6.85, 0.33, "p: decoders", 9, ha="left", color=SOFT)
    arrow(axes, (8.2, 0.33), (8.65, 0.33), ORANGE, linestyle=(0, (4, 2)))
    text(axes, 8.75, 0.33, "q: inference networks", 9, ha="left", color=SOFT)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, required=True)
    folder = parser.parse_args().output
    save_figure(draw_general_model(), folder, "general-model")
    save_figure(draw_model(), folder, "model")
    save_figure(draw_graphical_model(), folder, "graphical-model")
