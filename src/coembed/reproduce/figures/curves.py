"""Figures with a line: beta, label ratio, training; the paper's curves faintly behind."""

from __future__ import annotations

from typing import Any

from coembed.reproduce.figures.style import (
    OURS,
    PRINTED,
    colour_of,
    legend,
    name_axes,
    new_figure,
)
from coembed.reproduce.networks import TITLES
from coembed.reproduce.plan import FIGURE_NETWORK, USUAL_RATIO
from coembed.reproduce.printed import BETA_CURVES, LABEL_CURVES
from coembed.reproduce.results import Results
from coembed.reproduce.statistics import Mean, mean_of

MARKS = {"auc": "o", "ap": "s"}


def draw_means(axes: Any, points: dict[float, Mean], label: str, colour: str, **style: Any) -> None:
    """A line through means, a band of one standard deviation around it."""
    x = sorted(points)
    mean = [points[at].mean for at in x]
    axes.plot(
        x, mean, label=label, color=colour, **({"marker": "o", "markersize": 4, "linewidth": 1.6} | style)
    )
    if any(point.std for point in points.values()):
        low, high = ([points[at].mean + sign * points[at].std for at in x] for sign in (-1, 1))
        axes.fill_between(x, low, high, color=colour, alpha=0.13, linewidth=0)


def draw_printed(axes: Any, curve: dict[float, float], label: str, **style: Any) -> None:
    axes.plot(
        list(curve),
        list(curve.values()),
        label=label,
        color=PRINTED,
        zorder=1,
        **({"linestyle": (0, (4, 2)), "marker": "o", "markersize": 3, "linewidth": 1.2} | style),
    )


def beta_figure(results: Results) -> Any:
    """One panel for links, one for attributes; a column a network."""
    tasks = {"links": "Links", "attributes": "Attributes"}
    networks = results.networks("beta")
    if not networks:
        return None
    figure, axes = new_figure(2, len(networks))
    for row, network in enumerate(networks):
        for column, (task, title) in enumerate(tasks.items()):
            panel = axes[2 * row + column]
            for metric, mark in MARKS.items():
                if network == FIGURE_NETWORK:
                    curve = BETA_CURVES[task, metric]
                    draw_printed(panel, curve, f"{metric.upper()}, printed", marker=mark)
                points = _points(results, "beta", f"scan-paper-{task}", network, metric)
                colour = OURS["scan-best"] if metric == "auc" else OURS["scan-paper"]
                if points:
                    draw_means(panel, points, f"{metric.upper()}, ours", colour, marker=mark)
            name_axes(panel, "beta: share of the links in the loss", "score", f"{title}, {TITLES[network]}")
            legend(panel)
    return figure


def labels_figure(results: Results) -> Any:
    """Accuracy of both classifiers, of Planetoid-T, and of the best linear floor."""
    networks = results.networks("labels")
    if not networks:
        return None
    figure, axes = new_figure(len(networks), 1, width=7.4, height=4.2)
    lines = (
        ("scan-best", "accuracy", "SCAN_DIS (best)", "-", "o"),
        ("scan-best", "svm_accuracy", "SCAN_SVM (best)", ":", "s"),
        ("scan-paper", "accuracy", "SCAN_DIS (paper)", "-", "o"),
        ("scan-paper", "svm_accuracy", "SCAN_SVM (paper)", ":", "s"),
        ("planetoid", "accuracy", "Planetoid-T", "-", "^"),
        ("linear-views", "accuracy", "linear, all views", "-", "D"),
    )
    for panel, network in zip(axes, networks, strict=True):
        if network == FIGURE_NETWORK:
            for (name, curve), mark in zip(LABEL_CURVES.items(), ("o", "s", "^"), strict=True):
                draw_printed(panel, curve, f"{name}, printed", marker=mark)
        for row, metric, title, dash, mark in lines:
            points = _points(results, "labels", row, network, metric)
            usual = mean_of(results.values("table1", row, network, metric))
            if points and usual:
                points[USUAL_RATIO] = usual
            if points:
                draw_means(panel, points, title, colour_of(row), linestyle=dash, marker=mark)
        name_axes(panel, "share of the nodes whose label is seen", "accuracy", TITLES[network])
        legend(panel, loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)
    return figure


def training_figure(results: Results) -> Any:
    """Loss of the first seed over its epochs, both presets, every network."""
    networks = [
        network
        for network in results.networks("table1")
        if any(_curves(results, row, network) for row in OURS)
    ]
    if not networks:
        return None
    columns = min(3, len(networks))
    figure, axes = new_figure(columns, -(-len(networks) // columns), width=3.8, height=2.9)
    for panel in axes[len(networks) :]:
        panel.set_axis_off()
    parts = {"loss": "-", "links": "--", "attributes": ":", "classification": "-."}
    for panel, network in zip(axes, networks, strict=False):
        for row, colour in OURS.items():
            for part, dash in parts.items():
                curve = _curves(results, row, network).get(part)
                if curve:
                    name = f"{row.removeprefix('scan-')}: {part}"
                    panel.plot(
                        curve["epoch"],
                        curve["value"],
                        color=colour,
                        linestyle=dash,
                        linewidth=1.5 if part == "loss" else 1,
                        label=name,
                    )
        panel.set_yscale("log")
        panel.yaxis.set_major_formatter("{x:g}")
        panel.yaxis.set_minor_formatter("")
        name_axes(panel, "epoch", "loss and its parts", TITLES[network])
    legend(axes[0], ncols=2, fontsize=6.5, columnspacing=1.0, handlelength=1.6)
    return figure


def _curves(results: Results, row: str, network: str) -> dict[str, Any]:
    return results.cells("table1", row, network).get(0, {}).get("details", {}).get("curves", {})


def _points(results: Results, experiment: str, row: str, network: str, metric: str) -> dict[float, Mean]:
    found = {
        at: mean_of(results.values(experiment, row, network, metric, at=at))
        for at in results.places(experiment, row, network)
    }
    return {at: mean for at, mean in found.items() if mean is not None}
