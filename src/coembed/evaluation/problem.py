"""What a method is given and what it gives back: the whole agreement between evaluation and methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from coembed.network import Network
from coembed.network.pairs import by_row
from coembed.progress import EpochProgress
from coembed.settings import Task

PAIR_ROWS = 256


class Pairs(NamedTuple):
    """Pairs that are there and pairs that are not, two arrays of ``(n, 2)`` indices."""

    positives: np.ndarray
    negatives: np.ndarray


def no_nodes() -> np.ndarray:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Problem:
    """All that a method may look at. What is asked of it later is not in here.

    Attributes
    ----------
    task
        What the answer will be asked for.
    network
        Links, attributes and labels that may be seen; the rest has been taken out.
    validation
        Those of the labelled nodes that serve to choose among settings; may be empty.
    pairs
        Pairs of the task (links or attribute entries), not in `network`, to choose among settings.
    seed
        Of everything random in the method.
    preset, changes
        Name of a preset and texts like ``alpha=5``, for methods that have settings.
    progress
        Called while the method learns, if it has epochs.
    """

    task: Task
    network: Network
    validation: np.ndarray = field(default_factory=no_nodes)
    pairs: Pairs | None = None
    seed: int = 0
    preset: str = "best"
    changes: tuple[str, ...] = ()
    progress: EpochProgress | None = None

    @property
    def training(self) -> np.ndarray:
        """The labelled nodes that are not kept for validation."""
        return np.setdiff1d(self.network.labelled, self.validation)


class Answer:
    """What a method has learnt. A method overrides what it can do; the rest says so by None."""

    def probabilities(self) -> np.ndarray | None:
        """Class probabilities of every node, ``(N, K)``."""
        return None

    def embedding(self) -> np.ndarray | None:
        """A vector for every node, ``(N, D)``, for a classifier of the evaluation's choice."""
        return None

    def row_scores(self, nodes: np.ndarray) -> np.ndarray:
        """Scores of the given nodes with all items of the task, ``(len(nodes), items)``."""
        raise NotImplementedError(f"{type(self).__name__} does not score pairs")

    def pair_scores(self, pairs: np.ndarray) -> np.ndarray:
        """Score of each pair (node, item), higher meaning likelier."""
        scores = np.empty(len(pairs))
        for nodes, at, which in by_row(pairs, PAIR_ROWS):
            scores[at] = self.row_scores(nodes)[which, pairs[at, 1]]
        return scores

    def lift_scores(self, pairs: np.ndarray) -> np.ndarray:
        """How characteristic each pair is, popularity apart; asked where the absent pairs are as popular."""
        return self.pair_scores(pairs)

    def as_published(self, seed: int) -> Answer:
        """The same answer, read as the public code of SCAN reads its own (see the published protocol)."""
        return self

    def arrays(self) -> Mapping[str, np.ndarray]:
        """All that was learnt, by name: equal arrays mean the same answer to every question."""
        raise NotImplementedError


@dataclass(frozen=True)
class Method:
    """A way to solve problems, under the name that reports and the command line use.

    Attributes
    ----------
    options
        The frozen data class of its options, if it has any of its own.
    """

    name: str
    tasks: tuple[Task, ...]
    fit: Callable[[Problem], Answer]
    about: str
    options: type | None = None
