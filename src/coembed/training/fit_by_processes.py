"""A fit by several processes: one prepares, all learn, one writes."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coembed.distributed.job import Job
from coembed.distributed.processes import first_only
from coembed.fitted import Fitted
from coembed.network import read
from coembed.network.readers.mapped import is_mapped
from coembed.progress import EpochProgress, Tell
from coembed.settings import Settings
from coembed.training.checkpoint import Checkpoints
from coembed.training.fit import knowing, learn, prepare
from coembed.training.prepared import is_prepared, open_prepared, write_prepared


def job_folder(output: Path) -> Path:
    """Where the processes of a job leave what they share: beside the model, hidden.

    Examples
    --------
    >>> job_folder(Path("models/blogs")).as_posix()
    'models/.blogs.job'
    """
    return output.parent / f".{output.name}.job"


def job_checkpoint(output: Path) -> Path:
    """Where checkpoints of a job go if nobody says where."""
    return job_folder(output) / "checkpoint"


def fit_together(
    paths: Sequence[Path],
    settings: Settings,
    output: Path,
    job: Job,
    *,
    preset: str = "best",
    progress: EpochProgress | None = None,
    steps: Tell | None = None,
    checkpoints: Checkpoints | None = None,
    tables: Mapping[str, Any] | None = None,
) -> Fitted | None:
    """Fit SCAN to a network by the processes of a job, which must be joined; the first gets the result.

    Parameters
    ----------
    paths
        Of the network. One in a mapped folder stays there; any other is copied into one beside `output`.
    tables
        What :func:`coembed.network.read` is told of tables besides.
    output
        Where the model will be. Beside it lies, until all went well, what the processes share: all must be
        able to read there.
    """
    tell = steps or (lambda step: None)
    folder = job_folder(output)
    checkpoints = checkpoints or Checkpoints(job_checkpoint(output))
    checkpoints.rank, checkpoints.processes = job.rank, job.processes
    # processes that torchrun started again go on from where they were
    checkpoints.resume = checkpoints.resume or job.restarts > 0
    source = paths[0] if len(paths) == 1 and is_mapped(paths[0]) else None
    with first_only(job, "prepared") as first:
        if first and not (job.restarts and is_prepared(folder / "prepared")):
            network = read(*paths, **(tables or {}))
            for notice in network.notices:
                tell(f"note: {notice}")
            prepared = prepare(network, settings, None, tell, checkpoints)
            tell("dealing out rows")
            write_prepared(prepared, folder / "prepared", source if prepared.network is network else None)
            del network, prepared
    fitted = learn(
        open_prepared(folder / "prepared"),
        job,
        preset=preset,
        progress=progress,
        tell=tell,
        checkpoints=checkpoints,
    )
    if fitted is None:
        return None
    return knowing(fitted, read(*paths, **(tables or {})))


def clear(output: Path) -> None:
    """Remove what the processes shared, once the model is written."""
    shutil.rmtree(job_folder(output), ignore_errors=True)
