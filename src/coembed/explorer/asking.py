"""What the page and the API ask: a fitted model with its layout, its names and its ranks at hand."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.fitted.fitted import Fitted
from coembed.fitted.label_quality import judge
from coembed.fitted.matches import KINDS, ItemKind
from coembed.fitted.name_search import NameIndex
from coembed.maps.layout import Layout, Plane
from coembed.network.network import UNKNOWN, Network

if TYPE_CHECKING:
    from coembed.fitted.label_quality import Quality


class UnknownItem(InputError):
    """There is no item of that name."""


class Explorer:
    """A model that is being looked at.

    Parameters
    ----------
    truth
        A network with labels that the fit did not see, by which the quality is judged.
    """

    def __init__(self, fitted: Fitted, layout: Layout, truth: Network | None = None) -> None:
        self.fitted, self.layout = fitted, layout
        self.network = fitted.network
        self.plane = Plane(fitted, layout)
        self.quality: Quality | None = judge(fitted, truth) if truth is not None else None
        # a large network keeps its names packed; here they are asked for one by one, so they are unpacked
        self._names: dict[ItemKind, np.ndarray] = {
            "node": _array(self.network.node_names),
            "attribute": _array(self.network.attribute_names),
        }
        self.positions: dict[ItemKind, dict[str, int]] = {
            kind: {name: i for i, name in enumerate(names)} for kind, names in self._names.items()
        }
        self.degrees = np.diff(self.network.links.indptr)
        self.owners = np.bincount(self.network.attributes.indices, minlength=self.network.n_attributes)
        self.index = NameIndex(
            np.concatenate([self.names("node"), self.names("attribute")]),
            np.concatenate([self.degrees, self.owners]),
        )

    def warm(self) -> None:
        """Compute what the first question would wait for."""
        for name in ("classes", "node_blur", "attribute_blur", "sureness", "owned_by"):
            getattr(self, name)
        row = np.zeros(min(1, self.network.n_nodes), dtype=np.int64)
        self.fitted.score_rows(row, "links")
        self.fitted.score_rows(row, "attributes")
        _ = self.fitted.node_lengths, self.fitted.attribute_lengths
        if self.can_embed:
            _ = self.fitted.trained

    @property
    def can_embed(self) -> bool:
        """Whether new nodes can be placed: a model grown by placing some has left its networks behind."""
        return bool(self.fitted.weights)

    @cached_property
    def classes(self) -> np.ndarray:
        """Class of every node, observed or else the likeliest; unknown without classes."""
        if not self.network.n_classes:
            return np.full(self.network.n_nodes, UNKNOWN)
        likeliest = self.fitted.probabilities.argmax(axis=1)
        return np.where(self.observed, self.network.labels, likeliest)

    @property
    def observed(self) -> np.ndarray:
        return self.network.labels != UNKNOWN

    @cached_property
    def sureness(self) -> np.ndarray:
        """Probability of the likeliest class of every node, in order of size."""
        if not self.network.n_classes:
            return np.zeros(0)
        return np.sort(self.fitted.probabilities.max(axis=1))

    @cached_property
    def node_blur(self) -> np.ndarray:
        """How blurred the place of every node is: the mean logarithm of its standard deviations."""
        return np.log(np.maximum(self.fitted.node_std, 1e-12)).mean(axis=1)

    @cached_property
    def attribute_blur(self) -> np.ndarray:
        std = np.maximum(self.fitted.attribute_std, 1e-12)
        return np.log(std).mean(axis=1) if std.shape[1] else np.zeros(len(std))

    @cached_property
    def owned_by(self) -> sp.csr_array:
        """The attributes' owners: the matrix of attributes the other way round."""
        return self.network.attributes.T.tocsr()

    def names(self, kind: ItemKind) -> np.ndarray:
        return self._names[kind]

    def at(self, name: str, kind: ItemKind) -> int:
        """Position of an item by its name."""
        found = self.positions[kind].get(name)
        if found is None:
            raise UnknownItem(f"{self.network.name} has no {kind} {name[:80]!r}; {self._hint(name, kind)}")
        return found

    def kind(self, name: str, kind: ItemKind | None) -> ItemKind:
        """The kind that was named, or that of the one item of that name."""
        is_node, is_attribute = (name in self.positions[each] for each in KINDS)
        if kind is None and is_node and is_attribute:
            raise InputError(f"{name[:80]!r} is a node and an attribute; say which with kind")
        chosen: ItemKind = kind or ("attribute" if is_attribute else "node")
        self.at(name, chosen)
        return chosen

    def _hint(self, name: str, kind: ItemKind) -> str:
        other: ItemKind = "attribute" if kind == "node" else "node"
        if name in self.positions[other]:
            return f"it is {'an attribute' if other == 'attribute' else 'a node'}: ask /api/{other}"
        nodes = self.network.n_nodes
        near = [
            str(self.names(kind)[hit.position % nodes if kind == "node" else hit.position - nodes])
            for hit in self.index.find(name, 30)
            if (hit.position < nodes) == (kind == "node")
        ]
        close = ", ".join(repr(each[:80]) for each in near[:3])
        return f"did you mean {close}?" if close else "look for it with /api/search"

    def label(self, node: int) -> str | None:
        """Class of a node, observed or else the likeliest."""
        k = int(self.classes[node])
        return None if k == UNKNOWN else str(self.network.class_names[k])

    def true_label(self, node: int) -> str | None:
        """The hidden class of a node, where the truth is at hand."""
        if self.quality is None:
            return None
        row = np.searchsorted(self.quality.nodes, node)
        if row == len(self.quality.nodes) or self.quality.nodes[row] != node:
            return None
        return str(self.network.class_names[self.quality.truth[row]])


def _array(names: Iterable[str]) -> np.ndarray:
    listed = [str(name) for name in names]
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array
