"""Where on the map items crowd, and what about: a landscape of density, its hills, and their names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.ndimage import gaussian_filter

from coembed.fitted.fitted import Fitted
from coembed.fitted.item_fields import CLASS, IS, TYPE, Field, field_names, field_of
from coembed.maps.layout import Layout

SIDE = 96
"""Cells of the landscape along each side."""
BLUR = 2.2
"""Of the density, in cells."""
MOST, LEAST = 14, 0.012
"""Hills that are named, and the share of items that a hill must have."""
WORDS = 2
"""Names of each hill."""


@dataclass(frozen=True)
class Region:
    """A hill: its peak on the map, how many items lie on it, and the names that set them apart."""

    x: float
    y: float
    count: int
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Landscape:
    """Density in cells (rows from low to high y), the edges of all (x0, y0, x1, y1), and the hills."""

    density: np.ndarray
    box: tuple[float, float, float, float]
    regions: tuple[Region, ...]


def landscape(fitted: Fitted, layout: Layout) -> Landscape:
    """The landscape of all items that are no attributes of others."""
    types = [name for name in fitted.network.entity_types if len(fitted.network.items(name))]
    places = np.vstack([layout.places[name] for name in types]).astype(np.float64)
    (x0, y0), (x1, y1) = places.min(axis=0), places.max(axis=0)
    margin = 0.06 * max(x1 - x0, y1 - y0, 1e-9)
    box = (x0 - margin, y0 - margin, x1 + margin, y1 + margin)
    cells = _cells(places, box)
    counts = np.bincount(cells, minlength=SIDE * SIDE).reshape(SIDE, SIDE)
    density = gaussian_filter(counts.astype(np.float64), BLUR, mode="constant")
    hill = hills(density)[cells]
    return Landscape(density, box, _regions(fitted, types, density, box, hill))


def _cells(places: np.ndarray, box: tuple[float, float, float, float]) -> np.ndarray:
    low, high = np.array(box[:2]), np.array(box[2:])
    column, row = np.minimum((SIDE * (places - low) / (high - low)).astype(np.int64), SIDE - 1).T
    return row * SIDE + column


def hills(density: np.ndarray) -> np.ndarray:
    """For every cell the peak that the steepest way up leads to, both as positions row by row.

    Examples
    --------
    >>> hills(np.array([[5.0, 3, 1, 2, 4]])).tolist()
    [0, 0, 0, 4, 4]
    """
    height, width = density.shape
    padded = np.pad(density, 1, constant_values=-np.inf)
    around = [(r, c) for r in range(3) for c in range(3)]
    around.sort(key=lambda at: at != (1, 1))  # who is as high as any other stays
    stack = np.stack([padded[r : r + height, c : c + width] for r, c in around])
    step = np.array([(r - 1) * width + (c - 1) for r, c in around])[stack.argmax(axis=0)]
    leads = (np.arange(height * width).reshape(height, width) + step).ravel()
    while not np.array_equal(further := leads[leads], leads):
        leads = further
    return leads


def _regions(
    fitted: Fitted,
    types: list[str],
    density: np.ndarray,
    box: tuple[float, float, float, float],
    hill: np.ndarray,
) -> tuple[Region, ...]:
    peaks, place, counts = np.unique(hill, return_inverse=True, return_counts=True)
    chosen = [k for k in np.argsort(-counts, kind="stable")[:MOST] if counts[k] >= max(3, LEAST * len(hill))]
    number = np.full(len(peaks), -1)
    number[chosen] = np.arange(len(chosen))
    named = _names(fitted, types, number[place], len(chosen))
    wide, high = (box[2] - box[0]) / SIDE, (box[3] - box[1]) / SIDE
    return tuple(
        Region(
            float(box[0] + (peaks[k] % SIDE + 0.5) * wide),
            float(box[1] + (peaks[k] // SIDE + 0.5) * high),
            int(counts[k]),
            named[at],
        )
        for at, k in enumerate(chosen)
    )


def _names(fitted: Fitted, types: list[str], region: np.ndarray, count: int) -> list[tuple[str, ...]]:
    """The names that are most above what chance would give each region, over all types and fields."""
    found: list[list[tuple[float, str]]] = [[] for _ in range(count)]
    start = 0
    for type in types:
        size = len(fitted.network.items(type))
        own, start = region[start : start + size], start + size
        names = [name for name, kind in field_names(fitted, type) if kind in ("category", "tags")]
        columns = [name for name in names if name not in (TYPE, IS, CLASS)]
        for name in columns or [each for each in names if each == CLASS]:
            field = field_of(fitted, type, name)
            if field is not None and count:
                surplus = _surplus(field, own, count)
                for at in range(count):
                    for k in np.argsort(-surplus[:, at], kind="stable")[:WORDS]:
                        if surplus[k, at] > 2:  # standard deviations
                            found[at].append((float(surplus[k, at]), field.names[k]))
    return [tuple(dict.fromkeys(name for _, name in sorted(each, reverse=True)))[:WORDS] for each in found]


def _surplus(field: Field, region: np.ndarray, count: int) -> np.ndarray:
    """Names x regions: by how many standard deviations more items have each than their number would give."""
    inside = np.flatnonzero((region >= 0) & field.known)
    places = sp.csr_array((np.ones(len(inside)), (inside, region[inside])), shape=(len(region), count))
    if isinstance(field.values, sp.csr_array):
        matrix = field.values
    else:
        known = np.flatnonzero(field.known)
        shape = (len(region), len(field.names))
        matrix = sp.csr_array((np.ones(len(known)), (known, field.values[known])), shape=shape)
    seen = (matrix.T @ places).toarray()
    total = np.asarray(matrix.sum(axis=0)).ravel()
    share = np.asarray(places.sum(axis=0)).ravel() / max(int(field.known.sum()), 1)
    expected = total[:, None] * share
    return (seen - expected) / np.sqrt(np.maximum(expected * (1 - share), 1e-9) + 1)
