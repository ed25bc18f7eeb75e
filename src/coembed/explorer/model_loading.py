"""From a model's folder to what answers: read, laid out, warmed; at the start, and again while it answers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from coembed.errors import one_line
from coembed.explorer.asking import Explorer
from coembed.explorer.kept_answers import Answers
from coembed.fitted.fitted import Fitted
from coembed.fitted.storage import load
from coembed.maps.layout import cached_layout, chosen_method
from coembed.network import demo_network, read
from coembed.network.network import Network
from coembed.progress import CountProgress


@dataclass(frozen=True)
class Source:
    """Where a model is, what judges it, and how its map is laid out.

    Attributes
    ----------
    turn
        Held while the map is laid out: of several workers one does it, and the others find what it kept.
    """

    model: Path
    truth: Path | None = None
    method: str = "auto"
    turn: AbstractContextManager[Any] = field(default_factory=nullcontext)

    def read(self) -> tuple[Fitted, Network | None]:
        """The model and the truth; what is wrong with either is told here, before anything is served."""
        fitted = load(self.model)
        chosen_method(self.method, fitted)
        return fitted, read(self.truth) if self.truth is not None else bundled_truth(fitted)

    def explorer(
        self, fitted: Fitted, truth: Network | None, progress: CountProgress | None = None
    ) -> Explorer:
        """The model with its layout, made now if it was never made."""
        with self.turn:
            layout = cached_layout(fitted, self.model, self.method, progress=progress)
        return Explorer(fitted, layout, truth)


def bundled_truth(fitted: Fitted) -> Network | None:
    """The bundled network, where the model was fitted to it with hidden labels: the demo can be judged."""
    network, bundled = fitted.network, demo_network()
    same = network.name == bundled.name and list(network.node_names) == list(bundled.node_names)
    hidden = same and len(network.labelled) < len(bundled.labelled) and network.n_classes
    return bundled if hidden else None


class NotReady(Exception):
    """The model is still being made ready."""


class Loaded:
    """The model that is asked: none while the first is made ready, another one after a reload.

    Whoever asks takes `answers` once and keeps to it: a reload puts another in its place in one step.
    """

    def __init__(self, source: Source | None = None, explorer: Explorer | None = None) -> None:
        self.source, self.problem, self.doing = source, None, None
        self.progress: float | None = None
        self.loads, self.since = 0, None
        self._answers: Answers | None = None
        self._one_at_a_time = Lock()
        if explorer is not None:
            self._put(explorer)

    problem: str | None
    doing: str | None
    since: str | None

    @property
    def answers(self) -> Answers:
        found = self._answers
        if found is None:
            raise NotReady(self.in_words())
        return found

    @property
    def ready(self) -> bool:
        return self._answers is not None

    def in_words(self) -> str:
        share = "" if self.progress is None else f" ({self.progress:.0%})"
        return f"the server is {self.doing or 'starting'}{share}; ask again in a while"

    def start(
        self,
        already: tuple[Fitted, Network | None] | None = None,
        watch: CountProgress | None = None,
        failed: Callable[[Exception], None] | None = None,
    ) -> Thread:
        """Load in the background: what is asked meanwhile is answered by the model before, if there is one.

        Parameters
        ----------
        already
            What :meth:`Source.read` gave, where it was called before.
        failed
            Told why there is nothing to serve; a reload that fails is told on the terminal, and by `problem`.
        """
        thread = Thread(target=self._load, args=(already, watch, failed), daemon=True)
        thread.start()
        return thread

    def _load(
        self,
        already: tuple[Fitted, Network | None] | None,
        watch: CountProgress | None,
        failed: Callable[[Exception], None] | None,
    ) -> None:
        def told(done: int, steps: int) -> None:
            self.progress = done / max(steps, 1)
            if watch is not None:
                watch(done, steps)

        with self._one_at_a_time:
            try:
                assert self.source is not None
                self.doing, self.progress = "reading the model", None
                fitted, truth = already or self.source.read()
                self.doing = "laying out the map"
                explorer = self.source.explorer(fitted, truth, told)
                self.doing, self.progress = "getting ready", None
                explorer.warm()
                self._put(explorer)
                self.problem = None
            except Exception as error:  # whatever it is: the model before goes on answering
                self.problem = one_line(error)
                if failed is not None:
                    failed(error)
                else:
                    print(f"the model was not reloaded: {self.problem}", file=sys.stderr, flush=True)
            finally:
                self.doing = self.progress = None

    def _put(self, explorer: Explorer) -> None:
        self._answers = Answers(explorer)
        self.loads += 1
        self.since = datetime.now(UTC).isoformat(timespec="seconds")
