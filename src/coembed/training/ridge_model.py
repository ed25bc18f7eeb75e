"""Ridge regression on the views of items: what is solved for in place of inference networks.

All outputs of a type share one Gram matrix of its views, so that codes, their uncertainty and the classes are
one system of equations. Views count alike: each is scaled to rows of length one on average.
"""

from __future__ import annotations

import numpy as np

from coembed.fitted.layers import LinearModel
from coembed.views import TypeViews

PENALTY = 0.1
"""Pull towards zero, in mean squares of a feature."""
ROWS = 65_536
"""Items whose features are held at a time."""
MOST_FEATURES = 4096
"""Coordinates of all views together; of more, each view gives its leading ones."""


def ridge_model(views: TypeViews, wanted: np.ndarray) -> LinearModel:
    """The model that comes nearest to what is wanted of every item, in squares.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> own = rng.normal(size=(500, 2)).astype(np.float32)
    >>> views = TypeViews({}, {"own": own}, np.ones((500, 1), np.float32))
    >>> model = ridge_model(views, own @ np.array([[2.0], [-1.0]]) + 3)
    >>> float(np.corrcoef(model.of(views)[:, 0], own @ [2, -1])[0, 1]) > 0.999
    True
    """
    count = len(views.evidence)
    width = MOST_FEATURES // max(len(views.dense), 1)
    parts = {name: view[:, :width] for name, view in views.dense.items()}
    scales = [1 / (np.sqrt(np.mean(np.square(view).sum(axis=1))) or 1.0) for view in parts.values()]
    spread = views.evidence.std(axis=0)
    by_evidence = 1 / np.where(spread > 0, spread, 1) / np.sqrt(views.evidence.shape[1])
    scale = np.concatenate(
        [
            *(np.full(view.shape[1], s) for view, s in zip(parts.values(), scales, strict=True)),
            by_evidence,
            [1.0],
        ]
    )
    size = len(scale)
    gram, moments = np.zeros((size, size)), np.zeros((size, wanted.shape[1]))
    for start in range(0, count, ROWS):
        rows = slice(start, start + ROWS)
        here = np.ones((len(views.evidence[rows]), 1), np.float32)
        features = np.hstack([*(view[rows] for view in parts.values()), views.evidence[rows], here])
        features *= scale.astype(np.float32)
        gram += features.T @ features
        moments += features.T @ wanted[rows].astype(np.float32)
    pull = PENALTY * np.trace(gram) / size
    gram[np.diag_indices(size)] += pull
    gram[-1, -1] -= pull * (1 - 1e-6)  # a constant is not held back
    solved = (np.linalg.solve(gram, moments) * scale[:, None]).astype(np.float32)
    ends = np.cumsum([view.shape[1] for view in parts.values()])
    *weights, rest = np.split(solved, ends)
    full = {
        name: _with_all_rows(weight, views.dense[name].shape[1])
        for name, weight in zip(parts, weights, strict=True)
    }
    return LinearModel(full, rest[:-1], rest[-1])


def _with_all_rows(weight: np.ndarray, rows: int) -> np.ndarray:
    return np.vstack([weight, np.zeros((rows - len(weight), weight.shape[1]), np.float32)])
