"""Products of nothing, blocks of few, noise of any type: what must hold at the ends of the range."""

from __future__ import annotations

import pytest
import scipy.sparse as sp
import torch

from coembed.distributed.row_range import Rows
from coembed.kernels import Noise
from coembed.kernels.all_pairs import SHORT, exact_sum, random_block
from coembed.kernels.sparse import csr_tensor, gathered_rows


def test_a_block_of_few_items_is_two_halves_that_share_nobody() -> None:
    for n_rows in (2, 7, 10):
        block = random_block(n_rows, n_rows, 100, True, torch.Generator().manual_seed(0))
        half = n_rows // 2
        assert len(block.rows) == len(block.columns) == half
        assert not set(block.rows.tolist()) & set(block.columns.tolist())
        assert block.scale == pytest.approx(n_rows * (n_rows - 1) / half**2)


@pytest.mark.parametrize("same", [True, False])
def test_a_block_is_that_of_its_generator_alone(same) -> None:
    drawn = []
    for seed in (0, 1):
        torch.manual_seed(seed)
        drawn.append(random_block(50, 50, 8, same, torch.Generator().manual_seed(5)))
    assert torch.equal(drawn[0].rows, drawn[1].rows)
    assert torch.equal(drawn[0].columns, drawn[1].columns)


@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (3, 0), (0, 0)])
def test_a_matrix_without_rows_or_columns_gives_zeros(rows, columns) -> None:
    matrix = csr_tensor(sp.csr_array((rows, columns)), "cpu", torch.float32)
    found = gathered_rows(matrix, torch.ones(columns, 2))
    assert found.shape == (rows, 2)
    assert not found.any()


def test_noise_is_of_the_type_that_is_asked_for() -> None:
    for dtype in (torch.float32, torch.float64):
        like = torch.empty(0, dtype=dtype)
        assert Noise(0).uniform("u", Rows.all(5), 2, like).dtype == dtype
        assert Noise(0).kept("k", 0.5, Rows.all(5), 2, like).dtype == dtype


@pytest.mark.parametrize("left_out", [0.1, 0.5, 0.9])
def test_a_share_is_left_out_and_the_mean_stays(left_out) -> None:
    kept = Noise(0).kept("k", left_out, Rows.all(3000), 8, torch.empty(0))
    assert (kept == 0).double().mean().item() == pytest.approx(left_out, abs=0.02)
    assert kept.double().mean().item() == pytest.approx(1, abs=0.1)


def test_positions_have_as_many_bits_as_they_need() -> None:
    for shape, kind in (((3, 200), torch.int32), ((1, 2**31), torch.int64)):
        tensor = csr_tensor(sp.csr_array(shape, dtype="float32"), "cpu", torch.float32)
        assert tensor.col_indices().dtype == tensor.crow_indices().dtype == kind


def test_the_last_few_of_a_sum_are_added_exactly() -> None:
    for whole in (0, SHORT):
        values = torch.cat([torch.zeros(whole), torch.tensor([2.0**24, 1.0])])
        assert float(exact_sum(values)) == 2**24 + 1
