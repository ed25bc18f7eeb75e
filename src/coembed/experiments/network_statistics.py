"""The statistics of the networks, counted."""

from __future__ import annotations

from coembed.experiments.benchmark_networks import open_network
from coembed.experiments.cell import CellJob
from coembed.experiments.record_file import Record
from coembed.network.description import summary
from coembed.progress import EpochProgress

COUNTS = (
    "nodes",
    "links",
    "attributes",
    "entries",
    "classes",
    "isolated_nodes",
    "nodes_without_attributes",
    "unused_attributes",
    "components",
    "mean_degree",
    "links_inside_a_class",
)


def datasets_work(job: CellJob, progress: EpochProgress | None) -> Record:
    """A network in figures; nothing is fitted.

    Examples
    --------
    >>> from pathlib import Path
    >>> from coembed.experiments.cell import Cell
    >>> cell = Cell("datasets", "counts", "wordnet-demo", 0)
    >>> datasets_work(CellJob(cell, Path(), 1), None)["metrics"]["links"]
    3682
    """
    figures = summary(open_network(job.cell.network, job.data))
    return {"metrics": {name: figures[name] for name in COUNTS if figures[name] is not None}}
