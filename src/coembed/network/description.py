"""What there is to say about a network in figures."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from coembed.network.network import UNKNOWN, Network
from coembed.network.pairs import UNDIRECTED, true_pairs


def summary(network: Network) -> dict[str, Any]:
    """Sizes, gaps and ranges, ready for JSON; None where there is nothing to measure.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> figures = summary(demo_network())
    >>> figures["nodes_without_attributes"], figures["components"], round(figures["links_inside_a_class"], 2)
    (20, 1, 0.8)
    """
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
