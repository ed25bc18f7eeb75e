"""What an epoch costs beside what it cannot avoid: the bare sparse products of its forward and backward pass.

    python benchmarks/efficiency.py [NETWORK ...] [--nodes N] [--repeats N] [-o FILE]

A bare product is every product of a sparse matrix with a dense one, and every set of inner products at
stored entries, that an epoch of preset `paper` with sampled zeros calls for, at the widths it calls for
them: recorded during an epoch, then run again alone, on dense matrices made before. Once as torch has them,
CSR matrix times dense matrix, which is what an epoch cannot avoid without better products; once by the
products of coembed.kernels. Epochs and bare products take turns in one process, so that what else the machine
does falls on all; ratios are of medians of processor time. Networks are files that coembed reads; by default
BlogCatalog, Flickr and Pubmed in the folder that COEMBED_DATA names, then a made-up one of `--nodes` (0:
none) with 5 links and 20 attributes a node.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch

from coembed.kernels import Noise
from coembed.kernels.sparse import Factor, gathered_rows, scattered, turned
from coembed.model import RelationTerm, scan
from coembed.model.row_chunks import keep_freed
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

    keep_freed(network.n_nodes)  # as a fit does
    products = recorded(lambda: epoch(0))
    for term in model.relations:
        assert isinstance(term, RelationTerm)
        products += inner_products(term, model.code_size)
    times: dict[str, list[float]] = {"epoch": [], "csr": [], "own": []}
    for step in range(1, repeats + 1):
        times["epoch"].append(seconds(lambda step=step: epoch(step)))  # type: ignore[misc]
        times["csr"].append(seconds(lambda: [product.csr() for product in products]))
        times["own"].append(seconds(lambda: [product.own() for product in products]))
    medians = {name: statistics.median(values) for name, values in times.items()}
    ratios = {name: medians["epoch"] / medians[name] for name in ("csr", "own")}
    print(
        f"{network.name}: epoch {medians['epoch']:.3f} s; {len(products)} products of torch "
        f"{medians['csr']:.3f} s, ratio {ratios['csr']:.2f}; the same of coembed {medians['own']:.3f} s, "
        f"ratio {ratios['own']:.2f}",
        flush=True,
    )
    return {
        "network": network.name,
        "nodes": network.n_nodes,
        "links": network.n_links,
        "entries": network.attributes.nnz,
        "products": len(products),
        "seconds": times,
        "ratios": ratios,
    }


class Product(NamedTuple):
    """A product as torch has it for CSR matrices, and as the kernels do it."""

    csr: Callable[[], Any]
    own: Callable[[], Any]


def recorded(run: Callable[[], None]) -> list[Product]:
    """The products of matrices that happen meanwhile, to be run again."""
    calls: list[tuple[Factor, bool, int]] = []
    times, transposed_times = Factor.times, Factor.transposed_times

    def noted(factor: Factor, dense: torch.Tensor) -> torch.Tensor:
        calls.append((factor, False, dense.shape[1]))
        return times(factor, dense)

    def noted_transposed(factor: Factor, dense: torch.Tensor) -> torch.Tensor:
        calls.append((factor, True, dense.shape[1]))
        return transposed_times(factor, dense)

    Factor.times, Factor.transposed_times = noted, noted_transposed  # type: ignore[method-assign]
    try:
        run()
    finally:
        Factor.times, Factor.transposed_times = times, transposed_times  # type: ignore[method-assign]
    return [product_of(*call) for call in calls]


def product_of(factor: Factor, transposed: bool, width: int) -> Product:
    matrix = turned(factor.stored) if transposed != factor.turned else factor.stored
    dense = torch.randn(matrix.shape[1], width)
    own = factor.transposed_times if transposed else factor.times
    return Product(lambda: matrix @ dense, lambda: own(dense))


def inner_products(term: RelationTerm, width: int) -> list[Product]:
    """Those at the stored entries of a relation, and the two products of their gradient."""
    products: list[Product] = []
    for pairs in term.pairs:
        left, right = (torch.randn(size, width) for size in pairs.pattern.shape)

        def sampled(pattern: Any = pairs.pattern, left: Any = left, right: Any = right) -> Any:
            return torch.sparse.sampled_addmm(pattern, left, right.t(), beta=0.0)

        def to_left(pattern: Any = pairs.pattern, right: Any = right) -> Any:
            return gathered_rows(pattern, right)

        transposed = turned(pairs.pattern)

        def to_right(pairs: Any = pairs, transposed: Any = transposed, left: Any = left) -> Any:
            scatter = pairs.transposed is None
            return scattered(pairs.pattern, left) if scatter else gathered_rows(transposed, left)

        products += [
            Product(sampled, sampled),
            Product(lambda p=pairs.pattern, right=right: p @ right, to_left),  # type: ignore[misc]
            Product(lambda t=transposed, left=left: t @ left, to_right),  # type: ignore[misc]
        ]
    return products


def seconds(run: Callable[[], Any]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


if __name__ == "__main__":
    main()
