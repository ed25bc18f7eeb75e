"""Around every request: a name for it, a line in the log, its place in the counts; HEAD as a short GET."""

from __future__ import annotations

import json
import os
import re
import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from coembed.explorer.guard import Application, Message, Receive, Send
from coembed.explorer.request_counts import RequestCounts

_SANE = re.compile(rb"[A-Za-z0-9._:-]{1,64}")
LogLine = Callable[[str], None]


class RequestLog:
    """Passes requests on to an application, and tells of each.

    Parameters
    ----------
    write
        Called with a line of JSON for every answer; None: no log. Queries are not written: they hold ids.
    """

    def __init__(self, app: Application, counts: RequestCounts, write: LogLine | None = None) -> None:
        self.app, self.counts, self.write = app, counts, write

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        name = _request_id(scope)
        started, status, sent = time.perf_counter(), 500, 0
        # the server itself leaves out the body of an answer to HEAD
        inner = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope

        async def told(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", []), (b"x-request-id", name.encode())]
            elif inner is not scope:
                message = {**message, "body": b""}
            sent += len(message.get("body", b""))
            await send(message)

        try:
            await self.app(inner, receive, told)
        finally:
            seconds = time.perf_counter() - started
            self.counts.add(scope["path"], status, seconds)
            if self.write is not None:
                self.write(json.dumps(_line(scope, name, status, sent, seconds)))


def _request_id(scope: Message) -> str:
    """The name that a proxy gave the request, if it is a sane one, or a new one."""
    given = next((value for key, value in scope["headers"] if key == b"x-request-id"), b"")
    return given.decode() if _SANE.fullmatch(given) else secrets.token_hex(8)


def _line(scope: Message, name: str, status: int, sent: int, seconds: float) -> dict[str, Any]:
    return {
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "id": name,
        "pid": os.getpid(),
        "client": (scope.get("client") or ("", 0))[0],
        "method": scope["method"],
        "path": scope["path"][:200],
        "status": status,
        "bytes": sent,
        "ms": round(1000 * seconds, 2),
    }
