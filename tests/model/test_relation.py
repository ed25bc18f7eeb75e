"""The likelihood of a relation: against dense matrices, by finite differences, with and without choices."""

from math import log, pi

import numpy as np
import pytest
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch.autograd import gradcheck

from coembed.errors import InputError
from coembed.kernels import Noise
from coembed.model import ItemCodes, ModelledRelation, RelationTerm

SIZE = 3


def relation(likelihood, same, n_rows=7, n_columns=5, seed=0):
    rng = np.random.default_rng(seed)
    n_columns = n_rows if same else n_columns
    matrix = (rng.random((n_rows, n_columns)) < 0.4) * rng.normal(1, 0.5, (n_rows, n_columns))
    if same:
        matrix = np.triu(matrix, 1) + np.triu(matrix, 1).T
    return ModelledRelation("r", "one", "one" if same else "other", sp.csr_array(matrix), likelihood)


def term_of(relation, **settings):
    settings = {"all_pairs": "exact", "block": 3, "dtype": torch.float64} | settings
    return RelationTerm(relation, **settings)


def codes(n_items, n_choices, seed):
    """Items with one choice of weight one, or with several weighted ones."""
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(n_items, n_choices, SIZE, generator=generator, dtype=torch.float64).requires_grad_()
    if n_choices == 1:
        return ItemCodes(values, None)
    weights = torch.rand(n_items, n_choices, generator=generator, dtype=torch.float64)
    return ItemCodes(values, (weights / weights.sum(dim=1, keepdim=True)).requires_grad_())


def ends(relation, choices):
    rows, columns = relation.matrix.shape
    left = codes(rows, choices[0], 0)
    return left, left if relation.source == relation.target else codes(columns, choices[1], 1)


def dense_term(relation, left, right, balance, gain=1.0):
    """The same from the whole matrix and all combinations of choices."""
    target = torch.as_tensor(relation.matrix.toarray())
    counted = torch.ones_like(target, dtype=torch.bool)
    if relation.source == relation.target:
        counted.fill_diagonal_(False)
    inner = torch.einsum("ikc,jmc->ikjm", left.values, right.values)
    v = torch.ones(inner.shape[:2], dtype=torch.float64) if left.weights is None else left.weights
    w = torch.ones(inner.shape[2:], dtype=torch.float64) if right.weights is None else right.weights
    weights = v[:, :, None, None] * w * counted[:, None, :, None]
    n_pairs = int(counted.sum())
    if relation.likelihood == "gaussian":
        errors = (weights * (target[:, None, :, None] - gain * inner) ** 2).sum()
        variance = errors / n_pairs
        return errors / (2 * variance) / n_pairs + 0.5 * torch.log(2 * pi * variance)
    present = (target != 0).double()[:, None, :, None]
    n_ones = float((target != 0).sum())
    n_zeros = n_pairs - n_ones
    positive, norm = (n_zeros / n_ones, n_pairs / (2 * n_zeros)) if balance else (1.0, 1.0)
    cost = positive * present * F.softplus(-inner) + (1 - present) * F.softplus(inner)
    return norm * (weights * cost).sum() / n_pairs


CASES = [
    (likelihood, same, choices)
    for likelihood in ("bernoulli", "gaussian")
    for same in (False, True)
    for choices in ((1, 1), (2, 1), (2, 3))
    if not (same and choices == (2, 1))
]


@pytest.mark.parametrize(("likelihood", "same", "choices"), CASES)
@pytest.mark.parametrize("balance", [False, True])
def test_term_is_the_dense_one(likelihood, same, choices, balance):
    given = relation(likelihood, same)
    term = term_of(given, balance=balance)
    left, right = ends(given, choices)
    gain = 1.0
    if likelihood == "gaussian":
        gain = 0.6
        with torch.no_grad():
            term.log_gain.fill_(log(gain))
    found = term(left, right, Noise(0))
    assert abs(found - dense_term(given, left, right, balance, gain)) < 1e-10


@pytest.mark.parametrize(("likelihood", "same", "choices"), CASES)
def test_gradient_by_finite_differences(likelihood, same, choices):
    given = relation(likelihood, same, n_rows=5, n_columns=4)
    term = term_of(given)
    left, right = ends(given, choices)
    given_tensors = [left.values, left.weights] + ([] if same else [right.values, right.weights])
    inputs = [tensor for tensor in given_tensors if tensor is not None]
    if term.log_gain is not None:
        inputs.append(term.log_gain)

    def evaluate(*tensors):
        rest = list(tensors)
        first = ItemCodes(rest.pop(0), None if left.weights is None else rest.pop(0))
        second = first
        if not same:
            second = ItemCodes(rest.pop(0), None if right.weights is None else rest.pop(0))
        return term(first, second, Noise(0))

    assert gradcheck(evaluate, inputs)


@pytest.mark.parametrize("same", [False, True])
def test_gain_gets_its_gradient(same):
    given = relation("gaussian", same)
    term = term_of(given)
    left, right = ends(given, (1, 1))
    term(left, right, Noise(0)).backward()
    start, step = float(term.log_gain.detach()), 1e-6
    values = []
    for sign in (1, -1):
        with torch.no_grad():
            term.log_gain.fill_(start + sign * step)
            values.append(float(term(left, right, Noise(0))))
    assert float(term.log_gain.grad) == pytest.approx((values[0] - values[1]) / (2 * step), rel=1e-5)


def test_gaussian_term_by_hand():
    # one row, two columns: values 3 and 0, inner products 2 and 1, gain 1: errors 1 and 1, variance 1
    given = ModelledRelation("r", "one", "other", sp.csr_array([[3.0, 0.0]]), "gaussian")
    term = term_of(given)
    with torch.no_grad():
        term.log_gain.zero_()
    left = ItemCodes(torch.tensor([[[1.0, 0.0]]], dtype=torch.float64), None)
    right = ItemCodes(torch.tensor([[[2.0, 5.0]], [[1.0, 7.0]]], dtype=torch.float64), None)
    assert float(term(left, right, Noise(0)).detach()) == pytest.approx(0.5 + 0.5 * log(2 * pi))


def test_sampled_and_exact_agree_where_a_block_would_not_be_smaller():
    given = relation("bernoulli", same=True)
    assert not term_of(given, all_pairs="sampled", block=100).sampled
    assert term_of(given, all_pairs="sampled", block=2).sampled
    left, right = ends(given, (2, 2))
    one, other = (term_of(given, all_pairs=way, block=100) for way in ("sampled", "exact"))
    assert float(one(left, right, Noise(0)).detach()) == float(other(left, right, Noise(0)).detach())


@pytest.mark.parametrize("same", [False, True])
def test_mean_of_sampled_terms_with_choices_is_the_exact_one(same):
    given = relation("bernoulli", same, n_rows=12, n_columns=10)
    left, right = (ItemCodes(c.values.detach(), c.weights.detach()) for c in ends(given, (2, 2)))
    if same:
        right = left
    exact = float(term_of(given)(left, right, Noise(0)))
    sampled = term_of(given, all_pairs="sampled", block=3)
    assert sampled.sampled
    draws = [float(sampled(left, right, Noise(0, step))) for step in range(2000)]
    assert abs(np.mean(draws) - exact) < 3 * np.std(draws) / np.sqrt(len(draws))


@pytest.mark.parametrize("same", [False, True])
def test_sampled_slopes_have_the_exact_ones_as_their_mean_and_vary_little(same, monkeypatch):
    given = relation("bernoulli", same, n_rows=40, n_columns=30)
    left, right = ends(given, (1, 1))
    exact = torch.autograd.grad(term_of(given)(left, right, Noise(0)), left.values)[0]
    sampled = term_of(given, all_pairs="sampled", block=8)

    def drawn():
        slopes = [
            torch.autograd.grad(sampled(left, right, Noise(0, step)), left.values)[0] for step in range(500)
        ]
        return torch.stack(slopes)

    found = drawn()
    error = found.std(dim=0) / len(found) ** 0.5
    assert ((found.mean(dim=0) - exact).abs() < 4.5 * error).all()
    # without a parabola
    monkeypatch.setattr(type(sampled.kind), "nearest_parabola", lambda *moments: (0.0, 0.0))
    assert found.var(dim=0).sum() < 0.2 * drawn().var(dim=0).sum()


@pytest.mark.parametrize("matrix", [[[0, 1], [0, 0]], [[1, 0], [0, 0]], [[0, 1, 0], [1, 0, 0]]])
def test_a_relation_of_a_type_with_itself_is_symmetric(matrix):
    bad = ModelledRelation("friends", "people", "people", sp.csr_array(np.array(matrix, dtype=np.float32)))
    with pytest.raises(InputError, match=r"'friends'.*must be symmetric"):
        term_of(bad)


def test_a_relation_without_pairs_costs_nothing():
    lonely = ModelledRelation("r", "one", "one", sp.csr_array((1, 1)))
    left, right = ends(lonely, (1, 1))
    assert float(term_of(lonely)(left, right, Noise(0)).detach()) == 0
