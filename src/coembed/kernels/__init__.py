"""Sparse products and sums over all pairs, with gradients, in memory that grows with the nonzeros.

Knows nothing of the model: matrices and vectors in, numbers out.
"""

from coembed.kernels.all_pairs import Block, random_block, softplus_sum, softplus_sum_symmetric, square_sum
from coembed.kernels.observed import ObservedPairs
from coembed.kernels.sparse import SparseMatrix

__all__ = [
    "Block",
    "ObservedPairs",
    "SparseMatrix",
    "random_block",
    "softplus_sum",
    "softplus_sum_symmetric",
    "square_sum",
]
