"""The command that measures methods."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coembed.cli.completion import tasks
from coembed.cli.console import TrainingProgress, print_json, print_rows, say
from coembed.cli.options import (
    Changes,
    ColumnKinds,
    Json,
    LabelColumns,
    NetworkPaths,
    Preset,
    Quiet,
    SchemaFile,
    reading_options,
)
from coembed.errors import InputError

if TYPE_CHECKING:
    from coembed.network import Network
    from coembed.network.honest_splits import Sides

ALL_FLOORS = "all-floors"
SHOWN = {
    "classification": ("accuracy", "macro_f1"),
    "several classes": ("map", "micro_f1", "macro_f1"),
    "columns": ("mean_r2", "mean_accuracy", "gain"),
    "direction": ("auc", "accuracy"),
    "profiling": ("recall_at_10", "precision_at_10", "auc", "mixing", "answered_recall_at_10"),
}
"""Figures of a table of several methods."""
SHOWN_OF_PAIRS = ("auc", "ap", "auc_matched", "mrr", "recall_at_10")


def evaluate(
    network: NetworkPaths,
    task: Annotated[
        str,
        typer.Option(
            "--task",
            help="`classification`, `links`, `attributes`, `profiling`, `columns` or `direction`.",
            show_default=False,
            autocompletion=tasks,
        ),
    ],
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            help="`scan` (default), or a floor: `majority`, `trees-own`, `popularity` ...; may be repeated; "
            f"`{ALL_FLOORS}`: `scan` and all floors of the task.",
            show_default=False,
        ),
    ] = None,
    type: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            help="Whose classes or cells are asked; of classes it may be repeated.",
            show_default=False,
        ),
    ] = None,
    relation: Annotated[
        str | None, typer.Option("--relation", help="Whose pairs are asked.", show_default=False)
    ] = None,
    preset: Preset = "best",
    labels: Annotated[
        float,
        typer.Option(
            "--labels",
            help="Share of the labels of each type that is seen; from 1 on, how many of every class.",
        ),
    ] = 0.1,
    first_seed: Annotated[int, typer.Option("--first-seed", help="Seed of the first trial.")] = 0,
    seeds: Annotated[int, typer.Option("--seeds", help="Number of trials.")] = 3,
    protocol: Annotated[
        str,
        typer.Option("--protocol", help="`strict`, or `published`: only to compare with printed numbers."),
    ] = "strict",
    inputs: Annotated[
        str, typer.Option("--inputs", help="`full`, or `masked`: 15 % of every relation missing.")
    ] = "full",
    group: Annotated[
        str | None,
        typer.Option(
            "--group",
            metavar="COLUMN",
            help="Of tables: all rows with one value of it are on one side of the split.",
            show_default=False,
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            "--time",
            metavar="COLUMN",
            help="Of tables: learn from the earliest rows, ask about the others.",
            show_default=False,
        ),
    ] = None,
    label_columns: LabelColumns = None,
    kinds: ColumnKinds = None,
    schema: SchemaFile = None,
    changes: Changes = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Hide a part of a network, learn from the rest, and judge the answers about the hidden part.

    **Examples**

    `coembed evaluate blogcatalog.npz --task classification --seeds 3 --json`

    `coembed evaluate my-network/ --task attributes --method popularity`

    `coembed evaluate tables/ --label people.job --task columns --type people --method all-floors`

    `coembed evaluate tables/ --task classification --label people.job --label films.genre --type people
    --type films`

    `coembed evaluate visits.csv --label ill --task classification --group patient --labels 0.7`
    """
    types = list(dict.fromkeys(type or []))
    if len(types) > 1 and (task != "classification" or protocol != "strict" or relation or group or time):
        raise InputError("several types are asked together about classes only, by the strict protocol")
    asked = types[0] if types else None
    data, sides = _read(network, reading_options(label_columns, kinds, schema), task, asked, group, time)

    from coembed.evaluation import evaluate as measure
    from coembed.evaluation import evaluate_types

    how: dict[str, Any] = {
        "preset": preset,
        "labels": labels,
        "first_seed": first_seed,
        "seeds": seeds,
        "inputs": inputs,
        "changes": changes or [],
    }
    reports = []
    for name in _methods(method or ["scan"], data, task, asked, relation):
        with TrainingProgress(f"{name} on {data.name}", quiet) as progress:
            how |= {"method": name, "progress": progress}
            if len(types) > 1:
                reports += evaluate_types(data, types, **how)
                continue
            named = {"type": asked, "relation": relation, "protocol": protocol, "sides": sides}
            report = measure(data, task, **how, **named)  # type: ignore[arg-type]
            reports.append(report)
    if json:
        print_json(reports if len(reports) > 1 else reports[0])
    elif len(reports) > 1:
        _print_methods(reports)
    else:
        _print_metrics(reports[0], quiet)
    if not (json or quiet):
        _say_split(reports[0].get("split", {}))


def _say_split(split: dict[str, Any]) -> None:
    """How large the two sides were, and whether anybody could have told what was asked."""
    if "given" not in split:
        return
    given, asked, unseen = (split[name] for name in ("given", "asked", "unseen"))
    sizes = ", ".join(
        f"{a:,} labels given and {b:,} asked" for a, b in dict.fromkeys(zip(given, asked, strict=True))
    )
    say(f"split by {split['by']} ({split['column']}): {sizes}", "dim")
    if any(unseen):
        share = sum(unseen) / sum(asked)
        say(
            f"note: {share:.0%} of those asked are of a class that none given has, and can only be missed",
            "yellow",
        )


def _read(
    paths: list[Path],
    options: dict[str, Any],
    task: str,
    type: str | None,
    group: str | None,
    time: str | None,
) -> tuple[Network, Sides | None]:
    """The network, and what decides on which side of a split its items are."""
    from coembed.network import read

    if group is None and time is None:
        return read(*paths, **options), None
    if group is not None and time is not None:
        raise InputError("split by a group or by a time, not both")
    from coembed.evaluation.asked import what_is_asked
    from coembed.network.readers.read import Asked, open_items
    from coembed.network.readers.side_column import read_sides
    from coembed.network.readers.table_folder import build_network

    for path in paths:
        if not path.exists():
            raise InputError(f"{path} does not exist; check the path")
    found = open_items(*paths, asked=Asked(**options))
    if found is None:
        raise InputError(f"{paths[0]} holds no tables of items: only these have columns to split by")
    network = build_network(found)
    asked = what_is_asked(network, task, type).type  # type: ignore[arg-type]
    kind, column = ("group", group) if group is not None else ("time", time)
    return network, read_sides(found, network, asked, kind, column or "")  # type: ignore[arg-type]


def _methods(
    names: list[str], network: Network, task: str, type: str | None, relation: str | None
) -> list[str]:
    """The methods that are meant, each once."""
    if ALL_FLOORS not in names:
        return list(dict.fromkeys(names))
    from coembed.baselines import floors
    from coembed.evaluation import Problem
    from coembed.evaluation.evaluation import check_task

    check_task(task)
    problem = Problem(task, network, type=type or "", relation=relation or "")  # type: ignore[arg-type]
    meant: list[str] = []
    for name in names:
        meant += ["scan", *floors(problem)] if name == ALL_FLOORS else [name]
    return list(dict.fromkeys(meant))


def _print_methods(reports: list[dict[str, Any]]) -> None:
    """One line a method; all of them had the same splits."""
    first = reports[0]["metrics"]
    task = "several classes" if "map" in first else reports[0]["task"]
    shown = [name for name in SHOWN.get(task, SHOWN_OF_PAIRS) if name in first]
    several = len(reports[0]["seeds"]) > 1
    types = ["type"] if len({report["type"] for report in reports}) > 1 else []
    rows = [
        (
            report["method"],
            *([report["type"]] if types else []),
            *(_with_spread(report["metrics"][name], several) for name in shown),
            sum(report["seconds"]["fit"]) / len(report["seconds"]["fit"]),
        )
        for report in reports
    ]
    print_rows(("method", *types, *shown, "seconds a fit"), rows)


def _with_spread(figure: dict[str, Any], several: bool) -> str:
    return f"{figure['mean']:.3f} ± {figure['std']:.3f}" if several else f"{figure['mean']:.3f}"


def _print_metrics(report: dict[str, Any], quiet: bool) -> None:
    metrics = report["metrics"].items()
    if len(report["seeds"]) == 1:  # one trial has no spread
        print_rows(("metric", "value"), [(name, figure["mean"]) for name, figure in metrics])
    else:
        rows = [
            (name, figure["mean"], figure["std"], " ".join(f"{value:.3f}" for value in figure["values"]))
            for name, figure in metrics
        ]
        print_rows(("metric", "mean", "±", "seeds"), rows)
    if not quiet:
        fit = sum(report["seconds"]["fit"]) / len(report["seconds"]["fit"])
        peak = report["peak_rss_mb"]
        memory = "" if peak is None else f", at most {peak:.0f} MB"
        say(f"{report['protocol']} protocol, {fit:.1f} s a fit{memory}", "dim")
