"""What the paper claims, and whether it holds here, preset by preset, from the records alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from coembed.experiments.benchmark_networks import PAPER, TITLES
from coembed.experiments.plan import FIGURE_NETWORK
from coembed.experiments.results import Results
from coembed.report.figures.calibration import spearman
from coembed.report.printed import TEN_EPOCHS
from coembed.report.render import number
from coembed.report.report_page import Plain
from coembed.report.statistics import LEVEL, BySeed, mean_gain, mean_of, paired_test
from coembed.report.strongest_rivals import strongest

PRESETS = {"scan-paper": "SCAN (paper)", "scan-best": "SCAN (best)"}

MARGIN = 0.005
"""Half a point: a smaller difference is none, however often it was seen."""
WEAK = 0.1
"""A rank correlation nearer to zero says nothing, however many nodes it is of."""

Judge = Callable[[Results, str], str]
"""Of a row of ours: whether the claim holds, with the figures; empty where they are missing."""


def claims_table(results: Results) -> Plain | None:
    """A line a claim, a column a preset; None without any figures."""
    lines = []
    for claim, judge in CLAIMS.items():
        cells = [judge(results, row) or "-" for row in PRESETS]
        if set(cells) != {"-"}:
            lines.append([claim, *cells])
    return Plain(["the paper says", *PRESETS.values()], lines) if lines else None


class Finding(NamedTuple):
    """What is seen at one place: 1 as claimed, -1 the contrary, 0 too little to tell; and the figures."""

    sign: int
    figures: str


def verdict(found: Mapping[str, Finding]) -> str:
    """In a word whether a claim holds everywhere, somewhere or nowhere, and the figures of every place.

    Examples
    --------
    >>> verdict({"Flickr": Finding(1, "+2.0"), "Pubmed": Finding(0, "+0.1")})
    'in part: Flickr +2.0, Pubmed +0.1 (not clear)'
    """
    if not found:
        return ""
    signs = [each.sign for each in found.values()]
    word = (
        "yes" if min(signs) > 0 else "in part" if max(signs) > 0 else "no" if max(signs) < 0 else "not shown"
    )
    unclear = {1: "", -1: "", 0: " (not clear)"}
    return f"{word}: " + ", ".join(
        f"{name} {each.figures}{unclear[each.sign]}" for name, each in found.items()
    )


def clear_sign(gain: float, p: float | None) -> int:
    """Of a difference: its sign, but only if it is large enough to matter and more than luck.

    Examples
    --------
    >>> clear_sign(0.02, 0.001), clear_sign(-0.02, 0.001), clear_sign(0.001, 0.001), clear_sign(0.02, None)
    (1, -1, 0, 0)
    """
    return 0 if p is None or p >= LEVEL or abs(gain) < MARGIN else 1 if gain > 0 else -1


def _compared(ours: BySeed, theirs: BySeed) -> int:
    return clear_sign(mean_gain(ours, theirs), paired_test(ours, theirs))


def _above_rivals(experiment: str) -> Judge:
    def judge(results: Results, row: str) -> str:
        return verdict(
            {
                TITLES[network]: Finding(
                    clear_sign(best.gain, best.p), f"{100 * best.gain:+.1f} ({best.title})"
                )
                for network in PAPER
                if (best := strongest(results, experiment, network, row, ("rival",)))
            }
        )

    return judge


def _discriminator_above(results: Results, row: str) -> str:
    found = {}
    for network in PAPER:
        by_discriminator = results.values("table1", row, network, "accuracy")
        by_svm = results.values("table1", row, network, "svm_accuracy")
        if by_discriminator and by_svm:
            gain = mean_gain(by_discriminator, by_svm)
            found[TITLES[network]] = Finding(_compared(by_discriminator, by_svm), f"{100 * gain:+.1f}")
    return verdict(found)


def _most_labels(results: Results, row: str) -> str:
    """The order of the three at the largest share of labels."""
    places = results.places("labels", row, FIGURE_NETWORK)
    if not places:
        return ""
    wanted = {
        "DIS": (row, "accuracy"),
        "SVM": (row, "svm_accuracy"),
        "Planetoid-T": ("planetoid", "accuracy"),
    }
    values = {
        name: results.values("labels", method, FIGURE_NETWORK, metric, at=places[-1])
        for name, (method, metric) in wanted.items()
    }
    means = {name: mean.mean for name, by_seed in values.items() if (mean := mean_of(by_seed))}
    if len(means) < len(wanted):
        return ""
    pairs = (("DIS", "SVM"), ("SVM", "Planetoid-T"))
    order = {
        f"{one} over {other}": Finding(
            _compared(values[one], values[other]), f"{number(means[one])}, {number(means[other])}"
        )
        for one, other in pairs
    }
    return verdict(order) + f" with {places[-1]:.0%}"


def _links_gain_attributes_lose(results: Results, row: str) -> str:
    found = {}
    for task, sign in (("links", 1), ("attributes", -1)):
        name = f"{row}-{task}"
        places = results.places("beta", name, FIGURE_NETWORK)
        if len(places) > 1:
            first, last = (
                results.values("beta", name, FIGURE_NETWORK, "auc", at=at) for at in (places[0], places[-1])
            )
            ends = [mean.mean for by_seed in (first, last) if (mean := mean_of(by_seed))]
            if len(ends) == 2:
                figures = " to ".join(number(mean) for mean in ends)
                found[task] = Finding(sign * _compared(last, first), figures)
    return verdict(found)


def _less_evidence_more_variance(results: Results, row: str) -> str:
    ranks = {
        TITLES[network]: rank
        for network in PAPER
        if (rank := spearman(results, row, network, "attribute_count")) is not None
    }
    return verdict(
        {
            name: Finding(0 if abs(rank) < WEAK else 1 if rank < 0 else -1, f"{rank:+.2f}")
            for name, rank in ranks.items()
        }
    )


def _ten_epochs(results: Results, row: str) -> str:
    seconds = {
        TITLES[network]: 10 * found
        for network in TEN_EPOCHS
        if (found := results.values("scaling", row, network, "wall_per_epoch").get(0))
    }
    return ", ".join(f"{name} {value:.1f} s" for name, value in seconds.items())


CLAIMS: dict[str, Judge] = {
    "SCAN_DIS is above all four rivals (accuracy, points above the strongest)": _above_rivals("table1"),
    "SCAN_DIS is above SCAN_SVM (accuracy, points)": _discriminator_above,
    "SCAN is above all four rivals in attributes (AUC, points above the strongest)": _above_rivals("table2"),
    "links gain and attributes lose with beta (BlogCatalog, AUC from beta .1 to .9)": (
        _links_gain_attributes_lose
    ),
    "with more labels DIS is best and SVM second (BlogCatalog, accuracy)": _most_labels,
    "nodes with sparser features have larger variances (rank correlation with the number of attributes)": (
        _less_evidence_more_variance
    ),
    "ten epochs take 57 s on Flickr and 290 s on Pubmed": _ten_epochs,
}
"""In the order of the paper."""
