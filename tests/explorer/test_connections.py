"""Slow, silent and hostile connections: answered in the shape of all errors, or closed, and nobody waits."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import contextmanager, suppress

import pytest

pytest.importorskip("uvicorn")

from coembed.explorer import connections, guard, listening, make_app, server

HANGS = 20.0
"""What no test takes unless something hangs."""
HALF_BODY = b"POST /api/v1/score HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{"


@contextmanager
def running(explorer):
    """The server in a thread of its own; ends with the block, or fails."""
    bound = listening.bind("127.0.0.1", 0, False)
    made = server.make_server(make_app(explorer))
    thread = threading.Thread(target=made.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    while not made.started and thread.is_alive():
        time.sleep(0.01)
    try:
        yield bound.getsockname()[1]
    finally:
        made.should_exit = True
        thread.join(HANGS)
        bound.close()
    assert not thread.is_alive(), "the server did not end"


def connected(port: int) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), timeout=HANGS)
    client.settimeout(HANGS)
    return client


def everything(client: socket.socket) -> bytes:
    """All that is sent until the connection is closed."""
    found = b""
    while piece := client.recv(65536):
        found += piece
    return found


def refusal(answer: bytes) -> tuple[int, str]:
    """Status and code, if it is an error in the documented shape."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/json" in head
    error = json.loads(body)["error"]
    assert set(error) == {"code", "message"}
    assert "\n" not in error["message"]
    return int(head.split()[1]), error["code"]


@pytest.fixture
def hasty(monkeypatch):
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.3)


def test_a_head_that_does_not_come_is_not_waited_for(explorer, hasty):
    with running(explorer) as port:
        silent, half = connected(port), connected(port)
        half.sendall(b"GET /api/v1/model HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
        for client in (silent, half):
            assert refusal(everything(client)) == (408, "too_slow")


def test_a_head_that_drips_is_not_waited_for(explorer, hasty):
    with running(explorer) as port:
        client = connected(port)
        client.settimeout(0.05)
        said, ends = b"", time.monotonic() + HANGS
        while b"\r\n\r\n" not in said:
            assert time.monotonic() < ends, "it was waited for"
            client.sendall(b"G")
            with suppress(TimeoutError):  # nothing was said yet: the next letter
                said += client.recv(65536)
        assert refusal(said) == (408, "too_slow")


def test_a_body_that_does_not_come_is_not_waited_for(explorer, hasty):
    with running(explorer) as port:
        client = connected(port)
        client.sendall(HALF_BODY)
        assert refusal(everything(client)) == (408, "too_slow")


def test_idle_connections_give_way(explorer, monkeypatch):
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 4)
    with running(explorer) as port:
        idle = [connected(port) for _ in range(12)]
        asking = connected(port)
        asking.sendall(b"GET /api/v1/model HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        assert everything(asking).startswith(b"HTTP/1.1 200")
        for client in idle:
            client.close()


def test_where_all_are_busy_that_is_told(explorer, monkeypatch):
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 2)
    with running(explorer) as port:
        busy = [connected(port) for _ in range(2)]
        for client in busy:
            client.sendall(HALF_BODY)
        time.sleep(0.3)
        assert refusal(everything(connected(port))) == (503, "busy")
        for client in busy:
            client.close()


@pytest.mark.parametrize(
    "sent", [b"\x16\x03\x01\x02\x00\x01\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"\r\n" * 9 + b"x\r\n\r\n"]
)
def test_what_is_no_request_is_told(explorer, sent):
    with running(explorer) as port:
        client = connected(port)
        client.sendall(sent)
        assert refusal(everything(client)) == (400, "bad_request")


def test_a_body_that_never_ends_does_not_keep_the_server_up(explorer, monkeypatch):
    monkeypatch.setattr(server, "END_SECONDS", 1)
    with running(explorer) as port:
        client = connected(port)
        client.sendall(HALF_BODY)
        time.sleep(0.3)
    client.close()


def test_a_listener_takes_one_connection_and_leaves_the_next_to_other_workers():
    with listening.bind("127.0.0.1", 0, False) as bound:
        bound.setblocking(False)
        port = bound.getsockname()[1]
        with connected(port), connected(port):
            taken = [bound.accept()[0]]
            with pytest.raises(BlockingIOError):
                bound.accept()  # though one waits: the event loop leaves it, and looks again
            taken.append(bound.accept()[0])
            for each in taken:
                each.close()
