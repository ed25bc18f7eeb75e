"""The command that fits a model."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coembed.cli.completion import presets, tasks
from coembed.cli.config_files import Config, read_config, write_config
from coembed.cli.console import TrainingProgress, print_json, say
from coembed.cli.options import (
    Changes,
    ColumnKinds,
    Json,
    LabelColumns,
    NetworkPaths,
    Quiet,
    SchemaFile,
    reading_options,
)
from coembed.distributed.job import job_here
from coembed.errors import InputError
from coembed.progress import figures_text, peak_memory_mb

if TYPE_CHECKING:
    from coembed.fitted import Fitted
    from coembed.fitted.tracking import Tracker


def train(
    network: NetworkPaths,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="MODEL", help="Folder for the model.", show_default=False),
    ],
    task: Annotated[
        str | None,
        typer.Option(
            "--task",
            help="Of preset `paper`: what it suits: `classification`, `attributes`, `links` ...",
            autocompletion=tasks,
        ),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            "--preset",
            help="Where the settings come from: `best`, `fast` or `paper`.",
            autocompletion=presets,
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Of everything random.", show_default=False)
    ] = None,
    epochs: Annotated[int | None, typer.Option("--epochs", help="Passes.", show_default=False)] = None,
    dim: Annotated[
        int | None, typer.Option("--dim", help="Coordinates of a node.", show_default=False)
    ] = None,
    changes: Changes = None,
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="A .toml with preset, task, [settings]."),
    ] = None,
    save_config: Annotated[
        Path | None, typer.Option("--save-config", metavar="FILE", help="Write such a .toml.")
    ] = None,
    label: LabelColumns = None,
    kinds: ColumnKinds = None,
    schema: SchemaFile = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint", metavar="DIR", help="Keep what is needed to go on here.", show_default=False
        ),
    ] = None,
    every: Annotated[
        float, typer.Option("--every", metavar="MINUTES", min=0.0, help="Time between two checkpoints.")
    ] = 10.0,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint, if there is one.")
    ] = False,
    wait: Annotated[
        float,
        typer.Option(
            "--wait",
            metavar="MINUTES",
            min=0.1,
            help="Under torchrun: how long another process may be silent.",
        ),
    ] = 30.0,
    compare: Annotated[
        bool,
        typer.Option("--compare/--no-compare", help="Stand simple methods beside the model, at the end."),
    ] = True,
    tensorboard: Annotated[
        Path | None,
        typer.Option("--tensorboard", metavar="DIR", help="Write all figures for TensorBoard here."),
    ] = None,
    mlflow: Annotated[
        str | None,
        typer.Option("--mlflow", metavar="URI", help="Tell MLflow there settings and figures."),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Fit a model to a network and save it. Ctrl-C saves what was learnt so far.

    Started by torchrun, its processes share the network and fit one model.

    **Examples**

    `coembed train my-network/ -o model`

    `coembed train blogcatalog.npz -o model --preset paper --task attributes --set beta=0.2 --seed 1`

    `coembed train customers.csv friends.csv -o model --label segment --as zip=category`

    `coembed train my-network/ -o model --dim 32 --save-config mine.toml`

    `coembed train my-network/ -o again --config mine.toml --seed 1`

    `coembed train million/ -o model --checkpoint million.run --resume`

    `torchrun --nproc-per-node 4 -m coembed train large-network/ -o model`
    """
    from coembed.fitted import save
    from coembed.fitted.storage import check_place
    from coembed.network import read
    from coembed.settings import preset_settings

    job = job_here()
    if resume and checkpoint is None and job.processes == 1:
        raise InputError("--resume goes on from a checkpoint: name its folder with --checkpoint")
    check_place(output)
    given = Config() if config is None else read_config(config)
    quiet = quiet or not job.first
    tables = reading_options(label, kinds, schema)
    data = read(*network, **tables) if job.processes == 1 else None  # else the first of them reads

    from coembed.training.costs import LARGE, default_preset, expected_costs
    from coembed.training.fit import choose_device

    preset, task = preset or given.preset, task or given.task or "classification"
    if preset is None:
        # who says how to train wants to train
        said = epochs or checkpoint or changes or given.settings
        preset = "best" if data is None or said else default_preset(data)
    settings = preset_settings(preset, task).change(**given.settings).parse(changes or [])  # type: ignore[arg-type]
    direct = {"seed": seed, "epochs": epochs, "dim": dim}
    settings = settings.change(**{name: value for name, value in direct.items() if value is not None})
    if task != "classification" and preset_settings(preset, task) == preset_settings(preset) and not quiet:  # type: ignore[arg-type]
        say(f"note: preset {preset} is the same for all tasks; --task {task} changes nothing", "yellow")
    if save_config is not None and job.first:
        write_config(save_config, preset, task, settings)
    trackers = _trackers(tensorboard, mlflow) if job.first else []
    choose_device(settings.device)  # a slip is told before anything else
    if data is not None and not quiet:
        for notice in data.notices:
            say(f"note: {notice}", "yellow")
        say(expected_costs(data))
        if preset == "fast" and default_preset(data) == "fast":
            say(f"preset fast is the default above a size of {LARGE:,}; --preset best trains", "yellow")
    name = network[0].stem if data is None else data.name

    from coembed.evaluation.training_truth import with_truth
    from coembed.training import Checkpoints, clear, fit, fit_together, job_checkpoint, joined

    if checkpoint is None and job.processes > 1:
        checkpoint = job_checkpoint(output)
    checkpoints = None if checkpoint is None else Checkpoints(checkpoint, every, resume or job.restarts > 0)
    start = time.perf_counter()
    together = joined(job, settings.device, checkpoint, wait)
    with together, TrainingProgress(f"training on {name}", quiet) as progress:
        if data is not None:
            fitted = fit(
                data,
                settings,
                preset=preset,
                progress=progress,
                steps=progress.step,
                checkpoints=checkpoints,
            )
        else:
            found = fit_together(
                network,
                settings,
                output,
                job,
                preset=preset,
                progress=progress,
                steps=progress.step,
                checkpoints=checkpoints,
                tables=tables,
            )
            if found is None:
                return
            fitted = found
        seconds = time.perf_counter() - start
        fitted = with_truth(fitted, progress.step, compare and fitted.history["stopped"] != "interrupted")
        progress.step("writing the model")
        save(fitted, output, progress=progress.step)
        for track in trackers:
            track(fitted)
        if checkpoints is not None and fitted.history["stopped"] != "interrupted":
            checkpoints.clear()
        if job.processes > 1:
            clear(output)
    if json:
        each = progress.seconds_per_epoch
        times = {
            "seconds": round(seconds, 3),
            "seconds_per_epoch": None if each is None else round(each[0], 4),
            "processor_seconds_per_epoch": None if each is None else round(each[1], 4),
            "seconds_to_save": round(time.perf_counter() - start - seconds, 3),
            "peak_rss_mb": peak_memory_mb(),
        }
        print_json({"model": str(output), **times, **training_report(fitted)})
    elif not quiet:
        report = training_report(fitted)
        say(
            f"{report['epochs']} epochs in {seconds:.1f} s ({report['stopped']}); "
            f"{figures_text(report['figures'])}"
        )
        for notice in report["notices"]:
            if not report["truth"] or not notice.startswith("classes"):  # those the truth says in short
                say(notice)
        for truth in report["truth"].values():
            for line in truth["lines"]:
                say(line)
        classes = f", coembed predict {output}" if fitted.network.labelled_types else ""
        say(f"wrote {output}; next: coembed explore {output}{classes}", "green")


def _trackers(folder: Path | None, uri: str | None) -> list[Tracker]:
    from coembed.fitted.tracking import mlflow_tracker, tensorboard_tracker

    found = [] if folder is None else [tensorboard_tracker(folder)]
    return found if uri is None else [*found, mlflow_tracker(uri)]


def training_report(fitted: Fitted) -> dict[str, Any]:
    """How the fit went: epochs, why it ended, and the last of every figure (loss, its parts, validation)."""
    lists = {name: values for name, values in fitted.history.items() if isinstance(values, list) and values}
    figures = {name: values[-1] for name, values in lists.items() if isinstance(values[-1], float)}
    return {
        "epochs": len(lists.get("loss", [])),
        "best_epoch": fitted.history.get("best_epoch"),
        "stopped": fitted.history.get("stopped"),
        "notices": fitted.history.get("notices", []),
        "truth": fitted.history.get("truth", {}),
        "figures": figures,
    }
