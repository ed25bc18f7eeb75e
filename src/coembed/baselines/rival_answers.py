"""What the rivals give back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from coembed.baselines.classifiers import Classes
from coembed.evaluation.problem import Answer
from coembed.progress import CountProgress

BUDGET = 100_000_000
"""Most scores that an answer keeps (400 MB); those of a larger network are made again whenever asked for."""
ROWS = 512


@dataclass(frozen=True, eq=False)
class EmbeddedClasses(Classes):
    """Class probabilities, and the vectors that they were read from."""

    vectors: np.ndarray

    def embedding(self) -> np.ndarray:
        return self.vectors

    def arrays(self) -> Mapping[str, np.ndarray]:
        return {"probabilities": self.values, "vectors": self.vectors}


@dataclass(frozen=True, eq=False)
class Factors(Answer):
    """Score of a pair: the inner product of its two vectors."""

    node: np.ndarray
    item: np.ndarray

    def row_scores(self, nodes: np.ndarray) -> np.ndarray:
        return self.node[nodes] @ self.item.T

    def pair_scores(self, pairs: np.ndarray) -> np.ndarray:
        return np.einsum("nd,nd->n", self.node[pairs[:, 0]], self.item[pairs[:, 1]])

    def directions(self) -> tuple[np.ndarray, np.ndarray]:
        return self.node, self.item

    def arrays(self) -> Mapping[str, np.ndarray]:
        return {"node": self.node, "item": self.item}


Rows = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class KeptRows(Answer):
    """Scores that are made a block of rows at a time, and kept where there are few enough of them.

    Attributes
    ----------
    rows
        Nodes to their scores with all items; must not depend on which other nodes are asked.
    learnt
        What `rows` reads, by name.
    kept
        All scores, or nothing.
    """

    rows: Rows
    learnt: Mapping[str, np.ndarray]
    kept: np.ndarray | None

    def row_scores(self, nodes: np.ndarray) -> np.ndarray:
        return self.rows(nodes) if self.kept is None else self.kept[nodes]

    def arrays(self) -> Mapping[str, np.ndarray]:
        return self.learnt


def keep_rows(
    rows: Rows,
    shape: tuple[int, int],
    learnt: Mapping[str, np.ndarray],
    each: CountProgress = lambda block, blocks: None,
    columns: Rows | None = None,
) -> KeptRows:
    """An answer from a function of rows, with all its scores at hand if they are within the budget.

    `each` is called after every block that is kept. `columns` gives the same scores from the other side, one
    row an item: where there are fewer items than nodes, that is less work.
    """
    if shape[0] * shape[1] > BUDGET:
        return KeptRows(rows, learnt, None)
    kept = np.empty(shape, dtype=np.float32)
    made, make = (kept.T, columns) if columns is not None and shape[1] < shape[0] else (kept, rows)
    starts = range(0, len(made), ROWS)
    for block, start in enumerate(starts, start=1):
        some = np.arange(start, min(start + ROWS, len(made)))
        made[some] = make(some)
        each(block, len(starts))
    return KeptRows(rows, learnt, kept)


def csr_parts(name: str, matrix: sp.csr_array) -> dict[str, np.ndarray]:
    """The arrays of a sparse matrix, by name."""
    return {f"{name}.{part}": getattr(matrix, part) for part in ("data", "indices", "indptr")}
