"""Whether the entries of a matrix from a stranger are those of a network, without a copy of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError

FEW = 1 << 22
"""Entries up to which zeros, loops and symmetry are always checked, in less than half a second."""


class Rules(NamedTuple):
    """What a matrix may hold: stored zeros, an item's relation to itself; and whether it is symmetric."""

    zeros: bool = False
    loops: bool = True
    symmetric: bool = False


def check_entries(matrix: sp.csr_array, name: str, rules: Rules, thorough: bool | None = None) -> None:
    """Entries, some thousand at a time: bounds, order, finite values; if `thorough`, all that is ruled.

    None: thorough if there are few. The row ends must be in order already.

    Examples
    --------
    >>> check_entries(sp.csr_array([[0.0, 1.0], [0.0, 0.0]]), "links", Rules(symmetric=True))
    Traceback (most recent call last):
    coembed.errors.InputError: its links are not symmetric
    """
    entries, balance = len(matrix.indices), 0
    thorough = entries <= FEW if thorough is None else thorough
    step = max(1 << 11, min(entries // 256, 1 << 20))
    for start in range(0, entries, step):
        stop = min(start + step, entries)
        columns, values = matrix.indices[start:stop], matrix.data[start:stop]
        if not (columns.min() >= 0 and columns.max() < matrix.shape[1]):
            raise InputError(f"{name}.indices leave the {matrix.shape[1]} columns")
        if not np.isfinite(values).all():
            raise InputError(f"{name} hold NaN or infinity")
        begin = max(start - 1, 0)  # the last one of those before is compared, too
        _check_order(matrix, begin, stop, name)
        if not thorough:
            continue
        if not (rules.zeros or values.all()):
            raise InputError(f"{name} hold zeros")
        rows = _rows(matrix, start, stop)
        if not rules.loops and (rows == columns).any():
            raise InputError(f"its {name} hold self-loops")
        if rules.symmetric:
            bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
            balance += int(((_mixed(rows, columns) - _mixed(columns, rows)) * bits).sum(dtype=np.uint64))
    # of every pair both orders were added, with opposite signs: other than zero by chance once in 2^64
    if balance % 2**64:
        raise InputError(f"its {name} are not symmetric")


def _check_order(matrix: sp.csr_array, start: int, stop: int, name: str) -> None:
    columns = matrix.indices[start:stop]
    (down,) = np.nonzero(columns[1:] <= columns[:-1])
    down = (down + start + 1).astype(matrix.indptr.dtype)
    # there a new row must begin
    places = np.searchsorted(matrix.indptr, down)
    if (matrix.indptr[places] != down).any():
        raise InputError(f"the columns of a row of {name} are not in order, or occur twice")


def _rows(matrix: sp.csr_array, start: int, stop: int) -> np.ndarray:
    """The rows of some entries."""
    ends = np.array((start, stop - 1), dtype=matrix.indptr.dtype)
    first, last = np.searchsorted(matrix.indptr, ends, side="right") - 1
    counts = np.diff(np.clip(matrix.indptr[first : last + 2], start, stop))
    return np.repeat(np.arange(first, last + 1, dtype=matrix.indices.dtype), counts)


def _mixed(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """A number for an ordered pair that looks like a random one."""
    number = left.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + right.astype(np.uint64)
    for factor in (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)):
        number = (number ^ (number >> np.uint64(29))) * factor
    return number ^ (number >> np.uint64(32)) | np.uint64(1)
