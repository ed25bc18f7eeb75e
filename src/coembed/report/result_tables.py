"""The tables of the report, as plain data: from records to marked cells, before any format."""

from __future__ import annotations

from dataclasses import dataclass, replace

from coembed.experiments.benchmark_networks import TITLES
from coembed.experiments.cell import BY_COSINE
from coembed.experiments.plan import TABLES
from coembed.experiments.results import Results
from coembed.experiments.table_rows import ROWS, Group, Row, tuned
from coembed.report.printed import printed
from coembed.report.statistics import BySeed, Mean, better_than_all, mean_of

METRIC_TITLES = {
    "macro_f1": "macro F1",
    "micro_f1": "micro F1",
    "accuracy": "ACC",
    "auc": "AUC",
    "ap": "AP",
    "auc_matched": "matched AUC",
    "ap_matched": "matched AP",
    "mrr": "MRR",
    "recall_at_10": "recall@10",
    "ndcg_at_10": "nDCG@10",
    "precision_at_10": "precision@10",
    "mixing": "mixing",
    "ece": "calib. error",
    "error_auroc": "error AUROC",
}
METRIC_TITLES |= {BY_COSINE + name: title for name, title in METRIC_TITLES.items()}
SMALLER_IS_BETTER = {"ece"}
TRIVIAL = {("majority", "ece")}
"""Methods and metrics that are not ranked: how common classes are is calibrated, and says nothing."""
DOMINANT_GROUPS: tuple[Group, ...] = ("rival", "floor")


@dataclass(frozen=True)
class Entry:
    """A cell of a table.

    Attributes
    ----------
    printed
        What the paper has here.
    place
        1 for the best of its column, 2 for the second best, else 0.
    mark
        † for significantly above every rival, ‡ also above every floor.
    """

    value: Mean | None = None
    printed: float | None = None
    place: int = 0
    mark: str = ""


@dataclass(frozen=True)
class Line:
    """A row of a table."""

    title: str
    group: Group
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Table:
    """Columns in groups (networks), and lines."""

    title: str
    note: str
    groups: tuple[str, ...]
    columns: tuple[str, ...]
    lines: tuple[Line, ...]

    def __bool__(self) -> bool:
        return bool(self.lines)

    @property
    def one_seed(self) -> bool:
        """Whether no figure is a mean of several seeds."""
        return all(entry.value.seeds == 1 for line in self.lines for entry in line.entries if entry.value)


@dataclass(frozen=True)
class Shown:
    """A row as a table shows it: of SCAN both classifiers are shown, from the same fit."""

    row: Row
    title: str
    prefix: str = ""


def shown_rows(results: Results, experiment: str, metrics: tuple[str, ...]) -> list[Shown]:
    """Rows in the order of a reader: floors, rivals, ours, the default last."""
    found = []
    known = results.rows(experiment)
    every = [
        each
        for row in ROWS[TABLES[experiment]]
        for each in (row, tuned(row))
        if each is row or each.name in known
    ]
    floors, rivals, ours = ([r for r in every if r.group == group] for group in ("floor", "rival", "ours"))
    for row in (*floors, *rivals, *reversed(ours)):
        if row.method == "scan" and experiment == "table1":
            preset = row.title.removeprefix("SCAN ")
            if not {"ece", "error_auroc"} & {*metrics}:
                found.append(Shown(row, f"SCAN_SVM {preset}", "svm_"))
            found.append(Shown(row, f"SCAN_DIS {preset}"))
        else:
            found.append(Shown(row, row.title))
    return found


def comparison(
    results: Results,
    experiment: str,
    metrics: tuple[str, ...],
    networks: list[str],
    title: str,
    note: str = "",
    protocol: str = "strict",
    ranked: bool = True,
) -> Table:
    """Rows by networks and metrics, with marks if they are ranked; rows without any number are left out."""
    shown = shown_rows(results, experiment, metrics)
    columns = [(network, metric) for network in networks for metric in metrics]
    entries = [_column(results, experiment, protocol, shown, network, metric) for network, metric in columns]
    if not ranked:
        entries = [[replace(entry, place=0, mark="") for entry in column] for column in entries]
    lines = [
        Line(each.title, each.row.group, tuple(column[place] for column in entries))
        for place, each in enumerate(shown)
        if any(column[place].value for column in entries)
    ]
    seeds = sorted({entry.value.seeds for line in lines for entry in line.entries if entry.value})
    counted = " to ".join(str(number) for number in dict.fromkeys((*seeds[:1], *seeds[-1:])))
    return Table(
        title,
        f"{note} Seeds a cell: {counted}.".strip(),
        tuple(TITLES[network] for network in networks),
        tuple(METRIC_TITLES[metric] for metric in metrics),
        tuple(lines),
    )


def _column(
    results: Results, experiment: str, protocol: str, shown: list[Shown], network: str, metric: str
) -> list[Entry]:
    sign = -1 if metric in SMALLER_IS_BETTER else 1
    values = [
        results.values(experiment, each.row.name, network, each.prefix + metric, protocol) for each in shown
    ]
    signed: list[BySeed] = [{seed: sign * v for seed, v in by_seed.items()} for by_seed in values]
    means = [mean_of(by_seed) for by_seed in values]
    # ties on the three digits that are shown share their place
    digits = [
        round(sign * mean.mean, 3) if mean and (each.row.method, metric) not in TRIVIAL else None
        for each, mean in zip(shown, means, strict=True)
    ]
    order = sorted({value for value in digits if value is not None}, reverse=True)
    entries = []
    for each, by_seed, mean, value in zip(shown, signed, means, digits, strict=True):
        place = 0 if value is None else order.index(value) + 1
        entries.append(
            Entry(
                mean,
                printed(experiment, each.row.name, network, each.prefix + metric),
                place if place <= 2 else 0,
                _mark(each, by_seed, shown, signed),
            )
        )
    return entries


def _mark(each: Shown, ours: BySeed, shown: list[Shown], values: list[BySeed]) -> str:
    if each.row.group != "ours":
        return ""
    rivals, floors = (
        [by_seed for other, by_seed in zip(shown, values, strict=True) if other.row.group == group]
        for group in DOMINANT_GROUPS
    )
    if better_than_all(ours, rivals + floors) and any(rivals):
        return "‡"
    return "†" if better_than_all(ours, rivals) else ""


@dataclass(frozen=True)
class Gap:
    """A printed value beside the mean of ours."""

    table: str
    network: str
    metric: str
    what: str
    ours: Mean
    printed: float

    @property
    def difference(self) -> float:
        """Ours minus theirs, to the last digit: a mean that only rounding lifts does not reach it."""
        return self.ours.mean - self.printed


def gaps(results: Results, row: str, protocol: str = "strict") -> list[Gap]:
    """The paper's SCAN, cell by cell, beside a row of its tables; any row will do.

    Micro F1 is left out: with one label a node it is the accuracy, and would be counted twice.
    """
    found = []
    for experiment, metrics in (("table1", ("macro_f1", "accuracy")), ("table2", ("auc", "ap"))):
        for prefix in ("", "svm_") if experiment == "table1" else ("",):
            for network in TITLES:
                for metric in metrics:
                    theirs = printed(experiment, "scan-best", network, prefix + metric)
                    own = prefix if row.startswith("scan") else ""  # others have one answer for both
                    mean = mean_of(results.values(experiment, row, network, own + metric, protocol))
                    if theirs is not None and mean:
                        name = "SCAN_SVM" if prefix else "SCAN_DIS" if experiment == "table1" else "SCAN"
                        found.append(Gap(experiment, network, metric, name, mean, theirs))
    return found
