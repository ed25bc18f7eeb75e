"""Keyed noise: any part of the rows gets what all rows would get, and it is distributed as it should be."""

import math
from itertools import pairwise

import pytest
import torch

from coembed.distributed.row_range import Rows
from coembed.kernels import Noise, dropped
from coembed.kernels.noise import BLOCK

LIKE = torch.empty(0)
TOTAL = 2 * BLOCK + 700


def draw(kind, noise, rows):
    if kind == "kept":
        return noise.kept("x", 0.3, rows, 5, LIKE)
    return getattr(noise, kind)("x", rows, 5, LIKE)


@pytest.mark.parametrize("kind", ["normal", "uniform", "kept"])
@pytest.mark.parametrize("cuts", [(0, TOTAL), (0, 10, BLOCK, TOTAL), (0, BLOCK - 1, 2 * BLOCK + 1, TOTAL)])
def test_parts_are_the_whole(kind, cuts):
    noise = Noise(3, step=9).of("node")
    whole = draw(kind, noise, Rows.all(TOTAL))
    parts = [draw(kind, noise, Rows(a, b, TOTAL)) for a, b in pairwise(cuts)]
    assert torch.equal(torch.cat(parts), whole)


def test_an_empty_part_is_empty():
    for at in (0, 5, TOTAL):
        assert Noise(0).normal("x", Rows(at, at, TOTAL), 5, LIKE).shape == (0, 5)


def test_seed_step_name_and_block_all_matter():
    noise = Noise(0).of("node")
    rows = Rows.all(2 * BLOCK)
    first = noise.normal("x", rows, 1, LIKE)
    assert not torch.equal(first[:BLOCK], first[BLOCK:])
    for other in (Noise(1).of("node"), noise.at(1), Noise(0).of("attribute")):
        assert not torch.equal(other.normal("x", rows, 1, LIKE), first)
    assert not torch.equal(noise.normal("y", rows, 1, LIKE), first)
    assert torch.equal(Noise(0, 0, "/node").normal("x", rows, 1, LIKE), first)


def test_moments_over_steps_and_rows():
    drawn = torch.cat([Noise(0, step).normal("x", Rows.all(BLOCK + 50), 4, LIKE) for step in range(10)])
    n = drawn.numel()
    assert abs(float(drawn.mean())) < 4 / math.sqrt(n)
    assert abs(float(drawn.var()) - 1) < 4 * math.sqrt(2 / n)
    # neighbouring steps have nothing in common
    one, other = drawn[: BLOCK + 50].flatten(), drawn[BLOCK + 50 : 2 * (BLOCK + 50)].flatten()
    assert abs(float((one * other).mean())) < 4 / math.sqrt(len(one))


def test_what_is_kept_has_mean_one():
    kept = Noise(0).kept("x", 0.8, Rows.all(20_000), 4, LIKE)
    assert kept.unique().tolist() == [0.0, pytest.approx(5.0, rel=1e-4)]
    assert abs(float(kept.mean()) - 1) < 4 * 2 / math.sqrt(kept.numel())  # standard deviation 2


def test_nothing_is_left_out_without_noise():
    hidden = torch.ones(4, 3)
    assert dropped(hidden, 0.5, None, "x", Rows.all(4)) is hidden
    assert dropped(hidden, 0.0, Noise(0), "x", Rows.all(4)) is hidden
    assert not torch.equal(dropped(hidden, 0.5, Noise(0), "x", Rows.all(4)), hidden)
