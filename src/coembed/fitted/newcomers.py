"""A few items that the fit has not seen, placed by what they touch, and what the model says of them.

:func:`coembed.fitted.placing.embed` makes a result of a whole network. Here nothing known is copied, so
that a question about a newcomer costs about as much as one about a known item.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from coembed.errors import no_such
from coembed.fitted.chances import answered
from coembed.fitted.common_placing import direction_of_new
from coembed.fitted.gaussians import Gaussians
from coembed.fitted.matches import Match
from coembed.fitted.moments import Moments, crossed_cosines, unit_length
from coembed.fitted.placing import entry_counts, infer, new_views, reading_of
from coembed.fitted.questions import cell_matches, matches, named_relation, pointing_alike, top
from coembed.fitted.space import bias_of_new, pointing
from coembed.network.items import UNKNOWN
from coembed.network.ways import ways_of
from coembed.views import Touch, TypeViews

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted

_NOBODY = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Newcomers:
    """Items of one type placed in the space of a model, one row each.

    Attributes
    ----------
    rows
        What they touch, by the names of the ways: newcomers x items of the training network.
    latents, probabilities
        What the model infers of them, and, if their type has classes, their class probabilities.
    codes
        Where they are in the common space.
    views
        How they are seen, if the model sees items in views.
    """

    fitted: Fitted
    type: str
    rows: dict[str, sp.csr_array]
    latents: Gaussians
    probabilities: np.ndarray | None
    codes: Gaussians
    views: TypeViews | None = None

    def answer(
        self, relation: str, targets: np.ndarray, backwards: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """As :meth:`Fitted.answer` of all pairs with some items of the far end, newcomers x targets each."""
        joined, fit = self.fitted.network.relation(relation), self.fitted.relations[relation]
        kind = "codes" if "codes" in fit.blends else "likely"
        return answered(joined, fit, kind, *self._asked(relation, targets, backwards))

    def complete(
        self, row: int, relation: str | None = None, k: int = 10, *, backwards: bool = False
    ) -> list[Match]:
        """What a newcomer should have, without what it has; backwards: who should have it."""
        name = named_relation(self.fitted, relation, self.type)
        joined = self.fitted.network.relation(name)
        backwards = backwards or self.type != joined.source
        if joined.column is not None and joined.column.has_cells:
            held = self._held(row, f"{name}>")
            features = self.cell_features(np.array([row]))
            return cell_matches(self.fitted, joined, self._latent(row), k, held, features)
        undirected = joined.pairing.undirected
        held = self._held(row, f"{name}{'<' if backwards and not undirected else '>'}")
        far = joined.source if backwards else joined.target
        others = np.arange(len(self.fitted.network.items(far))) if backwards else self.fitted.span(joined)
        one = self._one(row)
        ranked = one._ranked(name, far, others, backwards)
        best = top(ranked, k, held - (others[0] if len(others) else 0))
        scores, std = one.answer(name, others[best], backwards)
        return matches(self.fitted, far, others[best], scores[0], std[0], held)

    def nearest(self, row: int, to: str | None = None, k: int = 10) -> list[Match]:
        """The known items of a type most like a newcomer (cosine)."""
        to = to or self.type
        ways = [way.name for way in ways_of(self.fitted.network, self.type) if way.other == to]
        ways += [f"{each.name}>" for each in self.fitted.network.columns(self.type) if each.target == to]
        held = np.unique(np.concatenate([_NOBODY, *(self._held(row, way) for way in ways)]))
        return pointing_alike(self.fitted, self.codes.take(np.array([row])), to, k, _NOBODY, held)

    def cell_features(self, rows: np.ndarray) -> np.ndarray | None:
        """What models of cells beside the space read of some of them."""
        return None if self.views is None else self.fitted.cell_features(self.type, rows, self.views)

    def _ranked(self, relation: str, far: str, others: np.ndarray, backwards: bool) -> np.ndarray:
        """What a single newcomer's pairs with some items at the other end are worth, without their doubt."""
        fit = self.fitted.relations[relation]
        if "codes" not in fit.blends:
            moments, worth = self._asked(relation, others, backwards)
            return worth(moments)[0]
        there = self.fitted.codes(far).mean[others] / self.fitted.lengths(far)[others, None]
        return fit.by_cosine(Moments(there @ unit_length(self.codes.mean)[0], np.zeros(1)))

    def _asked(
        self, relation: str, others: np.ndarray, backwards: bool
    ) -> tuple[Moments, Callable[[Moments], np.ndarray]]:
        """What is compared of all newcomers and some items at the other end, and what that is worth."""
        fit, joined = self.fitted.relations[relation], self.fitted.network.relation(relation)
        if "codes" not in fit.blends:
            return self._moments(relation, others, backwards), partial(self._worth, relation=relation)
        far = joined.source if backwards or self.type != joined.source else joined.target
        return crossed_cosines(self.codes, self.fitted.codes_at(far, others)), fit.by_cosine

    def _moments(self, relation: str, others: np.ndarray, backwards: bool = False) -> Moments:
        """Scores of all newcomers with some items at the other end of a relation."""
        fit, joined = self.fitted.relations[relation], self.fitted.network.relation(relation)
        counts = entry_counts(self.fitted.network, self.type, self.rows, len(self.latents.mean))
        source, target = self.fitted.bias(relation)
        if not backwards and self.type == joined.source:
            moments = fit.crossed(self.latents, self.fitted.latents_at(joined.target, others))
            own, theirs = fit.source_evidence, target[others - self._start(relation)]
        else:
            turned = fit.crossed(self.fitted.latents_at(joined.source, others), self.latents)
            moments = Moments(turned.mean.T, turned.variance.T)
            own, theirs = fit.target_evidence, source[others]
        return moments.moved(bias_of_new(own, counts)[:, None] + theirs)

    def _start(self, relation: str) -> int:
        column = self.fitted.network.relation(relation).column
        return 0 if column is None else column.start

    def _one(self, row: int) -> Newcomers:
        """One of them by itself."""
        if len(self.latents.mean) == 1:
            return self
        at = np.array([row])
        rows = {name: sp.csr_array(part[at]) for name, part in self.rows.items()}
        return replace(self, rows=rows, latents=self.latents.take(at), codes=self.codes.take(at))

    def _worth(self, moments: Moments, relation: str) -> np.ndarray:
        fit = self.fitted.relations[relation]
        return fit.center + fit.unit * fit.kind.expected(moments.mean, moments.variance)

    def _latent(self, row: int) -> Gaussians:
        return self.latents.take(np.array([row]))

    def _held(self, row: int, way: str) -> np.ndarray:
        matrix = self.rows[way]
        return matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]


def place_newcomers(
    fitted: Fitted,
    type: str,
    rows: Mapping[str, sp.csr_array],
    labels: np.ndarray | None = None,
    among: Mapping[str, sp.csr_array] | None = None,
) -> Newcomers:
    """Place items by their rows in relations (``name``, or ``name<`` from the far end) and columns.

    `among` has the entries of relations with one another, by the same names with ``>`` or ``<`` behind them.
    """
    network = fitted.network
    given = {
        name if name[-1:] in "<>" else f"{name}>": part
        if isinstance(part, sp.csr_array)
        else sp.csr_array(part)
        for name, part in rows.items()
    }
    count = next(iter(given.values())).shape[0]
    known: dict[str, sp.csr_array] = {}
    widths = {way.name: len(network.items(way.other)) for way in ways_of(network, type)}
    widths |= {f"{each.name}>": each.values.shape[1] for each in network.columns(type)}
    for name, width in widths.items():
        known[name] = given.pop(name) if name in given else _nothing(count, width)
    if given:
        raise no_such(f"relation of {type}", next(iter(given))[:-1], network.relations)
    touch = {
        name: Touch(part, (among or {}).get(name)).map(partial(reading_of, fitted, name[:-1]))
        for name, part in known.items()
    }
    views = new_views(fitted, {type: touch})
    z, probabilities = infer(fitted, {type: touch}, views)[type]
    observed = np.full((count, *fitted.labels_of(type).shape[1:]), UNKNOWN) if labels is None else labels
    latents = fitted.types[type].coded(z, probabilities, observed)
    codes = pointing(latents, direction_of_new(fitted, type, known))
    return Newcomers(fitted, type, known, latents, probabilities, codes, views.get(type))


def _nothing(count: int, width: int) -> sp.csr_array:
    return sp.csr_array((count, width), dtype=np.float32)
