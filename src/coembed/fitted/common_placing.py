"""Directions of newcomers in the common space, from those of what they touch.

The mean direction of what an item touches along each way out of its type (its words and cells, its links,
those that link to it) is turned by one matrix a way, learnt by ridge regression from the known items: linear,
in closed form, and the same for one newcomer as for a million.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from coembed.fitted.moments import unit_length
from coembed.network.network import Network
from coembed.network.ways import ways_of
from coembed.views.basis import averaging

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted

RIDGE = 1e-2
"""Pull towards no direction, in known items a coordinate."""
MOST_LEARNT_FROM = 30_000

Directions = Mapping[str, np.ndarray]
Steering = dict[str, dict[str, np.ndarray]]
"""By type and way, the matrix that turns the mean direction of what an item touches."""


def touched_by(network: Network, type: str) -> dict[str, tuple[str, sp.csr_array]]:
    """By way out of a type, columns and owners included: the type at the other end, and the entries."""
    found = {}
    for way in ways_of(network, type):
        joined = network.relation(way.relation)
        found[way.name] = way.other, joined.values if way.forwards else joined.backwards
    found |= {f"{each.name}>": (each.target, each.values) for each in network.columns(type)}
    owner = network.owner_type(type)
    if owner is not None:
        found |= {f"{each.name}<": (owner, sp.csr_array(each.values.T)) for each in network.columns(owner)}
    return found


def mean_direction(entries: sp.csr_array, directions: np.ndarray) -> np.ndarray:
    """The mean direction of what each row touches, of length one; zero where it touches nothing.

    Entries count with their signs and sizes: a number below its middle points away from its attribute.
    """
    return unit_length(averaging(entries) @ directions).astype(np.float32, copy=False)


def steering_of(network: Network, taken: Mapping[str, np.ndarray], parts: Directions) -> Steering:
    """The matrices that best turn what known items touch into their own directions."""
    found: Steering = {}
    for type in network.types:
        ways = touched_by(network, type)
        if not ways or not len(taken[type]):
            found[type] = {}
            continue
        rows = np.arange(len(taken[type]))[:: max(1, len(taken[type]) // MOST_LEARNT_FROM)]
        inputs = np.hstack(
            [
                mean_direction(
                    _between(entries, taken[type][rows], taken[other], entries.shape[1]), parts[other]
                )
                for other, entries in ways.values()
            ]
        ).astype(np.float64)
        gram = inputs.T @ inputs + RIDGE * len(rows) / inputs.shape[1] * np.eye(inputs.shape[1])
        turns = np.linalg.solve(gram, inputs.T @ parts[type][rows].astype(np.float64))
        pieces = np.split(turns.astype(np.float32), len(ways))
        found[type] = dict(zip(ways, pieces, strict=True))
    return found


def directions_of_others(
    network: Network, taken: Mapping[str, np.ndarray], parts: Directions, steering: Steering
) -> dict[str, np.ndarray]:
    """Directions of all items: those that were taught, and of the others where these lead them."""
    found = {}
    for type, items in network.types.items():
        if len(taken[type]) == len(items):
            found[type] = parts[type]
            continue
        entries = {
            name: (other, _between(matrix, np.arange(len(items)), taken[other], matrix.shape[1]))
            for name, (other, matrix) in touched_by(network, type).items()
        }
        found[type] = steered(entries, parts, steering[type], parts[type])
        found[type][taken[type]] = parts[type]
    return found


def steered(
    entries: Mapping[str, tuple[str, sp.csr_array]],
    directions: Directions,
    turns: Mapping[str, np.ndarray],
    known: np.ndarray,
) -> np.ndarray:
    """Directions of items that touch what `entries` say; of those that touch nothing the mean of `known`."""
    count = next(matrix.shape[0] for _, matrix in entries.values())
    total = np.zeros((count, known.shape[1]), dtype=np.float32)
    for name, (other, matrix) in entries.items():
        if name in turns and matrix.nnz:
            total += mean_direction(matrix, directions[other]) @ turns[name]
    nowhere = ~total.any(axis=1)
    total[nowhere] = known.mean(axis=0) if len(known) else 0
    return unit_length(total).astype(np.float32, copy=False)


def _between(entries: sp.csr_array, rows: np.ndarray, columns: np.ndarray, width: int) -> sp.csr_array:
    part = entries if len(rows) == entries.shape[0] else sp.csr_array(entries[rows])
    return part if len(columns) == width else sp.csr_array(part[:, columns])


def direction_of_new(fitted: Fitted, type: str, rows: Mapping[str, sp.csr_array]) -> np.ndarray | None:
    """Where newcomers of a type point, by their rows with known items; None where nothing was taught."""
    known = fitted.types[type].direction
    if known is None or fitted.placing is None:
        return None
    entries = {name: (_other(fitted.network, name), part) for name, part in rows.items()}
    return steered(entries, _known(fitted), fitted.placing.steering[type], known)


def grown_directions(fitted: Fitted, grown: Network) -> dict[str, np.ndarray | None]:
    """Directions of all items of a network that has grown: the known ones stay, the new ones follow them."""
    known, found = _known(fitted), dict[str, np.ndarray | None]()
    for type, items in grown.types.items():
        own = fitted.types[type].direction
        if own is None or fitted.placing is None or len(own) == len(items):
            found[type] = own
            continue
        entries = {
            name: (other, sp.csr_array(matrix[len(own) :, : len(known[other])]))
            for name, (other, matrix) in touched_by(grown, type).items()
        }
        found[type] = np.vstack([own, steered(entries, known, fitted.placing.steering[type], own)])
    return found


def _known(fitted: Fitted) -> dict[str, np.ndarray]:
    return {name: space.direction for name, space in fitted.types.items() if space.direction is not None}


def _other(network: Network, way: str) -> str:
    relation = network.relation(way[:-1])
    return relation.target if way.endswith(">") else relation.source
