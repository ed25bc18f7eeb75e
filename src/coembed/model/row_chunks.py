"""Rows of very many items, part by part: what is worked out for a part is forgotten before the next."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

_libc = ctypes.CDLL(None) if sys.platform == "linux" else None
_trim = getattr(_libc, "malloc_trim", None)
_mallopt = getattr(_libc, "mallopt", None)
# glibc's numbers of its options
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


def most_at_once(memory: float) -> int:
    """Items that are taken at once, in some 45 kB each, where a machine has so much memory: a quarter of it.

    Examples
    --------
    >>> most_at_once(4e9), most_at_once(16e9), most_at_once(1e12)
    (65536, 88888, 262144)
    """
    return int(min(max(memory / 4 / 45_000, 65_536), 262_144))


def own_memory() -> float:
    """Bytes of the machine or container; where torchrun has started several processes, a share of them."""
    try:
        whole = float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        whole = 8e9
    with suppress(OSError, ValueError):  # no number: no limit
        whole = min(whole, float(Path("/sys/fs/cgroup/memory.max").read_text()))
    return whole / int(os.environ.get("LOCAL_WORLD_SIZE", "1"))


MEMORY = own_memory()
WHOLE = most_at_once(MEMORY)
"""Items up to which all are taken at once."""
NEEDED, REMEMBERED = 20_000, 12_000
"""Bytes of an item whose part is forgotten, and how many more if it is not (160,000 nodes: 18 and 10 kB)."""
PART = 8192
"""Items of a part: large enough for long products, small enough for the processor's cache."""
GIVE_BACK_EVERY = 64
"""Parts after which freed memory goes back to the system; with 8 an epoch takes a quarter longer."""


def row_parts(n_items: int) -> list[slice]:
    """The parts of so many rows.

    Examples
    --------
    >>> row_parts(100), len(row_parts(1_000_000))
    ([slice(0, 100, None)], 123)
    """
    if n_items <= WHOLE:
        return [slice(0, n_items)]
    return [slice(start, min(start + PART, n_items)) for start in range(0, n_items, PART)]


def first_remembered(n_items: int) -> int:
    """Rows before this one are worked out again for the gradient; for the others a third of the memory does.

    The last are kept, because their gradient comes first: what they took is free when the others need it.

    Examples
    --------
    >>> first_remembered(100), first_remembered(1_000_000_000)
    (0, 1000000000)
    """
    room = MEMORY / 3 - NEEDED * n_items
    return n_items - int(min(max(room / REMEMBERED, 0), n_items))


def give_back() -> None:
    """Return freed memory to the system, where its library keeps it (glibc).

    Between two parts hundreds of small records of the graph are left behind, scattered over what the first
    had for a moment: the next finds no room there and takes new memory, part after part.
    """
    if _trim is not None:
        _trim(0)


def keep_freed(n_items: int) -> None:
    """Keep freed memory for the next step, which needs as much again, where the library can (glibc).

    Of so many items that they are worked on in parts it is too much to keep.
    Else large arrays are taken from the system page by page, every time: on 20,000 nodes a product of two
    arrays of 10,000,000 numbers takes 4 ms in memory that was kept, and 20 ms in new memory.
    """
    if _mallopt is not None and n_items <= WHOLE:
        _mallopt(_MMAP_THRESHOLD, 1 << 30)
        _mallopt(_TRIM_THRESHOLD, (1 << 31) - 1)


class Whole:
    """Rows that are worked out part by part, in one piece of memory from the start.

    Pieces of their own, joined in the end, would lie scattered among what each part needs for a moment, and
    keep the system from taking that back: twice the memory.

    Examples
    --------
    >>> whole, rows = Whole(3), torch.arange(6.0).view(3, 2).requires_grad_()
    >>> joined = whole.joined([whole.put(slice(0, 2), rows[:2]), whole.put(slice(2, 3), rows[2:])])
    >>> (joined * torch.tensor([1.0, 2.0])).sum().backward()
    >>> torch.equal(joined, rows), rows.grad.tolist()
    (True, [[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]])
    """

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows
        self.memory: Tensor | None = None

    def put(self, rows: slice, part: Tensor) -> Tensor:
        """The part, where it belongs."""
        if self.memory is None:
            self.memory = part.new_empty(self.n_rows, *part.shape[1:])
        placed: Tensor = _Placed.apply(part, self.memory[rows])
        return placed

    def joined(self, parts: Sequence[Tensor]) -> Tensor:
        """All of them, in their order."""
        assert self.memory is not None
        everything: Tensor = _Joined.apply(self.memory, *parts)
        return everything


class _Placed(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, part: Tensor, place: Tensor) -> Tensor:
        return place.copy_(part).detach()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return gradients[0], None


class _Joined(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, memory: Tensor, *parts: Tensor) -> Tensor:
        ctx.sizes = [len(part) for part in parts]
        return memory.detach()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        return None, *gradients[0].split(ctx.sizes)
