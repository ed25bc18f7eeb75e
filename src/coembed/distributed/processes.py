"""The processes of a job that torchrun started: how they join, and what is said when one is lost."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import torch
import torch.distributed as dist
from torch.distributed.distributed_c10d import PrefixStore
from torch.distributed.rendezvous import rendezvous

from coembed.distributed.job import Job
from coembed.errors import InputError


class Lost(InputError):
    """Another process of the job ended or cannot be reached."""


@contextmanager
def joined(job: Job, device: str = "auto", kept: Path | None = None, minutes: float = 30.0) -> Iterator[None]:
    """Join the processes of a job for as long as the block lasts.

    Over NCCL if the model lives on GPUs, one for each process of a machine, else over gloo. A job of one is
    left alone. If another process is lost, what is said names the checkpoint, which is `kept`. One that died
    is noticed at once, one that hangs, or a machine that is gone, after so many minutes of silence: more than
    the longest step takes.
    """
    if job.processes == 1:
        yield
        return
    on_gpu = torch.cuda.is_available() and (device == "auto" or device.startswith("cuda"))
    if on_gpu:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)) % torch.cuda.device_count())
    before = signal.signal(signal.SIGTERM, _told_to_end)
    try:
        longest = timedelta(minutes=minutes)
        store, _, _ = next(rendezvous("env://", job.rank, job.processes, timeout=longest))
        # torchrun keeps its store when it starts processes again: what those before left there, such as
        # addresses at which nobody answers now, must not be taken for ours
        dist.init_process_group(
            "nccl" if on_gpu else "gloo",
            store=PrefixStore(f"attempt {job.restarts}", store),
            rank=job.rank,
            world_size=job.processes,
            timeout=longest,
        )
        yield
        dist.destroy_process_group()
    except _Told:
        raise _lost(job, kept) from None
    except RuntimeError as error:
        if _of_the_connection(error):
            raise _lost(job, kept) from error
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


def _lost(job: Job, kept: Path | None) -> Lost:
    ends = f"process {job.rank + 1} of {job.processes} ends because another process of the job was lost"
    if kept is None or not any(kept.glob("*.json")):
        return Lost(f"{ends}; there is no checkpoint yet: start the job again")
    return Lost(f"{ends}; the checkpoint {kept} is whole: start the same command again with --resume")
