"""Closed-form scores tell whether a pair is there; they stand by no score that is a count or a value."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import coembed
from coembed.network import Items, Network, Relation


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
