"""Choosing settings on validation data: the same small budget for every method, test data never seen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from coembed.errors import InputError
from coembed.experiments.benchmark_networks import TITLES, open_network
from coembed.experiments.code_version import code_version
from coembed.experiments.record_file import Record, RecordFile
from coembed.experiments.search import SEED, add_earlier, new_search, try_next
from coembed.experiments.search_spaces import SPACES
from coembed.experiments.table_rows import ROWS, Row
from coembed.files import replacing_file
from coembed.network import Network
from coembed.progress import Tell
from coembed.settings import Task

TRIALS = 8
JUDGED: dict[Task, str] = {"classification": "accuracy", "attributes": "auc", "links": "auc"}


@dataclass(frozen=True)
class Study:
    """A row on a network for a task, to be tuned."""

    task: Task
    row: Row
    network: str

    @property
    def name(self) -> str:
        return f"{self.task}.{self.row.name}.{self.network}"


def studies(networks: tuple[str, ...], methods: tuple[str, ...], tasks: tuple[Task, ...]) -> Iterator[Study]:
    """All rows with something to tune; a row that is itself the outcome of tuning is left out."""
    for task in tasks:
        for row in ROWS[task]:
            wanted = not methods or {row.name, row.method} & {*methods}
            if wanted and row.method in SPACES and not row.changes:
                yield from (Study(task, row, network) for network in networks)


def tune(study: Study, folder: Path, data: Path, trials: int = TRIALS, tell: Tell | None = None) -> Record:
    """Try settings, the row's own first, and keep what each gave; trials that are there are not run again.

    The search is told of all earlier trials, so that a study that was stopped goes on as if it had not been.
    """
    kept = study_file(folder)
    record = deepcopy(kept.get(study.task, study.row.name, study.network)) or _new(study)
    network = open_network(study.network, data)
    search, space = new_search(), SPACES[study.row.method]
    for earlier in record["trials"]:
        add_earlier(search, space, earlier)
    for number in range(len(record["trials"]), trials):
        done = try_next(search, space, partial(_value, study, network))
        record["trials"].append(done)
        record["code"] = code_version()
        kept.append(record)
        if tell is not None:
            said = "failed" if done["value"] is None else f"{JUDGED[study.task]} {done['value']:.4f}"
            tell(f"{study.name} trial {number + 1}/{trials}: {said}, {done['seconds']:.0f} s")
    return record


def study_file(folder: Path) -> RecordFile:
    """Where all studies are kept: a line a study, written anew after each of its trials."""
    return RecordFile(folder / "studies.jsonl", ("task", "row", "network"))


def _new(study: Study) -> Record:
    return {
        "task": study.task,
        "row": study.row.name,
        "method": study.row.method,
        "network": study.network,
        "seed": SEED,
        "part": "validation",
        "metric": JUDGED[study.task],
        "trials": [],
    }


def _value(study: Study, network: Network, settings: dict[str, Any]) -> float:
    from coembed.evaluation.evaluation import run_trial

    row = study.row
    outcome = run_trial(
        network,
        study.task,
        row.method,
        SEED,
        preset=row.preset,
        labels=row.labels,
        changes=(*row.changes, *changes_of(settings)),
        part="validation",
    )
    return outcome.figures[JUDGED[study.task]]


def changes_of(settings: dict[str, Any]) -> tuple[str, ...]:
    """Settings as texts.

    Examples
    --------
    >>> changes_of({"alpha": 3.5, "epochs": 100})
    ('alpha=3.5', 'epochs=100')
    """
    return tuple(f"{name}={value}" for name, value in settings.items())


class Tuned(NamedTuple):
    """What came of a study: its record, the trial to be taken, and the figure of the row's own settings."""

    record: Record
    best: dict[str, Any]
    own: float | None


def finished_studies(folder: Path) -> list[Tuned]:
    """Every study of a folder in which some trial worked.

    The row's own settings, which are tried first, stay unless something was better: a tie changes nothing.
    """
    found = []
    kept = study_file(folder).records()
    for name in sorted(kept, key=".".join):
        record = kept[name]
        tried = [trial for trial in record["trials"] if trial["value"] is not None]
        if tried:
            best = max(tried, key=lambda trial: trial["value"])
            found.append(Tuned(record, best, record["trials"][0]["value"]))
    return found


def write_chosen(folder: Path, path: Path) -> int:
    """Gather the best trial of every study in a TOML file, with what it was chosen among; their number."""
    lines = [
        "# Chosen on validation data of seed 0, the same number of trials for every method; no test data.",
        "# own: the figure of the row's own settings. An empty table means that nothing tried was better.",
    ]
    found = finished_studies(folder)
    for record, best, own in found:
        lines += [
            "",
            f"[{record['task']}.{record['row']}.{record['network']}]",
            f"metric = {_toml(record['metric'])}",
            f"trials = {len(record['trials'])}",
            f"seconds = {sum(trial['seconds'] for trial in record['trials']):.1f}",
            *([] if own is None else [f"own = {own}"]),
            f"best = {best['value']}",
            f"code = {_toml(record.get('code', ''))}",
            f"[{record['task']}.{record['row']}.{record['network']}.settings]",
            *(f"{name} = {_toml(value)}" for name, value in best["settings"].items()),
        ]
    with replacing_file(path) as sibling:
        sibling.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(found)


def _toml(value: Any) -> str:
    return json.dumps(value) if isinstance(value, str) else repr(value)


def read_chosen(path: Path) -> dict[tuple[str, str, str], tuple[str, ...]]:
    """Changes by task, row and network, from the file that :func:`write_chosen` made."""
    import tomllib

    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); run: coembed reproduce tune") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is no TOML file ({error})") from None
    found: dict[tuple[str, str, str], tuple[str, ...]] = {}
    for task, rows in tables.items():
        for row, networks in rows.items():
            for network, chosen in networks.items():
                if task not in ROWS or network not in TITLES or "settings" not in chosen:
                    raise InputError(f"{path}: [{task}.{row}.{network}] names no task, network or settings")
                found[task, row, network] = changes_of(chosen["settings"])
    return found
