"""Closed-form scores tell whether a pair is there; they stand by no score that is a count or a value."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import coembed
from coembed.network import Items, Network, Relation
from coembed.training import pair_score_weights


@pytest.mark.parametrize(("likelihood", "blended"), [("bernoulli", True), ("poisson", False)])
def test_only_presence_is_told_by_closed_form_scores(likelihood: str, blended: bool) -> None:
    rng = np.random.default_rng(0)
    visits = sp.csr_array(rng.poisson(0.6, size=(60, 40)).astype(np.float32))
    network = Network.of(
        [Items.build("person", 60), Items.build("shop", 40)],
        [Relation.build("visits", "person", "shop", visits, likelihood=likelihood)],
    )
    fitted = coembed.fit(network, coembed.preset_settings(dim=4, epochs=2))
    assert bool(fitted.relations["visits"].blends) == blended
    assert bool(fitted.pair_scores("visits")) == blended


@pytest.mark.parametrize("undirected", [True, False])
def test_what_a_lift_is_weighed_against_is_neither_known_nor_kept_aside(undirected: bool) -> None:
    rng = np.random.default_rng(0)
    there = np.triu(rng.random((30, 30)) < 0.3, 1)
    every = np.argwhere(there)
    kept = every[rng.permutation(len(every))[:60]]
    seen = there.astype(np.float32)
    seen[kept[:, 0], kept[:, 1]] = 0
    relation = Relation.build("r", "a", "a", seen + seen.T if undirected else seen, directed=not undirected)
    absent = pair_score_weights._matched(relation, kept, 0)
    assert len(absent) > 30
    full = there | there.T if undirected else there
    assert not full[absent[:, 0], absent[:, 1]].any()
