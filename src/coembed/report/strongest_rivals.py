"""Our default beside the strongest of all other methods, network by network: is it ever below?"""

from __future__ import annotations

from statistics import fmean
from typing import NamedTuple

from coembed.experiments.benchmark_networks import TITLES
from coembed.experiments.cell import BY_COSINE
from coembed.experiments.plan import TABLES
from coembed.experiments.results import Results
from coembed.experiments.table_rows import ROWS, Group, tuned
from coembed.report.render import number
from coembed.report.report_page import Plain
from coembed.report.result_tables import METRIC_TITLES
from coembed.report.statistics import LEVEL, holm, mean_gain, paired_test

OURS = "scan-best"
METRICS = {"table1": "accuracy", "table2": "auc", "links": "auc"}
_PAIRS = ("auc", "ap", "auc_matched", "ap_matched", "mrr", "recall_at_10", "ndcg_at_10")
_VECTORS = tuple(BY_COSINE + metric for metric in ("recall_at_10", "precision_at_10", "auc", "auc_matched"))
RANKED = {
    "classes": ("table1", ("accuracy", "macro_f1", "error_auroc")),
    "attributes": ("table2", _PAIRS),
    "links": ("links", _PAIRS),
    "attributes, vectors alone": ("table2", _VECTORS),
    "links, vectors alone": ("links", _VECTORS),
}
"""All figures of which more is better."""
BESIDE = {
    "classes, accuracy": ("table1", "accuracy"),
    "attributes, AUC": ("table2", "auc"),
    "links, AUC": ("links", "auc"),
    "attributes by cosine, recall@10": ("table2", BY_COSINE + "recall_at_10"),
}


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
    metric: str = "",
) -> Beside | None:
    """Among the methods of some groups, by the experiment's first metric or another; None without any."""
    metric = metric or METRICS[experiment]
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


def below_others(results: Results) -> Plain | None:
    """Every figure in which a floor or a rival is above ours; None if there is nothing to compare."""
    lines, compared = [], False
    for heading, (experiment, metrics) in RANKED.items():
        for network, name in TITLES.items():
            for metric in metrics:
                found = strongest(results, experiment, network, metric=metric)
                compared = compared or found is not None
                if found and found.gain < -0.0005:  # of three digits shown, the last may be rounding
                    ours = number(found.mean + found.gain) + ("*" if found.significant else "")
                    lines.append(
                        [name, heading, METRIC_TITLES[metric], found.title, number(found.mean), ours]
                    )
    headings = ["", "task", "figure", "method", "its mean", "ours"]
    return Plain(headings, lines or [["none", "", "", "", "", ""]]) if compared else None


def beside_strongest(results: Results) -> Plain | None:
    """A line a network: the strongest other method of each task, and what ours is above it, in points."""
    lines = []
    for network, name in TITLES.items():
        asked = BESIDE.values()
        cells = [_cell(strongest(results, table, network, metric=metric)) for table, metric in asked]
        if any(cell != "-" for cell in cells):
            lines.append([name, *cells])
    return Plain(["", *BESIDE], lines) if lines else None


def _cell(found: Beside | None) -> str:
    if found is None:
        return "-"
    sure = "*" if found.significant else ""
    return f"{found.title} {found.mean:.3f}: {100 * found.gain:+.1f}{sure}".replace(" 0.", " .")
