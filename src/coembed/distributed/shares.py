"""What one process holds of a network: the rows of its nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from coembed.distributed.partition import Partition
from coembed.network import Network

# work that a node is whatever its links and attributes, in stored entries
ENTRIES_A_NODE = 16


class Share(NamedTuple):
    """Rows of links and attributes, and labels, of the nodes of one process.

    Attributes are dealt out, too: each process infers its own.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> share = Share.of(demo_network(), processes=3, rank=2)
    >>> share.links.shape == (share.nodes.own.size, 1476), len(share.labels) == share.nodes.own.size
    (True, True)
    """

    links: sp.csr_array
    attributes: sp.csr_array
    labels: np.ndarray
    n_classes: int
    nodes: Partition
    items: Partition

    @classmethod
    def of(cls, network: Network, processes: int = 1, rank: int = 0, nodes: Partition | None = None) -> Share:
        """The share of a process; of a network that is mapped, no other rows are read."""
        if processes == 1:
            whole = Partition.whole(network.n_nodes), Partition.whole(network.n_attributes)
            return cls(network.links, network.attributes, network.labels, network.n_classes, *whole)
        if nodes is None:
            entries = network.links.indptr.astype(np.int64) + network.attributes.indptr
            entries += ENTRIES_A_NODE * np.arange(len(entries))
            nodes = Partition.balanced(entries, processes, rank)
        rows = nodes.own
        return cls(
            rows_between(network.links, rows.start, rows.stop),
            rows_between(network.attributes, rows.start, rows.stop),
            np.array(network.labels[rows.start : rows.stop]),
            network.n_classes,
            nodes,
            Partition.even(network.n_attributes, processes, rank),
        )


def rows_between(matrix: sp.csr_array, start: int, stop: int) -> sp.csr_array:
    """Some rows as a matrix of their own, in memory."""
    entries = slice(int(matrix.indptr[start]), int(matrix.indptr[stop]))
    places = np.array(matrix.indptr[start : stop + 1]) - matrix.indptr[start]
    return sp.csr_array(
        (np.array(matrix.data[entries]), np.array(matrix.indices[entries]), places),
        shape=(stop - start, matrix.shape[1]),
    )
