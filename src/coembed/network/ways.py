"""Relations as they are walked from one of their ends: the source (``name>``) or the target (``name<``)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from coembed.network.matrices import presence
from coembed.network.network import Network


@dataclass(frozen=True)
class Way:
    """A relation as it is walked from one of its ends."""

    relation: str
    forwards: bool
    other: str

    @property
    def name(self) -> str:
        return f"{self.relation}{'>' if self.forwards else '<'}"


def ways_of(network: Network, type: str) -> list[Way]:
    """All ways out of a type, but into its own columns."""
    found = []
    for relation in network.joining(type):
        if relation.source == type:
            found.append(Way(relation.name, True, relation.target))
        if relation.target == type and not relation.pairing.undirected:
            found.append(Way(relation.name, False, relation.source))
    return found


def links_within(network: Network, type: str) -> sp.csr_array | None:
    """All links within a type, both ways, each counted once a relation; None if there is no such relation.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> links_within(demo_network(), "node").nnz, links_within(demo_network(), "attribute")
    (7364, None)
    """
    within = [each for each in network.entity_relations if each.source == each.target == type]
    both = [
        presence(each.values) if each.pairing.undirected else presence(each.values) + presence(each.values).T
        for each in within
    ]
    return sp.csr_array(sum(both[1:], both[0])) if both else None


def item_weights(network: Network, type: str) -> np.ndarray:
    """How many entries every item of a type has: links of an entity, owners of an attribute."""
    weights = np.zeros(len(network.items(type)), dtype=np.int64)
    for relation in network.relations.values():
        if relation.source == type and relation.column is None:
            weights += np.diff(relation.values.indptr)
        if relation.target == type and not relation.pairing.undirected:
            weights += np.bincount(relation.values.indices, minlength=len(weights))
    return weights
