"""The common space in closed form: products of directions are the root of what is wanted near an item.

What is wanted between two types is a matrix; its root, since probabilities of a few in a thousand should count
beside the first, has leading singular vectors on either side, which are the coordinates of both. All pairs of
types have coordinates of their own, side by side. A product then ranks as it should, but a cosine divides by
lengths, and what is wanted by many is long. So items are filled up to one length in coordinates that no other
type has: where they were going anyway, so that a type's own cosines keep their sense. A type that is related
to itself has no need of it: what is near there is near by direction.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from coembed.fitted.moments import unit_length
from coembed.training.space_targets import Stack
from coembed.views.decomposition import leading_eigenvectors, leading_vectors

FILLED = 0.25
"""Share of the coordinates that fill up."""
ACROSS = 3.0
"""How much more coordinates two different types have than one with itself: answers are chosen across."""


def closed_form_directions(wanted: sp.csr_array, stack: Stack, dim: int, seed: int = 0) -> np.ndarray:
    """Unit vectors, one row an item of the stack, whose products are about the root of what is wanted."""
    blocks = _blocks(wanted, stack)
    filled = [name for name in stack.taken if (name, name) not in blocks]
    room = int(FILLED * dim) // max(len(filled), 1)
    sizes = {
        ends: np.sqrt(block.nnz) * (ACROSS if ends[0] != ends[1] else 1.0) for ends, block in blocks.items()
    }
    found, start = np.zeros((stack.count, dim), np.float32), 0
    signal = dim - room * len(filled)
    for (one, other), block in blocks.items():
        rank = min(int(signal * sizes[one, other] / sum(sizes.values())), *block.shape)
        columns = slice(start, start + rank)
        start += rank
        if one == other:
            largest = float(block.sum(axis=1).max()) or 1.0  # no eigenvalue is above it
            values, vectors = leading_eigenvectors(sp.csr_array(block / largest), rank, seed)
            found[stack.part(one), columns] = vectors * np.sqrt(np.maximum(values * largest, 0))
            continue
        right, values = leading_vectors(block, rank, seed, rounds=1)
        root = np.sqrt(np.maximum(values, 1e-12))
        columns = slice(columns.start, columns.start + len(values))
        found[stack.part(one), columns] = (block @ right) / root
        found[stack.part(other), columns] = right * root
    for place, name in enumerate(filled):
        part, first = stack.part(name), signal + place * room
        found[part, first : first + room] = _filling(found[part], room)
    return unit_length(found).astype(np.float32)


def _blocks(wanted: sp.csr_array, stack: Stack) -> dict[tuple[str, str], sp.csr_array]:
    """By two types the root of what items of one want of the other, both ways together."""
    root, types, found = wanted.copy(), list(stack.taken), {}
    root.data = np.sqrt(root.data)
    for place, one in enumerate(types):
        rows, columns = root[stack.part(one)], root[:, stack.part(one)]
        for other in types[place:]:
            there = stack.part(other)
            block = sp.csr_array((rows[:, there] + columns[there].T) / 2)
            if block.nnz:
                found[one, other] = block
    return found


def _filling(rows: np.ndarray, width: int) -> np.ndarray:
    """What makes all rows as long as the longest, along the leading coordinates of their own directions."""
    lengths = np.linalg.norm(rows, axis=1)
    units = unit_length(rows)
    turn = np.linalg.eigh(units.T @ units)[1][:, ::-1][:, :width]
    missing = np.sqrt(np.maximum(lengths.max(initial=0.0) ** 2 - lengths**2, 0))
    return unit_length(units @ turn) * missing[:, None]
