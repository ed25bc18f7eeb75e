"""The part of the views that a process reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from coembed.distributed.partition import Partition
from coembed.distributed.shares import rows_between
from coembed.views import AttributeViews, Neighbours, NodeViews

if TYPE_CHECKING:
    from coembed.model.scan import Seen


def dealt_out(seen: Seen, nodes: Partition, items: Partition) -> Seen:
    """Views of a process's own nodes and attributes; of the owners of attributes, its own nodes."""
    own, attributes = nodes.own, items.own
    rows, item_rows = slice(own.start, own.stop), slice(attributes.start, attributes.stop)

    def owned(view: sp.csr_array | sp.csc_array) -> sp.csr_array | sp.csc_array:
        return sp.csr_array(view) if nodes.processes == 1 else view[:, rows]

    node_views = NodeViews(
        {name: rows_between(view, own.start, own.stop) for name, view in seen.nodes.sparse.items()},
        {name: np.array(view[rows]) for name, view in seen.nodes.dense.items()},
        np.array(seen.nodes.evidence[rows]),
        Neighbours(*(np.array(array[rows]) for array in seen.nodes.alike)),
    )
    attribute_views = AttributeViews(
        {name: owned(view) for name, view in seen.attributes.sparse.items()},
        {name: np.array(view[item_rows]) for name, view in seen.attributes.dense.items()},
        np.array(seen.attributes.evidence[item_rows]),
    )
    return seen._replace(nodes=node_views, attributes=attribute_views)
