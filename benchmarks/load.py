"""Load on the HTTP API: so many mixed requests a second for so long, and how long each took.

    python benchmarks/load.py MODEL --rate 200 --seconds 60 --workers 2

The server runs in a process of its own, as `coembed serve` starts it. Requests leave at fixed times, whether
the ones before were answered or not, so that a slow answer is not hidden by fewer questions.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import numpy as np

from coembed.client import Client

# share of the questions: what people with the page open ask, and a little more of the heavy ones
MIX = {
    "search": 0.29,
    "node": 0.25,
    "attribute": 0.15,
    "similar": 0.1,
    "why": 0.08,
    "score": 0.07,
    "embed": 0.05,
    "map": 0.01,
}
CONNECTIONS = 48
HEADERS = "host: 127.0.0.1\r\naccept: */*\r\naccept-encoding: gzip\r\nuser-agent: load\r\n"
"""As of a browser, which keeps connections open; an answer of megabytes comes packed."""


class Question(NamedTuple):
    """A request as it goes over the wire."""

    kind: str
    request: bytes


def questions(columns: dict[str, Any], count: int, seed: int) -> list[Question]:
    """Made-up questions about items of the map, each drawn anew from all that there are."""
    rng = np.random.default_rng(seed)
    nodes, attributes = ([str(id) for id in each["id"]] for each in columns["types"])
    return [
        Question(str(kind), request(*_question(str(kind), nodes, attributes, rng)))
        for kind in rng.choice(list(MIX), count, p=list(MIX.values()))
    ]


def _question(
    kind: str, nodes: list[str], attributes: list[str], rng: np.random.Generator
) -> tuple[str, dict[str, Any] | None, dict[str, Any] | None]:
    """Path, parameters and body."""

    def one(of: list[str]) -> str:
        return of[rng.integers(len(of))]

    if kind == "search":  # a name that is being typed, with a slip now and then
        name = one(nodes) if rng.random() < 0.5 else one(attributes)
        typed = "".join(letter for letter in name[: rng.integers(2, 12)] if rng.random() > 0.07) or "a"
        return "search", {"q": typed}, None
    if kind in ("node", "attribute"):
        return "item", {"id": one(nodes if kind == "node" else attributes), "type": kind, "k": 12}, None
    if kind == "similar":
        return "similar", {"id": one(nodes), "type": "node"}, None
    if kind == "why":
        return "why", None, {"id": one(nodes), "type": "node", "targets": [one(attributes)]}
    if kind == "score":
        return "score", None, {"attributes": [[one(nodes), one(attributes)] for _ in range(50)]}
    if kind == "embed":
        return "embed", None, {"nodes": [{"attributes": [one(attributes)], "links": [one(nodes)]}]}
    return "map", None, None


def request(path: str, parameters: dict[str, Any] | None, body: dict[str, Any] | None) -> bytes:
    address = f"/api/v1/{path}" + (f"?{urlencode(parameters)}" if parameters else "")
    if body is None:
        return f"GET {address} HTTP/1.1\r\n{HEADERS}\r\n".encode()
    text = json.dumps(body).encode()
    kind = f"content-type: application/json\r\ncontent-length: {len(text)}\r\n"
    return f"POST {address} HTTP/1.1\r\n{HEADERS}{kind}\r\n".encode() + text


class Connections:
    """Connections that stay open, asked in turn.

    Written by hand: the libraries at hand take a millisecond of processor a request, as much as many answers,
    on the processors that the server needs.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        self.idle: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter] | None] = asyncio.Queue()
        for _ in range(CONNECTIONS):
            self.idle.put_nowait(None)

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        """Status and body; one connection that fails is opened anew for the next question."""
        connection = await self.idle.get()
        try:
            connection = connection or await asyncio.open_connection("127.0.0.1", self.port)
            reader, writer = connection
            writer.write(request)
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
            body = await reader.readexactly(length)
        except BaseException:
            self.idle.put_nowait(None)
            raise
        self.idle.put_nowait(connection)
        return int(head.split(b" ", 2)[1]), body


async def load(port: int, rate: float, seconds: float, seed: int) -> dict[str, Any]:
    """Questions at fixed times, answered or not those before; time counts from when each is due."""
    took: dict[str, list[float]] = {kind: [] for kind in MIX}
    failed: list[str] = []
    connections = Connections(port)
    plain = request("map", None, None).replace(b"gzip", b"identity")
    asked = questions(json.loads((await connections.ask(plain))[1]), int(rate * seconds), seed)
    await asyncio.gather(*(connections.ask(each.request) for each in asked[: 2 * CONNECTIONS]))
    asked = asked[::-1]  # not again in the same order
    start = time.perf_counter()

    async def ask(question: Question, due: float) -> None:
        try:
            status, _ = await connections.ask(question.request)
            if status != 200:
                failed.append(f"{question.kind} {status}")
        except (OSError, asyncio.IncompleteReadError) as error:
            failed.append(f"{question.kind} {type(error).__name__}")
        took[question.kind].append(time.perf_counter() - due)

    async with asyncio.TaskGroup() as group:
        for number, question in enumerate(asked):
            due = start + number / rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            group.create_task(ask(question, due))
    lasted = time.perf_counter() - start
    everything = np.concatenate([np.array(times) for times in took.values()])
    return {
        "requests": len(asked),
        "per_second": round(len(asked) / lasted, 1),
        "errors": len(failed),
        "first_errors": failed[:5],
        **{f"p{q}_ms": round(1000 * float(np.percentile(everything, q)), 1) for q in (50, 95, 99, 100)},
        "p99_ms_by_kind": {
            kind: round(1000 * float(np.percentile(times, 99)), 1) for kind, times in took.items() if times
        },
    }


def workers_of(pid: int) -> list[int]:
    """The server's process and those that it has started."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *map(int, children)]


def memory_mb(pid: int) -> float:
    return sum(map(_memory_mb, workers_of(pid)))


def processor_seconds(pid: int) -> float:
    """Time that all have had of the processor: what an answer costs, whatever else the machine does."""
    return sum(map(_processor_seconds, workers_of(pid)))


def _memory_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--rate", type=float, default=100, help="requests a second")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1, help="repeat, to see whether the memory grows")
    given = parser.parse_args()
    command = [
        sys.executable,
        "-m",
        "coembed",
        "serve",
        given.model,
        "--port",
        "0",
        "--workers",
        str(given.workers),
    ]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        told = (re.search(r"http://\S+/", line) for line in server.stderr)
        address = next(found[0] for found in told if found)
        Client(address).wait()
        time.sleep(1 if given.workers == 1 else 6)  # every worker has read the model then
        rounds = []
        before = memory_mb(server.pid)
        for seed in range(given.rounds):
            spent = processor_seconds(server.pid)
            own = time.process_time()
            figures = asyncio.run(load(urlsplit(address).port, given.rate, given.seconds, seed))
            own = 1000 * (time.process_time() - own) / figures["requests"]
            spent = 1000 * (processor_seconds(server.pid) - spent) / figures["requests"]
            rounds.append(
                {
                    **figures,
                    "processor_ms_per_request": round(spent, 2),
                    "processor_ms_of_asking": round(own, 2),
                    "memory_mb": round(memory_mb(server.pid), 1),
                }
            )
        print(json.dumps({"memory_mb_before": round(before, 1), "rounds": rounds}, indent=2))
    finally:
        server.terminate()
        server.wait(10)


if __name__ == "__main__":
    main()
