"""How well does a method do on a network? Several trials, each under a seed of its own, in one report."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from coembed.errors import InputError, no_such
from coembed.evaluation.problem import Answer, Method
from coembed.evaluation.profiling import score_profiling
from coembed.evaluation.scoring import score_published, score_strict
from coembed.evaluation.trial import Inputs, Part, Trial, draw_splits, published_trial, strict_trial
from coembed.network import Network
from coembed.network.honest_splits import Sides
from coembed.progress import EpochProgress, peak_memory_mb
from coembed.settings import Task

Protocol = Literal["strict", "published"]

PUBLISHED_CHANGES = ("epochs=200", "validation=0", "validation_pairs=0", "patience=0")
"""The public code of SCAN trains for 200 epochs and keeps the last state."""


def evaluate(
    network: Network,
    task: Task,
    method: str | Method = "scan",
    preset: str = "best",
    labels: float = 0.1,
    first_seed: int = 0,
    seeds: int = 3,
    protocol: Protocol = "strict",
    inputs: Inputs = "full",
    changes: Sequence[str] = (),
    progress: EpochProgress | None = None,
    part: Part = "test",
    type: str | None = None,
    relation: str | None = None,
    sides: Sides | None = None,
) -> dict[str, Any]:
    """Hide a part of the network, let the method learn from the rest, and ask it about the hidden part.

    Parameters
    ----------
    task
        `classification` asks for the class of every item whose label is hidden; `attributes` and `links` for
        10 % of the entries or links, hidden for the purpose (5 % more are kept for validation); `columns` for
        10 % of the known cells of a type's columns (numbers, categories, yes or no); `direction` which way
        10 % of the links of a directed relation go, when all links that leave their ends are hidden.
    method
        Name of a method (see ``coembed.baselines.METHODS``) or the method itself.
    labels
        Share of the known labels of each type that the method sees, a fifth of them marked for validation.
        0 (not for classification): no labels, no classes.
    first_seed, seeds
        Trials `first_seed`, `first_seed + 1` ...; a seed decides what is hidden and starts the method.
    protocol
        `strict`, or `published`: the way of SCAN's public code, to compare with printed numbers only.
    inputs
        `full`, or `masked`: 15 % of each relation (links, attribute entries, ...) missing for everybody.
    changes
        Texts like ``alpha=5`` for methods with settings.
    progress
        Called with epoch, epochs and figures, among them ``seed``, while a method learns.
    part
        `test`; or `validation`, to choose settings without ever looking at the test part.
    type, relation
        What is asked about, if not the first that can be: whose classes or cells, which relation's pairs.
    sides
        Classes and cells are not hidden at random but in whole groups, or those after a time
        (:mod:`coembed.network.honest_splits`).

    Returns
    -------
    dict
        ``task, type, relation, method, network, protocol, seeds``, ``metrics`` (name to ``mean``, ``std``,
        ``values``), ``seconds`` (``fit``, one a seed) and ``peak_rss_mb`` of the process; with `sides` also
        ``split``: ``by``, ``column``, and of classes, by seed, how many labels are ``given``, how many
        ``asked``, and how many of these are of a class that none given has (``unseen``).

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> report = evaluate(demo_network(), "classification", "majority", seeds=2)
    >>> report["seeds"], sorted(report["metrics"])
    ([0, 1], ['accuracy', 'ece', 'error_auroc', 'macro_f1', 'micro_f1'])
    >>> 0.4 < report["metrics"]["accuracy"]["mean"] < 0.5
    True
    """
    _check(task, protocol, inputs, part, seeds, first_seed)
    chosen = _method(method, task)
    outcomes = [
        run_trial(
            network,
            task,
            chosen,
            seed,
            preset=preset,
            labels=labels,
            protocol=protocol,
            inputs=inputs,
            changes=changes,
            progress=_with_seed(progress, seed),
            part=part,
            type=type,
            relation=relation,
            sides=sides,
        )
        for seed in range(first_seed, first_seed + seeds)
    ]
    report = _report(network, chosen.name, protocol, outcomes)
    return report if sides is None else {**report, "split": _split_record(network, sides, outcomes)}


def evaluate_types(
    network: Network,
    types: Sequence[str],
    method: str | Method = "scan",
    preset: str = "best",
    labels: float = 0.1,
    first_seed: int = 0,
    seeds: int = 3,
    inputs: Inputs = "full",
    changes: Sequence[str] = (),
    progress: EpochProgress | None = None,
) -> list[dict[str, Any]]:
    """:func:`evaluate` of the classes of several types, a report each.

    The labels of all types are hidden together, so a method that learns all of them at once is fitted once.

    Examples
    --------
    >>> from coembed.network import demo_tables
    >>> reports = evaluate_types(demo_tables(), ["nouns", "verbs"], "majority", seeds=1)
    >>> [report["type"] for report in reports]
    ['nouns', 'verbs']
    """
    _check("classification", "strict", inputs, "test", seeds, first_seed)
    chosen = _method(method, "classification")
    found: dict[str, list[Outcome]] = {name: [] for name in types}
    for seed in range(first_seed, first_seed + seeds):
        last: Outcome | None = None
        for type in found:
            answer = None if last is None else last.answer.about(type)
            if last is None or answer is None:
                last = run_trial(
                    network,
                    "classification",
                    chosen,
                    seed,
                    preset=preset,
                    labels=labels,
                    inputs=inputs,
                    changes=changes,
                    progress=_with_seed(progress, seed),
                    type=type,
                )
            else:
                trial = strict_trial(
                    network, draw_splits(network, "classification", labels, seed, type), inputs
                )
                last = last._replace(trial=trial, answer=answer, figures=score_strict(network, trial, answer))
            found[type].append(last)
    return [_report(network, chosen.name, "strict", outcomes) for outcomes in found.values()]


def _report(network: Network, method: str, protocol: Protocol, outcomes: list[Outcome]) -> dict[str, Any]:
    figures = [outcome.figures for outcome in outcomes]
    problem = outcomes[0].trial.problem
    return {
        "task": problem.task,
        "type": problem.type,
        "relation": problem.relation or None,
        "method": method,
        "network": network.name,
        "protocol": protocol,
        "seeds": [outcome.trial.problem.seed for outcome in outcomes],
        "metrics": {name: _summary([each[name] for each in figures]) for name in figures[0]},
        "seconds": {"fit": [round(outcome.seconds, 3) for outcome in outcomes]},
        "peak_rss_mb": peak_memory_mb(),
    }


def _split_record(network: Network, sides: Sides, outcomes: list[Outcome]) -> dict[str, Any]:
    """By what was split; of classes also how many labels there were on either side."""
    record: dict[str, Any] = {"by": sides.kind, "column": sides.column}
    problem = outcomes[0].trial.problem
    labels = network.items(problem.type).labels
    if problem.task != "classification" or labels is None:
        return record
    record |= {"given": [], "asked": [], "unseen": []}
    for outcome in outcomes:
        seen = outcome.trial.problem.network.items(problem.type).labels
        assert seen is not None
        asked = labels.values[outcome.trial.nodes]
        strange = np.flatnonzero(seen.sizes == 0)
        of_strange = (asked[:, strange] == 1).any(axis=1) if labels.several else np.isin(asked, strange)
        record["given"].append(len(seen.known))
        record["asked"].append(len(asked))
        record["unseen"].append(int(of_strange.sum()))
    return record


class Outcome(NamedTuple):
    """One trial, gone through: what was asked, what was learnt, how good it was, how long the fit took."""

    trial: Trial
    answer: Answer
    figures: dict[str, float]
    seconds: float
    cpu_seconds: float


def run_trial(
    network: Network,
    task: Task,
    method: str | Method,
    seed: int,
    *,
    preset: str = "best",
    labels: float = 0.1,
    protocol: Protocol = "strict",
    inputs: Inputs = "full",
    changes: Sequence[str] = (),
    progress: EpochProgress | None = None,
    part: Part = "test",
    type: str | None = None,
    relation: str | None = None,
    sides: Sides | None = None,
) -> Outcome:
    """One seed of :func:`evaluate`, with all that it leaves.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> outcome = run_trial(demo_network(), "links", "degree", seed=3)
    >>> outcome.trial.problem.seed, outcome.figures["auc"] > 0.5
    (3, True)
    """
    _check(task, protocol, inputs, part, 1, seed)
    chosen = _method(method, task)
    if protocol == "published" and sides is not None:
        raise InputError("the published protocol has splits of its own; leave groups and times out")
    if protocol == "published":
        changes = (*PUBLISHED_CHANGES, *changes)
        trial = published_trial(network, task, labels, seed)
    else:
        splits = draw_splits(network, task, labels, seed, type, relation, sides)
        trial = strict_trial(network, splits, inputs, part)
    problem = replace(trial.problem, preset=preset, changes=tuple(changes), progress=progress)
    start, cpu_start = time.perf_counter(), time.process_time()
    answer = chosen.fit(problem)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
    score = score_published if protocol == "published" else score_strict
    if task == "profiling":
        score = score_profiling
    return Outcome(trial, answer, score(network, trial, answer), seconds, cpu_seconds)


def _summary(values: list[float]) -> dict[str, Any]:
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return {"mean": float(np.mean(values)), "std": spread, "values": values}


def _method(method: str | Method, task: Task) -> Method:
    # methods stand on the agreement in this folder, so their names are looked up late
    from coembed import baselines

    if isinstance(method, str):
        return baselines.method(method, task)
    if task not in method.tasks:
        raise InputError(f"method {method.name} does not do {task}")
    return method


def _with_seed(progress: EpochProgress | None, seed: int) -> EpochProgress | None:
    if progress is None:
        return None
    return lambda epoch, epochs, figures: progress(epoch, epochs, {"seed": seed, **figures})


def check_task(task: str) -> None:
    """Refuse what is no task."""
    if task not in get_args(Task):
        raise no_such("task", task, get_args(Task))


def _check(task: str, protocol: str, inputs: str, part: str, seeds: int, first_seed: int) -> None:
    check_task(task)
    for name, value, kind in (
        ("protocol", protocol, Protocol),
        ("inputs", inputs, Inputs),
        ("part", part, Part),
    ):
        if value not in get_args(kind):
            raise no_such(name, value, get_args(kind))
    if seeds < 1 or first_seed < 0:
        raise InputError(f"seeds must be at least 1 and the first at least 0, got {seeds} and {first_seed}")
    if protocol == "published" and (inputs != "full" or part != "test"):
        raise InputError(
            "the published protocol has inputs and test part of its own; leave those options out"
        )
