"""The fitted result: what a fit leaves behind, and the questions it answers, without torch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import expit

from coembed.errors import InputError
from coembed.fitted.gaussians import Codes, with_labels
from coembed.fitted.moments import (
    CHUNK,
    Moments,
    aligned_moments,
    crossed_moments,
    expected_probability,
    lengths,
    logits,
)
from coembed.network.network import Network

if TYPE_CHECKING:
    from coembed.fitted.matches import Item, ItemKind, Match
    from coembed.fitted.pair_scores import Companion
    from coembed.fitted.placing import Embedded, Trained
    from coembed.maps.layout import Layout
    from coembed.views import NodeViews

Kind = Literal["links", "attributes"]


@dataclass(frozen=True, eq=False)
class Fitted:
    """Nodes and attributes as Gaussians in one space, and the label probabilities of the nodes.

    Attributes
    ----------
    network
        What the fit saw: the training network with its names; hidden labels and entries are absent.
    settings, preset
        How it was fitted.
    history
        Figures of every epoch by name (lists), and ``stopped``: why the fit ended.
    node_mean, node_std
        N x D: z of every node, inferred with *predicted* label probabilities, so that labelled and
        unlabelled rows have one distribution.
    probabilities
        N x K: q(y | F) of every node.
    label_shift
        K x 2D: what label k adds to [mean | log std] of a node's z.
    attribute_mean, attribute_std
        M x C with C = D + K.
    units
        What an inner product of one is worth in a Gaussian relation, by name (``links``,
        ``attributes``); 1 where it is missing.
    biases
        What is added to an inner product for each end of a pair, by relation and end: ``links.source``,
        ``links.target`` (N), ``attributes.source`` (N), ``attributes.target`` (M); 0 where it is missing.
    companions
        Arrays of the closed-form scores that stand by the model's own, and of the weights given to each;
        empty if the fit had none.
    weights
        The inference networks, for :meth:`embed`.
    """

    network: Network
    settings: dict[str, Any]
    history: dict[str, Any]
    preset: str
    node_mean: np.ndarray
    node_std: np.ndarray
    probabilities: np.ndarray
    label_shift: np.ndarray
    attribute_mean: np.ndarray
    attribute_std: np.ndarray
    units: dict[str, float] = field(default_factory=dict)
    biases: dict[str, np.ndarray] = field(default_factory=dict)
    companions: dict[str, np.ndarray] = field(default_factory=dict)
    weights: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        nodes, classes, dim = self.network.n_nodes, self.network.n_classes, self.node_mean.shape[-1]
        expected = {
            "node_mean": (nodes, dim),
            "node_std": (nodes, dim),
            "probabilities": (nodes, classes),
            "label_shift": (classes, 2 * dim),
            "attribute_mean": (self.network.n_attributes, dim + classes),
            "attribute_std": (self.network.n_attributes, dim + classes),
        }
        for name, shape in expected.items():
            found = getattr(self, name).shape
            if found != shape:
                raise InputError(f"{name} of the model has shape {found}, but its network needs {shape}")

    # What it is

    @property
    def dim(self) -> int:
        """Coordinates of a node's z (D)."""
        return int(self.node_mean.shape[1])

    @property
    def code_dim(self) -> int:
        """Coordinates of the common space (C = D + K)."""
        return int(self.attribute_mean.shape[1])

    @cached_property
    def nodes(self) -> Codes:
        """The codes [z ; y] of the nodes, with the observed label where there is one."""
        return with_labels(
            Codes(self.node_mean, self.node_std), self.probabilities, self.label_shift, self.network.labels
        )

    @property
    def attributes(self) -> Codes:
        """The codes of the attributes."""
        return Codes(self.attribute_mean, self.attribute_std)

    @cached_property
    def node_lengths(self) -> np.ndarray:
        """Lengths of the codes' means, by which cosines are divided; 1 where it is zero."""
        return lengths(self.nodes.mean)[:, 0]

    @cached_property
    def attribute_lengths(self) -> np.ndarray:
        """The same of the attributes; by itself, as the codes of very many nodes take seconds."""
        return lengths(self.attribute_mean)[:, 0]

    @property
    def node_code(self) -> np.ndarray:
        return self.nodes.mean

    @property
    def node_code_std(self) -> np.ndarray:
        return self.nodes.std

    # Labels

    def predict_proba(self) -> np.ndarray:
        """Class probabilities of every node, N x K, in the order of ``network.class_names``."""
        if not self.network.n_classes:
            raise InputError(f"the model of {self.network.name} knows no classes; train with some labels")
        return self.probabilities

    def predict(self) -> np.ndarray:
        """The likeliest class of every node, by name; labelled nodes are predicted too."""
        return self.network.class_names[self.predict_proba().argmax(axis=1)]

    # Questions, answered best first; items are given by name or position

    def complete_attributes(self, node: Item, k: int = 10, *, known: bool = False) -> list[Match]:
        """The attributes likeliest to be the node's own, without those that it already has unless `known`.

        The score is the expected probability, or the expected value of a Gaussian relation. With the setting
        ``balance`` a probability compares a pair with as many absent ones: it ranks, but it is not how often
        such pairs exist.
        """
        from coembed.fitted.questions import best_pairs

        return best_pairs(self, node, "attributes", k, known)

    def suggest_links(self, node: Item, k: int = 10, *, known: bool = False) -> list[Match]:
        """The nodes likeliest to be linked to the node, without those that already are unless `known`."""
        from coembed.fitted.questions import best_pairs

        return best_pairs(self, node, "links", k, known)

    def profile(self, node: Item, k: int = 10) -> list[Match]:
        """What a node is about: the attributes nearest to it (cosine)."""
        from coembed.fitted.questions import nearest

        return nearest(self, node, "node", "attribute", k)

    def nodes_about(self, attribute: Item, k: int = 10) -> list[Match]:
        """Who stands for an attribute: the nodes nearest to it (cosine)."""
        from coembed.fitted.questions import nearest

        return nearest(self, attribute, "attribute", "node", k)

    def similar(self, item: Item, k: int = 10, kind: ItemKind | None = None) -> list[Match]:
        """The items most like this one among those of its kind (cosine); a position alone means a node."""
        from coembed.fitted.questions import same_kind

        return same_kind(self, item, kind, k)

    def embed(self, network: Network) -> Embedded:
        """Place nodes and attributes that the fit has not seen, without training; known ones stay put.

        A new node is placed by its links to known nodes and to other new ones and by the known attributes it
        has, a new attribute by the known nodes that have it. Items are recognised by name.
        """
        from coembed.fitted.placing import embed

        return embed(self, network)

    def map2d(self, method: str = "auto", seed: int = 0) -> Layout:
        """All nodes and attributes on a plane: ``pca``, ``tsne``, or ``auto`` (t-SNE if installed)."""
        from coembed.maps.layout import make_layout

        return make_layout(self, method, seed)

    @cached_property
    def trained(self) -> Trained | NodeViews:
        """The hidden layer, or the views, of the training nodes, which new nodes lean on."""
        from coembed.fitted.placing import trained_layers

        return trained_layers(self)

    # Scores of pairs

    def score_links(self, pairs: np.ndarray, *, expected: bool = True, lift: bool = False) -> np.ndarray:
        """Scores of pairs of nodes (n x 2 positions): probabilities, or weights of a Gaussian relation.

        With ``expected=False`` the probability at the means: it ignores how uncertain the two ends are. With
        ``lift=True`` how characteristic the pair is rather than how likely: against pairs as popular.
        """
        return self._score_pairs(pairs, "links", expected, lift)

    def score_attributes(self, pairs: np.ndarray, *, expected: bool = True, lift: bool = False) -> np.ndarray:
        """Scores of (node, attribute) pairs, as :meth:`score_links`."""
        return self._score_pairs(pairs, "attributes", expected, lift)

    def score_rows(
        self, nodes: np.ndarray, kind: Kind, *, expected: bool = True, lift: bool = False
    ) -> np.ndarray:
        """Scores of the given nodes with *all* nodes or attributes: len(nodes) x items; call it in chunks."""
        from coembed.fitted.nearest_index import item_codes

        nodes = np.asarray(nodes)
        moments = crossed_moments(item_codes(self, "node", nodes), self.others(kind))
        source, target = self.bias(kind, lift)
        moments = moments.moved(source[nodes][:, None] + target)
        companions = (companion.rows(nodes) for companion in self.companions_of(kind))
        return self._worth(moments, kind, expected, lift, companions)

    def others(self, kind: Kind) -> Codes:
        """The far ends of a relation: nodes for links, attributes for attributes."""
        if kind not in ("links", "attributes"):
            raise InputError(f"there is no relation {kind!r}; known: links, attributes")
        return self.nodes if kind == "links" else self.attributes

    def bias(self, kind: Kind, lift: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """What is added to inner products for the near and for the far end; the far one not in a lift."""
        near = self.network.n_nodes
        far = near if kind == "links" else self.network.n_attributes
        source = self.biases.get(f"{kind}.source", np.zeros(near, dtype=np.float32))
        target = self.biases.get(f"{kind}.target", np.zeros(far, dtype=np.float32))
        return source, np.zeros_like(target) if lift else target

    def companions_of(self, kind: Kind) -> list[Companion]:
        """The closed-form scores combined with the model's own in a relation; none if nothing weighs them."""
        return self._companions[kind] if f"{kind}.likely.mean" in self.companions else []

    @cached_property
    def _companions(self) -> dict[str, list[Companion]]:
        from coembed.fitted.pair_scores import all_companions

        return all_companions(self.network, self.weights | self.companions)

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """One random draw of all node codes and all attribute codes."""
        nodes, attributes = self.nodes, self.attributes
        return (
            nodes.mean + rng.standard_normal(nodes.mean.shape, dtype=np.float32) * nodes.std,
            attributes.mean + rng.standard_normal(attributes.mean.shape, dtype=np.float32) * attributes.std,
        )

    def gaussian(self, kind: Kind) -> bool:
        """Whether the relation explains values, not presence."""
        return bool(self.settings.get(kind) == "gaussian")

    def pair_features(self, pairs: np.ndarray, kind: Kind, *, expected: bool = True) -> np.ndarray:
        """What the combination weighs: the model's logit, then the companions, one column each."""
        logit = logits(self._pair_moments(pairs, kind, lift=False), expected)
        return np.stack([logit, *(companion.pairs(pairs) for companion in self._companions[kind])], axis=-1)

    def _pair_moments(self, pairs: np.ndarray, kind: Kind, lift: bool) -> Moments:
        nodes, others = self.nodes, self.others(kind)
        source, target = self.bias(kind, lift)
        mean, variance = np.empty((2, len(pairs)), dtype=np.float32)
        for start in range(0, len(pairs), CHUNK):
            left, right = pairs[start : start + CHUNK].T
            part = aligned_moments(nodes.take(left), others.take(right)).moved(source[left] + target[right])
            mean[start : start + CHUNK], variance[start : start + CHUNK] = part
        return Moments(mean, variance)

    def _score_pairs(self, pairs: np.ndarray, kind: Kind, expected: bool, lift: bool) -> np.ndarray:
        pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        companions = (companion.pairs(pairs) for companion in self.companions_of(kind))
        return self._worth(self._pair_moments(pairs, kind, lift), kind, expected, lift, companions)

    def _worth(
        self, moments: Moments, kind: Kind, expected: bool, lift: bool, companions: Iterable[np.ndarray]
    ) -> np.ndarray:
        if self.gaussian(kind):
            return moments.mean * self.units.get(kind, 1.0)
        from coembed.fitted.score_blend import Blend

        blend = Blend.from_arrays(self.companions, f"{kind}.{'lift' if lift else 'likely'}")
        if blend is None:
            return expected_probability(moments) if expected else expit(moments.mean)
        return expit(blend.logits_of([logits(moments, expected), *companions]))
