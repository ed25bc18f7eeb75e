"""The command that looks for settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coembed.cli.completion import tasks
from coembed.cli.config_files import write_config
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
from coembed.errors import InputError, no_such

if TYPE_CHECKING:
    from coembed.experiments.own_tuning import Question
    from coembed.network import Network

STUDY, PICTURE, CONFIG = "study.journal", "study.png", "best.toml"


def tune(
    network: NetworkPaths,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the study and its picture.")
    ] = Path("tuning"),
    task: Annotated[
        str | None,
        typer.Option(
            "--task",
            help="What is judged; `classification` where there are labels.",
            show_default=False,
            autocompletion=tasks,
        ),
    ] = None,
    type: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="Whose classes or cells are judged.")
    ] = None,
    relation: Annotated[
        str | None, typer.Option("--relation", metavar="NAME", help="Whose pairs are judged.")
    ] = None,
    trials: Annotated[int, typer.Option("--trials", min=1, help="In all, with those of before.")] = 20,
    minutes: Annotated[
        float | None,
        typer.Option("--minutes", min=0.0, help="Begin no trial after so long.", show_default=False),
    ] = None,
    space: Annotated[
        list[str] | None,
        typer.Option(
            "--search",
            metavar="KEY=VALUES",
            help="What to try instead of the usual: `beta=0.1..0.9`, `alpha=1..100 log`, `dim=32,64`; "
            "may be repeated.",
            show_default=False,
        ),
    ] = None,
    storage: Annotated[
        str | None,
        typer.Option(
            "--storage",
            metavar="URL",
            help="A database that several workers share, such as postgresql://..., instead of a file.",
            show_default=False,
        ),
    ] = None,
    labels: Annotated[
        float, typer.Option("--labels", help="Share of the labels that the search may see.")
    ] = 0.8,
    save_config: Annotated[
        Path | None,
        typer.Option("--save-config", metavar="FILE", help="Where the best settings go; DIR/best.toml."),
    ] = None,
    preset: Preset = "best",
    changes: Changes = None,
    label_columns: LabelColumns = None,
    kinds: ColumnKinds = None,
    schema: SchemaFile = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Look for settings that suit a network; `train --config` takes them.

    A part of the network is kept from the search. What was found, and the usual settings beside it, are
    judged on it at the end. Stop it at any time: the same command goes on.

    **Examples**

    `coembed tune my-network/ -o tuning --trials 30`

    `coembed tune customers.csv --label segment --minutes 60 --search dim=32,64,128 --search beta=0.2..0.8`

    `coembed train my-network/ -o model --config tuning/best.toml`
    """
    from coembed.experiments.own_tuning import JUDGED_HERE, Question, parse_space, search_settings
    from coembed.experiments.search_spaces import SPACES
    from coembed.network import read
    from coembed.report.figures.study import draw_study
    from coembed.settings import preset_settings

    tried = parse_space(space, preset) if space else SPACES["scan"]
    if not 0 < labels < 1:
        raise InputError(f"--labels {labels}: the search sees a share of the labels above 0 and below 1")
    data = read(*network, **reading_options(label_columns, kinds, schema))
    for notice in data.notices:
        say(f"note: {notice}", "yellow")
    judged = _task(task, data)
    usual = preset_settings(preset, judged).parse(changes or [])  # type: ignore[arg-type]
    question = Question(data, judged, preset, labels, type, relation, tuple(changes or ()), tried)  # type: ignore[arg-type]
    output.mkdir(parents=True, exist_ok=True)
    place = output / STUDY if storage is None else storage
    with TrainingProgress(f"tuning on {data.name}", quiet or not _live()) as progress:
        seconds = None if minutes is None else minutes * 60
        found = search_settings(question, place, trials, seconds, say, progress)
        final = _final(question, found.own.settings, found.best.settings, progress)
    metric = JUDGED_HERE[judged]  # type: ignore[index]
    draw_study(found, metric, output / PICTURE)
    config = save_config or output / CONFIG
    write_config(
        config, preset, "classification" if preset == "best" else judged, usual.change(**found.best.settings)
    )
    report = {
        "task": judged,
        "metric": metric,
        "trials": len(found.trials),
        "failed": sum(each.value is None for each in found.trials),
        "settings": found.best.settings,
        "validation": {"usual": found.own.value, "found": found.best.value},
        "unseen": final,
        "config": str(config),
        "picture": str(output / PICTURE),
    }
    if json:
        print_json(report)
        return
    rows = [(part, report[part]["usual"], report[part]["found"]) for part in ("validation", "unseen")]  # type: ignore[index]
    print_rows((metric, "usual settings", "found"), rows)
    if not found.best.settings:
        say("nothing that was tried was better than the usual settings", "yellow")
    elif final["found"] <= final["usual"]:
        say("on what the search never saw, the usual settings are as good or better: keep them", "yellow")
    say(f"wrote {config} and {output / PICTURE}; next: coembed train ... --config {config}", "green")


def _live() -> bool:
    from coembed.cli.console import to_stderr

    return to_stderr().is_terminal


def _task(task: str | None, network: Network) -> str:
    from coembed.experiments.own_tuning import JUDGED_HERE

    if task is None and not network.labelled_types:
        raise InputError(f"{network.name} has no labels: say what is judged, such as --task links")
    if task is not None and task not in JUDGED_HERE:
        raise no_such("task to tune for", task, JUDGED_HERE)
    return task or "classification"


def _final(
    question: Question, usual: dict[str, Any], found: dict[str, Any], progress: TrainingProgress
) -> dict[str, float]:
    """Both on the part that the search never saw: nothing is chosen by it."""
    say("judging what was found, and the usual settings, on what the search never saw")
    first = question.value(found, "test", progress)
    return {"usual": first if usual == found else question.value(usual, "test", progress), "found": first}
