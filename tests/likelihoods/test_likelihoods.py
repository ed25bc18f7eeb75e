"""What every likelihood must keep: slopes that are slopes, costs that are -log p, answers that are means."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from coembed.likelihoods import LIKELIHOODS, likelihood
from coembed.views import Reading

ALL_PAIRS = [each for each in LIKELIHOODS.values() if not each.grouped]


@pytest.mark.parametrize("kind", ALL_PAIRS, ids=lambda each: each.name)
def test_the_slope_of_an_absent_pair_is_the_gradient_of_its_cost(kind):
    scores = torch.linspace(-4, 4, 33, dtype=torch.float64).requires_grad_()
    (wanted,) = torch.autograd.grad(kind.zero(scores).sum(), scores)
    cost, slope = kind.absent(scores.detach().clone())
    torch.testing.assert_close(slope, wanted)
    torch.testing.assert_close(cost, kind.zero(scores).detach())


@pytest.mark.parametrize("kind", ALL_PAIRS, ids=lambda each: each.name)
def test_what_is_stored_costs_its_own_and_not_that_of_nothing(kind):
    scores = torch.linspace(-2, 2, 9, dtype=torch.float64)
    value = torch.ones(9, dtype=torch.float64)
    wanted = 3.0 * kind.cost(scores, value) - kind.zero(scores)
    torch.testing.assert_close(kind.beyond_absent(scores, value, 3.0), wanted)


@pytest.mark.parametrize(
    ("name", "density"),
    [
        ("bernoulli", lambda s, v: torch.distributions.Bernoulli(logits=s).log_prob(v)),
        ("poisson", lambda s, v: torch.distributions.Poisson(s.exp()).log_prob(v) + torch.lgamma(v + 1)),
        ("gaussian", lambda s, v: torch.distributions.Normal(s, 1.0).log_prob(v) + 0.5 * np.log(2 * np.pi)),
    ],
)
def test_costs_are_negative_log_densities(name, density):
    scores = torch.linspace(-3, 3, 13, dtype=torch.float64)
    for value in (0.0, 1.0):
        values = torch.full_like(scores, value)
        torch.testing.assert_close(likelihood(name).cost(scores, values), -density(scores, values))


def test_a_category_costs_its_cross_entropy():
    scores = torch.tensor([[1.0, 2.0, 0.5]], dtype=torch.float64)
    found = likelihood("categorical").cost(scores, torch.tensor([2]))
    assert float(found) == pytest.approx(float(-scores.log_softmax(1)[0, 2]))


@pytest.mark.parametrize("kind", ALL_PAIRS, ids=lambda each: each.name)
def test_the_expected_value_and_its_spread_are_those_of_many_draws(kind):
    rng = np.random.default_rng(0)
    mean, variance = np.array([0.4]), np.array([0.5])
    draws = rng.normal(mean, np.sqrt(variance), 400_000)
    values = {"bernoulli": lambda s: 1 / (1 + np.exp(-s)), "poisson": np.exp, "gaussian": lambda s: s}
    worth = values[kind.name](draws)
    assert kind.expected(mean, variance)[0] == pytest.approx(worth.mean(), abs=0.01)
    assert kind.spread(mean, variance)[0] == pytest.approx(worth.std(), rel=0.02)


def test_probabilities_of_a_category_sum_to_one():
    found = likelihood("categorical").expected(np.array([[1.0, 3.0, 0.0]]), np.array([[0.1, 2.0, 0.0]]))
    assert found.sum() == pytest.approx(1)
    assert found[0, 1] < np.exp(3) / (np.exp(3) + np.exp(1) + 1)  # what is uncertain is drawn to the others


@pytest.mark.parametrize("kind", LIKELIHOODS.values(), ids=lambda each: each.name)
def test_counts_are_explained_as_they_are_or_as_presence(kind):
    counts = sp.csr_array(np.array([[2.0, 0.0, 5.0]], dtype=np.float32))
    wanted = [1, 1] if kind.of_presence else [2, 5]
    assert Reading(kind.name).target(counts).data.tolist() == wanted


@pytest.mark.parametrize(("mean", "deviation"), [(0.0, 2.0), (-1.5, 1.0)])
def test_the_nearest_parabola_of_presence_is_that_of_least_squares(mean, deviation):
    scores = np.random.default_rng(0).normal(mean, deviation, 400_000)
    powers = np.stack([np.ones_like(scores), scores, scores**2], axis=1)
    wanted = np.linalg.lstsq(powers, np.logaddexp(0, scores))[0][1:]
    np.testing.assert_allclose(
        likelihood("bernoulli").nearest_parabola(mean, deviation**2), wanted, atol=3e-3
    )
