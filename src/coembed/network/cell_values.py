"""Columns of which every item has one cell, as an array of what is in the cells."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from coembed.network.pairs import entries
from coembed.network.relations import Relation


def attribute_range(relation: Relation) -> slice:
    """Which items of the target a relation is about: a column has its own among the attributes of a type.

    Examples
    --------
    >>> attribute_range(Relation.build("likes", "person", "film", np.eye(3)))
    slice(0, 3, None)
    """
    column = relation.column
    if column is None or column.stop <= column.start:
        return slice(0, relation.values.shape[1])
    return slice(column.start, column.stop)


def cell_values(relation: Relation) -> np.ndarray:
    """What is in each cell of a column, float64, NaN where it is not known; of a category which value it is.

    Examples
    --------
    >>> from coembed.network.relations import Column
    >>> colours = Column("colour", "category", 1, 4)
    >>> matrix = sp.csr_array(([1.0, 1.0], ([0, 2], [3, 1])), shape=(3, 4))
    >>> cell_values(Relation.build("colour", "car", "value", matrix, column=colours)).tolist()
    [2.0, nan, 0.0]
    """
    found = np.full(relation.values.shape[0], np.nan)
    rows, attributes = entries(relation.values).T
    category = relation.column is not None and relation.column.kind == "category"
    found[rows] = attributes - attribute_range(relation).start if category else relation.values.data
    return found


def without_rows(matrix: sp.csr_array, rows: np.ndarray) -> sp.csr_array:
    """The matrix with these rows empty, still canonical CSR, zeros that are stored included.

    Examples
    --------
    >>> without_rows(sp.csr_array([[1, 2], [3, 4]]), np.array([0])).toarray().tolist()
    [[0, 0], [3, 4]]
    """
    kept = np.ones(matrix.shape[0], dtype=bool)
    kept[rows] = False
    counts = np.diff(matrix.indptr)
    stays = np.repeat(kept, counts)
    indptr = np.concatenate([[0], np.cumsum(counts * kept)]).astype(matrix.indptr.dtype)
    return sp.csr_array((matrix.data[stays], matrix.indices[stays], indptr), shape=matrix.shape)
