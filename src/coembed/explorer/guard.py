"""What every request passes: is it for us, may it, is it small enough; and headers for every answer."""

from __future__ import annotations

import asyncio
import hmac
import json
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.exceptions import HTTPException

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

MOST_BODY = 1_000_000
MOST_TABLE = 64_000_000
"""Bytes of the body of a batch."""
BATCH = "/api/v1/batch/"
BODY_SECONDS = 20.0
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine and nobody else.

    Examples
    --------
    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    return host.strip("[]").lower() in LOOPBACK


class Guard:
    """Lets requests through to an application.

    Parameters
    ----------
    token
        What a request to the API must show (``Authorization: Bearer ...``); None: nothing. Whether the server
        runs and is ready is told to anybody.
    own_hosts
        The names under which this server may be asked; None: any. On loopback this keeps other sites, whose
        names can be made to lead here, from reading a model through somebody's browser.
    """

    def __init__(
        self, app: Application, token: str | None, own_hosts: tuple[str, ...] | None, policy: str
    ) -> None:
        self.app, self.token, self.own_hosts = app, token, own_hosts
        self.headers = [
            (b"content-security-policy", policy.encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"cross-origin-resource-policy", b"same-origin"),
        ]

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *self.headers]
            await send(message)

        refusal = self._refusal(scope)
        if refusal is None:
            await self.app(scope, self._limited(receive, _most(scope)), send_with_headers)
        else:
            await _answer(send_with_headers, *refusal)

    def _refusal(self, scope: Message) -> tuple[int, str, str] | None:
        headers = dict(scope["headers"])
        host = _hostname(headers.get(b"host", b"").decode("latin-1"))
        if self.own_hosts is not None and host not in self.own_hosts:
            return 403, "forbidden_host", f"this server does not go by the name {host[:80]!r}; use 127.0.0.1"
        if self.token is not None and (scope["path"].startswith("/api/") or scope["path"] == "/metrics"):
            shown = headers.get(b"authorization", b"")
            if not hmac.compare_digest(shown, f"Bearer {self.token}".encode()):
                return 401, "unauthorised", "show the token: Authorization: Bearer TOKEN"
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > _most(scope):
            return _too_large(_most(scope))
        return None

    @staticmethod
    def _limited(receive: Receive, most: int) -> Receive:
        """The body without more than its limits of size and time, whatever its header says."""
        total, whole = 0, False
        ends = time.monotonic() + BODY_SECONDS

        async def counted() -> Message:
            nonlocal total, whole
            if whole:  # only whether the other side hangs up is waited for
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), max(ends - time.monotonic(), 0))
            except TimeoutError:
                text = f"the body did not come within {BODY_SECONDS:g} seconds"
                raise HTTPException(408, text, {"Connection": "close"}) from None
            total += len(message.get("body", b""))
            whole = not message.get("more_body", False)
            if total > most:
                status, _, text = _too_large(most)
                raise HTTPException(status, text, {"Connection": "close"})
            return message

        return counted


def error_body(code: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}


def same_origin(scope: Message) -> bool:
    """Whether a request comes from no page, or from a page of this server."""
    headers = dict(scope["headers"])
    origin = headers.get(b"origin", b"").decode("latin-1").lower()
    return not origin or origin.partition("://")[2] == headers.get(b"host", b"").decode("latin-1").lower()


def _most(scope: Message) -> int:
    return MOST_TABLE if scope["path"].startswith(BATCH) else MOST_BODY


def _too_large(most: int) -> tuple[int, str, str]:
    return 413, "too_large", f"the body is larger than {most:,} bytes; ask in several requests"


def _hostname(host: str) -> str:
    """The name without the port.

    Examples
    --------
    >>> _hostname("localhost:8642"), _hostname("[::1]:80")
    ('localhost', '::1')
    """
    if host.startswith("["):
        return host[1:].split("]")[0].lower()
    return host.split(":")[0].lower()


async def _answer(send: Send, status: int, code: str, message: str) -> None:
    body = json.dumps(error_body(code, message)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
