"""What one process holds of a network, and of the views of its items: rows of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from coembed.distributed.partition import Partition
from coembed.network import UNKNOWN, Network
from coembed.views import Neighbours, TypeViews

# work that an item is whatever its entries, in stored entries
ENTRIES_AN_ITEM = 16


@dataclass(frozen=True, eq=False)
class Share:
    """The rows of a process: of every relation those of its own source items, and labels of its own.

    The items of every type are dealt out: those that relations start from by their entries, others (such as
    attributes) evenly. Of a network that is mapped no other rows are read.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> share = Share.of(demo_network(), processes=3, rank=2)
    >>> own = share.partitions["node"].own
    >>> share.matrix("links").shape == (own.size, 1476), len(share.labels("node")) == own.size
    (True, True)
    """

    network: Network
    partitions: dict[str, Partition]

    @classmethod
    def of(
        cls,
        network: Network,
        processes: int = 1,
        rank: int = 0,
        given: dict[str, Partition] | None = None,
    ) -> Share:
        """The share of a process; the rows of some types may be given."""
        if processes == 1:
            return cls(network, {name: Partition.whole(len(items)) for name, items in network.types.items()})
        partitions = {}
        for name, items in network.types.items():
            starts = [each.values.indptr for each in network.relations.values() if each.source == name]
            if given is not None and name in given:
                partitions[name] = given[name]
            elif starts:
                entries = sum(indptr.astype(np.int64) for indptr in starts)
                entries = entries + ENTRIES_AN_ITEM * np.arange(len(items) + 1)
                partitions[name] = Partition.balanced(entries, processes, rank)
            else:
                partitions[name] = Partition.even(len(items), processes, rank)
        return cls(network, partitions)

    @property
    def processes(self) -> int:
        return next(iter(self.partitions.values())).processes

    def matrix(self, relation: str) -> sp.csr_array:
        """Own rows of a relation."""
        joined = self.network.relation(relation)
        if self.processes == 1:
            return joined.values
        own = self.partitions[joined.source].own
        return rows_between(joined.values, own.start, own.stop)

    def labels(self, type: str) -> np.ndarray:
        """Labels of own items."""
        own, known = self.partitions[type].own, self.network.items(type).labels
        if known is None:
            return np.full(own.size, UNKNOWN)
        return known.values if self.processes == 1 else np.array(known.values[own.start : own.stop])

    def rows(self, type: str, array: np.ndarray | None) -> np.ndarray | None:
        """Own rows of an array of a type's items."""
        own = self.partitions[type].own
        return array if array is None or self.processes == 1 else np.array(array[own.start : own.stop])

    def views(self, type: str, views: TypeViews) -> TypeViews:
        """The views of own items; of the owners of attributes own ones, for all attributes."""
        if self.processes == 1:
            return replace(views, sparse={name: sp.csr_array(view) for name, view in views.sparse.items()})
        own = self.partitions[type].own
        rows = slice(own.start, own.stop)

        def cut(name: str, view: sp.csr_array) -> sp.csr_array:
            if name != "owners":
                return rows_between(view, own.start, own.stop)
            owners = self.partitions[views.columns[name]].own
            return view[:, owners.start : owners.stop]

        alike = views.alike and Neighbours(*(np.array(array[rows]) for array in views.alike))
        return replace(
            views,
            sparse={name: cut(name, view) for name, view in views.sparse.items()},
            dense={name: np.array(view[rows]) for name, view in views.dense.items()},
            evidence=np.array(views.evidence[rows]),
            alike=alike,
        )


def rows_between(matrix: sp.csr_array, start: int, stop: int) -> sp.csr_array:
    """Some rows as a matrix of their own, in memory."""
    entries = slice(int(matrix.indptr[start]), int(matrix.indptr[stop]))
    places = np.array(matrix.indptr[start : stop + 1]) - matrix.indptr[start]
    return sp.csr_array(
        (np.array(matrix.data[entries]), np.array(matrix.indices[entries]), places),
        shape=(stop - start, matrix.shape[1]),
    )
