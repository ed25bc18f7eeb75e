"""The report's first page: what was reached, what was missed and why, what the paper claims."""

from __future__ import annotations

from collections.abc import Sequence

from coembed.experiments.benchmark_networks import PAPER, TITLES
from coembed.experiments.results import Results
from coembed.experiments.table_rows import rows_named
from coembed.report import report_texts
from coembed.report.claims import PRESETS, claims_table
from coembed.report.figures.scaling import measured_sizes
from coembed.report.render import number
from coembed.report.report_page import Block, Points
from coembed.report.result_tables import METRIC_TITLES, Gap, gaps
from coembed.report.statistics import mean_of, slope

FLOOR = "linear-views"
"""The simple method that is strongest in classification."""
LARGE = 20_000
"""Nodes from which on what is done once an epoch, whatever its size, no longer counts."""
UNSEEN = 3
"""Of these seeds on, nobody has seen a test figure before all settings were chosen."""


def summary_blocks(results: Results) -> list[Block]:
    blocks: list[Block] = [report_texts.PURPOSE]
    points = [*reached(results), *misses(results), *growth(results)]
    if points:
        blocks.append(Points(tuple(points)))
    claims = claims_table(results)
    if claims is not None:
        blocks += [report_texts.CLAIMS, claims]
    return blocks


def reached(results: Results) -> list[str]:
    """How many printed cells each preset reaches, and the floor that shows what that is worth."""
    points = []
    for row, title in reversed(PRESETS.items()):
        found = gaps(results, row)
        if found:
            points.append(
                f"**{title}** reaches or exceeds **{_at_least(found)} of {len(found)}** cells that the paper "
                "prints for its SCAN in Tables 1 and 2 (strict protocol; not rounded; micro F1, which is the "
                "accuracy, not counted again)."
            )
    floor = [gap for gap in gaps(results, FLOOR) if gap.table == "table1"]
    if floor:
        (simple,) = rows_named("classification", FLOOR)
        points.append(
            f"The floor *{simple.title}*, a logistic regression, does so in {_at_least(floor)} of "
            f"{len(floor)} cells of Table 1: printed values alone say little."
        )
    return points


def _at_least(found: list[Gap]) -> int:
    return sum(gap.difference >= 0 for gap in found)


def misses(results: Results) -> list[str]:
    """Every printed cell that a preset does not reach, those of one network together."""
    found: dict[tuple[str, str, str], list[Gap]] = {}
    for row, title in PRESETS.items():
        for gap in gaps(results, row):
            if gap.difference < 0:
                found.setdefault((title, gap.what, gap.network), []).append(gap)
    return [missed(title, together) for (title, _, _), together in found.items()]


def missed(title: str, together: Sequence[Gap]) -> str:
    """By how much printed values of a network are missed, and why, if that is known."""
    first = together[0]
    figures = ", ".join(
        f"{METRIC_TITLES[gap.metric]} {number(gap.ours.mean)} ± {number(gap.ours.std)} against "
        f"{number(gap.printed)} ({number(gap.difference, 4)})"
        for gap in together
    )
    reason = report_texts.REASONS.get((first.table, first.network))
    if all(abs(gap.difference) < gap.ours.std for gap in together):
        why = "less than the spread over seeds"
    else:
        why = f"the likely reason: {reason}" if reason else "why is not known"
    return f"Missed by {title}: {first.what}, {TITLES[first.network]}: {figures}; {why}."


def growth(results: Results) -> list[str]:
    """How an epoch grows with the network: over all sizes, and without the smallest."""
    points = []
    for row in PRESETS:
        sizes = measured_sizes(results, row)
        if len(sizes) > 2:
            power = slope(list(sizes), list(sizes.values()))
            text = (
                f"An epoch of preset {row.removeprefix('scan-')} grows with the size of the network to the "
                f"power **{power:.2f}** ({min(sizes):,.0f} to {max(sizes):,.0f} nodes"
            )
            large = {nodes: seconds for nodes, seconds in sizes.items() if nodes >= LARGE}
            if 2 < len(large) < len(sizes):
                text += f"; {slope(list(large), list(large.values())):.2f} from {LARGE:,} on"
            points.append(f"{text}).")
    return points


def unseen_seeds(results: Results) -> str:
    """Accuracy over the seeds whose test figures were seen by nobody before the settings were chosen."""
    parts = []
    for row, title in PRESETS.items():
        means = []
        for network in PAPER:
            values = results.values("table1", row, network, "accuracy")
            mean = mean_of({seed: value for seed, value in values.items() if seed >= UNSEEN})
            if mean:
                means.append(f"{TITLES[network]} {number(mean.mean)}")
        if means:
            parts.append(f"{title} {', '.join(means)}")
    return (
        f"{report_texts.PEEKED} Accuracy over seeds from {UNSEEN} on alone: {'; '.join(parts)}."
        if parts
        else ""
    )
