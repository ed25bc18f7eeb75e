"""Where a server listens, and under which address it is reached."""

from __future__ import annotations

import socket
from multiprocessing import reduction
from typing import Any

from coembed.errors import InputError


class FairListener(socket.socket):
    """A listening socket that takes one connection at a time.

    An event loop takes all connections that wait, until it is told that none does. Of several workers the
    first to wake would then have most of what a proxy opens at once, and keep it: of 48 connections 37. Told
    so after each, it first does what it has to do, and another worker takes the next.
    """

    _took = False

    def accept(self) -> tuple[socket.socket, Any]:
        if self._took:
            self._took = False
            raise BlockingIOError
        found = super().accept()
        self._took = True
        return found

    def __reduce__(self) -> Any:
        """How it is handed to a worker."""
        return _received, (reduction.DupFd(self.fileno()), self.family, self.type, self.proto)


def _received(handed: Any, family: int, type: int, proto: int) -> FairListener:
    return FairListener(family, type, proto, fileno=handed.detach())


def bind(host: str, port: int, elsewhere: bool) -> FairListener:
    """A socket that listens there; with `elsewhere` on any free port if that one is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # named as TCP, or asyncio does not know that it may send small answers at once: each would wait 40 ms
    bound = FairListener(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host.strip("[]"), port))
        bound.listen(2048)  # from here on who asks waits for a moment, and is not refused
    except OSError as error:
        bound.close()
        if elsewhere and port:
            return bind(host, 0, False)
        raise InputError(
            f"{host}:{port} cannot be listened on ({error.strerror}); choose another --port"
        ) from None
    return bound


def reachable(host: str) -> str:
    """Under which address others reach a host; of all interfaces the one that leads out of the machine."""
    everywhere = {"0.0.0.0": ("192.0.2.1", socket.AF_INET), "::": ("2001:db8::1", socket.AF_INET6)}
    if host not in everywhere:
        return host
    other, family = everywhere[host]
    with socket.socket(family, socket.SOCK_DGRAM) as probe:  # nothing is sent: only the way out is asked for
        try:
            probe.connect((other, 9))
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1" if family == socket.AF_INET else "::1"


def address_of(host: str, port: int, token: str | None) -> str:
    """What to open in a browser; the token stands behind the #, which browsers keep to themselves.

    Examples
    --------
    >>> address_of("127.0.0.1", 8642, None), address_of("::1", 80, "secret")
    ('http://127.0.0.1:8642/', 'http://[::1]:80/#token=secret')
    """
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/" + (f"#token={token}" if token else "")
