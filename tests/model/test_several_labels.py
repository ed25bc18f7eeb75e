"""K Bernoulli labels: costs against their definitions, gradients against differences, samples and means."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from coembed.kernels import Noise
from coembed.model.several_labels import SeveralLabels

OBSERVED = np.array([[1, 0, -1], [-1, -1, -1], [0, 0, 1], [-1, -1, -1]])


def logits(seed: int = 0) -> torch.Tensor:
    return torch.randn(4, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def variable(**how) -> SeveralLabels:
    return SeveralLabels(OBSERVED, 3, dtype=torch.float64, **how)


@pytest.mark.parametrize("prior", ["uniform", "frequency"])
def test_the_cost_is_that_of_all_combinations(prior):
    """-E_q log p(y) - w H(q) over all 2^K labels that fit what is observed."""
    labels, x, weight = variable(prior=prior), logits(), 0.7
    if prior == "uniform":
        share = np.full(3, 0.5)
    else:
        share = np.array([(1 + 1) / (2 + 2), (0 + 1) / (2 + 2), (1 + 1) / (1 + 2)])
    q = x.sigmoid().numpy()
    expected = []
    for i, seen in enumerate(OBSERVED):
        total = 0.0
        free = [k for k in range(3) if seen[k] < 0]
        for choice in itertools.product((0, 1), repeat=len(free)):
            y = seen.copy()
            y[free] = choice
            prior_cost = -sum(np.log(share[k] if y[k] else 1 - share[k]) for k in range(3))
            chosen = [q[i, k] if y[k] else 1 - q[i, k] for k in free]
            total += np.prod(chosen) * (prior_cost + weight * np.log(np.prod(chosen)))
        expected.append(total)
    np.testing.assert_allclose(labels.cost(x, weight).numpy(), expected, rtol=1e-10)


def test_the_classification_loss_is_a_mean_over_labelled_items_and_opinions():
    opinion, x = np.random.default_rng(0).random((4, 3)), logits()
    each = F.binary_cross_entropy_with_logits(
        x, torch.as_tensor(np.where(OBSERVED >= 0, OBSERVED, opinion)), reduction="none"
    ).numpy()
    observed = each[OBSERVED >= 0].sum() / 2  # two items are labelled
    np.testing.assert_allclose(variable().classification_loss(x).item(), observed)
    others = each[[1, 3]].sum() / 2
    told = variable(opinion=opinion, trust=0.3).classification_loss(x).item()
    np.testing.assert_allclose(told, observed + 0.3 * others)


def test_gradients_are_those_of_differences():
    labels = variable(opinion=np.full((4, 3), 0.3), trust=0.5, prior="frequency")
    x = logits().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: labels.cost(x, 0.7).sum(), (x,))
    assert torch.autograd.gradcheck(labels.classification_loss, (x,))

    def relaxed(x: torch.Tensor) -> torch.Tensor:
        return labels.choices(x, "gumbel", 0.5, Noise(0)).values

    assert torch.autograd.gradcheck(relaxed, (x,))


def test_samples_have_the_means_and_keep_what_is_observed():
    labels, x = variable(), logits()
    drawn = torch.stack([labels.choices(x, "hard", 0.2, Noise(seed)).values[:, 0] for seed in range(4000)])
    mean = drawn.mean(dim=0).numpy()
    wanted = labels.probabilities(x).numpy()
    assert np.abs(mean - wanted).max() < 4 * 0.5 / np.sqrt(4000)
    np.testing.assert_array_equal(mean[OBSERVED >= 0], OBSERVED[OBSERVED >= 0])
    assert set(np.unique(drawn)) == {0.0, 1.0}
    relaxed = labels.choices(x, "gumbel", 1e-3, Noise(1)).values[:, 0]
    np.testing.assert_allclose(relaxed, labels.choices(x, "hard", 0.2, Noise(1)).values[:, 0], atol=1e-6)
    means = labels.choices(x, "exact", 0.2, Noise(1))
    np.testing.assert_allclose(means.values[:, 0], wanted)
    assert means.weights is None


def test_parts_add_up_to_the_whole():
    labels, x = variable(opinion=np.full((4, 3), 0.3), trust=0.5), logits()
    parts = [labels.part(slice(0, 1)), labels.part(slice(1, 4))]
    cut = [x[:1], x[1:]]
    whole = labels.classification_loss(x)
    np.testing.assert_allclose(sum(p.classification_loss(c) for p, c in zip(parts, cut, strict=True)), whole)
    both = [p.choices(c, "gumbel", 0.2, Noise(3)).values for p, c in zip(parts, cut, strict=True)]
    np.testing.assert_allclose(torch.cat(both), labels.choices(x, "gumbel", 0.2, Noise(3)).values)
