"""The work of a cell, done in whatever process it is sent to: it always comes back with a record."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from coembed.errors import InputError
from coembed.evaluation.profiling import score_cosines
from coembed.experiments.benchmark_networks import open_network
from coembed.experiments.cell import BY_COSINE, CellJob
from coembed.experiments.code_version import made_on
from coembed.experiments.details import details_of
from coembed.experiments.epoch_costs import scaling_work
from coembed.experiments.map_cells import map_work
from coembed.experiments.network_statistics import datasets_work
from coembed.experiments.record_file import Record
from coembed.experiments.trial_cells import run_cell
from coembed.progress import EpochProgress

DIGITS = 6


def run_job(job: CellJob, progress: EpochProgress | None = None) -> Record:
    """Do a cell; whatever goes wrong is part of the record.

    Examples
    --------
    >>> from pathlib import Path
    >>> from coembed.experiments.cell import Cell
    >>> cell = Cell("table1", "majority", "wordnet-demo", 0, method="majority")
    >>> record = run_job(CellJob(cell, Path("."), 1))
    >>> record["state"], 0.4 < record["metrics"]["accuracy"] < 0.5
    ('done', True)
    """
    start, cpu_start = time.perf_counter(), time.process_time()
    try:
        with limited_threads(job.threads):
            outcome = {"state": "done", **WORK.get(job.cell.experiment, trial_work)(job, progress)}
    except Exception as error:
        # a fault of the input is told in one sentence, a fault of ours with the place
        where = "" if isinstance(error, InputError) else traceback.format_exc(limit=-3)
        outcome = {"state": "failed", "error": f"{type(error).__name__}: {error}", "traceback": where}
    seconds = outcome.setdefault("seconds", {})
    seconds["total"] = round(time.perf_counter() - start, 3)
    seconds["total_cpu"] = round(time.process_time() - cpu_start, 3)
    finished = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return outcome | {"threads": job.threads, "finished": finished, "made_on": made_on()}


def trial_work(job: CellJob, progress: EpochProgress | None) -> Record:
    """A cell of a table: one trial, all of its figures; of pairs those of the vectors alone, too."""
    outcome = run_cell(job, progress)
    figures, network = outcome.figures, open_network(job.cell.network, job.data)
    if job.cell.task in ("attributes", "links") and job.cell.protocol == "strict":
        alone = score_cosines(network, outcome.trial, outcome.answer)
        figures = figures | {BY_COSINE + name: value for name, value in alone.items()}
    return {
        "metrics": {name: round(float(value), DIGITS) for name, value in figures.items()},
        "seconds": {"fit": round(outcome.seconds, 3), "fit_cpu": round(outcome.cpu_seconds, 3)},
        "details": details_of(network, job.cell, outcome),
    }


Work = Callable[[CellJob, EpochProgress | None], Record]
WORK: dict[str, Work] = {"map": map_work, "scaling": scaling_work, "datasets": datasets_work}
"""Experiments whose cells are not plain trials."""


@contextmanager
def limited_threads(threads: int) -> Iterator[None]:
    """No more threads than that in the libraries below; torch keeps the limit, the others have it for now."""
    import torch
    from threadpoolctl import threadpool_limits

    if torch.get_num_threads() != threads:
        torch.set_num_threads(threads)
    with threadpool_limits(threads):
        yield


def cores() -> int:
    """Processors that this process may use, fewer where the environment asks for fewer threads."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return min(allowed, int(asked)) if asked.isdigit() and int(asked) else allowed
