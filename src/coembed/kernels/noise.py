"""Random numbers that belong to a row, whoever asks for them.

The rows of all items lie in fixed blocks. The numbers of a block come from a generator of their own, whose
seed is a hash of the seed of the fit, the step, what the numbers are for, and the block. Any part of the
rows, in any process and in any order, thus gets the very numbers that all rows at once would get.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import blake2b

import torch
from torch import Tensor

from coembed.distributed.row_range import Rows

Fill = Callable[[Tensor, torch.Generator], Tensor]

BLOCK = 4096
"""Rows of a block: to get one of them, all of its block are drawn."""


@dataclass(frozen=True)
class Noise:
    """All that is random in one step of a fit.

    Examples
    --------
    >>> like, noise = torch.empty(0), Noise(seed=0, step=7).of("node")
    >>> whole = noise.normal("z", Rows.all(10), 3, like)
    >>> torch.equal(noise.normal("z", Rows(4, 6, 10), 3, like), whole[4:6])
    True
    >>> torch.equal(noise.at(8).normal("z", Rows.all(10), 3, like), whole)
    False
    """

    seed: int
    step: int = 0
    name: str = ""

    def of(self, name: str) -> Noise:
        """The noise of a part of the model, independent of all other parts'."""
        return replace(self, name=f"{self.name}/{name}")

    def at(self, step: int) -> Noise:
        """The noise of another step."""
        return replace(self, step=step)

    def normal(self, name: str, rows: Rows, width: int, like: Tensor) -> Tensor:
        """Standard normal numbers, `width` a row."""
        return self._drawn(name, rows, width, like, lambda numbers, source: numbers.normal_(generator=source))

    def uniform(self, name: str, rows: Rows, width: int, like: Tensor) -> Tensor:
        """Numbers between 0 and 1, `width` a row."""
        return self._drawn(
            name, rows, width, like, lambda numbers, source: numbers.uniform_(generator=source)
        )

    def kept(self, name: str, left_out: float, rows: Rows, width: int, like: Tensor) -> Tensor:
        """What to multiply by for a share to be left out and the mean to stay: 0, or 1 / (1 - share)."""
        # a share in steps of 2^-16, so that 64 random bits decide for four units: drawing each takes longer
        # than all that is done with them
        levels = _levels(left_out)

        def keep(numbers: Tensor, source: torch.Generator) -> Tensor:
            words = torch.empty(len(numbers), -(-width // 4), dtype=torch.int64, device=numbers.device)
            bits = words.random_(-(2**63), None, generator=source).view(torch.int16)[:, :width]
            return numbers.copy_(bits < levels - 2**15)

        return self._drawn(name, rows, width, like, keep).mul_(kept_scale(left_out))

    def generator(self, name: str, block: int = 0, device: torch.device | str = "cpu") -> torch.Generator:
        """For what belongs to no row; on the processor, so that all processes draw alike."""
        key = f"{self.seed} {self.step} {self.name}/{name} {block}".encode()
        seed = int.from_bytes(blake2b(key, digest_size=8).digest(), "big") >> 1
        return torch.Generator(device).manual_seed(seed)

    def _drawn(
        self,
        name: str,
        rows: Rows,
        width: int,
        like: Tensor,
        fill: Fill,
    ) -> Tensor:
        drawn = torch.empty(rows.size, width, device=like.device, dtype=like.dtype)
        for block in range(rows.start // BLOCK, -(-rows.stop // BLOCK)):
            first, last = block * BLOCK, min((block + 1) * BLOCK, rows.total)
            source = self.generator(name, block, like.device)
            start, stop = max(first, rows.start), min(last, rows.stop)
            here = drawn[start - rows.start : stop - rows.start]
            if stop - start == last - first:
                fill(here, source)
            else:
                here.copy_(fill(drawn.new_empty(last - first, width), source)[start - first : stop - first])
        return drawn


def kept_scale(left_out: float) -> float:
    """What a kept unit is multiplied with, to make up for the share that is left out.

    Examples
    --------
    >>> kept_scale(0.75)
    4.0
    """
    return 2**16 / max(_levels(left_out), 1)


def _levels(left_out: float) -> int:
    return round((1 - left_out) * 2**16)


def dropped(hidden: Tensor, left_out: float, noise: Noise | None, name: str, rows: Rows) -> Tensor:
    """Hidden units of some rows, a share left out at random; without noise they are as they are."""
    if noise is None or not left_out:
        return hidden
    return hidden * noise.kept(name, left_out, rows, hidden.shape[1], hidden)


HIDDEN_SHARE = 0.2
"""Share of the cells of a table that no input shows in a step: they are to be told, not copied."""


def hidden_cells(noise: Noise, table: str, rows: Rows, n_columns: int, like: Tensor) -> Tensor:
    """Which cells of some rows are hidden in this step, one column each; all who ask get the same answer."""
    source = replace(noise, name="")
    return source.uniform(f"hidden cells of {table}", rows, n_columns, like) < HIDDEN_SHARE
