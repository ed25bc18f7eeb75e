"""The coordinates in which words and relations are read: truncated singular value decompositions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from coembed.network.matrices import magnitudes, unit_rows, with_values
from coembed.views.decomposition import leading_vectors
from coembed.views.reach import Touch


class WordBasis(NamedTuple):
    """What turns the words of an item (tags, counts) into coordinates; all of it from the training items.

    Attributes
    ----------
    rarity
        Weight of every attribute: the rarer, the more it says (inverse document frequency).
    vectors
        M x r: right singular vectors of the weighted rows.
    """

    rarity: np.ndarray
    vectors: np.ndarray

    def own(self, words: sp.csr_array) -> sp.csr_array:
        """Rows of words, weighted by rarity, of length one."""
        weighted = scaled_columns(words, self.rarity)
        return scaled_rows(weighted, unit_rows([weighted]))


class PositionBasis(NamedTuple):
    """What turns the entries of an item in a relation into coordinates.

    Attributes
    ----------
    vectors
        A row an item of the other end: right singular vectors of the matrix, each entry divided by the roots
        of the degrees of both ends.
    degrees
        Those of the other end that it was made with.
    """

    vectors: np.ndarray
    degrees: np.ndarray

    def scaled(self, rows: sp.csr_array, degrees: np.ndarray) -> sp.csr_array:
        """Rows of entries with known items, divided by the roots of the degrees of both ends."""
        return scaled_rows(scaled_columns(rows, inverse_root(self.degrees)), inverse_root(degrees))

    def position(self, touch: Touch) -> np.ndarray:
        """Coordinates of items by what they touch among the known; what is new has no place yet."""
        rows = touch.known if touch.known is not None else touch.new
        assert rows is not None
        return self.scaled(rows, magnitudes(rows)) @ self.vectors


def find_word_basis(words: sp.csr_array, rank: int, seed: int = 0) -> WordBasis:
    """The basis of training items.

    Examples
    --------
    >>> find_word_basis(sp.csr_array(np.eye(3, 4, dtype=np.float32)), rank=2).vectors.shape
    (4, 2)
    """
    owners = np.bincount(words.indices, minlength=words.shape[1])
    empty = WordBasis(rarity(owners, words.shape[0]), np.empty((0, 0)))
    return empty._replace(vectors=singular_vectors(empty.own(words), rank, seed))


def find_position_basis(matrix: sp.csr_array, rank: int, seed: int = 0) -> PositionBasis:
    """The basis of a relation, from a row an item of the near end."""
    near = np.asarray(abs(matrix).sum(axis=1)).astype(np.float32)
    symmetric = matrix.shape[0] == matrix.shape[1]
    far = np.asarray(abs(matrix).sum(axis=0)).astype(np.float32)
    # of an undirected relation both are the same, up to the order in which they are added up
    far = near if symmetric and np.allclose(near, far) else far
    empty = PositionBasis(np.empty((0, 0)), far)
    return empty._replace(vectors=singular_vectors(empty.scaled(matrix, near), rank, seed))


def rarity(owners: np.ndarray, n_nodes: int) -> np.ndarray:
    """Inverse document frequency: 1 for an attribute that all nodes have, more the rarer it is."""
    return (np.log((1 + n_nodes) / (1 + owners)) + 1).astype(np.float32)


def singular_vectors(matrix: sp.csr_array, rank: int, seed: int) -> np.ndarray:
    """The `rank` leading right singular vectors, as columns; fewer if the matrix has no more."""
    return leading_vectors(matrix, rank, seed)[0]


def scaled_rows(matrix: sp.csr_array, scale: np.ndarray) -> sp.csr_array:
    values = matrix.data * np.repeat(scale, np.diff(matrix.indptr)).astype(np.float32)
    return with_values(matrix, values.astype(np.float32))


def scaled_columns(matrix: sp.csr_array, scale: np.ndarray) -> sp.csr_array:
    return with_values(matrix, matrix.data * scale[matrix.indices])


def averaging(matrix: sp.csr_array) -> sp.csr_array:
    """Rows that sum to one, so that a product with it is a weighted mean; empty rows stay empty."""
    sums = magnitudes(matrix)
    return scaled_rows(matrix, 1 / np.where(sums > 0, sums, 1))


def inverse_root(degrees: np.ndarray) -> np.ndarray:
    return (1 / np.sqrt(np.maximum(degrees, 1))).astype(np.float32)
