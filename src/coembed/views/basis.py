"""The coordinates in which attributes and links are read: a truncated singular value decomposition."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from coembed.network.matrices import unit_rows
from coembed.progress import Tell
from coembed.views.decomposition import leading_vectors


class Basis(NamedTuple):
    """What turns a row of attributes or links into coordinates; all of it from the training network.

    Attributes
    ----------
    rarity
        Weight of every attribute: the rarer, the more it says (inverse document frequency).
    attributes
        M x r: right singular vectors of the weighted rows of attributes.
    links
        N x r: those of the links, each divided by the roots of the degrees of both ends.
    degrees
        N: the degrees that `links` was made with.
    """

    rarity: np.ndarray
    attributes: np.ndarray
    links: np.ndarray
    degrees: np.ndarray

    def own(self, attributes: sp.csr_array) -> sp.csr_array:
        """Rows of attributes, weighted by rarity, of length one."""
        weighted = sp.csr_array(attributes * self.rarity)
        return scaled_rows(weighted, unit_rows([weighted]))

    def position(self, links: sp.csr_array) -> sp.csr_array:
        """Rows of links to the training nodes, divided by the roots of the degrees of both ends."""
        degrees = np.asarray(abs(links).sum(axis=1))
        return scaled_rows(sp.csr_array(links * inverse_root(self.degrees)), inverse_root(degrees))


def find_basis(
    links: sp.csr_array,
    attributes: sp.csr_array,
    rank: int,
    seed: int = 0,
    steps: Tell | None = None,
) -> Basis:
    """The basis of a training network; `steps` is told what is being done.

    Examples
    --------
    >>> links = sp.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=np.float32))
    >>> basis = find_basis(links, sp.csr_array(np.eye(3, 4, dtype=np.float32)), rank=2)
    >>> basis.attributes.shape, basis.links.shape
    ((4, 2), (3, 2))
    """
    owners = np.bincount(attributes.indices, minlength=attributes.shape[1])
    degrees = np.asarray(abs(links).sum(axis=1)).astype(np.float32)
    empty = Basis(rarity(owners, attributes.shape[0]), np.empty((0, 0)), np.empty((0, 0)), degrees)
    tell = steps or (lambda step: None)
    tell(f"{rank} directions of the attributes")
    vectors = singular_vectors(empty.own(attributes), rank, seed)
    tell(f"{rank} directions of the links")
    return empty._replace(attributes=vectors, links=singular_vectors(empty.position(links), rank, seed))


def rarity(owners: np.ndarray, n_nodes: int) -> np.ndarray:
    """Inverse document frequency: 1 for an attribute that all nodes have, more the rarer it is."""
    return (np.log((1 + n_nodes) / (1 + owners)) + 1).astype(np.float32)


def singular_vectors(matrix: sp.csr_array, rank: int, seed: int) -> np.ndarray:
    """The `rank` leading right singular vectors, as columns; fewer if the matrix has no more."""
    return leading_vectors(matrix, rank, seed)[0]


def scaled_rows(matrix: sp.csr_array, scale: np.ndarray) -> sp.csr_array:
    values = matrix.data * np.repeat(scale, np.diff(matrix.indptr)).astype(np.float32)
    return sp.csr_array((values.astype(np.float32), matrix.indices, matrix.indptr), shape=matrix.shape)


def averaging(matrix: sp.csr_array) -> sp.csr_array:
    """Rows that sum to one, so that a product with it is a weighted mean; empty rows stay empty."""
    sums = np.asarray(abs(matrix).sum(axis=1))
    return scaled_rows(matrix, 1 / np.where(sums > 0, sums, 1))


def inverse_root(degrees: np.ndarray) -> np.ndarray:
    return (1 / np.sqrt(np.maximum(degrees, 1))).astype(np.float32)
