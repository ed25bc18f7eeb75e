"""Seconds until the model that validation chooses is as good as the printed SCAN.

    python benchmarks/time_to_quality.py [--networks NAMES] [--methods NAMES] [--tasks NAMES] [--limit S]
        [-o FILE.jsonl]

Strict splits, seed 0: 10 % of the labels, a fifth of them to choose with; 85/5/10 % of the attribute
entries. Every five epochs (and after the last) the validation figure is taken, and the test figure of the
epoch with the highest one so far; the clock stands still meanwhile. A cell has passed when that test figure
first reaches the printed one (accuracy of SCAN_DIS, AUC of attribute inference). What is done before the
first epoch, such as views, counts.

Ours: `best` (without its companions, which are fitted after the last epoch) and `paper`. `dense`: the loss of
`paper` from all pairs, through autograd, as plain code has it; it needs all of N x N, so only up to 10,000
nodes. `gcn`, `vgae`: of layers of torch_geometric; GCN gives labels only, VGAE an embedding from which a
linear model reads them. Neither gives attribute scores. Every cell is a process and a line of the file, and
is not run again. A cell that has had `--limit` seconds of a processor is ended.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression

from coembed.experiments.record_file import RecordFile
from coembed.model import SVAE
from coembed.model.scan import look, scan
from coembed.network import Network, read, split_attributes, split_labels
from coembed.settings import Settings, preset_settings
from coembed.training import Holdout, train
from coembed.training.holdout import validation_figures, without_labels_of
from coembed.views.budget import suitable_epochs

NETWORKS = ("blogcatalog", "flickr", "pubmed")
TASKS = ("classification", "attributes")
METHODS = ("best", "paper", "dense", "gcn", "vgae")
PRINTED = {
    "classification": {"blogcatalog": 0.839, "flickr": 0.750, "pubmed": 0.862},
    "attributes": {"blogcatalog": 0.893, "flickr": 0.874, "pubmed": 0.713},
}
EVERY = 5
DENSE_NODES = 10_000
EPOCHS = {"gcn": 200, "vgae": 200}


class Passed(Exception):
    """The figure has been reached; no need to go on."""


class TooLong(Exception):
    """The time is over."""


class Watch:
    """Time that runs except while figures are taken, and what they were."""

    def __init__(self, target: float, limit: float) -> None:
        self.target, self.limit = target, limit
        self.trace: list[dict[str, float]] = []
        self.wall = self.cpu = 0.0
        self.best = (float("-inf"), 0.0)
        self.go()

    def go(self) -> None:
        self.began = time.perf_counter(), time.process_time()

    def stop(self) -> None:
        self.wall += time.perf_counter() - self.began[0]
        self.cpu += time.process_time() - self.began[1]

    def see(self, take: Callable[[], tuple[float, float]]) -> float:
        """Take the figures of validation and test, and tell the former."""
        self.stop()
        validation, test = take()
        if validation > self.best[0]:
            self.best = validation, test
        self.trace.append(
            {"wall": self.wall, "cpu": self.cpu, "validation": validation, "chosen test": self.best[1]}
        )
        if self.best[1] >= self.target:
            raise Passed
        if self.cpu > self.limit:
            raise TooLong
        self.go()
        return validation


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", default=",".join(NETWORKS), help="names separated by commas")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("COEMBED_DATA", ".")))
    parser.add_argument("--output", "-o", type=Path, default=Path("time_to_quality.jsonl"))
    parser.add_argument("--limit", type=float, default=600, help="processor seconds of a cell (default 600)")
    parser.add_argument("--cell", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        print(json.dumps(run(*arguments.cell.split(","), arguments.data, arguments.limit)))  # type: ignore[call-arg]
        return
    measured = records(arguments.output)
    for task in arguments.tasks.split(","):
        for network in arguments.networks.split(","):
            for method in arguments.methods.split(","):
                if measured.get(task, network, method) or (task == "attributes" and method in EPOCHS):
                    continue
                command = [sys.executable, __file__, "--cell", f"{task},{network},{method}"]
                command += ["--limit", str(arguments.limit)]
                done = subprocess.run(
                    [*command, "--data", arguments.data], stdout=subprocess.PIPE, text=True, check=True
                )
                measured.append(json.loads(done.stdout))
    print(as_text(arguments.output))


def records(path: Path) -> RecordFile:
    return RecordFile(path, ("task", "network", "method"))


def run(task: str, name: str, method: str, folder: Path, limit: float) -> dict[str, Any]:
    network = read(folder / f"{name}.npz")
    cell: dict[str, Any] = {
        "task": task,
        "network": name,
        "method": method,
        "target": PRINTED[task][name],
        "threads": torch.get_num_threads(),
        "passed": None,
    }
    if method == "dense" and network.n_nodes > DENSE_NODES:
        return cell | {"why": "N x N does not fit"}
    splits = split_labels(network) if task == "classification" else split_attributes(network)
    watch = Watch(PRINTED[task][name], limit)
    try:
        if method in EPOCHS:
            (gcn if method == "gcn" else vgae)(network, splits, watch)
        else:
            ours(network, splits, method, task, watch)
    except Passed:
        last = watch.trace[-1]
        cell["passed"] = {"wall": last["wall"], "cpu": last["cpu"], "figure": last["chosen test"]}
    except TooLong:
        cell["why"] = f"not within {limit:g} s"
    return cell | {"trace": watch.trace}


def ours(network: Network, splits: Any, method: str, task: str, watch: Watch) -> None:
    preset = "best" if method == "best" else "paper"
    settings = preset_settings(preset, task)  # type: ignore[arg-type]
    settings = settings.change(epochs=settings.epochs or suitable_epochs(network))
    if task == "classification":
        visible = without_labels_of(splits.visible(network), splits.validation)
        holdouts = Holdout(nodes=splits.validation), Holdout(nodes=splits.test)
    else:
        visible = splits.visible(network)
        holdouts = (
            Holdout(attributes=(splits.validation, splits.validation_negatives)),
            Holdout(attributes=(splits.test, splits.test_negatives)),
        )
    seen = look(visible, settings) if settings.encoder == "views" else None
    torch.manual_seed(0)
    model = scan(visible, settings, "cpu", seen)

    def take() -> tuple[float, float]:
        with torch.no_grad():
            first, second = (validation_figures(model, held, network.labels) for held in holdouts)
        return next(iter(first.values())), next(iter(second.values()))

    if method == "dense":
        dense(model, visible, settings, lambda: watch.see(take))
        return
    train(
        model,
        epochs=settings.epochs,
        learning_rate=settings.learning_rate,
        schedule=settings.schedule,
        weight_decay=settings.weight_decay,
        label_decay=settings.label_decay,
        validate=lambda: {"figure": watch.see(take)},
        validate_every=EVERY,
    )


def dense(model: SVAE, network: Network, settings: Settings, see: Callable[[], float]) -> None:
    """The same model and optimiser, its loss from all pairs; without dropout, which that code has not."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    from dense_oracle import DenseNetwork, dense_loss, relaxed_labels

    whole = DenseNetwork.of(network, settings, torch.float32)
    generator = torch.Generator().manual_seed(0)
    optimizer = torch.optim.Adam(model.parameters(), lr=settings.learning_rate, fused=True)
    for epoch in range(1, settings.epochs + 1):
        noise = {
            name: torch.randn(t.n_items, model.latent_size(name), generator=generator)
            for name, t in model.types.items()
        }
        uniform = torch.rand(network.n_nodes, network.n_classes, generator=generator)
        step(optimizer, dense_loss(model, settings, whole, noise, relaxed_labels(uniform, settings.tau)))
        if epoch % EVERY == 0 or epoch == settings.epochs:
            see()


def gcn(network: Network, splits: Any, watch: Watch) -> None:
    inputs, edges, nodes, labels = for_geometric(network, splits)
    from torch_geometric.nn import GCNConv, SimpleConv
    from torch_geometric.nn.conv.gcn_conv import gcn_norm

    torch.manual_seed(0)
    # the first layer's product before its propagation: GCNConv would need the attributes dense
    first, second = torch.nn.Linear(inputs.shape[1], 64, bias=False), GCNConv(64, network.n_classes)
    propagate, scaled = SimpleConv(aggr="sum"), gcn_norm(edges, num_nodes=network.n_nodes)
    modules = torch.nn.ModuleList([first, second])
    optimizer = torch.optim.Adam(modules.parameters(), lr=0.01, weight_decay=5e-4)

    def logits(training: bool) -> torch.Tensor:
        hidden = propagate(inputs @ first.weight.t(), *scaled).relu()
        return second(F.dropout(hidden, 0.5, training), edges)

    def take() -> tuple[float, float]:
        with torch.no_grad():
            return accuracies(logits(False).argmax(dim=1).numpy(), network, splits)

    for epoch in range(1, EPOCHS["gcn"] + 1):
        step(optimizer, F.cross_entropy(logits(True)[nodes], labels))
        if epoch % EVERY == 0:
            watch.see(take)


def vgae(network: Network, splits: Any, watch: Watch) -> None:
    inputs, edges, _, _ = for_geometric(network, splits)
    from torch_geometric.nn import VGAE, GCNConv

    class Encoder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = torch.nn.Linear(inputs.shape[1], 128, bias=False)
            self.middle, self.mean, self.log_std = GCNConv(128, 128), GCNConv(128, 64), GCNConv(128, 64)

        def forward(self) -> tuple[torch.Tensor, torch.Tensor]:
            hidden = self.middle(inputs @ self.first.weight.t(), edges).relu()
            return self.mean(hidden, edges), self.log_std(hidden, edges)

    torch.manual_seed(0)
    model = VGAE(Encoder())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    def take() -> tuple[float, float]:
        with torch.no_grad():
            mean = model.encoder()[0].numpy()
        reader = LogisticRegression(max_iter=500).fit(mean[splits.train], network.labels[splits.train])
        return accuracies(reader.predict(mean), network, splits)

    for epoch in range(1, EPOCHS["vgae"] + 1):
        step(optimizer, model.recon_loss(model.encode(), edges) + model.kl_loss() / network.n_nodes)
        if epoch % EVERY == 0:
            watch.see(take)


def for_geometric(network: Network, splits: Any) -> tuple[torch.Tensor, torch.Tensor, Any, torch.Tensor]:
    """Attributes (sparse), links, and the nodes and labels to learn from."""
    from coembed.kernels.sparse import csr_tensor

    links = network.links.tocoo()
    edges = torch.as_tensor(np.stack([links.row, links.col]), dtype=torch.long)
    labels = torch.as_tensor(network.labels[splits.train])
    return csr_tensor(network.attributes, "cpu", torch.float32), edges, torch.as_tensor(splits.train), labels


def accuracies(predicted: np.ndarray, network: Network, splits: Any) -> tuple[float, float]:
    right = predicted == network.labels
    return float(right[splits.validation].mean()), float(right[splits.test].mean())


def step(optimizer: torch.optim.Optimizer, loss: torch.Tensor) -> None:
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()


def as_text(path: Path) -> str:
    """The cells as a Markdown table: seconds on the clock / of the processor, or the best figure."""
    measured = records(path)
    lines = [
        "| task | network | printed | " + " | ".join(METHODS) + " |",
        "| --- " * (3 + len(METHODS)) + "|",
    ]
    for task in TASKS:
        for network in NETWORKS:
            texts = []
            for method in METHODS:
                found = measured.get(task, network, method)
                texts.append(cell_text(found) if found else "-")
            lines.append(f"| {task} | {network} | {PRINTED[task][network]:.3f} | {' | '.join(texts)} |")
    return "\n".join(lines)


def cell_text(cell: dict[str, Any]) -> str:
    if cell["passed"]:
        return f"{cell['passed']['wall']:.1f} s / {cell['passed']['cpu']:.1f} s"
    if "trace" not in cell:
        return str(cell["why"])
    reached = f".{round(1000 * cell['trace'][-1]['chosen test']):03d}"
    return f"{cell.get('why', 'never')} ({reached})"


if __name__ == "__main__":
    main()
