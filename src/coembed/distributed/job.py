"""Which of how many processes this is: torchrun says so in the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass

from coembed.errors import InputError


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
