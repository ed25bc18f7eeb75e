"""Our default beside the strongest of all other methods, network by network: is it ever below?"""

from __future__ import annotations

from statistics import fmean
from typing import NamedTuple

from coembed.reproduce.networks import TITLES
from coembed.reproduce.page import Plain
from coembed.reproduce.plan import TABLES
from coembed.reproduce.results import Results
from coembed.reproduce.rows import ROWS, Group, tuned
from coembed.reproduce.statistics import LEVEL, holm, mean_gain, paired_test

OURS = "scan-best"
METRICS = {"table1": "accuracy", "table2": "auc", "links": "auc"}
HEADINGS = {"table1": "classes, accuracy", "table2": "attributes, AUC", "links": "links, AUC"}


class Beside(NamedTuple):
    """The method that ours is least above, its mean and the difference over the seeds that both have, and
    the corrected p of that difference (None with too few common seeds)."""

    title: str
    mean: float
    gain: float
    p: float | None

    @property
    def significant(self) -> bool:
        return self.p is not None and self.p < LEVEL


def strongest(
    results: Results,
    experiment: str,
    network: str,
    ours: str = OURS,
    groups: tuple[Group, ...] = ("floor", "rival"),
) -> Beside | None:
    """Among the methods of some groups; None where there is nothing of ours or no other."""
    metric = METRICS[experiment]
    values = results.values(experiment, ours, network, metric)
    others = {
        row.title: theirs
        for each in ROWS[TABLES[experiment]]
        if each.group in groups
        for row in (each, tuned(each))
        if (theirs := results.values(experiment, row.name, network, metric)).keys() & values.keys()
    }
    if not others:
        return None
    p_values = {title: paired_test(values, theirs) for title, theirs in others.items()}
    tested = {title: p for title, p in p_values.items() if p is not None}
    corrected = dict(zip(tested, holm(list(tested.values())), strict=True))
    gains = {title: mean_gain(values, theirs) for title, theirs in others.items()}
    title = min(gains, key=lambda title: gains[title])
    mean = fmean(others[title][seed] for seed in others[title].keys() & values.keys())
    return Beside(title, mean, gains[title], corrected.get(title))


def beside_strongest(results: Results) -> Plain | None:
    """A line a network: the strongest other method of each task, and what ours is above it, in points."""
    lines = []
    for network, name in TITLES.items():
        cells = [_cell(strongest(results, experiment, network)) for experiment in TABLES]
        if any(cell != "-" for cell in cells):
            lines.append([name, *cells])
    return Plain(["", *(HEADINGS[experiment] for experiment in TABLES)], lines) if lines else None


def _cell(found: Beside | None) -> str:
    if found is None:
        return "-"
    sure = "*" if found.significant else ""
    return f"{found.title} {found.mean:.3f}: {100 * found.gain:+.1f}{sure}".replace(" 0.", " .")
