"""A node seen from several sides.

With T the coordinates of a node's own attributes, P the mean over a node and its links, S the mean over the
nodes that are like it:

    own T    linked P T, P^2 T, P^3 T    alike S T, S P T    position: the coordinates of its links

Own attributes also come as they are, sparse. A new node is seen the same way; the known ones keep
their views.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from coembed.progress import Tell
from coembed.views.basis import Basis, averaging
from coembed.views.nearest_neighbours import Neighbours, nearest_fellows, nearest_rows

VOTERS = 50
"""Nodes alike that are kept, to vote for attributes and links; a view averages over fewer."""

FEW = 100
"""New nodes for which the words of the training nodes are kept transposed, to answer the next ones sooner."""

GROUPS: dict[str, str] = {
    "own attributes": "words own",
    "links": "position linked linked2 linked3",
    "nodes alike": "alike alike_linked",
}
"""Which views speak for what, for a person to read."""


@dataclass(frozen=True, eq=False)
class NodeViews:
    """The views of some nodes, each a matrix of one row a node.

    Attributes
    ----------
    sparse, dense
        By name. A view of which the training network has nothing (no links, no attributes) is left out.
    evidence
        log(1 + degree) and log(1 + number of attributes): how much there is to go by.
    alike
        The training nodes nearest by attributes.
    """

    sparse: dict[str, sp.csr_array]
    dense: dict[str, np.ndarray]
    evidence: np.ndarray
    alike: Neighbours

    @property
    def all(self) -> dict[str, sp.csr_array | np.ndarray]:
        return {**self.sparse, **self.dense}

    @cached_property
    def word_owners(self) -> sp.csr_array:
        """The words the other way round, one row an attribute."""
        return self.sparse["words"].T.tocsr()


def training_views(
    links: sp.csr_array,
    attributes: sp.csr_array,
    basis: Basis,
    neighbours: int,
    alike: Neighbours | None = None,
    steps: Tell | None = None,
) -> NodeViews:
    """The views of the training nodes; S takes `neighbours` of the nodes alike, found here if not given."""
    own = basis.own(attributes)
    coordinates = own @ basis.attributes
    closed = averaging(sp.csr_array(abs(links) + sp.eye_array(links.shape[0], dtype=np.float32)))
    if alike is None:
        alike = nearest_fellows(own, coordinates, max(VOTERS, neighbours), steps)
    similar = averaging(alike.graph(len(coordinates), neighbours))
    linked = closed @ coordinates
    linked2 = closed @ linked
    dense = {
        "own": coordinates,
        "linked": linked,
        "linked2": linked2,
        "linked3": closed @ linked2,
        "alike": similar @ coordinates,
        "alike_linked": similar @ linked,
    }
    return _views(links, attributes, basis, own, dense, alike)


def new_views(
    known: sp.csr_array,
    fellows: sp.csr_array,
    attributes: sp.csr_array,
    basis: Basis,
    training: NodeViews,
    neighbours: int,
) -> NodeViews:
    """The views of new nodes that touch `known` training nodes, their `fellows`, and known attributes."""
    own = basis.own(attributes)
    coordinates = own @ basis.attributes
    weights = sp.hstack([abs(known), abs(fellows) + sp.eye_array(known.shape[0], dtype=np.float32)])
    closed = averaging(sp.csr_array(weights))
    to_known, to_new = closed[:, : known.shape[1]], closed[:, known.shape[1] :]
    words = training.sparse.get("words", own[:0])
    columns = training.word_owners if known.shape[0] <= FEW and "words" in training.sparse else None
    alike = nearest_rows(own, words, max(VOTERS, neighbours), columns)
    similar = averaging(alike.graph(known.shape[1], neighbours))
    seen = training.dense
    dense = {"own": coordinates}
    if "own" in seen:
        linked = to_known @ seen["own"] + to_new @ coordinates
        linked2 = to_known @ seen["linked"] + to_new @ linked
        linked3 = to_known @ seen["linked2"] + to_new @ linked2
        dense |= {"linked": linked, "linked2": linked2, "linked3": linked3}
        dense |= {"alike": similar @ seen["own"], "alike_linked": similar @ seen["linked"]}
    return _views(sp.csr_array(known), attributes, basis, own, dense, alike, fellows)


def _views(
    links: sp.csr_array,
    attributes: sp.csr_array,
    basis: Basis,
    own: sp.csr_array,
    dense: dict[str, np.ndarray],
    alike: Neighbours,
    fellows: sp.csr_array | None = None,
) -> NodeViews:
    dense = dense | {"position": basis.position(links) @ basis.links}
    degrees = np.diff(links.indptr) + (0 if fellows is None else np.diff(fellows.indptr))
    evidence = np.log1p(np.stack([degrees, np.diff(attributes.indptr)], axis=1)).astype(np.float32)
    # a basis of rank zero: the training network has no such thing
    sparse = {"words": own} if basis.attributes.shape[1] else {}
    dense = {name: view for name, view in dense.items() if view.shape[1]}
    if not sparse and not dense:
        dense = {"evidence": evidence}  # a network of nothing still needs something to read
    return NodeViews(sparse, dense, evidence, alike)
