"""The model's score and the closed-form ones in one, weighed on pairs that none of them has seen.

A small network of one hidden layer: logit = tanh((f - mean) / std W + b) w + c, read without torch.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

HIDDEN = 16
RIDGE = 10.0
"""Pull of the weights towards zero, in pairs: it holds the combination back where there are only hundreds."""
FEWEST = 20
"""Pairs that are there, below which nothing is weighed."""

CELLS = 8192
"""Cells whose hidden units are held at a time: they stay in the processor's cache."""


class Blend(NamedTuple):
    """The weights of a combination."""

    mean: np.ndarray
    std: np.ndarray
    first: np.ndarray
    first_bias: np.ndarray
    second: np.ndarray
    second_bias: np.ndarray

    def logits_of(self, features: Sequence[np.ndarray]) -> np.ndarray:
        """The same of features one by one, some thousand cells at a time.

        The first has the shape of the answer; the others that shape, or its last axes.
        """
        weights = self.first / self.std[:, None]
        offset = (self.first_bias - self.mean @ weights)[:, None]
        shape = np.shape(features[0])
        flat = [
            np.ravel(feature if feature.shape == shape else np.broadcast_to(feature, shape))
            for feature in features
        ]
        found = np.empty(flat[0].shape, dtype=np.result_type(*flat, weights))
        for start in range(0, len(found), CELLS):
            part = slice(start, start + CELLS)
            hidden = np.tanh(weights.T @ np.stack([feature[part] for feature in flat]) + offset)
            found[part] = self.second @ hidden + self.second_bias[0]
        return found.reshape(shape)

    def logits(self, features: np.ndarray) -> np.ndarray:
        """Of features (..., F), the score that ranks and whose sigmoid is a probability."""
        hidden = np.tanh((features - self.mean) / self.std @ self.first + self.first_bias)
        return hidden @ self.second + self.second_bias[0]

    def as_arrays(self, prefix: str) -> dict[str, np.ndarray]:
        return {f"{prefix}.{name}": array for name, array in self._asdict().items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], prefix: str) -> Blend | None:
        if f"{prefix}.mean" not in arrays:
            return None
        return cls(*(arrays[f"{prefix}.{name}"] for name in cls._fields))


def weigh(present: np.ndarray, absent: np.ndarray, seed: int = 0, hidden: int = HIDDEN) -> Blend | None:
    """The combination that best tells features of present pairs from those of absent ones.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> blend = weigh(rng.normal(1, 1, (200, 2)), rng.normal(-1, 1, (200, 2)))
    >>> bool(blend.logits(np.array([2.0, 2.0])) > 0 > blend.logits(np.array([-2.0, -2.0])))
    True
    """
    if min(len(present), len(absent)) < FEWEST:
        return None
    # here, not above: a question to a saved model would wait for them
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    features = np.concatenate([present, absent]).astype(np.float64)
    truth = np.repeat([1, 0], [len(present), len(absent)])
    mean, std = features.mean(axis=0), features.std(axis=0)
    std = np.where(std > 1e-9, std, 1.0)
    network = MLPClassifier(
        (hidden,), activation="tanh", solver="lbfgs", alpha=RIDGE, max_iter=300, random_state=seed
    )
    with warnings.catch_warnings():
        # what 300 steps have reached is as good
        warnings.simplefilter("ignore", ConvergenceWarning)
        network.fit((features - mean) / std, truth)
    (first, second), (first_bias, second_bias) = network.coefs_, network.intercepts_
    arrays = (mean, std, first, first_bias, second[:, 0], second_bias)
    return Blend(*(np.asarray(array, dtype=np.float32) for array in arrays))
