"""An attribute seen through its owners."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from coembed.network.matrices import unit_rows
from coembed.views.basis import scaled_rows
from coembed.views.node_views import NodeViews


class AttributeViews(NamedTuple):
    """The owners of each attribute as they are, and the coordinates of where they stand.

    `evidence` is log(1 + number of owners).
    """

    sparse: dict[str, sp.csr_array]
    dense: dict[str, np.ndarray]
    evidence: np.ndarray

    @property
    def all(self) -> dict[str, sp.csr_array | np.ndarray]:
        return {**self.sparse, **self.dense}


def attribute_views(owners: sp.csr_array, nodes: NodeViews) -> AttributeViews:
    """The views of attributes from `owners` (attributes x training nodes) and the views of those nodes."""
    rows = scaled_rows(owners, unit_rows([owners]))
    dense = {}
    for name in ("own", "linked"):
        if name in nodes.dense:
            # with columns of length one: where the owners stand, not how far the common directions reach
            lengths = np.linalg.norm(nodes.dense[name], axis=0)
            dense[f"owners_{name}"] = (rows @ nodes.dense[name]) / np.maximum(lengths, 1e-6)
    evidence = np.log1p(np.diff(owners.indptr))[:, None].astype(np.float32)
    return AttributeViews({"owners": rows}, dense, evidence)
