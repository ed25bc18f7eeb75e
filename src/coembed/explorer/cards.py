"""The cards: all that a model says of one node or one attribute."""

from __future__ import annotations

from typing import Any

import numpy as np

from coembed.explorer.asking import Explorer
from coembed.fitted.matches import ItemKind, Match
from coembed.fitted.reasons import Variants, Why
from coembed.network.network import UNKNOWN

_WORDS = ((0.95, "nearly certain"), (0.8, "fairly sure"), (0.5, "leaning"), (0.0, "unsure"))


def node_card(explorer: Explorer, name: str, k: int) -> dict[str, Any]:
    """A node: class, certainty, what it has, what it should have, who is like it."""
    fitted, network = explorer.fitted, explorer.network
    row = explorer.at(name, "node")
    observed = network.labels[row] != UNKNOWN
    return {
        "id": name,
        "kind": "node",
        "label": str(network.class_names[network.labels[row]]) if observed else None,
        "true_label": explorer.true_label(row),
        "probabilities": _probabilities(explorer, row),
        "certainty": _certainty(explorer, row),
        "links": neighbours(explorer, name, "node", "node", 0, k),
        "attributes": neighbours(explorer, name, "node", "attribute", 0, k),
        "suggested_attributes": _plain(fitted.complete_attributes(row, k)) if network.n_attributes else [],
        "suggested_links": _plain(fitted.suggest_links(row, k)),
        "similar": _plain(fitted.similar(row, k, "node")),
        "profile": _plain(fitted.profile(row, k)) if network.n_attributes else [],
        "place": place(explorer, "node", row),
    }


def attribute_card(explorer: Explorer, name: str, k: int) -> dict[str, Any]:
    """An attribute: the nodes it stands for, what it is like, how the classes share it."""
    fitted = explorer.fitted
    column = explorer.at(name, "attribute")
    return {
        "id": name,
        "kind": "attribute",
        "owners": neighbours(explorer, name, "attribute", "node", 0, k),
        "nodes": _plain(fitted.nodes_about(column, k)),
        "similar": _plain(fitted.similar(column, k, "attribute")),
        "classes": _class_shares(explorer, column),
        "sharper_than": _share_above(explorer.attribute_blur, explorer.attribute_blur[column]),
        "place": place(explorer, "attribute", column),
    }


def neighbours(
    explorer: Explorer, name: str, kind: ItemKind, to: ItemKind, offset: int, limit: int
) -> dict[str, Any]:
    """A page of what the network joins to an item: the best linked nodes, the rarest attributes first."""
    network, row = explorer.network, explorer.at(name, kind)
    if kind == "attribute":
        # the network joins attributes to nodes only
        matrix = explorer.owned_by if to == "node" else None
    else:
        matrix = network.links if to == "node" else network.attributes
    if matrix is None:
        return {"total": 0, "offset": offset, "items": []}
    part = slice(matrix.indptr[row], matrix.indptr[row + 1])
    items, values = matrix.indices[part], matrix.data[part]
    weight = -explorer.degrees[items] if to == "node" else explorer.owners[items]
    order = np.argsort(weight, kind="stable")[offset : offset + limit]
    names = explorer.names(to)
    return {
        "total": len(items),
        "offset": offset,
        "items": [
            {
                "id": str(names[items[i]]),
                "kind": to,
                "label": explorer.label(int(items[i])) if to == "node" else None,
                "value": float(values[i]),
            }
            for i in order
        ],
    }


def place(explorer: Explorer, kind: ItemKind, row: int) -> dict[str, Any]:
    """Where an item is on the map, and how far its uncertainty carries it."""
    fitted = explorer.fitted
    places, codes = (
        (explorer.layout.nodes, fitted.nodes)
        if kind == "node"
        else (explorer.layout.attributes, fitted.attributes)
    )
    covariance = explorer.plane.spreads(codes.take(np.array([row])), kind, places[[row]])[0]
    return {"x": float(places[row, 0]), "y": float(places[row, 1]), "covariance": _rounded(covariance)}


def why(explorer: Explorer, name: str, attributes: list[str], k: int) -> dict[str, Any]:
    """What speaks for the predicted class and for the given attributes of a node."""
    row = explorer.at(name, "node")
    columns = [explorer.at(each, "attribute") for each in attributes]
    variants = Variants(explorer.fitted, row)
    label = variants.label(k) if explorer.network.n_classes else None
    found = variants.attributes(columns, k) if columns else []
    return {
        "id": name,
        "label": None if label is None else _why(label),
        "attributes": [_why(each) for each in found],
    }


def spread(explorer: Explorer, nodes: list[int], attributes: list[int]) -> dict[str, Any]:
    """Covariances on the map of many items, given by their positions in the map's columns."""
    fitted, layout, found = explorer.fitted, explorer.layout, {}
    for kind, codes, places, rows in (
        ("node", fitted.nodes, layout.nodes, nodes),
        ("attribute", fitted.attributes, layout.attributes, attributes),
    ):
        inside = np.array([row for row in rows if 0 <= row < len(places)], dtype=np.int64)
        covariances = explorer.plane.spreads(codes.take(inside), kind, places[inside])
        found[f"{kind}s"] = [
            {"position": int(row), "covariance": _rounded(covariance)}
            for row, covariance in zip(inside, covariances, strict=True)
        ]
    return found


def in_words(probability: float) -> str:
    """How sure a probability is, for people.

    Examples
    --------
    >>> in_words(0.97), in_words(0.4)
    ('nearly certain', 'unsure')
    """
    return next(words for least, words in _WORDS if probability >= least)


def class_probabilities(explorer: Explorer, row: np.ndarray) -> list[dict[str, Any]]:
    """Classes with their probabilities, the likeliest first."""
    names = explorer.network.class_names
    return [{"label": str(names[k]), "probability": float(row[k])} for k in np.argsort(-row, kind="stable")]


def _probabilities(explorer: Explorer, row: int) -> list[dict[str, Any]]:
    return class_probabilities(explorer, explorer.fitted.probabilities[row])


def _certainty(explorer: Explorer, row: int) -> dict[str, Any]:
    """Of the class in words and against all nodes; of the place against all nodes."""
    sharper = _share_above(explorer.node_blur, explorer.node_blur[row])
    if not explorer.network.n_classes:
        return {"words": None, "surer_than": None, "sharper_than": sharper}
    probability = float(explorer.fitted.probabilities[row].max())
    surer = float(np.searchsorted(explorer.sureness, probability) / len(explorer.sureness))
    return {"words": in_words(probability), "surer_than": surer, "sharper_than": sharper}


def _share_above(values: np.ndarray, value: float) -> float:
    return float((values > value).mean())


def _class_shares(explorer: Explorer, column: int) -> list[dict[str, Any]]:
    """How the owners of an attribute, and how all nodes, are shared among the classes."""
    network = explorer.network
    if not network.n_classes:
        return []
    part = slice(explorer.owned_by.indptr[column], explorer.owned_by.indptr[column + 1])
    owners = explorer.owned_by.indices[part]
    everywhere = np.bincount(explorer.classes, minlength=network.n_classes) / network.n_nodes
    counts = np.bincount(explorer.classes[owners], minlength=network.n_classes)
    shares = counts / max(len(owners), 1)
    return [
        {"label": str(network.class_names[k]), "share": float(shares[k]), "everywhere": float(everywhere[k])}
        for k in np.argsort(-shares, kind="stable")
    ]


def _why(found: Why) -> dict[str, Any]:
    return {
        "target": found.target,
        "score": found.score,
        "owners": found.owners[:5],
        "owners_total": len(found.owners),
        "reasons": [
            {"id": each.name, "kind": each.kind, "contribution": each.contribution, "owns": each.owns}
            for each in found.reasons
        ],
    }


def match_dict(match: Match) -> dict[str, Any]:
    """A line of an answer as the API gives it."""
    found = match.as_dict()
    return {"id": found.pop("name"), **found}


def _plain(matches: list[Match]) -> list[dict[str, Any]]:
    return [match_dict(match) for match in matches]


def _rounded(covariance: np.ndarray) -> list[list[float]]:
    return [[round(float(value), 5) for value in row] for row in covariance]
