"""Rows of features, as scikit-learn has them: an item a row, in order, without ids of their own."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import scipy.sparse as sp

from coembed.network.adapters.arrays import MOST_COLUMNS, features
from coembed.network.adapters.assembling import TypeParts, assemble
from coembed.network.adapters.frames import as_table, is_frame
from coembed.network.network import NODE, Network


def rows_like(thing: Any) -> bool:
    """Whether it is an array, a list of rows or one frame, whose rows are items."""
    listed = isinstance(thing, (list, tuple)) or hasattr(thing, "__array__")
    return is_frame(thing) or sp.issparse(thing) or listed


def network_of_rows(rows: Any) -> Network:
    """The network of rows of features, which :func:`as_rows` takes new ones to."""
    if not is_frame(rows):
        return features(rows)
    table = as_table("X", rows)
    columns = dict(zip(table.column_names, table.columns, strict=True))
    return assemble([TypeParts(NODE, [f"{NODE}{i}" for i in range(table.num_rows)], columns)], [], "network")


def as_rows(rows: Any) -> pa.Table | sp.csr_array:
    """New rows as such a network reads them: a table of columns, or a matrix of features.

    Examples
    --------
    >>> import numpy as np
    >>> as_rows(np.zeros((2, 3))).column_names
    ['x0', 'x1', 'x2']
    """
    if is_frame(rows):
        return as_table("X", rows)
    if sp.issparse(rows) or rows.shape[1] > MOST_COLUMNS:
        return sp.csr_array(rows)
    return pa.table({f"x{i}": pa.array(rows[:, i], from_pandas=True) for i in range(rows.shape[1])})
