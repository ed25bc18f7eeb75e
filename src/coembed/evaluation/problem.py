"""What a method is given and what it gives back: the whole agreement between evaluation and methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np

from coembed.errors import InputError
from coembed.evaluation.asked import OF_PAIRS, what_is_asked
from coembed.network import UNKNOWN, Items, Network, Relation
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
        Relations, columns and labels that may be seen; the rest has been taken out.
    validation
        Those of the labelled items of `type` that serve to choose among settings; may be empty.
    pairs
        Pairs of `relation`, not in `network`, to choose among settings.
    seed
        Of everything random in the method.
    preset, changes
        Name of a preset and texts like ``alpha=5``, for methods that have settings.
    progress
        Called while the method learns, if it has epochs.
    type
        Whose classes or cells are asked, or the first ends of the pairs; by default see
        :func:`~coembed.evaluation.asked.what_is_asked`.
    relation
        Whose pairs are asked; empty where the task asks about items.
    other_validation
        As `validation`, of the other types that have labels.
    """

    task: Task
    network: Network
    validation: np.ndarray = field(default_factory=no_nodes)
    pairs: Pairs | None = None
    seed: int = 0
    preset: str = "best"
    changes: tuple[str, ...] = ()
    progress: EpochProgress | None = None
    type: str = ""
    relation: str = ""
    other_validation: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        asked = what_is_asked(self.network, self.task, self.type or None, self.relation or None)
        object.__setattr__(self, "type", asked.type)
        object.__setattr__(self, "relation", asked.relation or "")

    @property
    def items(self) -> Items:
        """The items in question."""
        return self.network.items(self.type)

    @property
    def labels(self) -> np.ndarray:
        """Their labels that may be seen, ``UNKNOWN`` elsewhere."""
        known = self.items.labels
        return np.full(len(self.items), UNKNOWN) if known is None else known.values

    @property
    def labelled(self) -> np.ndarray:
        """Positions of those whose label may be seen."""
        known = self.items.labels
        return no_nodes() if known is None else known.known

    @property
    def training(self) -> np.ndarray:
        """The labelled items that are not kept for validation."""
        return np.setdiff1d(self.labelled, self.validation)

    @property
    def asked(self) -> Relation:
        """The relation in question, as far as it may be seen."""
        return self.network.relation(self.relation)


class Answer:
    """What a method has learnt. A method overrides what it can do; the rest says so by None."""

    def probabilities(self) -> np.ndarray | None:
        """Class probabilities of every item of the type in question, ``(N, K)``."""
        return None

    def said(self) -> np.ndarray | None:
        """Of several classes an item, which each of them has, ``(N, K)`` of true or false."""
        return None

    def embedding(self) -> np.ndarray | None:
        """A vector for each of them, ``(N, D)``, for a classifier of the evaluation's choice."""
        return None

    def cells(self, relation: str, rows: np.ndarray) -> np.ndarray:
        """What the given items are expected to have in a column that has one cell an item.

        Of a number the expected value, in the unit of the relation's values; of yes or no the probability of
        yes; of a category the probabilities of its values, ``(len(rows), values)``.
        """
        raise NotImplementedError(f"{type(self).__name__} does not tell cells")

    def row_scores(self, nodes: np.ndarray) -> np.ndarray:
        """Scores of the given first ends with all items at the other end, ``(len(nodes), items)``."""
        raise NotImplementedError(f"{type(self).__name__} does not score pairs")

    def pair_scores(self, pairs: np.ndarray) -> np.ndarray:
        """Score of each pair of the relation in question, higher meaning likelier."""
        scores = np.empty(len(pairs))
        for nodes, at, which in by_row(pairs, PAIR_ROWS):
            scores[at] = self.row_scores(nodes)[which, pairs[at, 1]]
        return scores

    def directions(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Vectors of the items at both ends of the relation in question, to be compared by cosine."""
        return None

    def lift_scores(self, pairs: np.ndarray) -> np.ndarray:
        """How characteristic each pair is, popularity apart; asked where the absent pairs are as popular."""
        return self.pair_scores(pairs)

    def about(self, type: str) -> Answer | None:
        """What was learnt, asked about the classes of another type; None if that has to be learnt anew."""
        return None

    def as_published(self, seed: int) -> Answer:
        """The same answer, read as the public code of SCAN reads its own (see the published protocol)."""
        return self

    def arrays(self) -> Mapping[str, np.ndarray]:
        """All that was learnt, by name: equal arrays mean the same answer to every question."""
        raise NotImplementedError


OneOrSeveral = Literal["one", "several", "any"]
Scope = Literal["any network", "plain networks", "relations of a type with itself"]


@dataclass(frozen=True)
class Method:
    """A way to solve problems, under the name that reports and the command line use.

    Attributes
    ----------
    options
        The frozen data class of its options, if it has any of its own.
    scope
        What it can be used for.
    classes
        Whether it tells the one class of items, or the several that each may have.
    """

    name: str
    tasks: tuple[Task, ...]
    fit: Callable[[Problem], Answer]
    about: str
    options: type | None = None
    scope: Scope = "any network"
    classes: OneOrSeveral = "one"

    def refusal(self, problem: Problem) -> str | None:
        """Why it cannot solve a problem, in one sentence; None if it can."""
        known = problem.items.labels
        if problem.task == "classification" and known is not None and self.classes != "any":
            several = self.classes == "several"
            if several != known.several:
                which = "several classes" if several else "one class"
                return f"method {self.name} is for items that have {which} each; {problem.type} have not"
        if self.scope == "plain networks" and not problem.network.is_plain:
            return (
                f"method {self.name} is for plain networks of nodes, links and attributes; "
                f"{problem.network.name} has the types {', '.join(problem.network.types)}"
            )
        if self.scope == "relations of a type with itself" and problem.task in OF_PAIRS:
            ends = problem.asked
            if not ends.pairing.same:
                return (
                    f"method {self.name} is for relations of a type with itself; "
                    f"{ends.name} joins {ends.source} and {ends.target}"
                )
        return None


def guarded(method: Method) -> Method:
    """The same method, refusing what it cannot do in a sentence of its own."""

    def fit(problem: Problem) -> Answer:
        refused = method.refusal(problem)
        if refused is not None:
            raise InputError(refused)
        return method.fit(problem)

    return replace(method, fit=fit)
