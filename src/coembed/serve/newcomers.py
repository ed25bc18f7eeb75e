"""New nodes on the map: typed attributes and links, placed without training."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from coembed.network.data import UNKNOWN, Network
from coembed.result.fitted import Fitted
from coembed.serve.cards import class_probabilities, in_words, match_dict
from coembed.serve.explorer import Explorer, UnknownItem


class Newcomer(NamedTuple):
    """A node to be placed: its name, its attributes with values, its links with weights."""

    name: str
    attributes: dict[str, float]
    links: dict[str, float]


def welcome(explorer: Explorer, newcomers: list[Newcomer], k: int) -> list[dict[str, Any]]:
    """Where each falls, its likely class, what else it should have, who is like it."""
    grown = _grown(explorer, newcomers)
    placed = explorer.fitted.embed(grown).result
    first = explorer.network.n_nodes
    codes = placed.nodes.take(np.arange(first, first + len(newcomers)))
    places = explorer.plane.place(codes, "node")
    covariances = explorer.plane.spreads(codes, "node", places)
    return [
        {
            "id": newcomer.name,
            "kind": "new",
            "unknown": _unknown(explorer, newcomer),
            "place": {
                "x": float(places[i, 0]),
                "y": float(places[i, 1]),
                "covariance": [[float(value) for value in row] for row in covariances[i]],
            },
            **_answers(explorer, placed, first + i, k),
        }
        for i, newcomer in enumerate(newcomers)
    ]


def _answers(explorer: Explorer, placed: Fitted, row: int, k: int) -> dict[str, Any]:
    classes, attributes = placed.network.n_classes, placed.network.n_attributes
    probabilities = class_probabilities(explorer, placed.probabilities[row]) if classes else []
    # other newcomers are nobody's answer: they are not on the map
    limit = k + placed.network.n_nodes - explorer.network.n_nodes
    known = set(placed.network.node_names[explorer.network.n_nodes :])
    similar, links = placed.similar(row, limit, "node"), placed.suggest_links(row, limit)
    return {
        "probabilities": probabilities,
        "words": in_words(probabilities[0]["probability"]) if classes else None,
        "suggested_attributes": [match_dict(m) for m in placed.complete_attributes(row, k)]
        if attributes
        else [],
        "suggested_links": [match_dict(m) for m in links if m.name not in known][:k],
        "similar": [match_dict(m) for m in similar if m.name not in known][:k],
        "profile": [match_dict(m) for m in placed.profile(row, k)] if attributes else [],
    }


def _grown(explorer: Explorer, newcomers: list[Newcomer]) -> Network:
    """The network with the new nodes behind the old ones; what it does not know is left out."""
    network, at = explorer.network, explorer.positions
    rows = {
        "links": _rows(newcomers, at["node"], network.n_nodes, "links"),
        "attributes": _rows(newcomers, at["attribute"], network.n_attributes, "attributes"),
    }
    for newcomer, links, attributes in zip(
        newcomers, np.diff(rows["links"].indptr), np.diff(rows["attributes"].indptr), strict=True
    ):
        if not links and not attributes:
            raise UnknownItem(
                f"{newcomer.name[:80]!r} has no attribute and no link that the model knows; give at least one"
            )
    size, blank = len(newcomers), sp.csr_array((len(newcomers), len(newcomers)), dtype=np.float32)
    # a name of an old node would be taken for that node
    names = np.array([f"\0{i}" for i in range(size)], dtype=object)
    return Network(
        links=sp.block_array([[network.links, rows["links"].T], [rows["links"], blank]], format="csr"),
        attributes=sp.vstack([network.attributes, rows["attributes"]], format="csr"),
        labels=np.append(network.labels, np.full(size, UNKNOWN)),
        node_names=np.append(explorer.names("node"), names),
        attribute_names=explorer.names("attribute"),
        class_names=network.class_names,
        name=network.name,
    )


def _rows(newcomers: list[Newcomer], at: dict[str, int], width: int, what: str) -> sp.csr_array:
    entries = [
        (i, at[name], value)
        for i, newcomer in enumerate(newcomers)
        for name, value in getattr(newcomer, what).items()
        if name in at and value
    ]
    rows, columns, values = zip(*entries, strict=True) if entries else ((), (), ())
    matrix = sp.csr_array(
        (np.array(values, dtype=np.float32), (np.array(rows, dtype=int), np.array(columns, dtype=int))),
        shape=(len(newcomers), width),
    )
    matrix.sort_indices()
    return matrix


def _unknown(explorer: Explorer, newcomer: Newcomer) -> dict[str, list[str]]:
    """What was typed and the model does not know."""
    return {
        "attributes": [name for name in newcomer.attributes if name not in explorer.positions["attribute"]],
        "links": [name for name in newcomer.links if name not in explorer.positions["node"]],
    }
