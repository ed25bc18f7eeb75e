"""What there is to say about a network in figures."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from coembed.network.items import UNKNOWN, Items
from coembed.network.network import Network
from coembed.network.pairs import UNDIRECTED, true_pairs
from coembed.network.relations import Relation


def summary(network: Network) -> dict[str, Any]:
    """Sizes, gaps and ranges, ready for JSON; None where there is nothing to measure.

    Of a network that is not plain: its types, relations and columns, each a record.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> figures = summary(demo_network())
    >>> figures["nodes_without_attributes"], figures["components"], round(figures["links_inside_a_class"], 2)
    (20, 1, 0.8)
    """
    return _plain_summary(network) if network.is_plain else _general_summary(network)


def _general_summary(network: Network) -> dict[str, Any]:
    return {
        "name": network.name,
        "types": [_type_record(network.types[name]) for name in network.entity_types],
        "relations": [_relation_record(each) for each in network.entity_relations],
        "columns": [_column_record(network, each) for each in network.relations.values() if each.column],
        "notices": list(network.notices),
    }


def _type_record(items: Items) -> dict[str, Any]:
    labels = items.labels
    record: dict[str, Any] = {"name": items.name, "count": len(items), "titles": items.titles is not None}
    if labels is None or not labels.n_classes:
        return {**record, "label": None, "labelled": 0, "class_sizes": {}}
    classes = {str(name): int(size) for name, size in zip(labels.classes, labels.sizes, strict=True)}
    record |= {"label": labels.column, "labelled": len(labels.known), "class_sizes": classes}
    return {**record, "several": True} if labels.several else record


def _relation_record(relation: Relation) -> dict[str, Any]:
    return {
        "name": relation.name,
        "source": relation.source,
        "target": relation.target,
        "entries": relation.n_entries,
        "directed": relation.directed,
        "weighted": relation.weighted,
        "range": _range(relation.values),
    }


def _column_record(network: Network, relation: Relation) -> dict[str, Any]:
    """A column; `missing` is the share of rows without a cell, or without any tag or word."""
    column = relation.column
    assert column is not None
    rows = np.diff(relation.values.indptr)
    record = {
        "type": relation.source,
        "name": column.name,
        "relation": relation.name,
        "kind": column.kind,
        "attributes": column.stop - column.start,
        "entries": relation.n_entries,
        "missing": float(np.mean(rows == 0)) if len(rows) else None,
        "range": None,
    }
    if column.numeric and relation.values.nnz:
        ends = [relation.values.data.min(), relation.values.data.max()]
        record["range"] = _as_given([float(column.cell(float(end))) for end in ends])
    return record


def _plain_summary(network: Network) -> dict[str, Any]:
    from scipy.sparse.csgraph import connected_components  # slow to import, and rarely needed

    nodes, attributes = network.n_nodes, network.n_attributes
    possible_links = nodes * (nodes - 1) // 2
    degrees = np.diff(network.links.indptr)
    known = network.labels[network.labels != UNKNOWN]
    sizes = np.bincount(known, minlength=network.n_classes)
    return {
        "name": network.name,
        "nodes": nodes,
        "links": network.n_links,
        "attributes": attributes,
        "entries": int(network.attributes.nnz),
        "classes": network.n_classes,
        "labelled": len(known),
        "isolated_nodes": int(np.count_nonzero(degrees == 0)),
        "nodes_without_attributes": int(np.count_nonzero(np.diff(network.attributes.indptr) == 0)),
        "unused_attributes": attributes - len(np.unique(network.attributes.indices)),
        "components": int(connected_components(network.links, directed=False, return_labels=False)),
        "mean_degree": float(degrees.mean()),
        "links_inside_a_class": _inside_a_class(network),
        "weighted_links": network.weighted_links,
        "real_attributes": network.real_attributes,
        "link_range": _range(network.links),
        "attribute_range": _range(network.attributes),
        "link_density": network.n_links / possible_links if possible_links else None,
        "attribute_density": network.attributes.nnz / (nodes * attributes) if attributes else None,
        "class_sizes": {str(name): int(size) for name, size in zip(network.class_names, sizes, strict=True)},
        "notices": list(network.notices),
    }


def _inside_a_class(network: Network) -> float | None:
    """Share of links between two nodes of one class, among the links whose both ends are labelled."""
    ends = network.labels[true_pairs(network.links, UNDIRECTED)]
    ends = ends[(ends != UNKNOWN).all(axis=1)]
    return float((ends[:, 0] == ends[:, 1]).mean()) if len(ends) else None


def _range(matrix: sp.csr_array) -> list[float] | None:
    return [float(matrix.data.min()), float(matrix.data.max())] if matrix.nnz else None


def _as_given(ends: list[float]) -> list[float]:
    """Without the last digits, which are those of single precision and not of the table.

    Examples
    --------
    >>> _as_given([-6.67837e-07, 40.000002])
    [0.0, 40.0]
    """
    largest = max(map(abs, ends))
    digits = 5 - math.floor(math.log10(largest)) if largest else 0
    return [round(end, digits) + 0.0 for end in ends]  # not -0
