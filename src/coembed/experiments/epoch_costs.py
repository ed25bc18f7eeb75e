"""What an epoch costs, and how that grows with the network."""

from __future__ import annotations

import time
from functools import partial

import numpy as np

from coembed.experiments.benchmark_networks import open_network
from coembed.experiments.cell import CellJob
from coembed.experiments.record_file import Record
from coembed.network import Network, synthesize
from coembed.progress import EpochProgress
from coembed.settings import preset_settings

SYNTHETIC = "synthetic"
EPOCHS_ALONE = ("epochs=6", "pair_scores=false", "calibrate=false", "validation_pairs=0")
"""What comes after the epochs, and pairs for validation, are no part of an epoch."""
LINKS, ENTRIES, NODES_PER_ATTRIBUTE, CLASSES = 8, 20, 5, 10
"""Of the made-up networks: links and entries a node; everything but the classes grows with the nodes."""


def synthetic_network(nodes: int) -> Network:
    """A made-up network of so many nodes, with links, attributes and entries in proportion.

    Examples
    --------
    >>> network = synthetic_network(1000)
    >>> network.n_links, network.n_attributes, network.attributes.nnz
    (8000, 200, 20000)
    """
    return synthesize(
        nodes, LINKS * nodes, nodes // NODES_PER_ATTRIBUTE, ENTRIES * nodes, CLASSES, name=SYNTHETIC
    )


def scaling_work(job: CellJob, progress: EpochProgress | None) -> Record:
    """Time of the quickest epoch after the first, on a made-up network of `at` nodes or on a real one.

    Epochs are alike, so the quickest is the one least disturbed by whatever else the machine does. What
    comes before the epochs (views) is measured apart.
    """
    from coembed.training import Holdout, fit

    cell = job.cell
    network = open_network(cell.network, job.data) if cell.at is None else synthetic_network(round(cell.at))
    settings = preset_settings(cell.preset, cell.task, seed=cell.seed).parse(list(cell.changes))
    clock: list[tuple[float, float]] = []
    tick = partial(_tick, clock)
    tick(0, 0, {})
    fit(network, settings, preset=cell.preset, holdout=Holdout(), progress=tick)
    wall, cpu = np.diff(np.array(clock), axis=0).T
    return {
        "metrics": {
            "seconds_per_epoch": round(float(cpu[1:].min()), 5),
            "wall_per_epoch": round(float(wall[1:].min()), 5),
            "setup_seconds": round(max(0.0, float(cpu[0] - cpu[1:].min())), 3),
        },
        "details": {
            "nodes": network.n_nodes,
            "links": network.n_links,
            "attributes": network.n_attributes,
            "entries": int(network.attributes.nnz),
            "epochs": wall[1:].size,
        },
    }


def _tick(clock: list[tuple[float, float]], epoch: int, epochs: int, figures: dict[str, float]) -> None:
    clock.append((time.perf_counter(), time.process_time()))
