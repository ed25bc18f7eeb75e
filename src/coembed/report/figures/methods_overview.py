"""All methods at a glance: a dot each, the printed value beside it."""

from __future__ import annotations

from typing import Any, NamedTuple

from coembed.experiments.benchmark_networks import PAPER, TITLES
from coembed.experiments.results import Results
from coembed.maps.figure_style import FAINT, INK, OURS, PRINTED, name_axes, new_figure, shared_legend
from coembed.report.printed import printed
from coembed.report.render import number
from coembed.report.result_tables import Shown, shown_rows
from coembed.report.statistics import Mean, mean_of

COLOURS = {"ours": OURS["scan-best"], "rival": "#E69F00", "floor": FAINT}
PANELS = (("table1", "accuracy", "accuracy"), ("table2", "auc", "AUC of hidden attributes"))
DOT = {"linestyle": "", "marker": "o", "markersize": 5}
CROSS = {"linestyle": "", "marker": "x", "markersize": 6, "markeredgewidth": 1.8, "color": PRINTED}
LEFT_OUT = {"majority"}
"""Far below everything; the tables have it."""


class Entry(NamedTuple):
    """One method on one network: measured, and as the paper has it."""

    mean: Mean | None
    theirs: float | None
    colour: str


def overview_figure(results: Results) -> Any:
    """Classification above, attributes below; a column for each of the paper's networks."""
    panels = [panel for panel in PANELS if results.networks(panel[0])]
    networks = [name for name in PAPER if any(name in results.networks(panel[0]) for panel in panels)]
    networks = networks or results.networks("table1")
    if not panels or not networks:
        return None
    figure, axes = new_figure(len(networks), len(panels), width=3.6, height=4.3, sharey="row")
    clipped = False
    for row, (experiment, metric, title) in enumerate(panels):
        shown = [
            each
            for each in shown_rows(results, experiment, (metric,))
            if each.row.name not in LEFT_OUT
            and any(results.values(experiment, each.row.name, n, each.prefix + metric) for n in networks)
        ]
        for column, network in enumerate(networks):
            panel = axes[row * len(networks) + column]
            entries = [_entry(results, experiment, each, network, metric) for each in shown]
            clipped |= _draw(panel, entries)
            panel.set_yticks(range(len(shown)), [each.title for each in shown], fontsize=7.5)
            panel.grid(False, axis="y")
            name_axes(panel, title, "", TITLES[network])
    _legend(figure, clipped)
    return figure


def lower_limit(means: list[float], highest: float) -> float:
    """Where an axis starts at the lowest: the best four fifths of the methods take a third of it.

    Examples
    --------
    >>> round(lower_limit([0.3, 0.7, 0.75, 0.8, 0.85], highest=0.85), 6)
    0.4
    """
    weakest = sorted(means)[len(means) // 5]
    return highest - 3 * (highest - weakest)


def _entry(results: Results, experiment: str, each: Shown, network: str, metric: str) -> Entry:
    name = each.prefix + metric
    mean = mean_of(results.values(experiment, each.row.name, network, name))
    return Entry(mean, printed(experiment, each.row.name, network, name), COLOURS[each.row.group])


def _draw(panel: Any, entries: list[Entry]) -> bool:
    """A dot with its bar, a cross above it, at the edge the numbers of what is further left; any there?"""
    means = [entry.mean.mean for entry in entries if entry.mean]
    known = means + [entry.theirs for entry in entries if entry.theirs is not None]
    # of fewer than five none is left out
    limit = lower_limit(means, max(known)) if len(means) >= 5 else min(known, default=0.0)
    clipped = False
    for place, (mean, theirs, colour) in enumerate(entries):
        beyond = []
        if mean and mean.mean >= limit:
            panel.errorbar(mean.mean, place, xerr=mean.std, color=colour, elinewidth=1.2, **DOT)
        elif mean:
            beyond.append((mean.mean, colour))
        if theirs is not None and theirs >= limit:
            panel.plot(theirs, place, zorder=4, **CROSS)
        elif theirs is not None:
            beyond.append((theirs, PRINTED))
        _arrows(panel, place, beyond)
        clipped |= bool(beyond)
    if clipped:  # room for the numbers, so that no dot lies on one
        left, right = panel.get_xlim()
        panel.set_xlim(left - 0.15 * (right - left), right)
    return clipped


def _arrows(panel: Any, place: int, beyond: list[tuple[float, str]]) -> None:
    for order, (value, colour) in enumerate(beyond):
        panel.annotate(
            f"◂ {number(value)}",
            (0, place),
            (3 + 27 * order, 0),
            xycoords=panel.get_yaxis_transform(),
            textcoords="offset points",
            fontsize=6.5,
            va="center",
            color=colour,
        )


def _legend(figure: Any, clipped: bool) -> None:
    names = {"ours": "this package", "rival": "rivals", "floor": "floors"}
    dots = {name: DOT | {"color": COLOURS[group]} for group, name in names.items()}
    arrow = {"linestyle": "", "marker": "$◂$", "markersize": 5, "color": INK}
    others = {"printed in the paper": CROSS} | ({"left of the axis": arrow} if clipped else {})
    shared_legend(figure, dots | others, loc="outside upper center")
