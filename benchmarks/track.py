"""Has anything become slower? A fixed set of work, each beside the same yardstick, and beside what it was.

OMP_NUM_THREADS=1 python benchmarks/track.py [--keep] [--figures docs/results/track.json]

The yardstick is a logistic regression on the attributes of the bundled network and of its neighbours, which
no change of ours makes faster or slower. It and the work take turns in one process, all in processor time of
one thread, and what is compared is the ratio of medians: another machine, or a busy one, has about the same.
Above LOUD times what it was, work is called slower, and the exit code is 1. `--keep` writes the ratios down
instead: a step of a release.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression

from coembed import demo_network, fit, preset_settings
from coembed.fitted import load, save
from coembed.kernels import Noise
from coembed.model.scan import look_at, scan
from coembed.network import read, split_labels, synthesize, write

LOUD = 1.3
REPEATS = 5
FIGURES = Path(__file__).resolve().parents[1] / "docs" / "results" / "track.json"

Work = dict[str, Callable[[], Any]]


def epoch_of(network: Any, preset: str) -> Callable[[], None]:
    """One step of training, over and over."""
    settings = preset_settings(preset)
    even = np.full((network.n_nodes, network.n_classes), 1 / network.n_classes, np.float32)
    model = scan(network, settings, opinions={network.main.name: even} if settings.label_ensemble else None)
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    noise = Noise(0)

    def step() -> None:
        optimizer.zero_grad()
        model(noise.at(step.epoch)).total.backward()  # type: ignore[attr-defined]
        optimizer.step()
        step.epoch += 1  # type: ignore[attr-defined]

    step.epoch = 0  # type: ignore[attr-defined]
    return step


def the_work(folder: Path) -> Work:
    """By name, what is timed: reading, looking, learning, saving, loading, asking."""
    whole = demo_network()
    demo = split_labels(whole, 0.1).visible(whole)
    large = synthesize(20_000, 100_000, 2_000, 400_000, 10)
    write(demo, table := folder / "demo.npz")
    fast = fit(demo, preset_settings("fast"))
    saved = save(fast, folder / "model")
    asked = [str(name) for name in demo.node_names[:50]]
    return {
        "read the demo": lambda: read(table),
        "views of the demo": lambda: look_at(demo, preset_settings()),
        "views of 20,000 nodes": lambda: look_at(large, preset_settings("fast")),
        "epoch of paper, demo": epoch_of(demo, "paper"),
        "epoch of best, demo": epoch_of(demo, "best"),
        "epoch of paper, 20,000 nodes": epoch_of(large, "paper"),
        "fit of fast, demo": lambda: fit(demo, preset_settings("fast")),
        "fit of best, demo, 15 epochs": lambda: fit(demo, preset_settings(epochs=15)),
        "load a model": lambda: load(saved),
        "50 questions: complete": lambda: [fast.complete(name, "attributes") for name in asked],
        "50 questions: profile": lambda: [fast.profile(name) for name in asked],
        "5 questions: why": lambda: [fast.why(name) for name in asked[:5]],
    }


def yardstick() -> Callable[[], Any]:
    demo = demo_network()
    own = demo.attributes.toarray()
    rows = np.hstack([own, demo.links @ own])
    return lambda: LogisticRegression(max_iter=100).fit(rows, demo.labels)


def seconds(run: Callable[[], Any]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def measured() -> dict[str, float]:
    """Ratios of medians to the yardstick."""
    with tempfile.TemporaryDirectory() as folder:
        work = the_work(Path(folder)) | {"": yardstick()}
        times: dict[str, list[float]] = {name: [] for name in work}
        for repeat in range(REPEATS + 1):
            for name, run in work.items():
                print(f"\rround {repeat} of {REPEATS}: {name:40}", end="", file=sys.stderr, flush=True)
                times[name].append(seconds(run))
        print("\r" + " " * 70 + "\r", end="", file=sys.stderr)
    medians = {name: median(each[1:]) for name, each in times.items()}
    unit = medians.pop("")
    return {name: round(each / unit, 4) for name, each in medians.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--figures", type=Path, default=FIGURES)
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    now = measured()
    before = json.loads(asked.figures.read_text()) if asked.figures.exists() else {}
    slower = []
    for name, ratio in now.items():
        times = ratio / before[name] if name in before else None
        if times is not None and times > LOUD:
            slower.append(name)
        print(f"{name:32} {ratio:9.3f}   {f'{times:.2f} times what it was' if times else 'new'}")
    if asked.keep:
        asked.figures.write_text(json.dumps(now, indent=1) + "\n")
    elif slower:
        sys.exit(f"slower than before: {', '.join(slower)}")


if __name__ == "__main__":
    main()
