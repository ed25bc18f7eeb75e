"""Pairs as single numbers: finding them, removing them, and drawing pairs that are not there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError

MIXING_ROUNDS = 8
STUBBORN_ROUNDS = 60


class Pairing(NamedTuple):
    """Which pairs a relation has: of two types, or of one, then none of an item with itself."""

    same: bool = False
    undirected: bool = False

    def possible(self, height: int, width: int) -> int:
        """How many pairs there could be.

        Examples
        --------
        >>> Pairing().possible(3, 4), Pairing(True).possible(3, 3), UNDIRECTED.possible(3, 3)
        (12, 6, 3)
        """
        if not self.same:
            return height * width
        return height * (height - 1) // (2 if self.undirected else 1)


UNDIRECTED = Pairing(same=True, undirected=True)
DIRECTED = Pairing(same=True)
ACROSS = Pairing()


def entries(matrix: sp.csr_array) -> np.ndarray:
    """Row and column of every stored entry, (nnz, 2), in row order.

    Examples
    --------
    >>> entries(sp.csr_array([[0, 5], [6, 0]])).tolist()
    [[0, 1], [1, 0]]
    """
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return np.column_stack([rows, matrix.indices.astype(np.int64)])


def encode(pairs: np.ndarray, width: int) -> np.ndarray:
    """One int64 for each pair: row * width + column."""
    return pairs[:, 0].astype(np.int64) * width + pairs[:, 1]


def decode(codes: np.ndarray, width: int) -> np.ndarray:
    """Pairs back from their codes."""
    return np.column_stack(np.divmod(codes, max(width, 1))).astype(np.int64)


def by_row(pairs: np.ndarray, most: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The pairs in blocks of at most `most` different rows, for scores that are worked out a row at a time.

    Yields the rows of a block, where its pairs stand among all, and which of the rows each of them has.

    Examples
    --------
    >>> pairs = np.array([[7, 0], [2, 0], [7, 1]])
    >>> [[each.tolist() for each in block] for block in by_row(pairs, 1)]
    [[[2], [1], [0]], [[7], [0, 2], [0, 0]]]
    """
    order = np.argsort(pairs[:, 0], kind="stable")
    rows, starts = np.unique(pairs[order, 0], return_index=True)
    ends = np.append(starts[1:], len(pairs))
    for first in range(0, len(rows), most):
        block = rows[first : first + most]
        at = order[starts[first] : ends[first + len(block) - 1]]
        yield block, at, np.searchsorted(block, pairs[at, 0])


def canonical(pairs: np.ndarray, pairing: Pairing) -> np.ndarray:
    """Undirected pairs with the smaller end first; others as they are."""
    return np.sort(pairs, axis=1) if pairing.undirected else pairs


def true_pairs(matrix: sp.csr_array, pairing: Pairing) -> np.ndarray:
    """The pairs of a relation, each once: i < j where it is undirected, else every entry."""
    found = entries(matrix)
    return found[found[:, 0] < found[:, 1]] if pairing.undirected else found


def contains(ordered: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Which of `codes` are in the sorted array `ordered`."""
    if not len(ordered):
        return np.zeros(len(codes), dtype=bool)
    place = np.minimum(np.searchsorted(ordered, codes), len(ordered) - 1)
    return ordered[place] == codes


def presence_of(pairs: np.ndarray, shape: tuple[int, int], both_ways: bool = False) -> sp.csr_array:
    """The pairs as a matrix of ones.

    Examples
    --------
    >>> presence_of(np.array([[0, 1]]), (2, 2), both_ways=True).toarray().tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    if both_ways:
        pairs = np.concatenate([pairs, pairs[:, ::-1]])
    ones = np.ones(len(pairs), dtype=np.float32)
    return sp.csr_array((ones, (pairs[:, 0], pairs[:, 1])), shape=shape)


def without(matrix: sp.csr_array, pairs: np.ndarray, pairing: Pairing) -> sp.csr_array:
    """The matrix without these entries (undirected: without their mirror images too), still canonical CSR.

    Examples
    --------
    >>> links = sp.csr_array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])
    >>> without(links, np.array([[0, 2]]), UNDIRECTED).toarray().tolist()
    [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    """
    width = matrix.shape[1]
    removed = encode(pairs, width)
    if pairing.undirected:
        removed = np.concatenate([removed, encode(pairs[:, ::-1], width)])
    keep = ~contains(np.sort(removed), encode(entries(matrix), width))
    indptr = np.concatenate([[0], np.cumsum(keep)])[matrix.indptr].astype(matrix.indptr.dtype)
    return sp.csr_array((matrix.data[keep], matrix.indices[keep], indptr), shape=matrix.shape)


def uniform_negatives(
    matrix: sp.csr_array, pairing: Pairing, count: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw `count` different pairs that are not in the matrix, all alike probable."""
    height, width = matrix.shape
    true = np.sort(encode(true_pairs(matrix, pairing), width))
    possible = pairing.possible(height, width)
    if possible - len(true) < count:
        raise InputError(
            f"{count} absent pairs are needed as negatives, only {possible - len(true)} are absent; "
            "hide fewer, or leave this relation out"
        )
    if possible <= 4 * (len(true) + count):  # nearly full: listing all is no more than the data itself
        codes = np.arange(height * width)
        if pairing.undirected:
            codes = encode(np.column_stack(np.triu_indices(height, 1)), width)
        elif pairing.same:
            codes = codes[codes % width != codes // width]
        return decode(rng.choice(codes[~contains(true, codes)], count, replace=False), width)
    drawn = np.empty(0, dtype=np.int64)
    while len(drawn) < count:
        size = 2 * (count - len(drawn)) + 16
        pairs = np.column_stack([rng.integers(height, size=size), rng.integers(width, size=size)])
        if pairing.same:
            pairs = canonical(pairs[pairs[:, 0] != pairs[:, 1]], pairing)
        codes = encode(pairs, width)
        drawn = np.concatenate([drawn, codes[~contains(true, codes)]])
        drawn = drawn[
            np.sort(np.unique(drawn, return_index=True)[1])
        ]  # the first of each, in the order drawn
    return decode(drawn[:count], width)


def matched_negatives(
    matrix: sp.csr_array, pairing: Pairing, positives: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Absent pairs in which every node and attribute occurs just as often as in the positives.

    Two positives trade their second ends when both new pairs are absent ones, for several rounds. A pair
    that finds nobody to trade with (an attribute that everybody owns) keeps its own end and is left out on
    both sides, so the counts agree to the last one.

    Returns
    -------
    positives, negatives
        Of equal length, at most that of `positives`.
    """
    width = matrix.shape[1]
    true = np.sort(encode(true_pairs(matrix, pairing), width))
    first, second = positives.T.astype(np.int64)
    if pairing.undirected:  # either end may be the one to trade
        turned = rng.random(len(positives)) < 0.5
        first, second = np.where(turned, second, first), np.where(turned, first, second)
    traded = np.zeros(len(positives), dtype=bool)

    def codes_of(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return encode(canonical(np.column_stack([rows, columns]), pairing), width)

    def trade(a: np.ndarray, b: np.ndarray) -> None:
        """Swap the second ends at places a and b wherever that gives two new absent pairs."""
        new = np.concatenate([codes_of(first[a], second[b]), codes_of(first[b], second[a])])
        everything = np.concatenate([codes_of(first, second), new])
        _, inverse, times = np.unique(everything, return_inverse=True, return_counts=True)
        good = (times[inverse[len(first) :]] == 1) & ~contains(true, new)
        if pairing.same:
            good &= np.concatenate([first[a] != second[b], first[b] != second[a]])
        both = good[: len(a)] & good[len(a) :]
        a, b = a[both], b[both]
        second[a], second[b] = second[b], second[a]
        traded[a] = traded[b] = True

    for _ in range(MIXING_ROUNDS):
        order = rng.permutation(len(positives))
        half = len(order) // 2
        trade(order[:half], order[half : 2 * half])
    for _ in range(STUBBORN_ROUNDS):
        stubborn = np.flatnonzero(~traded)
        willing = np.flatnonzero(traded)
        size = min(len(stubborn), len(willing))
        if not size:
            break
        trade(rng.permutation(stubborn)[:size], rng.permutation(willing)[:size])

    negatives = canonical(np.column_stack([first, second])[traded], pairing)
    return positives[traded], negatives
