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
from typing import Any

import httpx
import numpy as np

from coembed.client import Client

# share of the questions: what a person with the page open asks, and a little more of the heavy ones
MIX = {
    "search": 0.3,
    "node": 0.25,
    "attribute": 0.15,
    "similar": 0.1,
    "why": 0.08,
    "score": 0.07,
    "embed": 0.05,
}
KINDS = (*MIX, "map")


def questions(columns: dict[str, Any], count: int, seed: int) -> list[tuple[str, str, str, dict[str, Any]]]:
    """Kind, method, path and arguments of made-up questions about items of the map."""
    rng = np.random.default_rng(seed)
    nodes, attributes = (each["id"] for each in columns["types"])
    shares = np.array([*MIX.values(), 0])
    shares[-1] = max(0.0, 1 - shares.sum())
    asked = []
    for kind in rng.choice(KINDS, count, p=shares / shares.sum()):
        node, attribute = str(rng.choice(nodes)), str(rng.choice(attributes))
        name = str(rng.choice([node, attribute]))
        typed = "".join(letter for letter in name[: rng.integers(2, 12)] if rng.random() > 0.07) or "a"
        asked.append(
            {
                "search": ("search", "GET", "search", {"params": {"q": typed}}),
                "node": ("node", "GET", "item", {"params": {"id": node, "type": "node", "k": 12}}),
                "attribute": (
                    "attribute",
                    "GET",
                    "item",
                    {"params": {"id": attribute, "type": "attribute", "k": 12}},
                ),
                "similar": ("similar", "GET", "similar", {"params": {"id": node, "type": "node"}}),
                "why": ("why", "POST", "why", {"json": {"id": node, "type": "node", "targets": [attribute]}}),
                "score": ("score", "POST", "score", {"json": {"attributes": [[node, attribute]] * 50}}),
                "embed": (
                    "embed",
                    "POST",
                    "embed",
                    {"json": {"nodes": [{"attributes": [attribute], "links": [node]}]}},
                ),
                "map": ("map", "GET", "map", {}),
            }[str(kind)]
        )
    return asked


async def load(address: str, rate: float, seconds: float, seed: int) -> dict[str, Any]:
    took: dict[str, list[float]] = {kind: [] for kind in KINDS}
    failed: list[str] = []
    limits = httpx.Limits(max_connections=64, max_keepalive_connections=64)
    async with httpx.AsyncClient(base_url=f"{address}api/v1/", limits=limits, timeout=30) as client:
        columns = (await client.get("map")).json()
        asked = questions(columns, int(rate * seconds), seed)
        for question in asked[:20]:
            await client.request(question[1], question[2], **question[3])
        start = time.perf_counter()

        async def ask(number: int, kind: str, method: str, path: str, given: dict[str, Any]) -> None:
            due = start + number / rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            try:
                answer = await client.request(method, path, **given)
                if answer.status_code != 200:
                    failed.append(f"{path} {answer.status_code}")
            except httpx.HTTPError as error:
                failed.append(f"{path} {type(error).__name__}")
            took[kind].append(time.perf_counter() - due)

        await asyncio.gather(*(ask(i, *question) for i, question in enumerate(asked)))
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
            figures = asyncio.run(load(address, given.rate, given.seconds, seed))
            spent = 1000 * (processor_seconds(server.pid) - spent) / figures["requests"]
            rounds.append(
                {
                    **figures,
                    "processor_ms_per_request": round(spent, 2),
                    "memory_mb": round(memory_mb(server.pid), 1),
                }
            )
        print(json.dumps({"memory_mb_before": round(before, 1), "rounds": rounds}, indent=2))
    finally:
        server.terminate()
        server.wait(10)


if __name__ == "__main__":
    main()
