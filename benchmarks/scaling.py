"""How an epoch grows: processor time and memory against the nonzeros, from ten thousand nodes to a million.

    python benchmarks/scaling.py [--nodes N,N,...] [--preset NAME] [-o FILE] [--figure FILE]

Networks are made up, with 5 links and 20 of 10,000 attributes a node, 10 classes
and 10 % of the labels. Every size runs in a process of its own, so that its peak of memory is its own; it is
that of the whole process: libraries, network, views, epochs. An epoch is the quickest of four after the
first, in processor time: epochs are alike, and the quickest is least disturbed by the rest of the machine.
Sizes that FILE already has are not run again.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SIZES = "10000,30000,100000,300000,1000000"
LINKS, ENTRIES, ATTRIBUTES = 5, 20, 10_000
EPOCHS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", default=SIZES, help=f"sizes, separated by commas (default {SIZES})")
    parser.add_argument("--preset", default="best")
    parser.add_argument("--output", "-o", type=Path, default=Path("scaling.json"))
    parser.add_argument("--figure", type=Path, help="png or svg to draw")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.one, arguments.preset)))
        return
    found: dict[str, Any] = {"preset": arguments.preset, "sizes": []}
    if arguments.output.exists():
        found = json.loads(arguments.output.read_text())
    for nodes in map(int, arguments.nodes.split(",")):
        if nodes not in [size["nodes"] for size in found["sizes"]]:
            found["sizes"] = sorted([*found["sizes"], in_own_process(nodes, arguments.preset)], key=by_nodes)
        found["slopes"] = slopes(found["sizes"])
        arguments.output.write_text(json.dumps(found, indent=1) + "\n")
    print(as_text(found))
    if arguments.figure:
        draw(found, arguments.figure)


def in_own_process(nodes: int, preset: str) -> dict[str, Any]:
    command = [sys.executable, __file__, "--one", str(nodes), "--preset", preset]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    size: dict[str, Any] = json.loads(done.stdout)
    return size


def measure(nodes: int, preset: str) -> dict[str, Any]:
    import torch

    from coembed.kernels import Noise
    from coembed.model.row_chunks import keep_freed
    from coembed.model.scan import look, scan
    from coembed.network import synthesize
    from coembed.settings import preset_settings
    from coembed.training.fit import affordable

    network = synthesize(nodes, LINKS * nodes, ATTRIBUTES, ENTRIES * nodes, classes=10)
    settings = preset_settings(preset)
    start = time.process_time()
    seen = None
    if settings.encoder == "views":
        settings, _ = affordable(settings, nodes)
        seen = look(network, settings)
    views = time.process_time() - start
    torch.manual_seed(0)
    model = scan(network, settings, "cpu", seen)
    optimizer = torch.optim.Adam(model.parameters(), lr=settings.learning_rate, fused=True)
    tell(f"{nodes:,} nodes: views took {views:.1f} s")
    keep_freed(nodes)  # as a fit does
    epochs: list[tuple[float, float]] = []
    for step in range(EPOCHS):
        start = time.process_time()
        began = time.monotonic()
        loss = model(Noise(0).at(step))
        optimizer.zero_grad(set_to_none=True)
        loss.total.backward()
        optimizer.step()
        epochs.append((time.process_time() - start, time.monotonic() - began))
        tell("epoch {}: {:.2f} s, {:.2f} s on the clock".format(step, *epochs[-1]))
    spent, passed = min(epochs[1:])
    return {
        "nodes": nodes,
        "nonzeros": network.links.nnz + network.attributes.nnz,
        "threads": torch.get_num_threads(),
        "views_seconds": views,
        "epoch_seconds": spent,
        "epoch_wall_seconds": passed,
        "peak_mb": peak_mb(),
    }


def peak_mb() -> float:
    from coembed.progress import peak_memory_mb

    return peak_memory_mb() or 0.0


def tell(what: str) -> None:
    print(f"{what}; peak so far {peak_mb():,.0f} MB", file=sys.stderr, flush=True)


def by_nodes(size: dict[str, Any]) -> int:
    return int(size["nodes"])


def slopes(sizes: list[dict[str, Any]]) -> dict[str, float]:
    """Of straight lines through the logarithms."""
    if len(sizes) < 2:
        return {}
    across = [math.log(size["nonzeros"]) for size in sizes]
    mean = sum(across) / len(across)
    found = {}
    for name in ("epoch_seconds", "peak_mb"):
        up = [math.log(size[name]) for size in sizes]
        slope = sum((x - mean) * y for x, y in zip(across, up, strict=True))
        found[name] = slope / sum((x - mean) ** 2 for x in across)
    return found


def as_text(found: dict[str, Any]) -> str:
    lines = [f"{'nodes':>10}{'nonzeros':>12}{'epoch, s':>10}{'views, s':>10}{'peak, MB':>10}"]
    for size in found["sizes"]:
        lines.append(
            f"{size['nodes']:>10,}{size['nonzeros']:>12,}{size['epoch_seconds']:>10.2f}"
            f"{size['views_seconds']:>10.1f}{size['peak_mb']:>10,.0f}"
        )
    names = {"epoch_seconds": "time", "peak_mb": "memory"}
    return "\n".join([*lines, *(f"slope of {names[name]}: {s:.2f}" for name, s in found["slopes"].items())])


def draw(found: dict[str, Any], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.4), layout="constrained")
    across = [size["nonzeros"] for size in found["sizes"]]
    for place, (name, unit, factor) in enumerate(
        (("epoch_seconds", "processor seconds of an epoch", 1), ("peak_mb", "peak of memory, GB", 1024))
    ):
        axes = figure.add_subplot(1, 2, place + 1)
        up = [size[name] / factor for size in found["sizes"]]
        axes.loglog(across, up, "o-", color="#2a6f97")
        axes.loglog(across, [up[0] * x / across[0] for x in across], ":", color="#999999")
        axes.annotate("slope 1", (across[-1], up[0] * across[-1] / across[0]), color="#777777", ha="right")
        for size, x, y in zip(found["sizes"], across, up, strict=True):
            axes.annotate(
                f"{size['nodes'] // 1000:,}k", (x, y), textcoords="offset points", xytext=(4, -12), fontsize=8
            )
        axes.set_xlabel("stored links and attribute entries")
        axes.set_ylabel(unit)
        axes.set_title(f"slope {found['slopes'][name]:.2f}", fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
