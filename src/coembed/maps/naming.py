"""Names on a map: whose stand there, and where there is room for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coembed.fitted.class_answers import leading_classes
from coembed.fitted.poles import numbers_of, pole_name
from coembed.maps.layout import Layout
from coembed.network.network import Network
from coembed.network.ways import item_weights

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted

INK, PAPER = "#222222", "#FFFFFF"
# where a name may stand beside its point: offset in points, alignment
_SIDES = (
    (5, 0, "left", "center"),
    (-5, 0, "right", "center"),
    (0, 5, "center", "bottom"),
    (0, -5, "center", "top"),
)


class Named(NamedTuple):
    """A name on the map: whose it is, and its text."""

    type: str
    row: int
    text: Any


def name_some(figure: Any, axes: Any, fitted: Fitted, layout: Layout, words: int, names: int) -> list[Named]:
    """Name items from the weightiest on, wherever there is room."""
    from matplotlib.patheffects import withStroke

    network = fitted.network
    halo = [withStroke(linewidth=2.6, foreground=PAPER, alpha=0.9)]
    renderer = figure.canvas.get_renderer()
    room = axes.get_window_extent(renderer)
    taken: list[Any] = []
    named: list[Named] = []
    entities, attributes = network.entity_types, attribute_types(network)
    order: list[tuple[str, int, np.ndarray, dict[str, Any]]] = [
        (type, -(-names // len(entities)), by_turns(fitted, type), {"weight": "bold", "fontsize": 8.5})
        for type in entities
    ]
    order += [
        (
            type,
            -(-words // len(attributes)),
            spread_out(layout.places[type], item_weights(network, type)),
            {"style": "italic", "fontsize": 8.5},
        )
        for type in attributes
    ]
    for type, most, rows, style in order:
        name_of, places = names_of(network, type), layout.places[type]
        left = most
        for i in rows[: 25 * most]:
            if not left:
                break
            text = axes.annotate(
                short(name_of(int(i)), 22),
                places[i],
                (0, 0),
                textcoords="offset points",
                color=INK,
                zorder=6,
                **style,
            )
            text.set_path_effects(halo)
            box = _fitting(text, taken, room, renderer)
            if box is None:
                text.remove()
            else:
                taken.append(box)
                named.append(Named(type, int(i), text))
                left -= 1
    return named


def name_again(figure: Any, axes: Any, named: list[Named]) -> list[Named]:
    """Names where they stand after the axes have been widened, without those that overlap now."""
    renderer = figure.canvas.get_renderer()
    room = axes.get_window_extent(renderer)
    taken: list[Any] = []
    kept = []
    for each in named:
        box = _fitting(each.text, taken, room, renderer)
        if box is None:
            each.text.remove()
        else:
            taken.append(box)
            kept.append(each)
    return kept


def _fitting(text: Any, taken: list[Any], room: Any, renderer: Any) -> Any:
    """Put a name on the first side of its point where it overlaps no other; its box, or None."""
    for dx, dy, across, down in _SIDES:
        text.set_position((dx, dy))
        text.set_horizontalalignment(across)
        text.set_verticalalignment(down)
        box = text.get_window_extent(renderer).padded(3)
        inside = box.x0 > room.x0 and box.x1 < room.x1 and box.y0 > room.y0 and box.y1 < room.y1
        if inside and not any(box.overlaps(other) for other in taken):
            return box
    return None


def spread_out(places: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """An order in which no region waits long: the weightiest item of every coarse cell, then of finer ones.

    Examples
    --------
    Three neighbours and a lighter item far away, which comes second:

    >>> spread_out(np.array([[0.0, 0], [0, 0.1], [0.1, 0], [9, 9]]), np.array([5, 4, 3, 1]))
    array([0, 3, 1, 2])
    """
    if not len(places):
        return np.empty(0, dtype=np.int64)
    low, extent = places.min(axis=0), np.ptp(places, axis=0)
    unit = (places - low) / np.where(extent > 0, extent, 1)
    left, order = np.argsort(-weights, kind="stable"), []
    for side in (6, 12, 24, 48):
        cells = np.minimum((unit[left] * side).astype(np.int64), side - 1) @ np.array([side, 1])
        first = np.sort(np.unique(cells, return_index=True)[1])
        order.append(left[first])
        left = np.delete(left, first)
    return np.concatenate([*order, left])


def by_turns(fitted: Fitted, type: str | None = None) -> np.ndarray:
    """Items from the best linked on, one of every class in turn: no class takes all the names."""
    items = fitted.network.items(type)
    order = np.argsort(-item_weights(fitted.network, items.name), kind="stable")
    probabilities = fitted.probabilities_of(items.name)
    if items.labels is None or not items.n_classes or probabilities is None:
        return order
    classes = leading_classes(fitted, items.name, order)
    turn = np.empty(len(order), dtype=np.int64)
    for k in range(items.n_classes):
        turn[classes == k] = np.arange(np.count_nonzero(classes == k))
    return order[np.argsort(turn, kind="stable")]


def names_of(network: Network, type: str) -> Callable[[int], str]:
    """What to call the items of a type on a map; a number stands where it is high."""
    items = network.items(type)
    if network.owner_type(type) is None:
        return items.title
    numbers = numbers_of(network, type)
    return lambda i: pole_name(items.title(i), numbers[i], 1) if i in numbers else items.speaking(i)


def attribute_types(network: Network) -> list[str]:
    return [name for name in network.types if network.owner_type(name) is not None]


def short(text: str, most: int) -> str:
    # a dollar sign would start a formula
    text = str(text).replace("$", r"\$")
    return text if len(text) <= most else text[: most - 1] + "…"
