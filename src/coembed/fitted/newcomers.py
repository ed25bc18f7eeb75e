"""A few nodes that the fit has not seen, placed by what they touch, and what the model says of them.

:func:`coembed.fitted.placing.embed` makes a result of a whole other network. Here nothing known is copied, so
that a question about a newcomer costs about as much as one about a known node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from coembed.fitted.gaussians import Codes, with_labels
from coembed.fitted.matches import Match
from coembed.fitted.moments import Moments, crossed_moments, expected_probability
from coembed.fitted.placing import Reach, as_modelled, infer_nodes
from coembed.fitted.placing_by_views import biases_of
from coembed.fitted.questions import best_of, pointing_alike
from coembed.network.network import UNKNOWN

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted, Kind

_NOBODY = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Newcomers:
    """Nodes placed in the space of a model, one row each.

    Attributes
    ----------
    links, attributes
        What they touch: newcomers x nodes, newcomers x attributes of the training network.
    codes, probabilities
        Their codes [z ; y] and their class probabilities.
    """

    fitted: Fitted
    links: sp.csr_array
    attributes: sp.csr_array
    codes: Codes
    probabilities: np.ndarray

    def score_attributes(self, columns: np.ndarray) -> np.ndarray:
        """Scores with some attributes, newcomers x columns; the model's alone, without its companions."""
        moments = crossed_moments(self.codes, self.fitted.attributes.take(columns))
        bias = self._bias("attributes")[:, None] + self.fitted.bias("attributes")[1][columns]
        return self._worth(moments.moved(bias), "attributes")

    def complete_attributes(self, row: int, k: int = 10) -> list[Match]:
        """The attributes likeliest to be the newcomer's, without those that it has."""
        return self._best(row, "attributes", k)

    def suggest_links(self, row: int, k: int = 10) -> list[Match]:
        """The known nodes likeliest to be linked to the newcomer, without those that are."""
        return self._best(row, "links", k)

    def similar(self, row: int, k: int = 10) -> list[Match]:
        """The known nodes most like the newcomer (cosine)."""
        return pointing_alike(self.fitted, self._code(row), "node", k, _NOBODY, self._held(row, "links"))

    def profile(self, row: int, k: int = 10) -> list[Match]:
        """What the newcomer is about: the attributes nearest to it (cosine)."""
        held = self._held(row, "attributes")
        return pointing_alike(self.fitted, self._code(row), "attribute", k, _NOBODY, held)

    def _best(self, row: int, kind: Kind, k: int) -> list[Match]:
        here, bias = self._code(row), self._bias(kind)[row]
        moments = crossed_moments(here, self.fitted.others(kind))
        scores = self._worth(moments.moved(bias + self.fitted.bias(kind)[1]), kind)[0]
        held = self._held(row, kind)
        return best_of(self.fitted, kind, here, bias, scores, k, held, held)

    def _bias(self, kind: Kind) -> np.ndarray:
        """What is added to inner products for the newcomers, by their evidence."""
        counts = np.stack([np.diff(self.links.indptr), np.diff(self.attributes.indptr)], axis=1)
        return biases_of(self.fitted, f"{kind}.source", np.log1p(counts))

    def _worth(self, moments: Moments, kind: Kind) -> np.ndarray:
        if self.fitted.gaussian(kind):
            return moments.mean * self.fitted.units.get(kind, 1.0)
        return expected_probability(moments)

    def _code(self, row: int) -> Codes:
        return self.codes.take(np.array([row]))

    def _held(self, row: int, kind: Kind) -> np.ndarray:
        matrix = self.links if kind == "links" else self.attributes
        return matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]


def place_newcomers(
    fitted: Fitted, links: sp.csr_array, attributes: sp.csr_array, label: int = UNKNOWN
) -> Newcomers:
    """Place nodes by rows of links to known nodes and rows of known attributes; `label`: that of them all."""
    alone = sp.csr_array((links.shape[0], links.shape[0]), dtype=np.float32)
    reach = Reach(as_modelled(fitted, links, "links"), alone, as_modelled(fitted, attributes, "attributes"))
    z, probabilities = infer_nodes(fitted, reach)
    labels = np.full(links.shape[0], label, dtype=np.int64)
    codes = with_labels(z, probabilities, fitted.label_shift, labels)
    return Newcomers(fitted, links, attributes, codes, probabilities)
