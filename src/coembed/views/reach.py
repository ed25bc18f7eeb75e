"""What items touch: their rows in the relations and columns of their type.

A relation can be walked from its source (``name>``) and from its target (``name<``); an undirected one is
the same both ways. The items of a fit touch one another; items that are new to it touch known ones, whose
views stay as they are, and one another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from coembed.likelihoods import LIKELIHOODS
from coembed.network.matrices import presence, root_mean_square, with_values
from coembed.network.network import Network
from coembed.network.relations import Relation
from coembed.network.ways import ways_of


class Touch(NamedTuple):
    """Rows of some items of a type: their entries with known items, and with items as new as they are."""

    known: sp.csr_array | None
    new: sp.csr_array | None

    def map(self, change: Callable[[sp.csr_array], sp.csr_array]) -> Touch:
        return Touch(*(None if part is None else change(part) for part in self))

    @property
    def counts(self) -> np.ndarray:
        """Entries of each row."""
        return sum(np.diff(part.indptr) for part in self if part is not None)  # type: ignore[return-value]

    @property
    def sums(self) -> np.ndarray:
        """Sum of the magnitudes of each row."""
        return sum(np.asarray(abs(part).sum(axis=1)) for part in self if part is not None)  # type: ignore[return-value]

    def times(self, known: np.ndarray | None, here: np.ndarray | None) -> np.ndarray:
        """The rows times what stands at the other end."""
        if self.known is None:
            assert self.new is not None
            return self.new @ here
        found = self.known @ known
        return found if self.new is None or here is None else found + self.new @ here


def touching(network: Network, type: str, read: Callable[[Relation], sp.csr_array]) -> dict[str, Touch]:
    """What the items of a fit touch, by the names of the ways; `read` gives the values of a relation."""
    found = {}
    for way in ways_of(network, type):
        matrix = read(network.relation(way.relation))
        found[way.name] = Touch(None, matrix if way.forwards else matrix.T.tocsr())
    for relation in network.columns(type):
        found[f"{relation.name}>"] = Touch(read(relation), None)
    return found or {NOTHING: touching_nothing(len(network.items(type)))}


NOTHING = "~"
"""The way of items that have neither relations nor columns: it leads nowhere, and says how many they are."""


def touching_nothing(count: int) -> Touch:
    return Touch(sp.csr_array((count, 0), dtype=np.float32), None)


@dataclass(frozen=True)
class Reading:
    """How the values of a relation are read: as presence, or as they are, in a unit.

    Where what is not stored is unknown (`observed`), a stored zero is a value like any other, and values are
    measured from their `center`.
    """

    likelihood: str
    values: str = "presence"
    unit: float = 1.0
    observed: bool = False
    center: float = 0.0

    def target(self, matrix: sp.csr_array) -> sp.csr_array:
        """What the model explains: presence, or values in their unit."""
        if LIKELIHOODS[self.likelihood].of_presence and not self.observed:
            return presence(matrix)
        return self._measured(matrix)

    def inputs(self, matrix: sp.csr_array) -> sp.csr_array:
        """What the model reads."""
        return presence(matrix) if self.values == "presence" else self._measured(matrix)

    def _measured(self, matrix: sp.csr_array) -> sp.csr_array:
        values = matrix.data - np.float32(self.center) if self.center else matrix.data
        return with_values(matrix, (values / np.float32(self.unit)).astype(np.float32))


def reading(relation: Relation, likelihood: str) -> Reading:
    """How to read a relation.

    Counts and tf-idf whose presence is explained are read as presence, too: read as the values that they are,
    they made the classes of Flickr and Pubmed worse by half a point.

    Parameters
    ----------
    likelihood
        What `auto` is to stand for; itself ``auto``: as it looks.
    """
    matrix, column = relation.values, relation.column
    chosen = relation.likelihood if relation.likelihood != "auto" else likelihood
    if relation.absent == "unknown":
        if chosen == "auto":
            chosen = "bernoulli" if np.isin(matrix.data, (0, 1)).all() else "gaussian"
        if column is None and LIKELIHOODS[chosen].scaled and matrix.nnz:
            center, unit = float(matrix.data.mean()), float(matrix.data.std()) or 1.0
            return Reading(chosen, "values", unit, observed=True, center=center)
        return Reading(chosen, "values", observed=True)
    chosen = as_it_looks(matrix) if chosen == "auto" else chosen
    if LIKELIHOODS[chosen].scaled:
        return Reading(chosen, "values", root_mean_square(matrix))
    return Reading(chosen)


def as_it_looks(matrix: sp.csr_array) -> str:
    """Values are explained where presence says little, or where some are negative.

    Examples
    --------
    >>> as_it_looks(sp.csr_array(np.eye(3))), as_it_looks(sp.csr_array(-np.eye(3)))
    ('bernoulli', 'gaussian')
    """
    if not matrix.nnz:
        return "bernoulli"
    mostly_there = 2 * matrix.nnz > matrix.shape[0] * matrix.shape[1]
    values_tell = matrix.data.min() < 0 or (mostly_there and np.ptp(matrix.data) > 0)
    return "gaussian" if values_tell else "bernoulli"


def readings(network: Network, links: str = "auto", attributes: str = "auto") -> dict[str, Reading]:
    """How to read all relations; `links` and `attributes`: what `auto` is to stand for in either kind."""
    return {
        name: reading(relation, links if relation.column is None else attributes)
        for name, relation in network.relations.items()
    }


def summed(matrices: Mapping[str, sp.csr_array]) -> sp.csr_array:
    """The sum of matrices; of one, itself."""
    first, *rest = matrices.values()
    for matrix in rest:
        first = first + matrix
    return first if isinstance(first, sp.csr_array) else sp.csr_array(first)
