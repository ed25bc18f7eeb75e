"""Features of the items of any type of any network: own columns, relations, and means over relations.

Everything is made from the network that is given, never row by row, and means are never written down: a view
is a chain of averaging matrices and the features at its end, of which a method reads the rows it needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from coembed.baselines.classifiers import AveragedFeatures
from coembed.baselines.factors import decompose
from coembed.baselines.features import frequency, idf_rows, mean_of_neighbours, presence, unit_length_rows
from coembed.network import Network, Relation
from coembed.network.cell_values import attribute_range, cell_values

DIMENSIONS = 64
"""Leading coordinates that stand for features of more dimensions wherever dense ones are needed."""
PATHS = 24
"""Most ways over relations that means are taken along: shorter ones first, then those that reach most."""
FAR = 6.0
"""Standardised numbers are taken to lie within this, so that an outlier is no lever of a linear model."""
ROWS = 4096

Views = list[AveragedFeatures]
FeatureBlocks = list[Any]
"""Features of a type, sparse or dense: one block of its tags and words, one of its cells."""


class Step(NamedTuple):
    """From the items of a type to those that are joined with them."""

    target: str
    matrix: sp.csr_array


def own_blocks(network: Network, type: str, without: str | None = None) -> FeatureBlocks:
    """Tags and words of a type side by side, and its cells; blocks that are empty are left out."""
    columns = [each for each in network.columns(type) if each.name != without]
    blocks = []
    for cells in (False, True):
        found = [column_features(each) for each in columns if each.column and each.column.has_cells == cells]
        side_by_side = sp.csr_array(sp.hstack(found, format="csr")) if found else None
        if side_by_side is not None and side_by_side.shape[1]:
            blocks.append(side_by_side)
    return blocks


def own_features(network: Network, type: str, without: str | None = None) -> sp.csr_array:
    """The columns of a type side by side; one may be left out.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> own_features(demo_network(), "node").shape
    (1476, 626)
    """
    blocks = own_blocks(network, type, without)
    if not blocks:
        return sp.csr_array((len(network.items(type)), 0), dtype=np.float32)
    return sp.csr_array(sp.hstack(blocks, format="csr"))


def column_features(relation: Relation) -> sp.csr_array:
    """A column as linear models like it.

    A number as its standardised value and, where some cells are empty, whether it is known; yes and no as 1
    and -1; a category as one of its values; tags and words by their rarity, in rows of length one.
    """
    assert relation.column is not None
    values = relation.values[:, attribute_range(relation)]
    if relation.column.kind == "category":
        return presence(values)
    if not relation.column.has_cells:
        return rare_counts_more(values)
    cells = cell_values(relation)
    known = ~np.isnan(cells)
    told = np.clip(np.nan_to_num(cells if relation.column.numeric else 2 * cells - 1), -FAR, FAR)
    dense = [told] if known.all() or not relation.column.numeric else [told, known]
    return sp.csr_array(np.column_stack(dense).astype(np.float32))


def rare_counts_more(values: sp.csr_array) -> sp.csr_array:
    """tf-idf in rows of length one: presence or log(1 + count) by rarity; real values as they are."""
    if not values.nnz or np.all(values.data == 1):
        return idf_rows(values)
    if np.any(values.data < 0) or np.any(values.data % 1):
        present = values.copy()
        present.eliminate_zeros()
        return unit_length_rows(present)
    idf = np.log(values.shape[0] / np.maximum(frequency(values), 1))
    weighed = presence(values)
    weighed.data = (np.log1p(values.data) * idf[values.indices]).astype(np.float32)
    weighed.eliminate_zeros()
    return unit_length_rows(weighed)


def coordinates(features: sp.csr_array, dimensions: int = DIMENSIONS, seed: int = 0) -> np.ndarray:
    """Dense features: the same if there are few of them, else their leading singular coordinates."""
    if features.shape[1] <= dimensions:
        return features.toarray()
    left, sizes, _ = decompose(features, dimensions, seed)
    return left * sizes


def steps_from(network: Network, type: str) -> Iterator[Step]:
    """One step over every relation of a type, over a directed one both ways."""
    for relation in network.joining(type):
        if relation.source == type:
            yield Step(relation.target, relation.values)
        if relation.target == type and not relation.pairing.undirected:
            yield Step(relation.source, relation.backwards)


def joined(network: Network, type: str, other: str) -> sp.csr_array | None:
    """Presence of a pair of two types in any relation, whichever way; None if no relation joins them.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> joined(demo_network(), "node", "node").nnz
    7364
    """
    found: sp.csr_array | None = None
    for step in steps_from(network, type):
        if step.target == other:
            found = presence(step.matrix) if found is None else sp.csr_array(found + presence(step.matrix))
    return None if found is None else presence(found)


def relation_views(network: Network, type: str, dimensions: int = DIMENSIONS, seed: int = 0) -> Views:
    """Who an item is related with: coordinates of every relation of the type, and how many they are."""
    views, counts = [], []
    for step in steps_from(network, type):
        views.append(AveragedFeatures((), coordinates(_degree_scaled_rows(step.matrix), dimensions, seed)))
        counts.append(np.log1p(np.diff(step.matrix.indptr)))
    if counts:
        views.append(AveragedFeatures((), np.column_stack(counts).astype(np.float32)))
    return views


def link_views(network: Network, type: str, steps: int = 2, dimensions: int = 0, seed: int = 0) -> Views:
    """Means of the own features of those one, two ... links away, over all relations of the type with itself.

    With `dimensions` the features are dense coordinates; without, they are as they are, tags and words in
    rows of length one.
    """
    links = joined(network, type, type)
    if links is None:
        return []
    step = mean_of_neighbours(links)
    blocks = _blocks(network, type, dimensions, seed)
    return [_even(AveragedFeatures((step,) * n, block)) for n in range(1, steps + 1) for block in blocks]


def relation_means(network: Network, type: str, dimensions: int = 0, seed: int = 0) -> Views:
    """Means over each relation of a type, each way of its own; then over pairs of types, two steps out."""
    types = network.entity_types
    blocks = {name: _blocks(network, name, dimensions, seed) for name in types}
    one = [((mean_of_neighbours(step.matrix),), step.target) for step in steps_from(network, type)]
    own = [way for way in one if way[1] == type]
    if len(own) == 1:  # the same as all links together
        one = [way for way in one if way[1] != type]
    means: dict[tuple[str, str], sp.csr_array] = {}
    for first, second in product(types, types):
        pairs = joined(network, first, second)
        if pairs is not None:
            means[first, second] = mean_of_neighbours(pairs)
    two = [
        ((means[type, middle], means[middle, end]), end)
        for middle, end in product(types, types)
        if (type, middle) in means and (middle, end) in means and (middle, end) != (type, type)
    ]
    two.sort(key=lambda way: _reach(way[0]), reverse=True)
    ways = (one + two)[:PATHS]
    return [_even(AveragedFeatures(steps, block)) for steps, end in ways for block in blocks[end]]


def neighbour_means(network: Network, type: str, steps: int = 2, dimensions: int = DIMENSIONS) -> np.ndarray:
    """All means written down: a row an item.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> neighbour_means(demo_network(), "node", dimensions=8).shape
    (1476, 16)
    """
    views = link_views(network, type, steps, dimensions) + relation_means(network, type, dimensions)
    return dense_rows(views, np.arange(len(network.items(type))))


def dense_rows(views: Sequence[AveragedFeatures], items: np.ndarray) -> np.ndarray:
    """The rows of views side by side."""
    blocks = [view.rows(items) for view in views]
    dense = [block.toarray() if sp.issparse(block) else block for block in blocks]
    return np.hstack(dense) if dense else np.zeros((len(items), 0), dtype=np.float32)


def _blocks(network: Network, type: str, dimensions: int, seed: int) -> FeatureBlocks:
    blocks = own_blocks(network, type)
    return [coordinates(each, dimensions, seed) for each in blocks] if dimensions else blocks


def _even(view: AveragedFeatures) -> AveragedFeatures:
    """Sparse features in rows of length one after the last step, too: a mean of many is shorter than of few.

    The lengths go into the first step, so that still nothing is written down.
    """
    first, n_items = view.steps[0], view.steps[0].shape[0]
    if not sp.issparse(view.features) or np.any(view.features.data < 0):
        return view
    squares = np.zeros(n_items, dtype=np.float32)
    for start in range(0, n_items, ROWS):
        rows = view.rows(np.arange(start, min(start + ROWS, n_items)))
        squares[start : start + ROWS] = np.asarray(rows.power(2).sum(axis=1)).ravel()
    lengths = np.sqrt(squares)
    scale = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return AveragedFeatures((sp.csr_array(sp.diags_array(scale) @ first), *view.steps[1:]), view.features)


def _degree_scaled_rows(matrix: sp.csr_array) -> sp.csr_array:
    """Presence divided by the square root of how often the far end occurs, in rows of length one."""
    scaled = presence(matrix)
    scaled.data = (1 / np.sqrt(frequency(matrix)[matrix.indices])).astype(np.float32)
    return unit_length_rows(scaled)


def _reach(steps: Sequence[sp.csr_array]) -> int:
    """How many items a way leads anywhere."""
    reached = np.ones(steps[-1].shape[1], dtype=np.float32)
    for step in reversed(steps):
        reached = step @ reached
    return int(np.count_nonzero(reached))
