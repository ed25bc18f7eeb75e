"""Kernels: gradients by finite differences, blocks against dense, samples against the exact sum."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch.autograd import gradcheck

from coembed.kernels import (
    ObservedPairs,
    Parabola,
    SparseMatrix,
    pairwise_sum,
    pairwise_sum_symmetric,
    random_block,
    square_sum,
    tanh_of,
    weighted_sum,
)
from coembed.kernels.sparse import csr_tensor, gathered_rows
from coembed.likelihoods import LIKELIHOODS

SOFTPLUS = LIKELIHOODS["bernoulli"].absent


def rows(n, d=3, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, d, generator=generator, dtype=torch.float64).requires_grad_()


def weights(n, seed=0):
    generator = torch.Generator().manual_seed(100 + seed)
    return torch.rand(n, generator=generator, dtype=torch.float64).requires_grad_()


def sparse(n, m, seed=0, density=0.4):
    return sp.csr_array(sp.random_array((n, m), density=density, rng=np.random.default_rng(seed)))


def test_product_is_the_dense_product_with_its_gradient():
    matrix = sparse(5, 7)
    kernel = SparseMatrix(matrix, dtype=torch.float64)
    dense = rows(7)
    assert torch.allclose(kernel @ dense, torch.as_tensor(matrix.toarray()) @ dense, atol=1e-12)
    assert gradcheck(lambda d: kernel @ d, dense)


@pytest.mark.parametrize("shape", [(5, 27), (27, 5)])
@pytest.mark.parametrize("threads", [1, 3])
def test_products_of_the_transpose_add_rows_up(shape, threads, monkeypatch):
    monkeypatch.setattr("coembed.kernels.sparse.MANY_ENTRIES", 0)
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    matrix, dense = sparse(*shape), rows(shape[0])
    kernel = SparseMatrix(matrix, dtype=torch.float64)
    assert torch.allclose(kernel.T @ dense, torch.as_tensor(matrix.toarray()).T @ dense, atol=1e-12)
    assert gradcheck(lambda d: kernel.T @ d, dense)
    assert gradcheck(lambda d: kernel @ d, rows(shape[1]))


def test_symmetric_product():
    upper = sparse(6, 6)
    matrix = sp.csr_array(upper + upper.T)
    kernel = SparseMatrix(matrix, symmetric=True, dtype=torch.float64)
    assert gradcheck(lambda d: kernel @ d, rows(6))


def test_empty_rows_and_empty_matrix_multiply():
    kernel = SparseMatrix(sp.csr_array((4, 3)), dtype=torch.float64)
    dense = rows(3)
    product = kernel @ dense
    product.sum().backward()
    assert product.abs().sum() == 0
    assert dense.grad.abs().sum() == 0


def test_inner_products_at_observed_pairs():
    matrix = sparse(6, 5)
    pairs = ObservedPairs(matrix, dtype=torch.float64)
    left, right = rows(6), rows(5, seed=1)
    where = matrix.nonzero()
    assert torch.allclose(pairs.inner_products(left, right), (left @ right.T)[where], atol=1e-12)
    assert (pairs.rows.numpy() == where[0]).all()
    assert (pairs.columns.numpy() == where[1]).all()
    assert gradcheck(pairs.inner_products, (left, right))
    assert gradcheck(lambda z: ObservedPairs(sparse(6, 6), dtype=torch.float64).inner_products(z, z), left)


@pytest.mark.parametrize("block", [1, 2, 3, 100])
@pytest.mark.parametrize("weighted", [False, True])
def test_softplus_sum_in_blocks_is_the_dense_one(block, weighted):
    left, right = rows(7), rows(5, seed=1)
    v, w = (weights(7), weights(5, 1)) if weighted else (None, None)
    dense = F.softplus(left @ right.T)
    expected = (dense * v[:, None] * w).sum() if weighted else dense.sum()
    assert abs(pairwise_sum(SOFTPLUS, left, right, v, w, block) - expected) < 1e-10
    inputs = (left, right, v, w) if weighted else (left, right)
    assert gradcheck(lambda *x: pairwise_sum(SOFTPLUS, *x, *[None] * (4 - len(x)), block), inputs)


@pytest.mark.parametrize("block", [1, 2, 3, 100])
@pytest.mark.parametrize("weighted", [False, True])
def test_symmetric_softplus_sum_is_the_dense_one(block, weighted):
    items, w = rows(7), weights(7) if weighted else None
    dense = F.softplus(items @ items.T)
    expected = (dense * w[:, None] * w).sum() if weighted else dense.sum()
    assert abs(pairwise_sum_symmetric(SOFTPLUS, items, w, block) - expected) < 1e-10
    inputs = (items, w) if weighted else (items,)
    assert gradcheck(lambda x, w=None: pairwise_sum_symmetric(SOFTPLUS, x, w, block), inputs)


def test_square_sum_needs_no_pairs():
    left, right, v, w = rows(7), rows(5, seed=1), weights(7), weights(5, 1)
    assert abs(square_sum(left, right) - ((left @ right.T) ** 2).sum()) < 1e-10
    assert abs(square_sum(left, right, v, w) - ((left @ right.T) ** 2 * v[:, None] * w).sum()) < 1e-10
    assert gradcheck(square_sum, (left, right, v, w))


def test_a_parabola_and_what_it_leaves_are_the_whole():
    left, right, parabola = rows(7), rows(5, seed=1), Parabola(0.4, 0.1)
    rest = parabola.rest_of(SOFTPLUS)
    sums = weighted_sum(left, None) @ weighted_sum(right, None)
    closed = parabola.slope * sums + parabola.curve * square_sum(left, right)
    whole = pairwise_sum(SOFTPLUS, left, right)
    assert abs(closed + pairwise_sum(rest, left, right, block=3) - whole) < 1e-10
    assert gradcheck(lambda *x: pairwise_sum(rest, *x), (left, right))
    v = weights(7)
    torch.testing.assert_close(weighted_sum(left, v), (v[:, None] * left).sum(dim=0))


@pytest.mark.parametrize("same", [False, True])
def test_mean_of_sampled_sums_is_the_exact_one(same):
    left = rows(30).detach()
    right = left if same else rows(20, seed=1).detach()
    dense = F.softplus(left @ right.T)
    exact = float(dense.sum() - (dense.diagonal().sum() if same else 0))
    generator = torch.Generator().manual_seed(0)
    estimates = []
    for _ in range(2000):
        block = random_block(len(left), len(right), 8, same, generator)
        assert not same or not set(block.rows.tolist()) & set(block.columns.tolist())
        estimates.append(float(pairwise_sum(SOFTPLUS, left[block.rows], right[block.columns])) * block.scale)
    assert abs(np.mean(estimates) - exact) < 3 * np.std(estimates) / np.sqrt(len(estimates))


def test_sampled_gradient_is_unbiased_too():
    left, right = rows(12), rows(10, seed=1)
    pairwise_sum(SOFTPLUS, left, right).backward()
    exact, left.grad = left.grad.clone(), None
    generator = torch.Generator().manual_seed(0)
    draws = []
    for _ in range(2000):
        block = random_block(12, 10, 4, False, generator)
        estimate = pairwise_sum(SOFTPLUS, left[block.rows], right[block.columns]) * block.scale
        draws.append(torch.autograd.grad(estimate, left)[0])
    mean, error = torch.stack(draws).mean(0), torch.stack(draws).std(0) / 2000**0.5
    assert ((mean - exact).abs() < 4 * error).all()


@pytest.mark.parametrize("shape", [(6, 5), (5, 6), (30, 4), (4, 30)])
def test_products_of_square_and_lopsided_matrices_are_those_of_dense_ones(shape):
    matrix = sparse(*shape)
    kernel, pairs = SparseMatrix(matrix, dtype=torch.float64), ObservedPairs(matrix, dtype=torch.float64)
    dense, other = rows(shape[1]), rows(shape[0], seed=1)
    whole = torch.from_numpy(matrix.toarray()).double()
    assert torch.allclose(kernel @ dense, whole @ dense, atol=1e-12)
    assert torch.allclose(kernel.T @ other, whole.T @ other, atol=1e-12)
    assert gradcheck(lambda d: kernel @ d, dense)
    assert gradcheck(lambda d: kernel.T @ d, other)
    assert gradcheck(pairs.inner_products, (other, dense))


def test_what_memory_held_before_does_not_reach_a_product():
    matrix = csr_tensor(sparse(40, 50), "cpu", torch.float32)
    dense = torch.randn(50, 8)
    for _ in range(5):
        torch.full((40, 8), torch.nan)  # freed at once, so the product may well get this memory
        assert gathered_rows(matrix, dense).isfinite().all()
    filled = torch.full((40, 8), torch.nan).addmm_(matrix, dense, beta=0)
    assert torch.equal(filled, gathered_rows(matrix, dense))


def test_tanh_by_the_logistic_function():
    numbers = torch.linspace(-30, 30, 601, dtype=torch.float64)
    assert torch.allclose(tanh_of(numbers.clone()), numbers.tanh(), atol=1e-15, rtol=0)
    assert gradcheck(lambda x: tanh_of(x * 1.0), torch.randn(7, dtype=torch.float64, requires_grad=True))
