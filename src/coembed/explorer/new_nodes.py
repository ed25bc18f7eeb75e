"""New nodes on the map: typed attributes and links, placed without training."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from coembed.explorer.asking import Explorer, UnknownItem
from coembed.explorer.cards import class_probabilities, in_words, match_dict
from coembed.fitted.newcomers import Newcomers, place_newcomers


class Newcomer(NamedTuple):
    """A node to be placed: its name, its attributes with values, its links with weights."""

    name: str
    attributes: dict[str, float]
    links: dict[str, float]


def welcome(explorer: Explorer, newcomers: list[Newcomer], k: int) -> list[dict[str, Any]]:
    """Where each falls, its likely class, what else it should have, who is like it."""
    placed = _placed(explorer, newcomers)
    places = explorer.plane.place(placed.codes, "node")
    covariances = explorer.plane.spreads(placed.codes, "node", places)
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
            **_answers(explorer, placed, i, k),
        }
        for i, newcomer in enumerate(newcomers)
    ]


def _answers(explorer: Explorer, placed: Newcomers, row: int, k: int) -> dict[str, Any]:
    classes, attributes = explorer.network.n_classes, explorer.network.n_attributes
    probabilities = class_probabilities(explorer, placed.probabilities[row]) if classes else []
    matches = {
        "suggested_attributes": placed.complete_attributes(row, k) if attributes else [],
        "suggested_links": placed.suggest_links(row, k),
        "similar": placed.similar(row, k),
        "profile": placed.profile(row, k) if attributes else [],
    }
    return {
        "probabilities": probabilities,
        "words": in_words(probabilities[0]["probability"]) if classes else None,
        **{name: [match_dict(match) for match in found] for name, found in matches.items()},
    }


def _placed(explorer: Explorer, newcomers: list[Newcomer]) -> Newcomers:
    """The new nodes by what they touch; what the model does not know is left out."""
    network, at = explorer.network, explorer.positions
    links = _rows(newcomers, at["node"], network.n_nodes, "links")
    attributes = _rows(newcomers, at["attribute"], network.n_attributes, "attributes")
    touched = np.diff(links.indptr) + np.diff(attributes.indptr)
    for newcomer, count in zip(newcomers, touched, strict=True):
        if not count:
            raise UnknownItem(
                f"{newcomer.name[:80]!r} has no attribute and no link that the model knows; give at least one"
            )
    return place_newcomers(explorer.fitted, links, attributes)


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
