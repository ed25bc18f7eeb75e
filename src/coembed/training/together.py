"""A fit by several processes: one prepares, all learn, one writes."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from coembed.network import read
from coembed.network.mapped import is_mapped
from coembed.result import Fitted
from coembed.settings import Settings
from coembed.training.checkpoint import Checkpoints
from coembed.training.fit import knowing, learn, prepare
from coembed.training.loop import Progress
from coembed.training.processes import Job, first_only
from coembed.training.staging import open_prepared, write_prepared


def job_folder(output: Path) -> Path:
    """Where the processes of a job leave what they share: beside the model, hidden.

    Examples
    --------
    >>> job_folder(Path("models/blogs")).as_posix()
    'models/.blogs.job'
    """
    return output.parent / f".{output.name}.job"


def fit_together(
    paths: Sequence[Path],
    settings: Settings,
    output: Path,
    job: Job,
    *,
    preset: str = "best",
    progress: Progress | None = None,
    steps: Callable[[str], None] | None = None,
    checkpoints: Checkpoints | None = None,
) -> Fitted | None:
    """Fit SCAN to a network by the processes of a job, which must be joined; the first gets the result.

    Parameters
    ----------
    paths
        Of the network. One in a mapped folder stays there; any other is copied into one beside `output`.
    output
        Where the model will be. Beside it lies, until all went well, what the processes share: all must be
        able to read there.
    """
    tell = steps or (lambda step: None)
    folder = job_folder(output)
    source = paths[0] if len(paths) == 1 and is_mapped(paths[0]) else None
    with first_only(job, "prepared") as first:
        if first:
            network = read(*paths)
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
    return knowing(fitted, read(*paths))


def clear(output: Path) -> None:
    """Remove what the processes shared, once the model is written."""
    shutil.rmtree(job_folder(output), ignore_errors=True)
