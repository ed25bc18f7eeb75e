"""Which way a link goes, by what its two ends are like: boosted trees beside the space's own answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from coembed.fitted.trees import Trees, view_features
from coembed.views import Lens, TypeViews


@dataclass(frozen=True, eq=False)
class WayModel:
    """Trees of pairs of items of one type.

    Attributes
    ----------
    views, widths
        The views of the items that are read, and how many columns of each.
    trees
        Above 0 for a pair that goes as it is given.
    units
        The usual size of the space's answer and of the trees': what each is divided by.
    """

    views: tuple[str, ...]
    widths: tuple[int, ...]
    trees: Trees
    units: np.ndarray

    def told(self, views: TypeViews, links: sp.csr_array, pairs: np.ndarray) -> np.ndarray:
        """How much rather pairs go as they are given than the other way round."""
        rows, places = np.unique(pairs, return_inverse=True)
        table = view_features(views, self.views, self.widths, rows)
        ends = places.reshape(pairs.shape)
        this, other = (
            self.trees(pair_features(table, links, each, at))[:, 0]
            for each, at in ((pairs, ends), (pairs[:, ::-1], ends[:, ::-1]))
        )
        return this - other

    def blended(self, own: np.ndarray, told: np.ndarray) -> np.ndarray:
        """Both count alike."""
        return (own / self.units[0] + told / self.units[1]) / 2


def pair_features(table: np.ndarray, links: sp.csr_array, pairs: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Of pairs: their two ends, how these differ, and how many links go to each, the pair itself apart.

    `ends` are the rows of `table` that the pairs stand for. What leaves an end is not counted: of a link that
    is in question it is often unknown.
    """
    incoming = np.bincount(links.indices, minlength=links.shape[1])
    here, there = pairs.T
    counts = [
        np.log1p(incoming[end] - _stored(links, other, end)) for other, end in ((there, here), (here, there))
    ]
    one, other = table[ends[:, 0]], table[ends[:, 1]]
    return np.column_stack([one, other, other - one, *counts, counts[1] - counts[0]]).astype(np.float32)


def _stored(links: sp.csr_array, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return np.asarray(links[rows, columns] != 0, dtype=np.int64).reshape(-1)


def views_that_read(lens: Lens, type: str, relation: str) -> set[str]:
    """The names of steps and positions of a type that read a relation, directly or through another view."""
    ways = (f"{relation}>", f"{relation}<")

    def reads(of: str, view: str) -> bool:
        own = lens.types[of]
        joined = any(way in own.links for way in ways)
        if view == "position":
            return joined
        for step in own.steps:
            if step.name == view:
                return (
                    step.over in ways
                    or (step.over in ("links", "others") and joined)
                    or reads(step.type, step.of)
                )
        return False

    own = lens.types[type]
    every = ["position", *(step.name for step in own.steps)]
    across = [f"position{place}" for place, way in enumerate(own.positions) if way in ways]
    return {*across, *(view for view in every if reads(type, view))}
