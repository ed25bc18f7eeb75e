"""The inference networks of a fit as plain arrays, and what they say of any items, in numpy alone.

By views: a branch is tanh(F_v W_v + b_v), and the last layer reads all of them. As in the paper, with F the
rows of an item in all relations and Ã = D^-1/2 (A + I) D^-1/2 over the links within its type,

    [mean | log std] = Ã tanh(Ã F W0) W1 + p W_y,    p = softmax(tanh(F V0 + b0) V1 + b1)

and of a type without such links tanh(F U0 + c0) U1 + c1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from coembed.views import TypeViews


class Layer(NamedTuple):
    """x W + b."""

    weight: np.ndarray
    bias: np.ndarray

    def of(self, x: Any) -> np.ndarray:
        return x @ self.weight + self.bias


@dataclass(frozen=True, eq=False)
class ViewsLayers:
    """The networks of a type that is seen in views.

    Attributes
    ----------
    first, label_first
        By view, for the Gaussian and for the label.
    last, label
        What reads the hidden units of all views.
    evidence, center
        What is added for how much there is to go by.
    """

    first: dict[str, Layer]
    last: Layer
    evidence: np.ndarray
    center: np.ndarray
    label_first: dict[str, Layer]
    label: Layer | None = None

    def outputs(self, views: TypeViews) -> np.ndarray:
        """[mean | log std] before the label's own shift."""
        return self.last.of(_hidden(self.first, views)) + (views.evidence - self.center) @ self.evidence

    def label_logits(self, views: TypeViews) -> np.ndarray | None:
        return None if self.label is None else self.label.of(_hidden(self.label_first, views))


@dataclass(frozen=True, eq=False)
class LinearModel:
    """One matrix for each dense view, the weights of how much there is to go by, and a constant."""

    weights: dict[str, np.ndarray]
    evidence: np.ndarray
    bias: np.ndarray

    def of(self, views: TypeViews) -> np.ndarray:
        told = [views.dense[name] @ weight for name, weight in self.weights.items()]
        return np.add.reduce([*told, views.evidence @ self.evidence]) + self.bias


@dataclass(frozen=True, eq=False)
class LinearLayers:
    """What was solved for of a type that is seen in views, for the Gaussian and for the label."""

    gaussian: LinearModel
    label: LinearModel | None = None

    def outputs(self, views: TypeViews) -> np.ndarray:
        """[mean | log std]."""
        return self.gaussian.of(views)

    def label_logits(self, views: TypeViews) -> np.ndarray | None:
        return None if self.label is None else self.label.of(views)


@dataclass(frozen=True, eq=False)
class RowLayers:
    """The networks of a type that is read from its rows, as in the paper.

    Attributes
    ----------
    first, label_first
        Weights by what they read: names of ways, ``links`` for all links within the type, ``words`` and
        ``cells`` for its columns, ``owners`` and ``values`` for those that have an attribute.
    bias
        Of the hidden layer, where there is no propagation.
    last
        Of the Gaussian; without propagation with a bias.
    """

    first: dict[str, np.ndarray]
    last: np.ndarray
    bias: np.ndarray | None = None
    last_bias: np.ndarray | None = None
    label_first: dict[str, np.ndarray] | None = None
    label_bias: np.ndarray | None = None
    label: Layer | None = None

    @property
    def propagates(self) -> bool:
        return self.bias is None


def _hidden(layers: Mapping[str, Layer], views: TypeViews) -> np.ndarray:
    seen = views.all
    return np.hstack([np.tanh(layer.of(seen[name])) for name, layer in layers.items()])


Layers = ViewsLayers | LinearLayers | RowLayers
