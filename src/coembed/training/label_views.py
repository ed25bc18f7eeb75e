"""Labels as evidence: what the labels around an item say of its own, without its own.

Labels spread along the links within a type; and of another type that has classes, an item sees the mean over
a relation. A labelled item is shown what spreads from the labels of other folds only, so that what is learnt
from it holds for the unlabelled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from coembed.fitted.gaussians import with_observed
from coembed.network import UNKNOWN, Network
from coembed.network.matrices import presence
from coembed.network.ways import Way, links_within, ways_of
from coembed.views import Seen
from coembed.views.basis import averaging, inverse_root, scaled_rows
from coembed.views.lens import Step

FOLDS = 5
ROUNDS = 20
SPREAD = 0.9
"""Share of what an item shows that comes from its links; the rest is its own label."""
FEWEST = 20
"""Labels below which there are no folds: one of them would say nothing of the others."""


@dataclass(frozen=True, eq=False)
class LabelledType:
    """The labels of a type that are learnt from, in folds, and the links that they spread along."""

    labels: np.ndarray
    n_classes: int
    folds: np.ndarray
    walk: sp.csr_array | None

    @classmethod
    def of(cls, network: Network, type: str, seed: int = 0) -> LabelledType | None:
        """None if there are too few labels."""
        known = network.items(type).labels
        if known is None or known.n_classes < (1 if known.several else 2) or too_few(known.values):
            return None
        folds = folds_of(known.values, seed)
        return cls(known.values, known.n_classes, folds, walk_within(network, type))

    def without(self, *folds: int) -> np.ndarray:
        """The labels that are not of some folds."""
        labels = self.labels.copy()
        labels[np.isin(self.folds, [fold for fold in folds if fold >= 0])] = UNKNOWN
        return labels

    def mass(self, *hidden: int) -> np.ndarray:
        """Class shares of every item by the labels that are not of the hidden folds."""
        return spread(self.walk, self.without(*hidden), self.n_classes)

    def view(self, hidden: int = -1) -> np.ndarray:
        """What spreads to every item from labels that are neither hidden nor of its own fold."""
        others = [fold for fold in range(FOLDS) if fold != hidden]
        every = [self.without(hidden), *(self.without(hidden, fold) for fold in others)]
        if self.labels.ndim == 2:
            found, *apart = (spread(self.walk, labels, self.n_classes) for labels in every)
        else:
            found, *apart = spread_all(self.walk, every, self.n_classes)
        for fold, mass in zip(others, apart, strict=True):
            own = self.folds == fold
            found[own] = mass[own]
        return found

    def smoothed(self, probabilities: np.ndarray, strength: float, hidden: int = -1) -> np.ndarray:
        """Opinions that lean towards those of the links, whose labels are known where they are."""
        return smoothed(self.walk, probabilities, self.without(hidden), strength)


@dataclass(frozen=True, eq=False)
class LabelViews:
    """By type: its labels in folds, what it sees of the labels of others, and what newcomers see."""

    types: dict[str, LabelledType]
    others: dict[str, dict[str, np.ndarray]]
    mass: dict[str, np.ndarray]
    steps: dict[str, tuple[Step, ...]]

    def of(self, type: str, hidden: int = -1) -> dict[str, np.ndarray]:
        """The views of a type that are made of labels, without those of a hidden fold of its own."""
        own = self.types.get(type)
        found = {} if own is None or own.walk is None else {"spread": own.view(hidden)}
        return found | self.others.get(type, {})

    def beside(self, seen: Seen) -> Seen:
        """What is seen, with the labels around each item among it."""
        types, lenses = dict(seen.types), dict(seen.lens.types)
        for name, steps in self.steps.items():
            types[name] = replace(types[name], dense={**types[name].dense, **self.of(name)})
            lenses[name] = replace(lenses[name], steps=lenses[name].steps + steps)
        return Seen(replace(seen.lens, types=lenses), types)


def label_views(network: Network, seed: int = 0) -> LabelViews:
    """The views of all types that see labels."""
    types = {}
    for name in network.labelled_types:
        own = LabelledType.of(network, name, seed)
        if own is not None:
            types[name] = own
    found = LabelViews(types, {}, {name: own.mass() for name, own in types.items()}, {})
    for name in network.entity_types:
        steps = []
        if name in types and types[name].walk is not None:
            steps.append(Step("spread", "others", "labels", name, about="labels of links"))
        for place, way in enumerate(ways_of(network, name)):
            if way.other in types and way.other != name:
                view = f"labels{place}"
                mean = averaging(presence(_rows(network, way)))
                found.others.setdefault(name, {})[view] = mean @ found.mass[way.other]
                steps.append(Step(view, way.name, "labels", way.other, about=f"labels of {way.other}"))
        if steps:
            found.steps[name] = tuple(steps)
    return found


def too_few(labels: np.ndarray) -> bool:
    """Whether folds would say nothing: too few labels, or hardly one whose class others have, too.

    Examples
    --------
    >>> too_few(np.repeat([0, 1], 5)), too_few(np.repeat([0, 1], 50)), too_few(np.arange(500))
    (True, False, True)
    """
    if labels.ndim == 2:
        return int((labels != UNKNOWN).any(axis=1).sum()) < FEWEST
    known = labels[labels != UNKNOWN]
    sizes = np.bincount(known)
    with_fellows = int(sizes[sizes > 1].sum())
    return len(known) < FEWEST or 2 * with_fellows < len(known)


def folds_of(labels: np.ndarray, seed: int) -> np.ndarray:
    """A fold for every labelled item, -1 for the others; of each class as many in every fold as can be."""
    folds = np.full(len(labels), -1)
    if labels.ndim == 2:  # of several classes the rarest decides
        yes = labels == 1
        rarity = np.where(yes, 1.0 / np.maximum(yes.sum(axis=0), 1), 0.0)
        kinds = np.where((labels != UNKNOWN).any(axis=1), rarity.argmax(axis=1), UNKNOWN)
        kinds[yes.any(axis=1) < (kinds != UNKNOWN)] = labels.shape[1]
        labels = kinds
    known = np.flatnonzero(labels != UNKNOWN)
    order = known[np.random.default_rng(seed).permutation(len(known))]
    order = order[np.argsort(labels[order], kind="stable")]
    folds[order] = np.arange(len(order)) % FOLDS
    return folds


def spread(walk: sp.csr_array | None, labels: np.ndarray, n_classes: int, rounds: int = ROUNDS) -> np.ndarray:
    """Class shares of every item: its label, or what spreads to it; where nothing does, those of all labels.

    Examples
    --------
    >>> path = sp.csr_array(np.array([[0, 1, 0], [0.5, 0, 0.5], [0, 1, 0]], dtype=np.float32))
    >>> spread(path, np.array([0, -1, 1]), 2)[1]
    array([0.5, 0.5], dtype=float32)
    """
    if labels.ndim == 2:
        return _spread_several(walk, labels)
    return spread_all(walk, [labels], n_classes, rounds)[0]


def spread_all(
    walk: sp.csr_array | None, every: Sequence[np.ndarray], n_classes: int, rounds: int = ROUNDS
) -> list[np.ndarray]:
    """The same of several sets of labels, which take every step together: links are walked once for all."""
    count = len(every[0])
    start = np.zeros((count, len(every), n_classes), dtype=np.float32)
    for place, labels in enumerate(every):
        known = np.flatnonzero(labels != UNKNOWN)
        start[known, place, labels[known]] = 1
    moved = np.zeros_like(start)
    if walk is not None:
        flat = start.reshape(count, -1)
        together = np.zeros_like(flat)
        for _ in range(rounds):
            together = SPREAD * (walk @ together) + (1 - SPREAD) * flat
        moved = together.reshape(start.shape)
    found = []
    for place, labels in enumerate(every):
        own, known = start[:, place], np.flatnonzero(labels != UNKNOWN)
        shares = own.sum(axis=0) / max(len(known), 1)
        # a pinch of how common a class is decides where nothing reaches
        mixed = moved[:, place] + 1e-4 * shares
        shown = mixed / np.maximum(mixed.sum(axis=1, keepdims=True), 1e-12)
        shown[known] = own[known]
        found.append(shown.astype(np.float32))
    return found


def _spread_several(walk: sp.csr_array | None, labels: np.ndarray) -> np.ndarray:
    """Of each class by itself, what part of the known cells that reach an item says yes."""
    yes, seen = (labels == 1).astype(np.float32), (labels != UNKNOWN).astype(np.float32)
    shares = (yes.sum(axis=0) + 0.5) / (seen.sum(axis=0) + 1)
    moved = np.zeros((2, *labels.shape), dtype=np.float32)
    if walk is not None:
        for _ in range(ROUNDS):
            moved = np.stack(
                [SPREAD * (walk @ m) + (1 - SPREAD) * s for m, s in zip(moved, (yes, seen), strict=True)]
            )
    found = (moved[0] + 1e-4 * shares) / (moved[1] + 1e-4)
    return np.where(seen > 0, yes, found).astype(np.float32)


def smoothed(
    walk: sp.csr_array | None, probabilities: np.ndarray, labels: np.ndarray, strength: float
) -> np.ndarray:
    """Probabilities that lean towards those of the links; known labels are as they are.

    Examples
    --------
    >>> path = sp.csr_array(np.array([[0, 1.0], [1.0, 0]]))
    >>> smoothed(path, np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([-1, 0]), 0.5)[0].round(2)
    array([0.75, 0.25])
    """
    if not strength or walk is None:
        return probabilities
    several = labels.ndim == 2
    known = labels != UNKNOWN
    start = with_observed(probabilities, labels)
    moved, mass = start, np.ones((len(start), 1), dtype=start.dtype)
    for _ in range(ROUNDS):
        moved = strength * (walk @ moved) + (1 - strength) * start
        moved[known] = start[known]
        if several:
            mass = strength * (walk @ mass) + (1 - strength)
    # classes of which an item has one share what reaches it; of several each is a share of what could
    whole = mass if several else moved.sum(axis=1, keepdims=True)
    found = moved / np.maximum(whole, 1e-12)
    # what a known label would have been thought of without it stays what was thought
    found[known] = probabilities[known]
    return (np.clip(found, 0, 1) if several else found).astype(probabilities.dtype)


def walk_within(network: Network, type: str) -> sp.csr_array | None:
    """A step along the links within a type, of whatever relation and both ways: D^-1/2 A D^-1/2."""
    links = links_within(network, type)
    return None if links is None or not links.nnz else normalised(links)


def normalised(links: sp.csr_array) -> sp.csr_array:
    """D^-1/2 A D^-1/2."""
    degrees = np.asarray(links.sum(axis=1))
    return scaled_rows(sp.csr_array(links * inverse_root(degrees)), inverse_root(degrees))


def _rows(network: Network, way: Way) -> sp.csr_array:
    relation = network.relation(way.relation)
    return relation.values if way.forwards else relation.backwards
