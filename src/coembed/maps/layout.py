"""Items of all types on one plane: t-SNE, PCA or UMAP, made once and kept with the model."""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import cKDTree

from coembed.errors import InputError, no_such
from coembed.fitted.gaussians import Gaussians
from coembed.fitted.moments import unit_length
from coembed.network.network import ATTRIBUTE, NODE
from coembed.network.readers.npz import load_arrays, save_arrays
from coembed.progress import CountProgress

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted

METHODS = ("auto", "pca", "tsne", "umap")
TITLES = {"pca": "PCA", "tsne": "t-SNE", "umap": "UMAP"}
MOST_FOR_TSNE = 20_000
"""Items up to which ``auto`` takes t-SNE: well under a minute."""

_PACKAGES = {"tsne": "openTSNE", "umap": "umap"}
_EARLY, _LATE, _REPORT_EVERY = 250, 500, 25
_DRAWS, _NEIGHBOURS, _ANCHORS, _CLOSE = 30, 10, 3000, 200
_SHARPNESS, _AROUND, _ROWS = 30.0, 15, 512
FEWEST = 8
"""Items that t-SNE and UMAP need."""


@dataclass(frozen=True, eq=False)
class Layout:
    """Places on the plane by type, one row an item, in the order of the network."""

    method: str
    places: dict[str, np.ndarray]

    @property
    def nodes(self) -> np.ndarray:
        """Of a plain network's nodes."""
        return self.places[NODE]

    @property
    def attributes(self) -> np.ndarray:
        """Of a plain network's attributes."""
        return self.places[ATTRIBUTE]


def make_layout(
    fitted: Fitted, method: str = "auto", seed: int = 0, progress: CountProgress | None = None
) -> Layout:
    """Lay out directions of codes: items near each other point the same way in the common space.

    A plane has no room for all that is near in a space of many dimensions. So that attributes stand by those
    they are about, t-SNE and UMAP lay out the others, and attributes are placed among them.
    """
    method = chosen_method(method, fitted)
    network = fitted.network
    directions = dict(zip(network.types, _directions(fitted), strict=True))
    owners = {name: network.owner_type(name) for name in network.types}
    if method == "pca" or sum(len(directions[name]) for name in owners if owners[name] is None) < FEWEST:
        owners = dict.fromkeys(network.types)
    first = [name for name in network.types if owners[name] is None]
    rows = np.vstack([directions[name] for name in first])
    if method == "pca":
        found = principal_plane(rows)
    else:
        # rows have length one: Euclidean neighbours are cosine neighbours
        found = (tsne_plane if method == "tsne" else _umap)(rows, seed, progress)
    ends = np.cumsum([len(directions[name]) for name in first])[:-1]
    places = dict(zip(first, np.split(np.asarray(found, dtype=np.float64), ends), strict=True))
    for name, owner in owners.items():
        if owner is not None:
            places[name] = where_thickest(directions[name], directions[owner], places[owner])
    return Layout(method, {name: places[name].astype(np.float32) for name in network.types})


def where_thickest(directions: np.ndarray, others: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Where the nearest of the others stand thickest: not between islands of them, where nobody is.

    Examples
    --------
    >>> others, places = np.eye(3), np.array([[0.0, 0.0], [0.1, 0.0], [9.0, 0.0]])
    >>> where_thickest(np.array([[1.0, 1.0, 1.0]]), others, places).round(2)
    array([[0.04, 0.  ]])
    """
    count = min(_NEIGHBOURS, len(others))
    apart = cKDTree(places).query(places, k=min(_AROUND, len(others) // 3 + 1))[0]
    width = max(float(np.median(apart.reshape(len(others), -1)[:, -1])), 1e-9)
    found = np.empty((len(directions), 2))
    for start in range(0, len(directions), _ROWS):
        nearness = directions[start : start + _ROWS] @ others.T
        near = np.argpartition(nearness, -count, axis=1)[:, -count:]
        values = np.take_along_axis(nearness, near, axis=1)
        weights = np.exp(_SHARPNESS * (values - values.max(axis=1, keepdims=True)))
        at = places[near]
        together = np.exp(-np.square(at[:, :, None] - at[:, None]).sum(axis=3) / (2 * width**2))
        thickest = (np.einsum("npq,nq->np", together, weights) * weights).argmax(axis=1)
        shares = weights * together[np.arange(len(near)), thickest]
        found[start : start + _ROWS] = np.einsum("np,npc->nc", shares / shares.sum(axis=1, keepdims=True), at)
    return found


def cached_layout(
    fitted: Fitted,
    folder: str | os.PathLike[str],
    method: str = "auto",
    seed: int = 0,
    progress: CountProgress | None = None,
) -> Layout:
    """The layout kept with a model's folder, made and kept there at the first time of asking."""
    chosen = chosen_method(method, fitted)
    types = fitted.network.types
    path = Path(folder) / f"map-{chosen}.npz"
    key = np.array([f"{chosen} {seed} {_fingerprint(fitted):08x}"])
    if path.is_file():
        try:
            kept = load_arrays(path)
            # by their place: a type may be called anything
            places = {name: kept[f"t{i}"] for i, name in enumerate(types)}
            fits = all(
                places[name].shape == (len(items), 2)
                and places[name].dtype.kind == "f"
                and np.isfinite(places[name]).all()
                for name, items in types.items()
            )
            if fits and np.array_equal(kept["key"], key):
                return Layout(chosen, places)
        except (InputError, KeyError):
            pass  # a broken cache is made again
    layout = make_layout(fitted, chosen, seed, progress)
    # a link in somebody's model could lead to any file of ours
    if os.access(folder, os.W_OK) and not path.is_symlink():
        with suppress(InputError):  # a full disk is no reason not to draw
            save_arrays(path, {"key": key, **{f"t{i}": layout.places[name] for i, name in enumerate(types)}})
    return layout


class Plane:
    """A layout that knows where a code belongs on it: for new items, and for the spread of known ones.

    A code is placed among the items whose directions are nearest to its own, so that nothing known moves
    and the measure is that of the map itself, however crooked.
    """

    def __init__(self, fitted: Fitted, layout: Layout, seed: int = 0) -> None:
        self.fitted, self.layout = fitted, layout
        self.centres = {name: _centre(fitted, name) for name in fitted.network.types}
        self.directions = np.vstack(_directions(fitted)).astype(np.float32)
        self.places = np.vstack([layout.places[name] for name in fitted.network.types])
        # draws of one item all over a large map are compared with a sample of it, not with every item
        count = len(self.places)
        self.seed = seed
        self.anchors = (
            np.arange(count)
            if count <= _ANCHORS
            else np.sort(np.random.default_rng(seed).choice(count, _ANCHORS, replace=False))
        )

    def place(self, codes: Gaussians, type: str) -> np.ndarray:
        """Where new items of a type fall, one row each: among their nearest known items."""
        nearness = self._directions_of(codes.mean, type) @ self.directions.T
        # steep: among neighbours on several islands the nearest decide, else the place would be in the sea
        return _centres_of_nearest(nearness, self.places, _SHARPNESS)

    def spreads(self, codes: Gaussians, type: str, places: np.ndarray) -> np.ndarray:
        """How far its uncertainty carries each item from its place on the plane: a 2 x 2 covariance each."""
        rng = np.random.default_rng(self.seed)
        found = np.empty((len(codes.mean), 2, 2))
        everything = len(self.anchors) == len(self.places)
        for i, (mean, std) in enumerate(zip(codes.mean, codes.std, strict=True)):
            draws = mean + std * rng.standard_normal((_DRAWS, len(mean)), dtype=np.float32)
            # the sample is coarse where the item is: its surroundings on the map are added in full
            items = slice(None) if everything else np.union1d(self.anchors, self._around(places[i]))
            nearness = self._directions_of(draws, type) @ self.directions[items].T
            # level: the item itself is among its neighbours, and would hold every draw where it is
            found[i] = np.cov(_centres_of_nearest(nearness, self.places[items], 0.0).T)
        return found

    def _around(self, place: np.ndarray) -> np.ndarray:
        return self._tree.query(place, k=min(_CLOSE, len(self.places)))[1]

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.places)

    def _directions_of(self, means: np.ndarray, type: str) -> np.ndarray:
        return unit_length(unit_length(means) - self.centres[type]).astype(np.float32)


def spreads(fitted: Fitted, layout: Layout, items: Mapping[str, np.ndarray], seed: int = 0) -> np.ndarray:
    """Covariances on the plane of some items of each type, one after the other (:meth:`Plane.spreads`)."""
    plane = Plane(fitted, layout, seed)
    found = [
        plane.spreads(fitted.codes_at(name, rows), name, layout.places[name][rows])
        for name, rows in items.items()
    ]
    return np.concatenate([np.empty((0, 2, 2)), *found])


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


def _centres_of_nearest(nearness: np.ndarray, places: np.ndarray, sharpness: float) -> np.ndarray:
    """Mean place of the nearest items, weighted by exp(sharpness * nearness)."""
    count = min(_NEIGHBOURS, nearness.shape[1])
    near = np.argpartition(nearness, -count, axis=1)[:, -count:]
    values = np.take_along_axis(nearness, near, axis=1)
    weights = np.exp(sharpness * (values - values.max(axis=1, keepdims=True)))
    weights /= weights.sum(axis=1, keepdims=True)
    return np.einsum("nk,nkc->nc", weights, places[near])


def _directions(fitted: Fitted) -> list[np.ndarray]:
    """Unit codes, each type around its centre."""
    found = []
    for name in fitted.network.types:
        units = unit_length(fitted.codes(name).mean)
        found.append(unit_length(units - _centre(fitted, name)) if len(units) else units)
    return found


def _centre(fitted: Fitted, type: str) -> np.ndarray:
    """What is taken from all codes of a type: nothing in a space that was taught to be one of all types.

    Else the mean: the offset between the types says nothing of an item then.
    """
    units = unit_length(fitted.codes(type).mean)
    if fitted.types[type].direction is not None or not len(units):
        return np.zeros(units.shape[1], dtype=np.float32)
    return units.mean(axis=0)


def _count(fitted: Fitted) -> int:
    return sum(len(items) for items in fitted.network.types.values())


def chosen_method(method: str, fitted: Fitted) -> str:
    """The method that is meant: ``auto`` by what is installed and how many items there are."""
    if method not in METHODS:
        raise no_such("map method", method, METHODS)
    if method == "auto":
        return "tsne" if find_spec("openTSNE") and 50 <= _count(fitted) <= MOST_FOR_TSNE else "pca"
    package = _PACKAGES.get(method)
    if package is not None and find_spec(package) is None:
        remedy = "coembed[map]" if method == "tsne" else "umap-learn"
        raise InputError(f"{TITLES[method]} needs {package}; install {remedy}, or take the method pca")
    return method


def tsne_plane(rows: np.ndarray, seed: int = 0, progress: CountProgress | None = None) -> np.ndarray:
    """Places on which neighbours (Euclidean) stay neighbours, by t-SNE; needs openTSNE."""
    from openTSNE import TSNE

    if len(rows) < FEWEST:
        raise InputError(f"t-SNE needs at least {FEWEST} items, got {len(rows)}; take the method pca")
    done = 0

    def report(iteration: int, error: float, embedding: np.ndarray) -> None:
        # the count starts again after the early phase
        nonlocal done
        done += _REPORT_EVERY
        if progress is not None:
            progress(min(done, _EARLY + _LATE), _EARLY + _LATE)

    places = TSNE(
        perplexity=min(30.0, (len(rows) - 1) / 4),
        early_exaggeration_iter=_EARLY,
        n_iter=_LATE,
        random_state=seed,
        n_jobs=_cores(),
        initialization="pca",
        callbacks=report,
        callbacks_every_iters=_REPORT_EVERY,
    ).fit(rows)
    return np.asarray(places)


def _umap(rows: np.ndarray, seed: int, progress: CountProgress | None) -> np.ndarray:
    from umap import UMAP

    if len(rows) < FEWEST:
        raise InputError(f"UMAP needs at least {FEWEST} items, got {len(rows)}; take the method pca")
    places = UMAP(n_neighbors=min(15, len(rows) - 1), random_state=seed, n_jobs=1).fit_transform(rows)
    if progress is not None:
        progress(1, 1)
    return np.asarray(places)


def _cores() -> int:
    """Processors this process may use, fewer where the environment asks for fewer threads."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return min(allowed, int(asked)) if asked.isdigit() and int(asked) > 0 else allowed


def _fingerprint(fitted: Fitted) -> int:
    total = 0
    for codes in map(fitted.codes, fitted.network.types):
        total = zlib.crc32(np.ascontiguousarray(codes.mean).tobytes(), total)
    return total
