"""Columns that give the label away: each alone tells nearly every class, of rows it has not seen."""

from __future__ import annotations

import numpy as np

from coembed.network.items import UNKNOWN
from coembed.network.network import Network
from coembed.network.relations import Relation

TOLD = 0.98
"""Share of rows whose class a column tells that makes it suspect."""
FEWEST = 50
"""Labelled rows, below which chance may do it."""
_BINS = 32


def telling_columns(network: Network, type: str) -> list[tuple[Relation, float]]:
    """Number, date, category and yes/no columns of a type from which alone its labels can be told.

    Half of the labelled rows say which class goes with which value; the share is that of the other half whose
    class it says rightly, both ways round.

    Examples
    --------
    >>> from coembed.network import demo_tables
    >>> telling_columns(demo_tables(), "nouns")
    []
    """
    labels = network.items(type).labels
    if labels is None or labels.several or len(labels.known) < FEWEST or labels.n_classes < 2:
        return []
    sizes = np.bincount(labels.values[labels.known])
    if sizes.max() > TOLD * sizes.sum():
        return []
    found = []
    for relation in network.columns(type):
        if relation.column is not None and relation.column.has_cells:
            share = _told(_values(relation), labels.values, labels.n_classes)
            if share >= TOLD:
                found.append((relation, share))
    return found


def _values(relation: Relation) -> np.ndarray:
    """Which value each row has, numbers in bins of about as many rows each; -1 for none."""
    column, matrix = relation.column, relation.values
    assert column is not None
    values = np.full(matrix.shape[0], -1)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    if column.kind == "category":
        values[rows] = matrix.indices - column.start
    else:
        shares = np.linspace(0, 1, _BINS + 1)[1:-1]
        edges = np.unique(np.quantile(matrix.data, shares)) if matrix.nnz else np.empty(0)
        values[rows] = np.searchsorted(edges, matrix.data, side="right")
    return values


def _told(values: np.ndarray, labels: np.ndarray, n_classes: int) -> float:
    rows = np.flatnonzero((values >= 0) & (labels != UNKNOWN))
    if len(rows) < FEWEST:
        return 0.0
    rows = np.random.default_rng(0).permutation(rows)
    right = 0
    for learn, ask in ((rows[::2], rows[1::2]), (rows[1::2], rows[::2])):
        counts = np.zeros((values.max() + 1, n_classes))
        np.add.at(counts, (values[learn], labels[learn]), 1)
        seen = counts.sum(axis=1) > 0
        right += int((seen[values[ask]] & (counts.argmax(axis=1)[values[ask]] == labels[ask])).sum())
    return right / len(rows)
