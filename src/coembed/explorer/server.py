"""Running the application: where it listens, what it says, when it ends."""

from __future__ import annotations

import secrets
import socket
import webbrowser
from contextlib import AbstractContextManager
from threading import Timer
from typing import TYPE_CHECKING, Any

from coembed.errors import InputError
from coembed.explorer.application import make_app
from coembed.explorer.asking import Explorer
from coembed.explorer.guard import is_loopback
from coembed.progress import Tell

if TYPE_CHECKING:
    from fastapi import FastAPI
    from uvicorn import Server

LONGEST_ADDRESS = 262_144
"""Bytes of a request's head: an id of 10,000 emoji, escaped, still fits."""

END_SECONDS = 5
"""For requests that are being answered when the server is told to end; then they are given up."""


def serve(
    explorer: Explorer,
    *,
    host: str = "127.0.0.1",
    port: int = 8642,
    token: str | None = None,
    browser: bool = False,
    elsewhere: bool = False,
    tell: Tell = print,
) -> None:
    """Serve a model until it is interrupted.

    Parameters
    ----------
    host, port
        Where to listen; port 0 is any free one. A host other than loopback needs a token: without one, one
        is made up and told.
    browser
        Open the page.
    elsewhere
        Take any free port if that one is taken.
    tell
        Called with the address.
    """
    public = not is_loopback(host)
    if public and not token:
        token = secrets.token_urlsafe(18)
    bound = _bind(host, port, elsewhere)
    address = _address("127.0.0.1" if host in ("0.0.0.0", "::") else host, bound.getsockname()[1], token)
    explorer.warm()
    app = make_app(explorer, token, any_host=public)
    server = make_server(app)
    tell(address)
    if browser:
        timer = Timer(0.6, webbrowser.open, [address])
        timer.daemon = True
        timer.start()
    with bound, one_thread_each():
        server.run(sockets=[bound])


def one_thread_each() -> AbstractContextManager[Any]:
    """Products of matrices on one thread: many small questions at once would fight for the processors.

    With as many threads a product as there are processors an answer took twice the processor time, and at
    times seconds.
    """
    from threadpoolctl import threadpool_limits  # comes with scikit-learn

    limits: AbstractContextManager[Any] = threadpool_limits(1, "blas")
    return limits


def make_server(app: FastAPI) -> Server:
    """The server, with its limits; not yet running."""
    import uvicorn

    from coembed.explorer.connections import Connection

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        http=Connection,
        ws="none",
        h11_max_incomplete_event_size=LONGEST_ADDRESS,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=END_SECONDS,
        server_header=False,
    )
    return uvicorn.Server(config)


def _bind(host: str, port: int, elsewhere: bool) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # named as TCP, or asyncio does not know that it may send small answers at once: each would wait 40 ms
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host.strip("[]"), port))
    except OSError as error:
        bound.close()
        if elsewhere and port:
            return _bind(host, 0, False)
        raise InputError(
            f"{host}:{port} cannot be listened on ({error.strerror}); choose another --port"
        ) from None
    return bound


def _address(host: str, port: int, token: str | None) -> str:
    """What to open in a browser; the token stands behind the #, which browsers keep to themselves.

    Examples
    --------
    >>> _address("127.0.0.1", 8642, None), _address("::1", 80, "secret")
    ('http://127.0.0.1:8642/', 'http://[::1]:80/#token=secret')
    """
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/" + (f"#token={token}" if token else "")
