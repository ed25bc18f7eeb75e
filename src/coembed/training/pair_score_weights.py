"""The closed-form scores of a fitted model: what they are computed from, and how much each is worth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from coembed.fitted import Fitted
from coembed.fitted.pair_scores import item_vectors
from coembed.fitted.score_blend import weigh
from coembed.network.pairs import matched_negatives
from coembed.network.relations import Relation
from coembed.training.holdout import Holdout
from coembed.training.rank_blend import ordering

WEIGHED = 20_000
"""Pairs that are there from which weights are learnt, and as many absent ones: enough for 16 units."""
FINER_FROM, FINER = 4096, 512
"""Items at both ends from which on, where all is solved for, the item model has so many coordinates, of which
the space is made: on Flickr 256 find .28 of what is hidden, 512 find .37."""
QUICKLY = 6000
"""Pairs that tell most of that, where all is solved for; so few do not tell the order within a row."""


def with_pair_scores(fitted: Fitted, holdout: Holdout) -> Fitted:
    """The fitted result with closed-form scores, weighed on the pairs that were kept aside.

    Two weighings for each relation: `likely` against absent pairs of any kind, and against what else an item
    might have; `lift` against absent pairs of items as popular.
    """
    network, seed = fitted.network, int(fitted.settings.get("seed", 0))
    quick = fitted.settings.get("fitting") == "closed-form"
    fits = dict(fitted.relations)
    for name, relation in network.relations.items():
        if name in holdout.pairs and fits[name].kind.of_presence:
            own = _own(relation)
            finer = (FINER, 1) if quick and min(own.shape) > FINER_FROM else ()
            fits[name] = replace(fits[name], vectors=item_vectors(own, seed, *finer))
    fitted = replace(fitted, relations=fits)  # to which the weights are added below
    for name, pairs in holdout.pairs.items():
        if fits[name].vectors is None:
            continue
        present, absent = (part[: QUICKLY if quick else WEIGHED] for part in pairs)
        asked = fitted.afresh()
        features = asked.pair_features(present, name)
        blends = {}
        for kind, others in (("likely", absent), ("lift", _matched(network.relation(name), present, seed))):
            blend = weigh(features, asked.pair_features(others, name), seed)
            if blend is not None:
                blends[kind] = blend
        del asked
        if "likely" in blends and not quick:
            blends["likely"] = ordering(fitted, name, blends["likely"], present, absent, seed)
        # without any weights there is nothing to keep them for
        fits[name] = replace(fits[name], blends=blends) if blends else replace(fits[name], vectors=None)
    return replace(fitted, relations=fits)


def _own(relation: Relation) -> sp.csr_array:
    """The matrix of a relation; of a column without the attributes of others."""
    column = relation.column
    if column is None or column.stop - column.start == relation.values.shape[1]:
        return relation.values
    return sp.csr_array(relation.values[:, column.start : column.stop])


def _matched(relation: Relation, present: np.ndarray, seed: int) -> np.ndarray:
    """Pairs that are neither in the network nor kept aside, of items as frequent as these."""
    seen, first = _own(relation), 0 if relation.column is None else relation.column.start
    moved = present - np.array([0, first])
    ends = np.concatenate([moved, moved[:, ::-1]]) if relation.pairing.undirected else moved
    rows, columns = ends.T
    both = sp.csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=seen.shape) + seen
    found = matched_negatives(sp.csr_array(both), relation.pairing, moved, np.random.default_rng(seed))[1]
    return found + np.array([0, first])
