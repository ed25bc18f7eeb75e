"""What the paper claims, and whether it holds here, preset by preset, from the records alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from coembed.experiments.benchmark_networks import PAPER, TITLES
from coembed.experiments.plan import FIGURE_NETWORK
from coembed.experiments.results import Results
from coembed.report.figures.calibration import spearman
from coembed.report.printed import TEN_EPOCHS
from coembed.report.render import number
from coembed.report.report_page import Plain
from coembed.report.statistics import mean_gain, mean_of
from coembed.report.strongest_rivals import strongest

PRESETS = {"scan-paper": "SCAN (paper)", "scan-best": "SCAN (best)"}

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


def verdict(holds: Mapping[str, bool], figures: Mapping[str, str]) -> str:
    """In a word whether something holds everywhere, somewhere or nowhere, and where it does how much.

    Examples
    --------
    >>> verdict({"Flickr": True, "Pubmed": False}, {"Flickr": "+2.0", "Pubmed": "-0.1"})
    'in part: Flickr +2.0, Pubmed -0.1'
    """
    if not holds:
        return ""
    word = "yes" if all(holds.values()) else "in part" if any(holds.values()) else "no"
    return f"{word}: " + ", ".join(f"{name} {figure}" for name, figure in figures.items())


def _above_rivals(experiment: str) -> Judge:
    def judge(results: Results, row: str) -> str:
        found = {
            TITLES[network]: best
            for network in PAPER
            if (best := strongest(results, experiment, network, row, ("rival",)))
        }
        return verdict(
            {name: best.gain > 0 for name, best in found.items()},
            {name: f"{100 * best.gain:+.1f} ({best.title})" for name, best in found.items()},
        )

    return judge


def _discriminator_above(results: Results, row: str) -> str:
    gains = {}
    for network in PAPER:
        by_discriminator = results.values("table1", row, network, "accuracy")
        by_svm = results.values("table1", row, network, "svm_accuracy")
        if by_discriminator and by_svm:
            gains[TITLES[network]] = mean_gain(by_discriminator, by_svm)
    return verdict(
        {name: gain > 0 for name, gain in gains.items()},
        {name: f"{100 * gain:+.1f}" for name, gain in gains.items()},
    )


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
    means = {
        name: mean.mean
        for name, (method, metric) in wanted.items()
        if (mean := mean_of(results.values("labels", method, FIGURE_NETWORK, metric, at=places[-1])))
    }
    if len(means) < len(wanted):
        return ""
    holds = {"first": means["DIS"] > means["SVM"], "second": means["SVM"] > means["Planetoid-T"]}
    return verdict(holds, {name: number(mean) for name, mean in means.items()}) + f" with {places[-1]:.0%}"


def _links_gain_attributes_lose(results: Results, row: str) -> str:
    holds, figures = {}, {}
    for task, sign in (("links", 1), ("attributes", -1)):
        name = f"{row}-{task}"
        places = results.places("beta", name, FIGURE_NETWORK)
        means = [mean_of(results.values("beta", name, FIGURE_NETWORK, "auc", at=at)) for at in places]
        if len(means) > 1 and means[0] and means[-1]:
            first, last = means[0].mean, means[-1].mean
            holds[task] = sign * (last - first) > 0
            figures[task] = f"{number(first)} to {number(last)}"
    return verdict(holds, figures)


def _less_evidence_more_variance(results: Results, row: str) -> str:
    ranks = {
        TITLES[network]: rank
        for network in PAPER
        if (rank := spearman(results, row, network, "attribute_count")) is not None
    }
    return verdict(
        {name: rank < 0 for name, rank in ranks.items()},
        {name: f"{rank:+.2f}" for name, rank in ranks.items()},
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
