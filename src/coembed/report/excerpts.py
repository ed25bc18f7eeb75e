"""Short tables for pages that people write by hand: filled in between two marks, from the same records."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

from coembed.errors import InputError
from coembed.experiments.benchmark_networks import PAPER, TITLES
from coembed.experiments.plan import TABLES
from coembed.experiments.record_file import Record
from coembed.experiments.results import Results
from coembed.experiments.table_rows import ROWS
from coembed.files import replacing_file
from coembed.report.render import markdown, number, plain_markdown
from coembed.report.report_page import Plain
from coembed.report.result_tables import comparison
from coembed.report.statistics import mean_of
from coembed.report.strongest_rivals import below_others, beside_strongest

_Columns = tuple[tuple[str, str, tuple[str, ...]], ...]
"""Of each its title, the experiment, and figures of its records: metrics, or places in the details."""


def _both(scores: str, metric: str) -> tuple[str, str]:
    """A figure of the scores that know of the variances, and of those at the means."""
    return f"{scores}/expected/{metric}", f"{scores}/means/{metric}"


_ANSWERS: _Columns = (
    ("accuracy DIS / SVM", "table1", ("accuracy", "svm_accuracy")),
    ("macro F1", "table1", ("macro_f1",)),
    ("calib. error", "table1", ("ece",)),
    ("attr. AUC / AP", "table2", ("auc", "ap")),
    ("matched", "table2", ("auc_matched",)),
    ("recall@10", "table2", ("recall_at_10",)),
    ("links AUC / AP", "links", ("auc", "ap")),
    ("matched", "links", ("auc_matched",)),
    ("recall@10", "links", ("recall_at_10",)),
)
_SURENESS: _Columns = (
    ("calibration error", "table1", ("ece",)),
    ("error detection AUROC", "table1", ("error_auroc",)),
    ("variance of a node with its links + attributes", "table1", ("variance/evidence/spearman",)),
    ("of an attribute with its owners", "table1", ("variance/owners/spearman",)),
    *(
        column
        for task, experiment in (("attributes", "table2"), ("links", "links"))
        for column in (
            (f"{task} AUC, expected / means", experiment, _both("as answered", "auc")),
            ("calibration error", experiment, _both("as answered", "ece")),
            ("the same of the model alone", experiment, _both("model alone", "ece")),
        )
    ),
)
_SPACE: _Columns = (
    ("attributes: recall@10 by cosine / answered", "table2", ("space_recall_at_10", "recall_at_10")),
    ("owners among the ten nearest", "table2", ("space_precision_at_10",)),
    ("mixing", "table2", ("space_mixing",)),
    ("AUC by cosine / answered", "table2", ("space_auc", "auc")),
    ("links: recall@10 by cosine / answered", "links", ("space_recall_at_10", "recall_at_10")),
    ("AUC by cosine / answered", "links", ("space_auc", "auc")),
)
_SETS: _Columns = tuple(
    (
        f"sets for .{promised[2:]}: cover / classes",
        "table1",
        (f"sets/{promised}/coverage", f"sets/{promised}/size"),
    )
    for promised in ("0.9", "0.95", "0.99")
)
_MARKED = re.compile(r"(<!-- cells: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def one_row(results: Results, row: str, columns: _Columns = _ANSWERS) -> Plain | None:
    """A method on every network, all tasks beside each other; None if nothing of it is there."""
    lines = []
    for network, title in TITLES.items():
        cells = [
            " / ".join(_mean(results, experiment, row, network, metric) for metric in metrics)
            for _, experiment, metrics in columns
        ]
        if any(set(cell) - {"-", " ", "/"} for cell in cells):
            lines.append([title, *cells])
    return Plain(["", *(name for name, _, _ in columns)], lines) if lines else None


def _mean(results: Results, experiment: str, row: str, network: str, metric: str) -> str:
    if "/" in metric:
        cells = results.cells(experiment, row, network)
        values = {seed: _detail(record, metric) for seed, record in cells.items()}
        mean = mean_of({seed: value for seed, value in values.items() if value is not None})
    else:
        mean = mean_of(results.values(experiment, row, network, metric))
    return number(mean.mean) if mean else "-"


def _detail(record: Record, place: str) -> float | None:
    found: Any = record.get("details", {})
    for name in place.split("/"):
        found = (found or {}).get(name)
    return found if found is None else float(found)


def _plain(table: Callable[[Results], Plain | None]) -> Callable[[Results], str]:
    def text(results: Results) -> str:
        found = table(results)
        return plain_markdown(found.headings, found.rows) if found else "Not measured yet."

    return text


def _row(name: str, columns: _Columns = _ANSWERS) -> Callable[[Results], str]:
    return _plain(lambda results: one_row(results, name, columns))


def _table(experiment: str, metrics: tuple[str, ...]) -> Callable[[Results], str]:
    def text(results: Results) -> str:
        networks = [name for name in (*PAPER, "cora") if name in results.networks(experiment)]
        return (
            markdown(comparison(results, experiment, metrics, networks, ""))
            if networks
            else "Not measured yet."
        )

    return text


def _seconds(results: Results) -> str:
    """Processor seconds of a fit of every rival, on the paper's networks."""
    lines = []
    for experiment, task in TABLES.items():
        for row in ROWS[task]:
            if row.group == "rival":
                cells = [_fit_seconds(results, experiment, row.name, network) for network in PAPER]
                if set(cells) != {"-"}:
                    lines.append([row.title, task, *cells])
    headings = ["", "task", *(TITLES[name] for name in PAPER)]
    return plain_markdown(headings, lines) if lines else "Not measured yet."


def _fit_seconds(results: Results, experiment: str, row: str, network: str) -> str:
    cells = results.cells(experiment, row, network).values()
    seconds = [record["seconds"]["fit_cpu"] for record in cells if "fit_cpu" in record["seconds"]]
    return f"{fmean(seconds):.0f}" if seconds else "-"


EXCERPTS: dict[str, Callable[[Results], str]] = {
    "best": _row("scan-best"),
    "sureness": _row("scan-best", _SURENESS),
    "space": _row("scan-best", _SPACE),
    "sets": _row("scan-best", _SETS),
    "beside": _plain(beside_strongest),
    "below": _plain(below_others),
    "fast": _row("scan-fast"),
    "fast-space": _row("scan-fast", _SPACE),
    "paper": _row("scan-paper"),
    "table1": _table("table1", ("accuracy", "macro_f1")),
    "table2": _table("table2", ("auc", "ap", "auc_matched")),
    "links": _table("links", ("auc", "ap", "auc_matched")),
    "seconds": _seconds,
}
"""By the name that a mark has."""


def refresh(page: Path, results: Results) -> bool:
    """Fill what stands between ``<!-- cells: NAME -->`` and ``<!-- end -->`` anew; whether there was any."""
    before = page.read_text(encoding="utf-8")

    def filled(found: re.Match[str]) -> str:
        if found[2] not in EXCERPTS:
            known = ", ".join(EXCERPTS)
            raise InputError(f"{page}: there is no excerpt {found[2]!r} of the cells; known: {known}")
        return f"{found[1]}{EXCERPTS[found[2]](results)}\n{found[3]}"

    after = _MARKED.sub(filled, before)
    if after != before:
        with replacing_file(page) as sibling:
            sibling.write_text(after, encoding="utf-8")
    return bool(_MARKED.search(before))
