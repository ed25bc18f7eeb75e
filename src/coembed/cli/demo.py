"""The demo: a network, a model, and what the model has to say, in under a minute."""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coembed.cli.console import TrainingProgress, bar, print_json, to_stdout
from coembed.cli.options import Json, Quiet
from coembed.errors import InputError, no_such

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from coembed.fitted import Fitted, Match
    from coembed.network import LabelSplit, Network

LABELS = 0.1
SHOWN_NODES, SHOWN_WORDS = ("Japan.n.02", "battery.n.02"), ("fish",)


def demo(
    what: Annotated[
        str,
        typer.Argument(metavar="[words|tables]", help="`words`: one network; `tables`: a folder of them."),
    ] = "words",
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="For the model and the map.")
    ] = Path("demo"),
    seed: Annotated[int, typer.Option("--seed", help="Of the hidden labels and the training.")] = 0,
    epochs: Annotated[
        int | None, typer.Option("--epochs", min=1, help="Passes; the preset's, if not given.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train on a bundled network of WordNet senses, and look at what was learnt. Takes under a minute.

    **Examples**

    `coembed demo`

    `coembed demo -o tour --seed 3`

    `coembed demo tables`
    """
    if what == "tables":
        from coembed.cli.demo_tables import demo_of_tables

        demo_of_tables(output, seed, epochs, json, quiet)
        return
    if what != "words":
        raise no_such("demo", what, ("words", "tables"))
    from coembed.fitted import save
    from coembed.maps.layout import cached_layout
    from coembed.maps.picture import draw_map
    from coembed.network import demo_network, split_labels
    from coembed.settings import preset_settings

    if output.is_file():
        raise InputError(f"{output} is a file; give the name of a folder")
    start = time.perf_counter()
    network = demo_network()
    split = split_labels(network, labels=LABELS, seed=seed)
    settings = preset_settings("best", seed=seed)
    if epochs:
        settings = settings.change(epochs=epochs)
    out = to_stdout()
    if not json:
        _introduce(out, network, split)

    from coembed.training import fit

    with TrainingProgress("training", quiet) as progress:
        fitted = fit(split.visible(network), settings, preset="best", progress=progress, steps=progress.step)
    accuracies = _accuracies(network, split, fitted)
    model, picture = output / "model", output / "map.png"
    save(fitted, model)
    draw_map(fitted, cached_layout(fitted, model), picture)
    seconds = time.perf_counter() - start
    if json:
        profiles = {
            name: [match.as_dict() for match in matches] for name, matches in _profiles(fitted).items()
        }
        report = {"accuracy": accuracies, "profiles": profiles, "model": str(model), "map": str(picture)}
        print_json({**report, "seconds": round(seconds, 1)})
        return
    _tell_accuracies(out, accuracies, split)
    _tell_profiles(out, fitted)
    _tell_next(out, model, picture, seconds)


def _accuracies(network: Network, split: LabelSplit, fitted: Fitted) -> dict[str, float]:
    """Share of the hidden labels that each gets right, all from the same known labels."""
    from coembed.baselines.classifiers import linear_x, majority
    from coembed.evaluation.problem import Problem
    from coembed.metrics import accuracy

    problem = Problem("classification", split.visible(network), split.validation)
    truth = network.labels[split.test]
    answers = {
        "always the commonest class": majority(problem).values,
        "linear model on the words": linear_x(problem).values,
        "coembed": fitted.probabilities,
    }
    return {name: accuracy(truth, values[split.test].argmax(axis=1)) for name, values in answers.items()}


def _profiles(fitted: Fitted, k: int = 5) -> dict[str, list[Match]]:
    """Two nodes with their words, one word with its nodes."""
    nodes = {name: fitted.profile(name, k) for name in SHOWN_NODES}
    return nodes | {word: fitted.nodes_about(word, k) for word in SHOWN_WORDS}


def _introduce(out: Console, network: Network, split: LabelSplit) -> None:
    from rich.panel import Panel
    from rich.table import Table

    known = len(split.train) + len(split.validation)
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_row(
        "The network",
        f"{network.n_nodes:,} senses of nouns from WordNet, {network.n_links:,} links between them",
    )
    grid.add_row(
        "The words", f"{network.n_attributes:,} words of their definitions, {network.attributes.nnz:,} uses"
    )
    grid.add_row("The classes", ", ".join(network.class_names))
    grid.add_row(
        "The riddle", f"{known} labels are known, {len(split.test):,} are hidden: which class is each?"
    )
    out.print()
    out.print(
        Panel(
            grid, title="[bold]coembed[/]: nodes and words in one space", title_align="left", padding=(1, 2)
        )
    )


def _tell_accuracies(out: Console, accuracies: dict[str, float], split: LabelSplit) -> None:
    from rich.table import Table

    _heading(out, f"Hidden labels found ({len(split.test):,} nodes)")
    table = Table.grid(padding=(0, 2))
    for name, share in accuracies.items():
        # the best is green, whoever it is
        style = "bold green" if share == max(accuracies.values()) else "bold" if name == "coembed" else "dim"
        table.add_row(f"  [{style}]{name}[/]", f"[{style}]{bar(share, 32)}[/]", f"[{style}]{share:.1%}[/]")
    out.print(table)


def _tell_profiles(out: Console, fitted: Fitted) -> None:
    from rich.columns import Columns

    _heading(out, "Who is near whom")
    out.print(Columns([_card(name, found) for name, found in _profiles(fitted).items()], padding=(0, 4)))
    out.print("  [dim]cosine ± standard deviation;  ● in its definition   ○ found by the model[/]")


def _card(name: str, matches: list[Match]) -> RenderableType:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    is_word = bool(matches) and matches[0].kind == "node"
    title = Text.assemble("  senses near the word " if is_word else "  words near ", (name, "bold cyan"))
    table = Table.grid(padding=(0, 1))
    for match in matches:
        mark = Text("  ●" if match.known else "  ○", style="cyan" if match.known else "yellow")
        score = Text(f"{match.score:.2f} ± {match.std:.2f}", style="dim")
        table.add_row(mark, Text(match.name, no_wrap=True), score)
    # an empty line below, for cards that a narrow terminal puts under one another
    return Group(title, table, Text())


def _tell_next(out: Console, model: Path, picture: Path, seconds: float) -> None:
    from rich.table import Table

    _heading(out, f"Written in {seconds:.0f} s")
    grid = Table.grid(padding=(0, 2))
    grid.add_row("  [bold]model[/]", str(model))
    grid.add_row("  [bold]map[/]", f"{picture}  [dim]open it: every sense and every word on one plane[/]")
    out.print(grid)
    _heading(out, "Now you")
    program = _program()
    steps: list[tuple[str, Any]] = [
        (f"{program} explore {model}", "look around in the browser"),
        (f"{program} profile {model} Africa.n.01", "what is a node about?"),
        (f"{program} similar {model} river", "which words are like it?"),
        (f"{program} complete {model} --node Denmark.n.01", "which words does it lack?"),
        (f"{program} predict {model} --unlabelled", "which class is each?"),
        (f"{program} train YOUR-NETWORK/ -o model", "from your own csv files"),
    ]
    width = max(len(command) for command, _ in steps)
    for command, why in steps:
        # never broken, so that it can be copied
        out.print(f"  [green]{command:{width}}[/]  [dim]{why}[/]", soft_wrap=True)
    out.print()


def _program() -> str:
    """What to type: the name alone only if the shell finds it, as after `make demo` it does not."""
    return "coembed" if shutil.which("coembed") else os.path.relpath(sys.argv[0])


def _heading(out: Console, text: str) -> None:
    out.print()
    out.print(f"[bold]{text}[/]")
