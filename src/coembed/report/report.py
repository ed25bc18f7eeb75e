"""From records to the report: tables, figures, what was reached and what was missed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from coembed.errors import InputError
from coembed.experiments.benchmark_networks import PAPER, TITLES
from coembed.experiments.cell import BY_COSINE
from coembed.experiments.plan import FIGURE_NETWORK, TABLES
from coembed.experiments.record_store import Store
from coembed.experiments.results import Results
from coembed.experiments.table_rows import ROWS
from coembed.experiments.tuning import Tuned, finished_studies
from coembed.files import replacing_file
from coembed.maps.figure_style import save_figure
from coembed.report import report_texts
from coembed.report.claims import PRESETS
from coembed.report.excerpts import one_row, refresh
from coembed.report.figures import FIGURES
from coembed.report.printed import DATASETS, TEN_EPOCHS, printed
from coembed.report.render import number
from coembed.report.report_page import Block, Picture, Plain, Points, Section, as_html, as_markdown
from coembed.report.result_tables import METRIC_TITLES, comparison, gaps
from coembed.report.statistics import mean_of
from coembed.report.strongest_rivals import beside_strongest
from coembed.report.summary import summary_blocks, unseen_seeds
from coembed.settings import Task

TITLE = "SCAN reproduced"
METRICS: dict[str, dict[str, tuple[tuple[str, ...], str]]] = {
    "table1": {
        "classes": (("macro_f1", "micro_f1", "accuracy"), ""),
        "how sure": (("ece", "error_auroc"), report_texts.CALIBRATION),
    },
    "table2": {
        "uniform negatives": (("auc", "ap"), report_texts.UNIFORM),
        "matched negatives": (("auc_matched", "ap_matched"), report_texts.MATCHED),
        "ranking": (("mrr", "recall_at_10", "ndcg_at_10"), report_texts.RANKING),
    },
}
METRICS["links"] = METRICS["table2"]
PROFILING = {
    "table2": ("recall_at_10", "precision_at_10", "mixing", "auc", "auc_matched"),
    "links": ("recall_at_10", "auc", "auc_matched"),
}
"""What is told of the vectors alone, in the records of these tables."""
HEADINGS = {
    "table1": "Node classification",
    "table2": "Attribute inference",
    "links": "Link prediction",
}


def write_report(folder: Path) -> list[Path]:
    """Make ``report.html``, ``report.md`` and the figures from the records of a folder; nothing is fitted.

    The same records give the same bytes. Other Markdown pages of the folder that have marks for excerpts
    are filled in, too.
    """
    results = Results.read(Store(folder))
    if not results.records:
        raise InputError(
            f"{folder} holds no finished cells; run an experiment first: coembed reproduce table1"
        )
    drawn = draw_figures(results, folder / "figures")
    sections = report_sections(results, drawn, finished_studies(folder / "tuning"))
    page, text = folder / "report.html", folder / "report.md"
    for path, content in (
        (page, as_html(TITLE, sections, folder / "figures")),
        (text, as_markdown(TITLE, sections)),
    ):
        with replacing_file(path) as sibling:
            sibling.write_text(content, encoding="utf-8")
    for other in sorted(folder.glob("*.md")):
        if other != text:
            refresh(other, results)
    return [page, text, *(folder / "figures" / f"{name}.svg" for name in drawn)]


def draw_figures(results: Results, folder: Path) -> list[str]:
    """Draw what the records suffice for; the names of what was drawn."""
    drawn = []
    for name, (_, draw) in FIGURES.items():
        figure = draw(results)
        if figure is not None:
            save_figure(figure, folder, name)
            drawn.append(name)
    return drawn


def report_sections(results: Results, drawn: list[str], tuned: Sequence[Tuned] = ()) -> list[Section]:
    """The report, block by block; sections without anything in them are left out."""
    sections = [
        Section("Summary", summary_blocks(results)),
        Section(
            "How to read the tables",
            [report_texts.STRICT, report_texts.MARKS, report_texts.PRESETS, Points(report_texts.WORDS)],
        ),
        Section("Overview", overview_blocks(results, drawn)),
        *(Section(HEADINGS[name], table_blocks(results, name, METRICS[name])) for name in TABLES),
        Section("User profiling", profiling_blocks(results)),
        Section("Sensitivity and cost", figure_blocks(results, drawn)),
        Section("What the uncertainty means", uncertainty_blocks(drawn)),
        Section("The published protocol", published_blocks(results)),
        Section("Tuning", tuning_blocks(tuned)),
        Section("Data sets", dataset_blocks(results)),
        Section("Remarks on the paper", [Points(report_texts.INCONSISTENT)]),
        Section("Rivals beside their printed values", rival_blocks(results)),
        Section("How this was made", made_blocks(results)),
    ]
    return [section for section in sections if section.blocks]


def overview_blocks(results: Results, drawn: list[str]) -> list[Block]:
    """Both presets over all tasks, and the default beside the strongest other method."""
    blocks: list[Block] = []
    for row, name in (("scan-best", "best, the default"), ("scan-paper", "paper")):
        table = one_row(results, row)
        if table is not None:
            blocks += [f"SCAN under preset {name}, strict protocol, means:", table]
    beside = beside_strongest(results)
    if beside is not None:
        blocks += [report_texts.BESIDE, beside]
    return blocks + pictures(drawn, {"overview": report_texts.OVERVIEW})


def table_blocks(
    results: Results, experiment: str, shown: Mapping[str, tuple[tuple[str, ...], str]]
) -> list[Block]:
    """All tables of an experiment under the strict protocol: the paper's networks, then the others."""
    there = results.networks(experiment)
    tables: list[Block] = []
    for name, (metrics, note) in shown.items():
        for networks in ([n for n in there if n in PAPER], [n for n in there if n not in PAPER]):
            where = "" if not networks or networks[0] in PAPER else ", other networks"
            table = comparison(
                results, experiment, metrics, networks, f"{HEADINGS[experiment]}: {name}{where}", note
            )
            if networks and table:
                tables.append(table)
    return tables


def profiling_blocks(results: Results) -> list[Block]:
    """What a database of the vectors would find."""
    blocks: list[Block] = []
    for experiment, metrics in PROFILING.items():
        by_cosine = tuple(BY_COSINE + metric for metric in metrics)
        blocks += table_blocks(results, experiment, {"by cosine alone": (by_cosine, "")})
    return [report_texts.PROFILING, *blocks] if blocks else []


def figure_blocks(results: Results, drawn: list[str]) -> list[Block]:
    captions = {
        "beta": report_texts.BETA,
        "labels": report_texts.LABELS,
        "map-tsne": report_texts.TSNE,
        "map-pca": report_texts.PCA,
        "scaling": report_texts.SCALING,
    }
    blocks = pictures(drawn, captions)
    rows = []
    for network, ten in TEN_EPOCHS.items():
        shown = [_ten_epochs(results, row, network) for row in PRESETS]
        if set(shown) != {"-"}:
            rows.append([TITLES[network], f"{ten:.0f} s", *shown])
    if rows:
        blocks.append(report_texts.TEN_EPOCHS)
        blocks.append(Plain(["", "the paper", *PRESETS.values()], rows))
    return blocks + pictures(drawn, {"training": report_texts.TRAINING})


def _ten_epochs(results: Results, row: str, network: str) -> str:
    record = results.cells("scaling", row, network).get(0)
    if record is None:
        return "-"
    epoch, before = record["metrics"]["wall_per_epoch"], record["metrics"]["setup_seconds"]
    return f"{10 * epoch:.1f} s (before: {before:.1f} s)"


def uncertainty_blocks(drawn: list[str]) -> list[Block]:
    return pictures(
        drawn,
        {
            "variance": report_texts.VARIANCE,
            "reliability": report_texts.RELIABILITY,
            "errors": report_texts.ERRORS,
        },
    )


def pictures(drawn: list[str], captions: dict[str, str]) -> list[Block]:
    return [Picture(name, FIGURES[name][0], caption) for name, caption in captions.items() if name in drawn]


def published_blocks(results: Results) -> list[Block]:
    tables: list[Block] = []
    shown = {"table1": METRICS["table1"]["classes"][0], "table2": ("auc", "ap"), "links": ("auc", "ap")}
    for experiment, metrics in shown.items():
        networks = results.networks(experiment, "published")
        table = comparison(
            results,
            experiment,
            metrics,
            networks,
            f"{HEADINGS[experiment]}, published protocol",
            protocol="published",
            ranked=False,
        )
        if networks and table:
            tables.append(table)
    if not tables:
        return []
    differences = [
        [
            gap.what,
            TITLES[gap.network],
            METRIC_TITLES[gap.metric],
            number(gap.ours.mean),
            number(gap.printed),
            f"{100 * gap.difference:+.1f}",
        ]
        for gap in gaps(results, "scan-paper", "published")
    ]
    blocks = [report_texts.PUBLISHED, Points(report_texts.LEAKS), *tables]
    if differences:
        headings = ["SCAN (paper)", "network", "metric", "ours", "printed", "difference, points"]
        blocks += [report_texts.NOT_PRINTED, Plain(headings, differences)]
    return blocks


def tuning_blocks(studies: Sequence[Tuned]) -> list[Block]:
    """What was chosen on validation data, and what that gained there."""
    rows = [
        [
            titles(record["task"])[record["row"]],
            TITLES[record["network"]],
            f"{record['task']}, {METRIC_TITLES[record['metric']]}",
            str(len(record["trials"])),
            "-" if own is None else number(own),
            number(best["value"]),
            ", ".join(f"{name} {_short(value)}" for name, value in best["settings"].items()) or "its own",
        ]
        for record, best, own in studies
    ]
    if not rows:
        return []
    headings = ["method", "network", "judged by", "trials", "own settings", "best trial", "chosen"]
    return [report_texts.TUNING, Plain(headings, rows)]


def titles(task: Task) -> dict[str, str]:
    return {row.name: row.title for row in ROWS[task]}


def _short(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def dataset_blocks(results: Results) -> list[Block]:
    """The paper's statistics beside ours."""
    names = ("nodes", "links", "attributes", "classes")
    rows = []
    for network in results.networks("datasets"):
        found = results.cells("datasets", "counts", network)[0]["metrics"]
        theirs = DATASETS.get(network, {})
        cells = [
            f"{found[name]:,}"
            + (f" (paper: {theirs[name]:,})" if name in theirs and theirs[name] != found[name] else "")
            for name in names
        ]
        inside = found.get("links_inside_a_class")
        rows.append(
            [
                TITLES[network],
                *cells,
                f"{found['entries']:,}",
                f"{found['isolated_nodes']:,}",
                f"{found['nodes_without_attributes']:,}",
                number(inside) if inside is not None else "-",
            ]
        )
    if not rows:
        return []
    headings = ["", "nodes", "undirected links", "attributes", "classes", "attribute entries"]
    headings += ["isolated nodes", "nodes without attributes", "links inside a class"]
    return [
        "Where the paper's table has another number it stands in brackets.",
        Plain(headings, rows),
        Points(report_texts.COUNTING),
    ]


def rival_blocks(results: Results) -> list[Block]:
    """Where our rivals differ from what is printed for them."""
    rows = []
    for experiment, metric in (("table1", "accuracy"), ("table2", "auc")):
        for row in ROWS[TABLES[experiment]]:
            if row.group != "rival":
                continue
            for network in PAPER:
                theirs = printed(experiment, row.name, network, metric)
                ours = mean_of(results.values(experiment, row.name, network, metric))
                if theirs is not None and ours:
                    rows.append(
                        [
                            row.title,
                            TITLES[network],
                            METRIC_TITLES[metric],
                            number(ours.mean),
                            number(theirs),
                            f"{100 * (ours.mean - theirs):+.1f}",
                        ]
                    )
    if not rows:
        return []
    return [
        report_texts.RIVALS,
        Plain(["method", "network", "metric", "ours", "printed", "difference"], rows),
    ]


def made_blocks(results: Results) -> list[Block]:
    records = results.all
    if not records:
        return []
    versions = sorted({record.get("code", "unknown") for record in records})
    places = sorted({record["made_on"] for record in records if "made_on" in record})
    hours = sum(record.get("seconds", {}).get("total_cpu", 0.0) for record in records) / 3600
    points = [
        f"{len(records)} cells, {hours:.1f} hours of processor time, the last finished "
        f"{max(record.get('finished', '') for record in records)[:10]}.",
        *([f"Made on: {'; '.join(places)}. Older records do not say."] if places else []),
        f"{len(versions)} versions of the code (each record names its own): {', '.join(versions)}.",
        "Every number is a JSON file in `cells`, with its configuration, seed, time and version of the code. "
        "`coembed reproduce report` makes this page from them.",
        *filter(None, [unseen_seeds(results)]),
    ]
    if FIGURE_NETWORK not in results.networks("table1"):
        points.append("BlogCatalog, on which the paper's figures are made, was not among the networks.")
    points += [
        f"Failed: {record['experiment']} {record['row']} {record['network']} seed {record['seed']}: "
        f"{record['error']}"
        for record in results.failed
    ]
    return [Points(tuple(points))]
