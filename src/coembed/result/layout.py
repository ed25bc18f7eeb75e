"""Nodes and attributes on one plane: PCA, or t-SNE where openTSNE is installed."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from coembed.errors import InputError
from coembed.network.npz import load_arrays, save_arrays
from coembed.result.scores import unit_rows

if TYPE_CHECKING:
    from coembed.result.fitted import Fitted

METHODS = ("auto", "pca", "tsne")
MOST_FOR_TSNE = 20_000
"""Items up to which ``auto`` takes t-SNE: about a minute on one core."""
CACHE = "map.npz"
_DRAWS, _NEIGHBOURS = 30, 10


@dataclass(frozen=True, eq=False)
class Layout:
    """Places on the plane, one row an item, in the order of the network."""

    method: str
    nodes: np.ndarray
    attributes: np.ndarray


def make_layout(fitted: Fitted, method: str = "auto", seed: int = 0) -> Layout:
    """Lay out directions of codes: items near each other point the same way in the common space."""
    method = _chosen(method, fitted.network.n_nodes + fitted.network.n_attributes)
    directions = np.vstack(_directions(fitted))
    places = principal_plane(directions) if method == "pca" else _tsne(directions, seed)
    nodes, attributes = np.split(places.astype(np.float32), [fitted.network.n_nodes])
    return Layout(method, nodes, attributes)


def cached_layout(
    fitted: Fitted, folder: str | os.PathLike[str], method: str = "auto", seed: int = 0
) -> Layout:
    """The layout kept with a model's folder, made and kept there at the first time of asking."""
    path = Path(folder) / CACHE
    chosen = _chosen(method, fitted.network.n_nodes + fitted.network.n_attributes)
    key = np.array([f"{chosen} {seed} {_fingerprint(fitted):08x}"])
    if path.is_file():
        try:
            kept = load_arrays(path)
            fits = (kept["nodes"].shape, kept["attributes"].shape) == (
                (fitted.network.n_nodes, 2),
                (fitted.network.n_attributes, 2),
            )
            if fits and np.array_equal(kept["key"], key):
                return Layout(chosen, kept["nodes"], kept["attributes"])
        except (InputError, KeyError):
            pass  # a broken cache is made again
    layout = make_layout(fitted, chosen, seed)
    if os.access(folder, os.W_OK):
        save_arrays(path, {"key": key, "nodes": layout.nodes, "attributes": layout.attributes})
    return layout


def spreads(
    fitted: Fitted, layout: Layout, nodes: np.ndarray, attributes: np.ndarray, seed: int = 0
) -> np.ndarray:
    """How far the uncertainty of items carries them on the plane: a 2 x 2 covariance each, nodes first.

    An item's own draws are placed where their nearest items are, so the measure is that of the map itself,
    however crooked.
    """
    rng = np.random.default_rng(seed)
    everywhere, directions = np.vstack([layout.nodes, layout.attributes]), np.vstack(_directions(fitted))
    covariances = []
    for codes, items in ((fitted.nodes, nodes), (fitted.attributes, attributes)):
        centre = unit_rows(codes.mean).mean(axis=0) if len(codes.mean) else 0
        for i in items:
            draws = codes.mean[i] + codes.std[i] * rng.standard_normal((_DRAWS, codes.mean.shape[1]))
            nearness = unit_rows(unit_rows(draws) - centre) @ directions.T
            count = min(_NEIGHBOURS, len(everywhere))
            near = np.argpartition(-nearness, count - 1, axis=1)[:, :count]
            covariances.append(np.cov(everywhere[near].mean(axis=1).T))
    return np.array(covariances).reshape(-1, 2, 2)


def principal_plane(rows: np.ndarray) -> np.ndarray:
    """Coordinates on the two axes of largest variance.

    Examples
    --------
    >>> principal_plane(np.array([[0.0, 0.0, 3.0], [0.0, 0.0, -3.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0]]))
    array([[ 3.,  0.],
           [-3.,  0.],
           [ 0.,  1.],
           [ 0., -1.]])
    """
    centred = rows.astype(np.float64) - rows.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :2]
    if axes.shape[1] < 2:
        axes = np.pad(axes, ((0, 0), (0, 2 - axes.shape[1])))
    # an eigenvector has no sign of its own: the largest coordinate is made positive
    largest = np.abs(axes).argmax(axis=0)
    return centred @ (axes * np.where(axes[largest, range(2)] < 0, -1, 1))


def _directions(fitted: Fitted) -> list[np.ndarray]:
    """Unit codes, each kind around its own mean: the offset between the kinds says nothing of an item."""
    found = []
    for codes in (fitted.nodes, fitted.attributes):
        units = unit_rows(codes.mean)
        found.append(unit_rows(units - units.mean(axis=0)) if len(units) else units)
    return found


def _chosen(method: str, items: int) -> str:
    if method not in METHODS:
        raise InputError(f"there is no map method {method!r}; known: {', '.join(METHODS)}")
    installed = find_spec("openTSNE") is not None
    if method == "tsne" and not installed:
        raise InputError("t-SNE needs openTSNE; install coembed[map], or take the method pca")
    if method == "auto":
        return "tsne" if installed and 50 <= items <= MOST_FOR_TSNE else "pca"
    return method


def _tsne(rows: np.ndarray, seed: int) -> np.ndarray:
    from openTSNE import TSNE

    if len(rows) < 8:
        raise InputError(f"t-SNE needs at least 8 items, got {len(rows)}; take the method pca")
    perplexity = min(30.0, (len(rows) - 1) / 4)
    # rows have length one: Euclidean neighbours are cosine neighbours, and the exact search is quicker
    places = TSNE(perplexity=perplexity, random_state=seed, n_jobs=1, initialization="pca").fit(rows)
    return np.asarray(places)


def _fingerprint(fitted: Fitted) -> int:
    total = 0
    for codes in (fitted.nodes, fitted.attributes):
        total = zlib.crc32(np.ascontiguousarray(codes.mean).tobytes(), total)
    return total
