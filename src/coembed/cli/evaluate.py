"""The command that measures a method."""

from __future__ import annotations

from typing import Annotated, Any

import typer

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


def evaluate(
    network: NetworkPaths,
    task: Annotated[
        str, typer.Option("--task", help="`classification`, `attributes` or `links`.", show_default=False)
    ],
    method: Annotated[
        str, typer.Option("--method", help="`scan`, or a floor: `majority`, `linear-x`, `popularity` ...")
    ] = "scan",
    preset: Preset = "best",
    labels: Annotated[float, typer.Option("--labels", help="Share of the labels that is seen.")] = 0.1,
    first_seed: Annotated[int, typer.Option("--first-seed", help="Seed of the first trial.")] = 0,
    seeds: Annotated[int, typer.Option("--seeds", help="Number of trials.")] = 3,
    protocol: Annotated[
        str,
        typer.Option("--protocol", help="`strict`, or `published`: only to compare with printed numbers."),
    ] = "strict",
    inputs: Annotated[
        str, typer.Option("--inputs", help="`full`, or `masked`: 15 % of links and attributes missing.")
    ] = "full",
    changes: Changes = None,
    label: LabelColumns = None,
    kinds: ColumnKinds = None,
    schema: SchemaFile = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Hide a part of a network, learn from the rest, and judge the answers about the hidden part.

    **Examples**

    `coembed evaluate blogcatalog.npz --task classification --seeds 3 --json`

    `coembed evaluate my-network/ --task attributes --method popularity`
    """
    from coembed.network import read

    data = read(*network, **reading_options(label, kinds, schema))

    from coembed.evaluation import evaluate as measure

    with TrainingProgress(f"{method} on {data.name}", quiet) as progress:
        report: dict[str, Any] = measure(
            data,
            task,  # type: ignore[arg-type]
            method=method,
            preset=preset,
            labels=labels,
            first_seed=first_seed,
            seeds=seeds,
            protocol=protocol,  # type: ignore[arg-type]
            inputs=inputs,  # type: ignore[arg-type]
            changes=changes or [],
            progress=progress,
        )
    if json:
        print_json(report)
        return
    metrics = report["metrics"].items()
    if seeds == 1:  # one trial has no spread
        print_rows(("metric", "value"), [(name, figure["mean"]) for name, figure in metrics])
    else:
        rows = [
            (name, figure["mean"], figure["std"], " ".join(f"{value:.3f}" for value in figure["values"]))
            for name, figure in metrics
        ]
        print_rows(("metric", "mean", "±", "seeds"), rows)
    if not quiet:
        fit = sum(report["seconds"]["fit"]) / len(report["seconds"]["fit"])
        say(f"{protocol} protocol, {fit:.1f} s a fit, at most {report['peak_rss_mb']:.0f} MB", "dim")
