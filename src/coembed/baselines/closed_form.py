"""Floors without a gradient: ridge regression on smoothed columns, judged by leaving labels out, and OGC."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax

from coembed.baselines.classifiers import Classes, majority, one_hot, own_links
from coembed.baselines.features import degree_scaled
from coembed.baselines.table_features import coordinates, own_features
from coembed.evaluation.problem import Problem

DIMENSIONS = 512
"""Coordinates that columns are read by: closed forms are cubic in them."""
STEPS = (0, 1, 2, 3, 5, 8)
"""Of smoothing, to choose from."""
PENALTIES = (0.01, 0.1, 1.0, 10.0)
"""Relative to the mean square of the coordinates, to choose from."""
SHARPNESS = 8.0
"""What the answers of least squares, near 0 and 1, are multiplied by to become logits."""
ROUNDS, LAZY, PUSHED = 32, 0.5, 0.1
"""Of OGC: rounds at most, how much an item keeps of itself, how far labelled ones are pushed."""


def sgc(problem: Problem) -> Classes:
    """Smoothed columns, and ridge regression of the classes on them (SGC with a linear head).

    How many steps to smooth and how strong the penalty is, the labelled items say, each left out in turn,
    which least squares can tell without fitting again: e_i / (1 - h_i).

    Examples
    --------
    >>> from coembed.network import Network
    >>> words = np.repeat(np.eye(2), 4, axis=0)
    >>> network = Network.build(np.zeros((8, 8)), words, labels=[0, 0, -1, -1, 1, 1, -1, -1])
    >>> sgc(Problem("classification", network)).values.argmax(axis=1).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]
    """
    features, walk = _features(problem), _walk(problem)
    labelled = problem.labelled
    wanted = one_hot(problem)[labelled].astype(np.float64)
    if not features.shape[1] or len(np.unique(problem.labels[labelled])) < 2:
        return majority(problem)
    best, found = -np.inf, np.zeros(0)
    for step in range(STEPS[-1] + 1):
        if step:
            features = walk @ features
        if step not in STEPS:
            continue
        for penalty in PENALTIES:
            weights, left_out = ridge_left_out(features[labelled], wanted, penalty)
            told = softmax(SHARPNESS * left_out, axis=1)
            score = float((np.log(np.maximum(told, 1e-9)) * wanted).sum())
            if score > best:
                best, found = score, _with_constant(features) @ weights
    return Classes(softmax(SHARPNESS * found, axis=1))


def ridge_left_out(features: np.ndarray, wanted: np.ndarray, penalty: float) -> tuple[np.ndarray, np.ndarray]:
    """Weights of ridge regression, and what each row is told by the regression without it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(9, 3)), rng.normal(size=(9, 1))
    >>> weights, left_out = ridge_left_out(x, y, 0.1)
    >>> again, _ = ridge_left_out(x[1:], y[1:], 0.1 * (x**2).mean() / (x[1:]**2).mean() * 9 / 8)
    >>> np.allclose(_with_constant(x)[0] @ again, left_out[0])
    True
    """
    read = _with_constant(features)
    strength = penalty * len(features) * max(float(np.mean(features**2)), 1e-12)
    gram = read.T @ read
    gram[np.diag_indices_from(gram)] += strength
    solved = np.linalg.solve(gram, read.T)
    weights = solved @ wanted
    told = read @ weights
    leverage = np.einsum("id,di->i", read, solved)[:, None]
    return weights, wanted - (wanted - told) / np.maximum(1 - leverage, 1e-6)


def ogc(problem: Problem) -> Classes:
    """Optimised graph convolution (Wang and others, 2023): smoothing and fitting take turns.

    In every round columns are smoothed a little, a linear model is fitted to the labelled items, and their
    features are pushed to where it tells their classes, which further smoothing carries on. It ends when all
    labelled items are told right.
    """
    features, walk = _features(problem), _walk(problem)
    labelled = problem.labelled
    wanted = one_hot(problem)[labelled].astype(np.float64)
    if not features.shape[1] or len(np.unique(problem.labels[labelled])) < 2:
        return majority(problem)
    weights = np.zeros((features.shape[1] + 1, wanted.shape[1]))
    for _ in range(ROUNDS):
        features = LAZY * features + (1 - LAZY) * (walk @ features)
        weights, _ = ridge_left_out(features[labelled], wanted, 1.0)
        told = _with_constant(features[labelled]) @ weights
        if (told.argmax(axis=1) == wanted.argmax(axis=1)).all():
            break
        features[labelled] += PUSHED * (wanted - told) @ weights[:-1].T
    return Classes(softmax(SHARPNESS * (_with_constant(features) @ weights), axis=1))


def _features(problem: Problem) -> np.ndarray:
    own = own_features(problem.network, problem.type)
    return np.asarray(coordinates(own, DIMENSIONS, problem.seed), dtype=np.float64)


def _walk(problem: Problem) -> sp.csr_array:
    """D^-1/2 (A + I) D^-1/2."""
    links = own_links(problem)
    return degree_scaled(sp.csr_array(links + sp.eye_array(links.shape[0], dtype=links.dtype, format="csr")))


def _with_constant(features: np.ndarray) -> np.ndarray:
    return np.hstack([features, np.ones((len(features), 1))])
