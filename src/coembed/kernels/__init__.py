"""Sparse products and sums over all pairs, with gradients, in memory that grows with the nonzeros.

Knows nothing of the model: matrices and vectors in, numbers out.
"""

from coembed.kernels.all_pairs import Block, random_block, softplus_sum, softplus_sum_symmetric, square_sum
from coembed.kernels.noise import Noise, dropped
from coembed.kernels.observed import ObservedPairs
from coembed.kernels.rows import Rows
from coembed.kernels.sparse import SparseMatrix

__all__ = [
    "Block",
    "Noise",
    "ObservedPairs",
    "Rows",
    "SparseMatrix",
    "dropped",
    "random_block",
    "softplus_sum",
    "softplus_sum_symmetric",
    "square_sum",
]
