"""From a model's folder to what answers: laid out, warmed; at the start, and again while it answers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from threading import Lock, Thread

from coembed.errors import one_line
from coembed.explorer.asking import Explorer
from coembed.explorer.kept_answers import Answers
from coembed.explorer.model_source import Source
from coembed.fitted.fitted import Fitted
from coembed.network.network import Network
from coembed.progress import CountProgress


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
