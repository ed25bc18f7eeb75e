"""The companions of a fitted model: what they are computed from, and how much each is worth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from coembed.fitted import Fitted
from coembed.fitted.fitted import Kind
from coembed.fitted.pair_scores import item_vectors
from coembed.fitted.score_blend import weigh
from coembed.network import Network
from coembed.network.pairs import matched_negatives
from coembed.training.holdout import Holdout

WEIGHED = 50_000
"""Pairs that are there from which weights are learnt, and as many absent ones: enough for 16 units."""


def with_companions(fitted: Fitted, holdout: Holdout) -> Fitted:
    """The fitted result with companions, weighed on the pairs that were kept aside.

    Two weighings for each relation: `likely` against absent pairs of any kind, `lift` against absent pairs
    of attributes (or nodes) as popular.
    """
    network, seed = fitted.network, int(fitted.settings.get("seed", 0))
    arrays: dict[str, np.ndarray] = {}
    for name in ("links", "attributes"):
        vectors = item_vectors(getattr(network, name), seed)
        arrays |= {f"{name}.{part}": array for part, array in vectors.items()}
    fitted = replace(fitted, companions=arrays)  # to which the weights are added below
    relations: tuple[Kind, Kind] = ("links", "attributes")
    for kind in relations:
        pairs = getattr(holdout, kind)
        if pairs is None or fitted.gaussian(kind):
            continue
        present, absent = (part[:WEIGHED] for part in pairs)
        features = fitted.pair_features(present, kind)
        for name, others in (("likely", absent), ("lift", _matched(network, present, kind, seed))):
            blend = weigh(features, fitted.pair_features(others, kind), seed)
            if blend is not None:
                arrays |= blend.as_arrays(f"{kind}.{name}")
    # without any weights there is nothing to keep them for
    return fitted if any(name.endswith(".mean") for name in arrays) else replace(fitted, companions={})


def _matched(network: Network, present: np.ndarray, kind: Kind, seed: int) -> np.ndarray:
    """Pairs that are neither in the network nor kept aside, of nodes and attributes as frequent as these."""
    seen = network.links if kind == "links" else network.attributes
    rows, columns = np.concatenate([present, present[:, ::-1]] if kind == "links" else [present]).T
    both = sp.csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=seen.shape) + seen
    return matched_negatives(
        sp.csr_array(both), network.relation(kind).pairing, present, np.random.default_rng(seed)
    )[1]
