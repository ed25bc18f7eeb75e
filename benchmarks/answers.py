"""Answers from a large result: seconds to save, to load, and to ask; and the recall of its index.

    python benchmarks/answers.py [--model FOLDER | --nodes N --attributes N --dim N --hidden N]
        [--no-index] [--json]

The result is that of a saved model, of which a copy is saved; or made up: codes around centres that lie
around fewer centres, as communities inside classes do, and inference networks of the right sizes, so that its
file has the size of a real one. Commands run in processes of their own; what they print is thrown away. All
times are of the processor: on a busy machine, what is left of those on the clock of a quiet one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from coembed.fitted import Fitted, load, save
from coembed.fitted.format1 import plain_fitted
from coembed.fitted.matches import position
from coembed.fitted.nearest_index import index_of
from coembed.network import Network, synthesize

COMMAND = "from coembed.cli import main; main()"
QUESTIONS = 20


def main() -> None:
    arguments = parse()
    with tempfile.TemporaryDirectory(dir=arguments.place, prefix="answers-") as named:
        folder = Path(named) / "model"
        report = measure(arguments, folder)
    print(json.dumps(report, indent=2) if arguments.json else as_text(report))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, help="a saved model; default: one that is made up")
    parser.add_argument("--nodes", type=int, default=250_000)
    parser.add_argument("--attributes", type=int, default=10_000)
    parser.add_argument("--dim", type=int, default=64, help="coordinates of a node")
    parser.add_argument("--hidden", type=int, default=128, help="width of the inference networks")
    parser.add_argument("--no-index", action="store_true", help="compare with all items")
    parser.add_argument("--place", help="folder for the files (default: the system's for temporary ones)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args()


def measure(arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    seconds = seconds_to_save(arguments, folder)
    size = sum(file.stat().st_size for file in folder.iterdir())
    network = load(folder).network
    nodes, attributes = network.n_nodes, network.n_attributes
    node, attribute = str(network.node_names[nodes // 3]), str(network.attribute_names[attributes // 3])
    for words in (["predict", folder, "--node", node], ["profile", folder, node], ["similar", folder, node]):
        seconds[f"command {words[0]}"] = of_process([sys.executable, "-c", COMMAND, *words])
    seconds["load"] = timed(lambda: load(folder))
    fitted = load(folder)
    questions: dict[str, Callable[[], Any]] = {
        "class of a node": lambda: fitted.predict_proba()[position(network, node, "node")].argmax(),
        "profile of a node": lambda: fitted.profile(node),
        "similar nodes": lambda: fitted.similar(node),
        "nodes about an attribute": lambda: fitted.nodes_about(attribute),
    }
    for name, ask in questions.items():
        ask()
        seconds[f"{name}, warm"] = timed(ask, QUESTIONS)
    index = index_of(fitted, "node")
    sizes = {"nodes": nodes, "attributes": attributes, "mb": size >> 20}
    return {**sizes, "recall_at_10": None if index is None else index.recall, "seconds": seconds}


def seconds_to_save(arguments: argparse.Namespace, folder: Path) -> dict[str, float]:
    if arguments.model is None:
        nodes = arguments.nodes
        network = synthesize(nodes, 5 * nodes, arguments.attributes, 20 * nodes, classes=10)
        made = made_up(network, arguments.dim, arguments.hidden)
    else:
        made = load(arguments.model)
    seconds = {"save, without index": timed(lambda: save(made, folder, index=False))}
    if not arguments.no_index:
        seconds["save, with index"] = timed(lambda: save(made, folder))
    return seconds


def made_up(network: Network, dim: int, hidden: int) -> Fitted:
    rng = np.random.default_rng(0)
    nodes, attributes, classes = network.n_nodes, network.n_attributes, network.n_classes

    def draw(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, dtype=np.float32)

    centres = draw(classes, dim)[rng.integers(classes, size=2000)] + 0.7 * draw(2000, dim)
    probabilities = rng.random((nodes, classes), dtype=np.float32) ** 4
    words = centres[rng.integers(2000, size=attributes)] + 0.5 * draw(attributes, dim)
    code = dim + classes
    weights = {
        **dict.fromkeys(("node.links.0", "label.links.0", "attribute.0"), (nodes, hidden)),
        **dict.fromkeys(("node.attributes.0", "label.attributes.0"), (attributes, hidden)),
        **{"node.1": (hidden, 2 * dim), "label.1": (hidden, classes), "attribute.1": (hidden, 2 * code)},
        **{"label.bias.0": (hidden,), "label.bias.1": (classes,)},
        **{"attribute.bias.0": (hidden,), "attribute.bias.1": (2 * code,)},
    }
    return plain_fitted(
        network=network,
        settings={},
        history={},
        preset="paper",
        node_mean=centres[rng.integers(2000, size=nodes)] + 0.5 * draw(nodes, dim),
        node_std=np.full((nodes, dim), 0.3, dtype=np.float32),
        probabilities=probabilities / probabilities.sum(axis=1, keepdims=True),
        label_shift=0.1 * draw(classes, 2 * dim),
        attribute_mean=np.hstack([words, draw(attributes, classes)]),
        attribute_std=np.full((attributes, dim + classes), 0.3, dtype=np.float32),
        weights={name: draw(*shape) for name, shape in weights.items()},
    )


def timed(do: Callable[[], Any], times: int = 1) -> float:
    start = time.process_time()
    for _ in range(times):
        do()
    return round((time.process_time() - start) / times, 5)


def of_process(command: list[Any]) -> float:
    """Processor time of a command."""
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command[3]} failed with status {status}")
    return round(usage.ru_utime + usage.ru_stime, 3)


def as_text(report: dict[str, Any]) -> str:
    recall = report["recall_at_10"]
    lines = [f"{report['nodes']:,} nodes, {report['attributes']:,} attributes, {report['mb']:,} MB"]
    lines.append(
        "no index: all items are compared" if recall is None else f"recall of the index: {recall:.1%}"
    )
    return "\n".join([*lines, *(f"{seconds:10.4f} s  {what}" for what, seconds in report["seconds"].items())])


if __name__ == "__main__":
    main()
