from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from coembed.errors import InputError
from coembed.fitted import Gaussians
from coembed.fitted.moments import (
    aligned_moments,
    cosine_std,
    crossed_moments,
    unit_length,
)
from coembed.likelihoods import LIKELIHOODS

from .conftest import with_space


def codes(rng, rows, spread=0.5):
    return Gaussians(rng.standard_normal((rows, 6)), rng.uniform(0.1, spread, (rows, 6)))


def test_moments_agree_with_monte_carlo(rng):
    left, right = codes(rng, 4, spread=1.5), codes(rng, 4, spread=1.5)
    draws = 200_000
    s = sum(
        (left.mean[:, c, None] + left.std[:, c, None] * rng.standard_normal((4, draws)))
        * (right.mean[:, c, None] + right.std[:, c, None] * rng.standard_normal((4, draws)))
        for c in range(6)
    )
    moments = aligned_moments(left, right)
    assert np.all(np.abs(s.mean(1) - moments.mean) < 4 * s.std(1) / np.sqrt(draws))
    np.testing.assert_allclose(s.var(1), moments.variance, rtol=0.03)


def test_crossed_moments_hold_the_aligned_ones_on_their_diagonal(rng):
    left, right = codes(rng, 5), codes(rng, 5)
    crossed, aligned = crossed_moments(left, right), aligned_moments(left, right)
    np.testing.assert_allclose(np.diag(crossed.mean), aligned.mean)
    np.testing.assert_allclose(np.diag(crossed.variance), aligned.variance)


@pytest.mark.parametrize("mean", [-4.0, -1.0, 0.0, 2.0, 6.0])
@pytest.mark.parametrize("variance", [0.0, 0.3, 2.0, 20.0])
def test_expected_probability_is_close_to_monte_carlo(rng, mean, variance):
    values = expit(mean + np.sqrt(variance) * rng.standard_normal(200_000))
    moments = np.array([mean]), np.array([variance])
    bernoulli = LIKELIHOODS["bernoulli"]
    # the closed form is an approximation: within two points of probability everywhere
    assert abs(bernoulli.expected(*moments)[0] - values.mean()) < 0.02
    assert abs(bernoulli.spread(*moments)[0] - values.std()) < 0.01


def test_expected_score_of_real_gaussians_is_close_to_monte_carlo(fitted, rng):
    # a prior's width at most: sums of wider products have tails that no normal has
    for type, space in fitted.types.items():
        fitted = with_space(fitted, type, std=space.std.clip(0, 1))
    pairs = rng.integers(0, [40, 15], (30, 2))
    draws = np.zeros((2000, 30))
    for t in range(2000):
        nodes, attributes = fitted.draw(rng).values()
        draws[t] = expit((nodes[pairs[:, 0]] * attributes[pairs[:, 1]]).sum(1))
    np.testing.assert_allclose(fitted.score_attributes(pairs), draws.mean(0), atol=0.035)


def test_uncertainty_draws_probabilities_towards_one_half(fitted, rng):
    pairs = rng.integers(0, 40, (50, 2))
    honest, bold = fitted.score_links(pairs), fitted.score_links(pairs, expected=False)
    assert np.all(np.abs(honest - 0.5) < np.abs(bold - 0.5))
    assert np.all((honest > 0.5) == (bold > 0.5))


@pytest.mark.parametrize("expected", [True, False])
@pytest.mark.parametrize(("kind", "items"), [("links", 40), ("attributes", 15)])
def test_rows_hold_the_scores_of_the_pairs(any_fitted, rng, kind, items, expected):
    pairs = rng.integers(0, [40, items], (60, 2))
    score = any_fitted.score_links if kind == "links" else any_fitted.score_attributes
    rows = any_fitted.score_rows(np.arange(40), kind, expected=expected)
    assert rows.shape == (40, items)
    np.testing.assert_allclose(score(pairs, expected=expected), rows[pairs[:, 0], pairs[:, 1]], rtol=1e-5)


def test_chunks_change_nothing(fitted, rng, monkeypatch):
    pairs = rng.integers(0, 40, (100, 2))
    whole = fitted.score_links(pairs)
    monkeypatch.setattr("coembed.fitted.moments.CHUNK", 7)
    np.testing.assert_array_equal(fitted.score_links(pairs), whole)


def test_link_scores_are_symmetric(any_fitted, rng):
    pairs = rng.integers(0, 40, (50, 2))
    np.testing.assert_allclose(
        any_fitted.score_links(pairs), any_fitted.score_links(pairs[:, ::-1]), rtol=1e-6
    )


def test_gaussian_relations_score_with_the_mean_in_their_unit(any_fitted):
    scores = any_fitted.score_attributes([[0, 0], [1, 2]])
    products = [any_fitted.nodes.mean[i] @ any_fitted.attribute_mean[a] for i, a in [(0, 0), (1, 2)]]
    if any_fitted.relations["attributes"].likelihood == "gaussian":
        np.testing.assert_allclose(scores, np.multiply(products, 0.4), rtol=1e-5)  # its unit
    else:
        assert np.all((scores > 0) & (scores < 1))


def test_unknown_relation_is_refused(fitted):
    with pytest.raises(InputError, match="no relation 'friends'"):
        fitted.score_rows([0], "friends")


def test_cosine_std_agrees_with_small_noise_monte_carlo(rng):
    left, right = codes(rng, 3, spread=0.15), codes(rng, 3, spread=0.15)
    draws = np.array(
        [
            (
                unit_length(left.mean + left.std * rng.standard_normal(left.std.shape))
                * unit_length(right.mean + right.std * rng.standard_normal(right.std.shape))
            ).sum(1)
            for _ in range(4000)
        ]
    )
    np.testing.assert_allclose(cosine_std(left, right), draws.std(0), rtol=0.1)


def with_biases(fitted, relation, source=None, target=None):
    fit = fitted.relations[relation]
    rows, columns = fitted.network.relation(relation).values.shape
    changed = replace(
        fit,
        source_bias=np.zeros(rows, np.float32) if source is None else source,
        target_bias=np.zeros(columns, np.float32) if target is None else target,
    )
    return replace(fitted, relations={**fitted.relations, relation: changed})


def test_a_lift_knows_nothing_of_how_popular_the_far_end_is(fitted, rng):
    """What is likely grows with the bias of the far end, what is characteristic does not; pairs and rows."""
    nodes, attributes = fitted.network.attributes.shape
    pairs = np.column_stack([rng.integers(nodes, size=20), rng.integers(attributes, size=20)])
    popular = with_biases(fitted, "attributes", target=rng.normal(2, 1, attributes).astype(np.float32))
    plain = with_biases(fitted, "attributes")
    for score in (
        lambda model, **how: model.score_attributes(pairs, **how),
        lambda model, **how: model.score_rows(np.arange(3), "attributes", **how),
    ):
        np.testing.assert_allclose(score(popular, lift=True), score(plain, lift=True), rtol=1e-5)
        assert not np.allclose(score(popular), score(plain))
        near = with_biases(fitted, "attributes", source=np.full(nodes, 2, np.float32))
        assert not np.allclose(score(near, lift=True), score(plain, lift=True))
