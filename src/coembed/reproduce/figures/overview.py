"""All methods at a glance: a dot each, the printed value beside it."""

from __future__ import annotations

from typing import Any

from coembed.reproduce.figures.style import FAINT, INK, OURS, PRINTED, name_axes, new_figure
from coembed.reproduce.networks import PAPER, TITLES
from coembed.reproduce.printed import printed
from coembed.reproduce.results import Results
from coembed.reproduce.statistics import mean_of
from coembed.reproduce.tables import shown_rows

COLOURS = {"ours": OURS["scan-best"], "rival": "#E69F00", "floor": FAINT}
PANELS = (("table1", "accuracy", "accuracy"), ("table2", "auc", "AUC of hidden attributes"))


def overview_figure(results: Results) -> Any:
    """Classification above, attributes below; a column for each of the paper's networks."""
    panels = [panel for panel in PANELS if results.networks(panel[0])]
    networks = [name for name in PAPER if any(name in results.networks(panel[0]) for panel in panels)]
    networks = networks or results.networks("table1")
    if not panels or not networks:
        return None
    figure, axes = new_figure(len(networks), len(panels), width=3.6, height=4.3, sharey="row")
    for row, (experiment, metric, title) in enumerate(panels):
        shown = [
            each
            for each in shown_rows(results, experiment, (metric,))
            if any(results.values(experiment, each.row.name, n, each.prefix + metric) for n in networks)
        ]
        for column, network in enumerate(networks):
            panel = axes[row * len(networks) + column]
            for place, each in enumerate(shown):
                mean = mean_of(results.values(experiment, each.row.name, network, each.prefix + metric))
                theirs = printed(experiment, each.row.name, network, each.prefix + metric)
                if theirs is not None:
                    panel.plot(theirs, place, "x", color=PRINTED, markersize=6, markeredgewidth=1.8)
                if mean:
                    colour = COLOURS[each.row.group]
                    panel.errorbar(
                        mean.mean, place, xerr=mean.std, fmt="o", color=colour, markersize=5, linewidth=1.2
                    )
            panel.set_yticks(range(len(shown)), [each.title for each in shown], fontsize=7.5)
            panel.grid(False, axis="y")
            name_axes(panel, title, "", TITLES[network])
    _legend(figure)
    return figure


def _legend(figure: Any) -> None:
    from matplotlib.lines import Line2D

    names = {"ours": "this package", "rival": "rivals", "floor": "floors"}
    handles = [
        Line2D([], [], linestyle="", marker="o", color=COLOURS[group], label=name)
        for group, name in names.items()
    ]
    handles.append(
        Line2D(
            [], [], linestyle="", marker="x", color=PRINTED, markeredgewidth=1.8, label="printed in the paper"
        )
    )
    figure.legend(
        handles=handles, loc="outside upper center", ncols=4, frameon=False, fontsize=8.5, labelcolor=INK
    )
