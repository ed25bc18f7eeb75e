"""A few items that the fit has not seen, placed by what they touch, and what the model says of them.

:func:`coembed.fitted.placing.embed` makes a result of a whole network. Here nothing known is copied, so
that a question about a newcomer costs about as much as one about a known item.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from coembed.errors import no_such
from coembed.fitted.gaussians import Gaussians, with_labels
from coembed.fitted.matches import Match
from coembed.fitted.moments import Moments
from coembed.fitted.placing import entry_counts, infer, reading_of
from coembed.fitted.questions import best_of, cell_matches, named_relation, pointing_alike
from coembed.fitted.space import bias_of_new
from coembed.network.items import UNKNOWN
from coembed.views import Touch
from coembed.views.reach import ways_of

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
    codes, probabilities
        Their codes and, if their type has classes, their class probabilities.
    """

    fitted: Fitted
    type: str
    rows: dict[str, sp.csr_array]
    codes: Gaussians
    probabilities: np.ndarray | None

    def score(self, relation: str, targets: np.ndarray) -> np.ndarray:
        """Scores with some items of the far end, newcomers x targets; the model's alone."""
        fit, joined = self.fitted.relations[relation], self.fitted.network.relation(relation)
        moments = fit.crossed(self.codes, self.fitted.codes_at(joined.target, targets))
        start = 0 if joined.column is None else joined.column.start
        bias = self._bias(relation)[:, None] + self.fitted.bias(relation)[1][targets - start]
        return self._worth(moments.moved(bias), relation)

    def complete(self, row: int, relation: str | None = None, k: int = 10) -> list[Match]:
        """What a newcomer should have, without what it has."""
        name = named_relation(self.fitted, relation, self.type)
        joined, here = self.fitted.network.relation(name), self._code(row)
        held = self._held(row, f"{name}>")
        if joined.column is not None and joined.column.has_cells:
            return cell_matches(self.fitted, joined, here, k, held)
        bias, fit = self._bias(name)[row], self.fitted.relations[name]
        moments = fit.crossed(here, self.fitted.others(name))
        scores = self._worth(moments.moved(bias + self.fitted.bias(name)[1]), name)[0]
        return best_of(self.fitted, joined, here, bias, scores, k, held, held)

    def nearest(self, row: int, to: str | None = None, k: int = 10) -> list[Match]:
        """The known items of a type most like a newcomer (cosine)."""
        to = to or self.type
        ways = [way.name for way in ways_of(self.fitted.network, self.type) if way.other == to]
        ways += [f"{each.name}>" for each in self.fitted.network.columns(self.type) if each.target == to]
        held = np.unique(np.concatenate([_NOBODY, *(self._held(row, way) for way in ways)]))
        return pointing_alike(self.fitted, self._code(row), to, k, _NOBODY, held)

    def _bias(self, relation: str) -> np.ndarray:
        """What is added to inner products for the newcomers, by their evidence."""
        counts = entry_counts(self.fitted.network, self.type, self.rows, len(self.codes.mean))
        return bias_of_new(self.fitted.relations[relation].source_evidence, counts)

    def _worth(self, moments: Moments, relation: str) -> np.ndarray:
        fit = self.fitted.relations[relation]
        return fit.unit * fit.kind.expected(moments.mean, moments.variance)

    def _code(self, row: int) -> Gaussians:
        return self.codes.take(np.array([row]))

    def _held(self, row: int, way: str) -> np.ndarray:
        matrix = self.rows[way]
        return matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]


def place_newcomers(
    fitted: Fitted, type: str, rows: Mapping[str, sp.csr_array], labels: np.ndarray | None = None
) -> Newcomers:
    """Place items by their rows in relations (``name``, or ``name<`` from the far end) and columns."""
    network = fitted.network
    given = {name if name[-1:] in "<>" else f"{name}>": sp.csr_array(part) for name, part in rows.items()}
    count = next(iter(given.values())).shape[0]
    known: dict[str, sp.csr_array] = {}
    for way in ways_of(network, type):
        known[way.name] = given.pop(way.name, _nothing(count, len(network.items(way.other))))
    for relation in network.columns(type):
        name = f"{relation.name}>"
        known[name] = given.pop(name, _nothing(count, relation.values.shape[1]))
    if given:
        raise no_such(f"relation of {type}", next(iter(given))[:-1], network.relations)
    touch = {name: Touch(reading_of(fitted, name[:-1], part), None) for name, part in known.items()}
    z, probabilities = infer(fitted, {type: touch})[type]
    space = fitted.types[type]
    codes = z
    if probabilities is not None and space.label_shift is not None:
        observed = np.full(count, UNKNOWN) if labels is None else labels
        codes = with_labels(z, probabilities, space.label_shift, observed, space.block)
    return Newcomers(fitted, type, known, codes, probabilities)


def _nothing(count: int, width: int) -> sp.csr_array:
    return sp.csr_array((count, width), dtype=np.float32)
