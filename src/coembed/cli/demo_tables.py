"""The second demo: a folder of tables with several types, two of them labelled."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coembed.cli.console import TrainingProgress, bar, print_json, to_stdout
from coembed.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from coembed.fitted import Fitted
    from coembed.network import LabelSplit, Network

LABELS = 0.2
METHODS = {"majority": "always the commonest class", "linear-neighbours": "linear, with means over relations"}


def demo_of_tables(output: Path, seed: int, epochs: int | None, json: bool, quiet: bool) -> None:
    """Train on the bundled tables, a fifth of the labels known, and tell what was learnt."""
    from coembed.fitted import save
    from coembed.maps.layout import cached_layout
    from coembed.maps.picture import draw_map
    from coembed.network.bundled_networks import demo_tables
    from coembed.network.splits import split_labels
    from coembed.settings import preset_settings

    if output.is_file():
        raise InputError(f"{output} is a file; give the name of a folder")
    start, out = time.perf_counter(), to_stdout()
    network = demo_tables()
    splits = {name: split_labels(network, LABELS, seed=seed, type=name) for name in network.labelled_types}
    visible = network
    for split in splits.values():
        visible = split.visible(visible)
    settings = preset_settings("best", seed=seed)
    settings = settings.change(epochs=epochs) if epochs else settings
    if not json:
        out.print(repr(visible), highlight=False)

    from coembed.training import fit

    with TrainingProgress("training", quiet) as progress:
        fitted = fit(visible, settings, preset="best", progress=progress, steps=progress.step)
    figures = {name: _accuracies(network, visible, name, split, fitted) for name, split in splits.items()}
    model, picture = output / "tables-model", output / "tables-map.png"
    save(fitted, model)
    draw_map(fitted, cached_layout(fitted, model), picture)
    seconds = round(time.perf_counter() - start, 1)
    if json:
        print_json(
            {"accuracy": figures, "answers": _answers(fitted), "model": str(model), "map": str(picture)}
            | {"seconds": seconds}
        )
        return
    _tell(out, figures, splits, _answers(fitted))
    out.print(f"\nmodel in {model}, map in {picture}, {seconds:g} s; ask it, for example:", highlight=False)
    out.print(f"  coembed complete {model} --type verbs --item ID --column frames", highlight=False)


def _accuracies(
    network: Network, visible: Network, type: str, split: LabelSplit, fitted: Fitted
) -> dict[str, float]:
    """Share of the hidden labels of a type that each gets right, all from the same known labels."""
    from coembed.baselines import METHODS as EVERY
    from coembed.evaluation.problem import Problem
    from coembed.metrics import accuracy

    known = network.items(type).labels
    assert known is not None
    problem = Problem("classification", visible, split.validation, type=type)
    found = {}
    for method, title in METHODS.items():
        told = EVERY[method].fit(problem).probabilities()
        assert told is not None
        found[title] = accuracy(known.values[split.test], told[split.test].argmax(axis=1))
    found["coembed"] = accuracy(
        known.values[split.test], fitted.predict_proba(type)[split.test].argmax(axis=1)
    )
    return found


def _answers(fitted: Fitted) -> list[dict[str, Any]]:
    """Of the first items of each type: what they are a kind of, what is nearest to them in another type."""
    network, found = fitted.network, []
    for relation in ("kinds", "noun_words", "acts"):
        joined = network.relation(relation)
        item = str(network.items(joined.source).ids[0])
        matches = fitted.complete(item, relation, 3, type=joined.source)
        found.append({"item": item, "relation": relation, "found": [match.as_dict() for match in matches]})
    return found


def _tell(
    out: Console,
    figures: dict[str, dict[str, float]],
    splits: dict[str, LabelSplit],
    answers: list[dict[str, Any]],
) -> None:
    for type, accuracies in figures.items():
        out.print(f"\n[bold]Hidden labels of {type} found[/bold] ({len(splits[type].test):,} items)")
        for name, share in accuracies.items():
            out.print(f"  {name:36}{bar(share)}  {100 * share:.1f}%", highlight=False)
    out.print("\n[bold]What should be joined[/bold]")
    for answer in answers:
        names = ", ".join(match["name"] for match in answer["found"])
        out.print(f"  {answer['item']} · {answer['relation']}: {names}", highlight=False)
