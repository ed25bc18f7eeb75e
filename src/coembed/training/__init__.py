"""Training: the loop, what it watches, and the fit of a network from start to result."""

from coembed.distributed.processes import Lost, joined
from coembed.training.checkpoint import Checkpoints
from coembed.training.fit import fit
from coembed.training.fit_by_processes import clear, fit_together, job_checkpoint
from coembed.training.holdout import Holdout
from coembed.training.loop import Diverged, History, train

__all__ = [
    "Checkpoints",
    "Diverged",
    "History",
    "Holdout",
    "Lost",
    "clear",
    "fit",
    "fit_together",
    "job_checkpoint",
    "joined",
    "train",
]
