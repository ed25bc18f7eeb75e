"""Connections with patience that ends: who sends slowly, or nothing, does not keep others out.

The server's own protocol waits for the head of a request as long as it takes. Here a head has some seconds;
of too many connections the one that has been idle longest gives way; and what is refused before it reaches
the application is told in the shape of all other errors.
"""

from __future__ import annotations

import asyncio
import json
import time
from http import HTTPStatus

from uvicorn.protocols.http.h11_impl import H11Protocol

from coembed.explorer.guard import error_body

HEAD_SECONDS = 10.0
"""From the beginning of a connection, or of a further request, to the end of its head."""
MOST_CONNECTIONS = 500


class Connection(H11Protocol):
    """One connection."""

    _patience: asyncio.TimerHandle | None = None
    _idle_since = 0.0

    @property
    def _busy(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        crowded = len(self.connections) >= MOST_CONNECTIONS and not self._make_room()
        super().connection_made(transport)
        self._idle_since = time.monotonic()
        if crowded:
            self._refuse(503, "busy", "too many requests at once; ask again in a while")
        else:
            self._start_patience()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_patience()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._busy:
            self._end_patience()
        elif self._patience is None and not self.transport.is_closing():
            self._start_patience()  # for the rest of a head, or of a body that nobody waits for

    def on_response_complete(self) -> None:
        self._idle_since = time.monotonic()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, "bad_request", "this is not an HTTP request, or its head is too long")

    def _make_room(self) -> bool:
        """Close the connection that has been idle longest; False if all have a request."""
        idle = [each for each in self.connections if isinstance(each, Connection) and not each._busy]
        if not idle:
            return False
        longest = min(idle, key=lambda each: each._idle_since)
        longest.transport.close()
        self.connections.discard(longest)
        return True

    def _start_patience(self) -> None:
        self._patience = self.loop.call_later(HEAD_SECONDS, self._lose_patience)

    def _end_patience(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _lose_patience(self) -> None:
        self._patience = None
        if not self._busy and not self.transport.is_closing():
            self._refuse(408, "too_slow", f"the head of a request must come within {HEAD_SECONDS:g} seconds")

    def _refuse(self, status: int, code: str, message: str) -> None:
        """Answer by hand: there is no request that the server could answer."""
        if self.cycle is None or self.cycle.response_complete:
            body = json.dumps(error_body(code, message)).encode()
            head = (
                f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: application/json\r\n"
                f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
        self.transport.close()
