"""A relation as the model explains it: a sparse matrix, what its values mean, and what it weighs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True, eq=False)
class Cells:
    """Of columns with one cell an item: where each column's targets are, and what its cells weigh.

    Attributes
    ----------
    table
        Which table it is; steps hide some of the cells of a table from all inputs.
    n_columns
        Columns of that table.
    place
        For each target, the number of its column in the table; those of one column lie side by side.
    weight
        For each target, what a known cell of its column weighs.
    """

    table: str
    n_columns: int
    place: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True, eq=False)
class ModelledRelation:
    """An observed sparse matrix between the items of two types (or of one with itself).

    Where absent means no, every pair has a value, zero where none is stored. Of a Gaussian relation the mean
    is then gain x score, with a gain that is learnt: equal labels add a fixed 1 to the inner product of two
    items, which need not be worth one unit of the values. With `cells` absent means unknown.

    Where evidence (items x features, such as the logarithm of a degree) is given, the items of that end have
    a bias, linear in it, that is added to the score: the popular are likelier to be joined to any.

    Where the items of its types are dealt out to processes, a relation has the rows of one of them, and
    evidence of its own items at both ends.

    Attributes
    ----------
    name
        A key that is safe for parameters and noise; `title` is what people call it.
    targets
        Which items of the target's type the columns of the matrix are; None: all.
    observed
        Whether an entry that is not stored is unknown rather than zero.
    pays
        Whether the posteriors of its two ends are paid for here.
    gained, directed
        Whether it has gains, and a turn, of its own.
    """

    name: str
    source: str
    target: str
    matrix: sp.csr_array
    likelihood: str = "bernoulli"
    weight: float = 1.0
    source_evidence: np.ndarray | None = None
    target_evidence: np.ndarray | None = None
    cells: Cells | None = None
    targets: np.ndarray | None = None
    observed: bool = False
    pays: bool = True
    gained: bool = False
    directed: bool = False
    title: str = ""

    @property
    def same(self) -> bool:
        return self.source == self.target
