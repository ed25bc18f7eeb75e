"""Settings for one's own network: searched on validation data, judged on data that the search never saw."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from coembed.errors import InputError, one_line
from coembed.experiments.search import SEED, import_optuna, new_search, try_next
from coembed.experiments.search_spaces import SPACES, Range, Space
from coembed.experiments.tuning import JUDGED, changes_of
from coembed.network import Network
from coembed.progress import EpochProgress, Tell
from coembed.settings import Task, preset_settings

JUDGED_HERE: dict[Task, str] = {**JUDGED, "columns": "gain", "direction": "auc"}
SEVERAL = "map"
"""What is judged where an item has several classes."""


@dataclass(frozen=True, eq=False)
class Question:
    """What is tuned for what: all that a trial depends on besides the settings that are tried.

    Attributes
    ----------
    labels
        Share of the known labels that the search may see, a fifth of them as its validation part; the rest
        judges what it found.
    changes
        Settings that all trials have.
    """

    network: Network
    task: Task
    preset: str = "best"
    labels: float = 0.8
    type: str | None = None
    relation: str | None = None
    changes: tuple[str, ...] = ()
    space: Space = field(default_factory=lambda: SPACES["scan"])

    @property
    def name(self) -> str:
        """The same for the same question only, so that a storage may hold many."""
        from coembed.network.splits import fingerprint

        parts = (self.preset, self.labels, self.type, self.relation, self.changes, sorted(self.space.items()))
        digest = hashlib.sha256(repr((fingerprint(self.network), *parts)).encode()).hexdigest()
        return f"{self.network.name} {self.task} {digest[:12]}"

    def value(self, settings: dict[str, Any], part: str, progress: EpochProgress | None = None) -> float:
        """The figure of settings on a part of what is hidden from them."""
        from coembed.evaluation.evaluation import run_trial

        figures = run_trial(
            self.network,
            self.task,
            "scan",
            SEED,
            preset=self.preset,
            labels=self.labels,
            changes=(*self.changes, *changes_of(settings)),
            part=part,  # type: ignore[arg-type]
            type=self.type,
            relation=self.relation,
            progress=progress,
        ).figures
        metric = JUDGED_HERE[self.task]
        return figures[metric if metric in figures else SEVERAL]


class Tried(NamedTuple):
    """A trial: the settings that it changed, and the figure on validation data (None: they do not work)."""

    settings: dict[str, Any]
    value: float | None
    seconds: float
    error: str | None = None


class Tuning(NamedTuple):
    """What a search has found: its trials in order, and which of them is to be taken."""

    trials: list[Tried]
    best: Tried

    @property
    def own(self) -> Tried:
        """That of the usual settings."""
        return next(each for each in self.trials if not each.settings)


def search_settings(
    question: Question,
    storage: Path | str,
    trials: int,
    seconds: float | None = None,
    tell: Tell | None = None,
    progress: EpochProgress | None = None,
) -> Tuning:
    """Try settings until there are so many trials in all, or the time is up; those that are there count.

    Parameters
    ----------
    storage
        A file, made if it is not there, or the address of a database that several workers share.
    """
    search = new_search(_storage(storage), question.name)
    start, attempt = time.monotonic(), partial(question.value, part="validation", progress=progress)
    while len(found := tried(search)) < trials:
        if found and seconds is not None and time.monotonic() - start > seconds:
            break
        done = try_next(search, question.space, attempt)
        if tell is not None:
            said = done.get("error") or f"{JUDGED_HERE[question.task]} {done['value']:.4f}"
            how = " ".join(changes_of(done["settings"])) or "the usual settings"
            tell(f"trial {len(found) + 1}/{trials}: {said} with {how}")
    worked = [each for each in found if each.value is not None]
    if not worked:
        raise InputError(f"no trial worked; the first said: {found[0].error}")
    # the usual settings stay unless something was better
    return Tuning(found, max(worked, key=lambda each: (each.value or 0.0, not each.settings)))


def tried(search: Any) -> list[Tried]:
    """The trials of a search that have ended."""
    ended = (each for each in search.get_trials(deepcopy=False) if each.state.is_finished())
    return [
        Tried(each.params, each.value, each.user_attrs.get("seconds", 0.0), each.user_attrs.get("error"))
        for each in ended
    ]


def _storage(place: Path | str) -> Any:
    storages = import_optuna().storages
    if isinstance(place, Path):
        backend = storages.journal.JournalFileBackend(str(place))
        return storages.JournalStorage(backend)
    try:
        return storages.get_storage(place)
    except Exception as error:  # of whichever database it is
        raise InputError(
            f"--storage {place}: {one_line(error)}; give a URL such as sqlite:///tuning.db"
        ) from None


def parse_space(texts: list[str], preset: str = "best") -> Space:
    """What may be tried, from texts: ``beta=0.1..0.9``, ``alpha=1..100 log``, ``dim=32,64,128``.

    Examples
    --------
    >>> parse_space(["beta=0.1..0.9", "epochs=50..400 log", "dim=32,64", "labels=exact,gumbel"])
    {'beta': Range(low=0.1, high=0.9, log=False), 'epochs': Range(low=50, high=400, log=True), \
'dim': (32, 64), 'labels': ('exact', 'gumbel')}
    """
    settings = preset_settings(preset)
    space: Space = {}
    for text in texts:
        name, mark, values = (part.strip() for part in text.partition("="))
        if not mark or not values:
            raise InputError(f"--search {text}: write NAME=LOW..HIGH, NAME=LOW..HIGH log, or NAME=A,B,C")
        ends = values.removesuffix(" log").split("..")
        parts = ends if len(ends) == 2 else values.split(",")
        found = [getattr(settings.parse([f"{name}={each}"]), name) for each in parts]
        if len(ends) != 2:
            space[name] = tuple(found)
        elif isinstance(found[0], (bool, str)) or not found[0] < found[1]:
            raise InputError(f"--search {text}: the ends of a range are two numbers, the lower first")
        elif values.endswith(" log") and found[0] <= 0:
            raise InputError(f"--search {text}: a range on a logarithmic scale begins above 0")
        else:
            space[name] = Range(found[0], found[1], values.endswith(" log"))
    return space
