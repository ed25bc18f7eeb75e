"""What is shown as a probability is one, and its ± is its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit

from coembed.fitted.chances import answered, prevalence, score_name
from coembed.fitted.gaussians import Gaussians
from coembed.fitted.moments import Moments, aligned_cosines, crossed_cosines, logits
from coembed.fitted.space import RelationFit
from coembed.network import Network, demo_network
from coembed.network.relations import Column, Relation
from coembed.settings import preset_settings
from coembed.training import fit


@pytest.fixture(scope="module")
def demo():
    return fit(demo_network(), preset_settings("best", epochs=15, hidden=32, rank=32, space_dim=0))


def test_prevalence_by_hand():
    owns = np.zeros((4, 5))
    owns[0, 1] = owns[1, 2] = owns[2, 4] = 1
    assert prevalence(Relation.build("own", "node", "word", owns)) == 3 / 20
    column = Column("tags", "tags", start=1, stop=4)
    assert prevalence(Relation.build("own", "node", "word", owns, column=column)) == 3 / 12
    follows = np.zeros((3, 3))
    follows[0, 1] = 1
    assert prevalence(Relation.build("f", "node", "node", follows, directed=True)) == 1 / 6
    assert prevalence(Relation.build("f", "node", "node", follows + follows.T)) == 1 / 3


@pytest.mark.parametrize("relation", ["links", "attributes"])
def test_pairs_at_random_are_as_likely_as_pairs_are_frequent(demo, relation):
    joined = demo.network.relation(relation)
    rng = np.random.default_rng(0)
    pairs = np.column_stack([rng.integers(0, size, 20_000) for size in joined.values.shape])
    pairs = pairs[pairs[:, 0] != pairs[:, 1]] if joined.pairing.same else pairs
    found, _ = demo.answer(relation, pairs)
    assert found.mean() == pytest.approx(prevalence(joined), rel=0.6)
    # which the score against as many absent pairs is far from
    assert demo.score(relation, pairs).mean() > 5 * prevalence(joined)
    np.testing.assert_array_equal(
        np.argsort(found[:500], kind="stable"), np.argsort(demo.score(relation, pairs[:500]), kind="stable")
    )
    assert score_name(demo, relation) == "probability"


def test_what_is_not_weighed_is_a_score(demo):
    bare = replace(demo, relations={k: v.without_pair_scores() for k, v in demo.relations.items()})
    assert score_name(bare, "links") == "score"
    pairs = np.array([[0, 1], [2, 3]])
    np.testing.assert_allclose(bare.answer("links", pairs)[0], bare.score("links", pairs), rtol=1e-5)
    counted = replace(demo, relations={**demo.relations, "links": RelationFit("poisson")})
    assert score_name(counted, "links") == "value"


def test_what_is_characteristic_is_weighed_by_weights_of_its_own(demo):
    pairs, blends = np.column_stack([np.arange(40)] * 2), demo.relations["attributes"].blends
    others = [each.pairs(pairs) for each in demo.pair_scores("attributes")]
    own = logits(demo._pair_moments("attributes", pairs, lift=True), True)
    found = demo.score("attributes", pairs, lift=True)
    np.testing.assert_allclose(found, expit(blends["lift"].logits_of([own, *others])), rtol=1e-5)
    assert np.abs(found - expit(blends["likely"].logits_of([own, *others]))).max() > 0.05


def test_the_spread_is_that_of_the_score_shown(demo):
    fitted = demo.relations["attributes"]
    known = demo.network.attributes.tocoo()  # likely ones, where a probability bends most
    pairs = np.vstack([np.column_stack([np.arange(40)] * 2), np.column_stack([known.row, known.col])[:40]])
    shown, spread = demo.answer("attributes", pairs)
    moments = demo._pair_moments("attributes", pairs, lift=False)
    others = [each.pairs(pairs) for each in demo.pair_scores("attributes")]
    rng, blend = np.random.default_rng(0), fitted.blends["likely"]
    drawn = []
    for _ in range(4000):
        at = Moments(rng.normal(moments.mean, np.sqrt(moments.variance)), moments.variance)
        drawn.append(expit(blend.logits_of([logits(at, True), *others]) + fitted.shifts["likely"]))
    # of 4,000 draws the spread is known to some hundredths, as it is by quadrature
    np.testing.assert_allclose(spread, np.std(drawn, axis=0), rtol=0.12, atol=2e-4)
    assert np.all((shown > 0) & (shown < 1))


def test_the_shift_is_that_of_the_odds():
    links = np.zeros((5, 5))
    links[0, 1] = links[1, 0] = 1
    relation = Relation.build("links", "node", "node", links)
    fit_ = RelationFit(blends={"likely": None})
    shown, spread = answered(
        relation, fit_, "likely", Moments(np.zeros(1), np.zeros(1)), lambda m: expit(m.mean)
    )
    assert shown[0] == pytest.approx(0.1)  # even odds against as many, one in ten of all
    assert spread[0] == 0
    _, wider = answered(relation, fit_, "likely", Moments(np.zeros(1), np.ones(1)), lambda m: expit(m.mean))
    drawn = expit(logit(0.1) + np.random.default_rng(0).normal(size=100_000))
    assert wider[0] == pytest.approx(drawn.std(), rel=0.02)


def test_cosines_and_their_variance():
    rng = np.random.default_rng(3)
    left = Gaussians(rng.normal(size=(4, 6)), 0.01 * rng.random((4, 6)))
    right = Gaussians(rng.normal(size=(4, 6)), 0.01 * rng.random((4, 6)))
    crossed, aligned = crossed_cosines(left, right), aligned_cosines(left, right)
    np.testing.assert_allclose(np.diag(crossed.mean), aligned.mean)
    np.testing.assert_allclose(np.diag(crossed.variance), aligned.variance)
    a = left.mean + left.std * rng.standard_normal((20_000, 4, 6))
    b = right.mean + right.std * rng.standard_normal((20_000, 4, 6))
    drawn = (a * b).sum(2) / np.linalg.norm(a, axis=2) / np.linalg.norm(b, axis=2)
    np.testing.assert_allclose(aligned.variance, drawn.var(axis=0), rtol=0.05)


def test_a_plain_network_without_links_has_no_chance_of_any():
    assert prevalence(Network.build([[0, 0], [0, 0]]).relation("links")) == 0
