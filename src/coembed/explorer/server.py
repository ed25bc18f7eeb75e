"""Running the application: where it listens, what it says, when it loads again, when it ends."""

from __future__ import annotations

import multiprocessing
import os
import secrets
import signal
import socket
import sys
import webbrowser
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any

from coembed.errors import InputError
from coembed.explorer.application import make_app
from coembed.explorer.guard import is_loopback
from coembed.explorer.listening import address_of, bind, reachable
from coembed.explorer.model_loading import Loaded
from coembed.explorer.model_source import Source
from coembed.explorer.request_counts import SharedCounts
from coembed.explorer.request_log import LogLine
from coembed.explorer.retraining_job import Retrain
from coembed.progress import CountProgress, Tell

if TYPE_CHECKING:
    from fastapi import FastAPI
    from uvicorn import Config, Server

LONGEST_ADDRESS = 262_144
"""Bytes of a request's head: an id of 10,000 emoji, escaped, still fits."""

END_SECONDS = 5
"""For requests that are being answered when the server is told to end; then they are given up."""

SILENT_SECONDS = 300
"""How long a worker may say nothing, as while it lays out a map, before it is taken for dead."""


@dataclass(frozen=True)
class Serving:
    """How a model is served.

    Attributes
    ----------
    host, port
        Where to listen; port 0 is any free one. A host other than loopback needs a token: without one, one
        is made up and told.
    workers
        Processes that answer, each with a copy of the model.
    cors
        Other sites whose pages may ask.
    allow_changes
        Whether selections and corrections may be kept, and the model loaded again; that always needs a token.
    retrain
        What trains again with the corrections, where changes are allowed and one process answers.
    access_log
        A file to which a line of JSON is added for every answer; ``-`` is standard error.
    """

    host: str = "127.0.0.1"
    port: int = 8642
    token: str | None = None
    workers: int = 1
    cors: tuple[str, ...] = ()
    allow_changes: bool = False
    access_log: str | None = None
    retrain: Retrain | None = None

    @property
    def public(self) -> bool:
        return not is_loopback(self.host)

    def with_token(self) -> Serving:
        """The same with a token, where one is needed."""
        needed = (self.public or self.allow_changes) and not self.token
        return replace(self, token=secrets.token_urlsafe(18)) if needed else self


def serve(
    source: Source,
    how: Serving,
    *,
    browser: bool = False,
    elsewhere: bool = False,
    tell: Tell = print,
    progress: CountProgress | None = None,
) -> None:
    """Serve a model until it is interrupted: at once, and the map as soon as it is laid out.

    Parameters
    ----------
    browser
        Open the page.
    elsewhere
        Take any free port if that one is taken.
    tell
        Called with the address.
    progress
        Told how far the layout of the map is.
    """
    how = how.with_token()
    _check(how)
    already = source.read()  # what is wrong with the model is told before anything listens
    with bind(how.host, how.port, elsewhere) as bound, one_thread_each():
        address = address_of(reachable(how.host), bound.getsockname()[1], how.token)
        tell(address)
        if browser:
            timer = Timer(0.6, webbrowser.open, [address])
            timer.daemon = True
            timer.start()
        if how.workers > 1:
            del already
            _run_workers(source, how, bound)
        else:
            _run_one(source, how, bound, already, progress)


def _run_one(
    source: Source, how: Serving, bound: socket.socket, already: Any, progress: CountProgress | None
) -> None:
    loaded, problems = Loaded(source), []
    reload_on_hangup(loaded)
    server = make_server(application(loaded, how, reload=loaded.start))

    def failed(error: Exception) -> None:
        problems.append(error)
        server.should_exit = True

    loaded.start(already, progress, failed)
    server.run(sockets=[bound])
    if problems:
        raise problems[0]


def _run_workers(source: Source, how: Serving, bound: socket.socket) -> None:
    from uvicorn.supervisors.multiprocess import Multiprocess

    class Workers(Multiprocess):
        def handle_hup(self) -> None:
            """Each loads the model again beside the one that answers: nobody waits."""
            for process in self.processes:
                if process.pid is not None:
                    os.kill(process.pid, signal.SIGHUP)

    turn = multiprocessing.get_context("spawn").Lock()
    app = partial(worker_application, replace(source, turn=turn), how, SharedCounts())
    config = make_config(app, factory=True, workers=how.workers, timeout_worker_healthcheck=SILENT_SECONDS)
    Workers(config, sockets=[bound]).run()


def worker_application(source: Source, how: Serving, shared: SharedCounts) -> FastAPI:
    """The application of one worker, in its own process."""
    threads = one_thread_each()
    threads.__enter__()  # for as long as the process lives
    loaded = Loaded(source)
    reload_on_hangup(loaded)
    tell_all = partial(os.kill, os.getppid(), signal.SIGHUP)
    app = application(loaded, how, reload=tell_all, shared=shared)
    loaded.start(failed=lambda error: os.kill(os.getpid(), signal.SIGTERM))
    return app


def application(loaded: Loaded, how: Serving, reload: Any, shared: SharedCounts | None = None) -> FastAPI:
    return make_app(
        loaded,
        how.token,
        any_host=how.public,
        cors=how.cors,
        reload=reload if how.allow_changes else None,
        retrain=how.retrain,
        write_log=_log(how.access_log),
        shared=shared,
    )


def reload_on_hangup(loaded: Loaded) -> None:
    """Load the model again when the process is sent SIGHUP, where there is such a signal."""
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, lambda *_: loaded.start())


def _log(place: str | None) -> LogLine | None:
    """Adds lines to a file: each in one step, so that several workers may share it."""
    if place is None:
        return None
    descriptor = (
        sys.stderr.fileno() if place == "-" else os.open(place, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o640)
    )

    def write(line: str) -> None:
        os.write(descriptor, f"{line}\n".encode())

    return write


def _check(how: Serving) -> None:
    for each in how.cors:
        if each != "*" and not each.startswith(("http://", "https://")):
            raise InputError(f"--cors takes an origin such as https://site.example, got {each[:80]!r}")
    if how.access_log not in (None, "-") and Path(str(how.access_log)).is_dir():
        raise InputError(f"{how.access_log} is a folder; name a file for --access-log")


def one_thread_each() -> AbstractContextManager[Any]:
    """Products of matrices on one thread: many small questions at once would fight for the processors.

    With as many threads a product as there are processors an answer took twice the processor time, and at
    times seconds.
    """
    from threadpoolctl import threadpool_limits  # comes with scikit-learn

    limits: AbstractContextManager[Any] = threadpool_limits(1, "blas")
    return limits


def make_config(app: Any, **more: Any) -> Config:
    import uvicorn

    from coembed.explorer.connections import Connection

    return uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        http=Connection,
        ws="none",
        h11_max_incomplete_event_size=LONGEST_ADDRESS,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=END_SECONDS,
        server_header=False,
        **more,
    )


def make_server(app: FastAPI) -> Server:
    """The server, with its limits; not yet running."""
    import uvicorn

    return uvicorn.Server(make_config(app))
