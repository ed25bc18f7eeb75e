"""Scores of absent pairs: of all that are absent, of none that is there."""

from __future__ import annotations

import numpy as np
import pytest
from general_network import general_network

from coembed.fitted import Fitted
from coembed.network import Network
from coembed.settings import preset_settings
from coembed.training import fit, pair_score_weights
from coembed.training.pair_errors import absent_scores


@pytest.fixture(scope="module")
def fitted() -> Fitted:
    """Nothing kept aside and no closed-form scores: a score is that of the codes."""
    settings = preset_settings("paper", epochs=2, dim=4, hidden=6, validation_pairs=0.0)
    return fit(general_network(), settings)


@pytest.mark.parametrize("name", ["knows", "follows", "saw", "hobbies", "plot"])
def test_absent_pairs_are_all_but_those_that_are_there(fitted, name) -> None:
    relation = fitted.network.relation(name)
    span = fitted.span(relation)
    dense = relation.values.toarray() != 0
    hidden = np.argwhere(~dense[:, span])[:: max(len(span) // 2, 1)][:7] + np.array([0, span[0]])
    if relation.pairing.same:
        hidden = hidden[hidden[:, 0] != hidden[:, 1]]
    dense[hidden[:, 0], hidden[:, 1]] = True
    if relation.pairing.undirected:
        dense[hidden[:, 1], hidden[:, 0]] = True
    if relation.pairing.same:
        np.fill_diagonal(dense, True)
    found, share = absent_scores(fitted, relation, hidden)
    absent = ~dense[:, span]
    every = fitted.score_rows(np.arange(len(dense)), name)
    assert np.allclose(np.sort(found), np.sort(every[absent]), atol=1e-6)
    ends = len(hidden) * (2 if relation.pairing.undirected else 1)
    assert share == pytest.approx(ends / (absent.sum() + ends), rel=1e-6)


def test_without_an_epoch_rows_are_not_put_in_order(monkeypatch) -> None:
    """That takes longer than all else that is solved for."""

    def called(*_, **__):
        raise AssertionError("rows were put in order")

    monkeypatch.setattr(pair_score_weights, "ordering", called)
    rng = np.random.default_rng(0)
    group = np.arange(80) % 2
    links = np.triu(rng.random((80, 80)) < np.where(group[:, None] == group, 0.25, 0.02), 1)
    network = Network.build((links + links.T) * 1.0, (rng.random((80, 10)) < 0.3) * 1.0)
    quick = fit(network, preset_settings("fast", space_dim=0, validation_pairs=0.2))
    assert "likely" in quick.relations["links"].blends
