"""The processes of a job that torchrun started: how they join, and what is said when one is lost."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from types import FrameType
from typing import Any, NoReturn

import torch
import torch.distributed as dist

from coembed.errors import InputError

LONGEST_WAIT = timedelta(minutes=30)
"""How long a process waits for the others before it gives the job up: one that died is noticed at once, one
that hangs, or a machine that is gone, after this."""


class Lost(InputError):
    """Another process of the job ended or cannot be reached."""


@dataclass(frozen=True)
class Job:
    """Which of how many processes this is.

    Examples
    --------
    >>> Job().first, Job(rank=1, processes=4).first
    (True, False)
    """

    rank: int = 0
    processes: int = 1
    restarts: int = 0

    @property
    def first(self) -> bool:
        """Whether this is the process that reads, talks and writes."""
        return self.rank == 0


def job_here() -> Job:
    """What torchrun says of this process; a job of one if it says nothing."""
    try:
        rank, processes = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
        return Job(rank, processes, int(os.environ.get("TORCHELASTIC_RESTART_COUNT", 0)))
    except ValueError as error:
        raise InputError(f"RANK and WORLD_SIZE are no numbers ({error}); start with torchrun") from None


@contextmanager
def joined(job: Job, device: str = "auto") -> Iterator[None]:
    """Join the processes of a job for as long as the block lasts.

    Over NCCL if the model lives on GPUs, one for each process of a machine, else over gloo. A job of one is
    left alone.
    """
    if job.processes == 1:
        yield
        return
    on_gpu = torch.cuda.is_available() and (device == "auto" or device.startswith("cuda"))
    if on_gpu:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)) % torch.cuda.device_count())
    before = signal.signal(signal.SIGTERM, _told_to_end)
    try:
        dist.init_process_group("nccl" if on_gpu else "gloo", timeout=LONGEST_WAIT)
        yield
        dist.destroy_process_group()
    except _Told:
        raise _lost(job) from None
    except RuntimeError as error:
        if _of_the_connection(error):
            raise _lost(job) from error
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def first_only(job: Job, what: str) -> Iterator[bool]:
    """Give the first process, alone, a True; the others get a False when its block has ended.

    They look again and again: in a collective call they would give up after a while.
    """
    store = _default_store() if job.processes > 1 else None
    if job.first:
        state = "failed"
        try:
            yield True
            state = "done"
        finally:
            if store is not None:
                store.set(what, state)
        return
    assert store is not None
    while not store.check([what]):
        time.sleep(0.1)
    if store.get(what) == b"failed":
        raise Lost(f"process {job.rank + 1} of {job.processes} ends because the first one did")
    yield False


def _default_store() -> Any:
    return dist.distributed_c10d._get_default_store()


class _Told(BaseException):
    """SIGTERM: torchrun ends all processes when one has failed."""


def _told_to_end(number: int, frame: FrameType | None) -> NoReturn:
    raise _Told


def _of_the_connection(error: RuntimeError) -> bool:
    if isinstance(error, dist.DistError):
        return True
    text = str(error).lower()
    return any(word in text for word in ("gloo", "nccl", "connection", "timed out", "broken pipe"))


def _lost(job: Job) -> Lost:
    return Lost(
        f"process {job.rank + 1} of {job.processes} ends because another process of the job was lost; "
        "see above why, then start the same command again: it goes on from the last checkpoint"
    )
