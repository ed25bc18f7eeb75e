"""What an epoch costs beside what it cannot avoid: the bare sparse products of its forward and backward pass.

    python benchmarks/products.py [NETWORK ...] [--nodes N] [--repeats N] [-o FILE]

A bare product is every product of a sparse matrix with a dense one, and every set of inner products at
stored entries, that an epoch of preset `paper` with sampled zeros calls for, at the widths it calls for
them: recorded during an epoch, then run again alone, on dense matrices made before. Epochs and bare products
take turns in one process, so that what else the machine does falls on both; the ratio is that of the medians
of processor time. Networks are files that coembed reads; by default BlogCatalog, Flickr and Pubmed in the
folder that COEMBED_DATA names, then a made-up one of `--nodes` (0: none) with 5 links and 20 attributes a
node.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from coembed.kernels import Noise, sparse
from coembed.model import RelationTerm, scan
from coembed.network import Network, read, synthesize
from coembed.settings import preset_settings

PAPER = ("blogcatalog", "flickr", "pubmed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", help="files or folders that coembed reads")
    parser.add_argument("--nodes", type=int, default=200_000, help="of the made-up network; 0: none")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--output", "-o", type=Path, help="write the figures as JSON")
    arguments = parser.parse_args()
    folder = Path(os.environ.get("COEMBED_DATA", "."))
    paths = arguments.networks or [folder / f"{name}.npz" for name in PAPER]
    found = [measure(read(path), arguments.repeats) for path in paths if Path(path).exists()]
    if arguments.nodes:
        nodes = arguments.nodes
        made = synthesize(nodes, 5 * nodes, max(nodes // 40, 100), 20 * nodes, classes=10)
        found.append(measure(made, arguments.repeats))
    report = {"threads": torch.get_num_threads(), "repeats": arguments.repeats, "networks": found}
    if arguments.output:
        arguments.output.write_text(json.dumps(report, indent=1) + "\n")


def measure(network: Network, repeats: int) -> dict[str, Any]:
    settings = preset_settings("paper")
    torch.manual_seed(0)
    model = scan(network, settings)
    optimizer = torch.optim.Adam(model.parameters(), lr=settings.learning_rate, fused=True)

    def epoch(step: int) -> None:
        loss = model(Noise(0).at(step))
        optimizer.zero_grad(set_to_none=True)
        loss.total.backward()
        optimizer.step()

    products = recorded(lambda: epoch(0))
    for term in model.relations:
        assert isinstance(term, RelationTerm)
        products += inner_products(term, model.code_size)
    times: dict[str, list[float]] = {"epoch": [], "products": []}
    for step in range(1, repeats + 1):
        times["epoch"].append(seconds(lambda step=step: epoch(step)))  # type: ignore[misc]
        times["products"].append(seconds(lambda: [product() for product in products]))
    medians = {name: statistics.median(values) for name, values in times.items()}
    ratio = medians["epoch"] / medians["products"]
    print(
        f"{network.name}: epoch {medians['epoch']:.3f} s, {len(products)} products "
        f"{medians['products']:.3f} s, ratio {ratio:.2f}",
        flush=True,
    )
    return {
        "network": network.name,
        "nodes": network.n_nodes,
        "links": network.n_links,
        "entries": network.attributes.nnz,
        "products": len(products),
        "epoch_seconds": times["epoch"],
        "products_seconds": times["products"],
        "ratio": ratio,
    }


def recorded(run: Callable[[], None]) -> list[Callable[[], Any]]:
    """The products of matrices that happen meanwhile, to be run again."""
    calls: list[tuple[torch.Tensor, int]] = []
    multiply = sparse._times

    def noted(block: torch.Tensor, dense: torch.Tensor) -> torch.Tensor:
        calls.append((block, dense.shape[1]))
        return multiply(block, dense)

    sparse._times = noted
    try:
        run()
    finally:
        sparse._times = multiply
    return [product_of(block, width) for block, width in calls]


def product_of(block: torch.Tensor, width: int) -> Callable[[], Any]:
    dense = torch.randn(block.shape[1], width)
    return lambda: block @ dense


def inner_products(term: RelationTerm, width: int) -> list[Callable[[], Any]]:
    """Those at the stored entries of a relation, and the two products of their gradient."""
    products: list[Callable[[], Any]] = []
    for pairs in term.pairs:
        left, right = (torch.randn(size, width) for size in pairs.pattern.shape)

        def sampled(pattern: Any = pairs.pattern, left: Any = left, right: Any = right) -> Any:
            return torch.sparse.sampled_addmm(pattern, left, right.t(), beta=0.0)

        products += [sampled, product_of(pairs.pattern, width), product_of(pairs.transposed, width)]
    return products


def seconds(run: Callable[[], Any]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


if __name__ == "__main__":
    main()
