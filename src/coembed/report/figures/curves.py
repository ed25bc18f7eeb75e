"""Figures with a line: beta, label ratio, training; the paper's curves faintly behind."""

from __future__ import annotations

from typing import Any

from coembed.experiments.benchmark_networks import TITLES
from coembed.experiments.plan import FIGURE_NETWORK, USUAL_RATIO
from coembed.experiments.results import Results
from coembed.maps.figure_style import (
    INK,
    OURS,
    PAPER,
    PRINTED,
    colour_of,
    legend,
    name_axes,
    new_figure,
    shared_legend,
)
from coembed.report.printed import BETA_CURVES, LABEL_CURVES
from coembed.report.statistics import Mean, mean_of

MARKS: dict[str, dict[str, Any]] = {
    "auc": {"marker": "o"},
    "ap": {"marker": "s", "markerfacecolor": PAPER, "linestyle": (0, (1, 1))},
}
"""Colours of curves mean presets, here as elsewhere, so metrics differ by mark and line."""

DASHES = (0, (4, 2))
LOSSES = {"loss": "-", "links": "--", "attributes": ":", "classification": "-."}


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
        **({"linestyle": DASHES, "marker": "o", "markersize": 3, "linewidth": 1.2} | style),
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
                    draw_printed(panel, curve, f"{metric.upper()}, printed", **(mark | {"linestyle": DASHES}))
                points = _points(results, "beta", f"scan-paper-{task}", network, metric)
                if points:
                    draw_means(panel, points, f"{metric.upper()}, ours", OURS["scan-paper"], **mark)
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
            if points:
                points |= _usual_point(results, row, network, metric)
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
    for panel, network in zip(axes, networks, strict=False):
        for row, colour in OURS.items():
            curves = _curves(results, row, network)
            for part in LOSSES:
                if part in curves:
                    curve = curves[part]
                    panel.plot(curve["epoch"], curve["value"], color=colour, **_loss_style(part))
        panel.set_yscale("log")
        panel.yaxis.set_major_formatter("{x:g}")
        panel.yaxis.set_minor_formatter("")
        name_axes(panel, "epoch", "loss and its parts", TITLES[network])
    presets = {f"preset {row.removeprefix('scan-')}": {"color": colour} for row, colour in OURS.items()}
    parts = {part: {"color": INK} | _loss_style(part) for part in LOSSES}
    shared_legend(figure, presets | parts)
    return figure


def _loss_style(part: str) -> dict[str, Any]:
    return {"linestyle": LOSSES[part], "linewidth": 1.5 if part == "loss" else 1}


def _curves(results: Results, row: str, network: str) -> dict[str, Any]:
    return results.cells("table1", row, network).get(0, {}).get("details", {}).get("curves", {})


def _usual_point(results: Results, row: str, network: str, metric: str) -> dict[float, Mean]:
    """The point that the classification table has, over the seeds of the others: more would make a kink."""
    places = results.places("labels", row, network)
    seeds = {seed for at in places for seed in results.values("labels", row, network, metric, at=at)}
    values = results.values("table1", row, network, metric)
    usual = mean_of({seed: value for seed, value in values.items() if seed in seeds})
    return {USUAL_RATIO: usual} if usual else {}


def _points(results: Results, experiment: str, row: str, network: str, metric: str) -> dict[float, Mean]:
    found = {
        at: mean_of(results.values(experiment, row, network, metric, at=at))
        for at in results.places(experiment, row, network)
    }
    return {at: mean for at, mean in found.items() if mean is not None}
