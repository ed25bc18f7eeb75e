"""Arrays of numpy and SciPy without any names: links if they are square and sparse, else rows of features."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network.adapters.assembling import TypeParts, assemble
from coembed.network.network import NODE, Network

MOST_COLUMNS = 100
"""Columns of a dense array up to which each is a column of numbers; more are one matrix of features."""


def from_array(array: Any, name: str = "network") -> Network:
    """The network of a matrix: sparse and square, its links; else a row an item and a column an attribute.

    With names, classes, or both links and attributes: :meth:`coembed.Network.build`.

    Examples
    --------
    >>> from_array(np.array([[1.0, 0.5], [2.0, np.nan], [0.0, 1.5]])).relation("x1").column.kind
    'number'
    >>> from_array(sp.csr_array([[0, 1], [1, 0]])).n_links
    1
    """
    if sp.issparse(array):
        return Network.build(array, name=name) if array.shape[0] == array.shape[1] else features(array, name)
    dense = np.asarray(array)
    if dense.ndim != 2 or dense.dtype.kind not in "biuf":
        raise InputError(
            f"{name} is an array of {dense.dtype} of shape {dense.shape}; give a matrix of numbers"
        )
    return features(dense, name)


def features(array: Any, name: str = "network", wide: int = MOST_COLUMNS) -> Network:
    """Rows of features as items: columns of numbers, or one matrix where there are many or it is sparse."""
    count = array.shape[0]
    ids = [f"{NODE}{i}" for i in range(count)]
    if sp.issparse(array) or array.shape[1] > wide:
        return assemble([TypeParts(NODE, ids, features=array)], [], name)
    columns = {f"x{i}": np.asarray(array[:, i], dtype=np.float64) for i in range(array.shape[1])}
    kinds = dict.fromkeys(columns, "number")
    return assemble([TypeParts(NODE, ids, columns)], [], name, kinds=kinds)
