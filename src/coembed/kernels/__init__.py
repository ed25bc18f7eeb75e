"""Sparse products and sums over all pairs, with gradients, in memory that grows with the nonzeros.

Knows nothing of the model: matrices and vectors in, numbers out.
"""

from coembed.kernels.all_pairs import (
    Block,
    exact_sum,
    gram,
    random_block,
    softplus_sum,
    softplus_sum_symmetric,
    square_sum,
)
from coembed.kernels.noise import Noise, dropped, kept_scale
from coembed.kernels.observed_pairs import ObservedPairs
from coembed.kernels.sparse import SparseMatrix, TransposedMatrix, column_blocks
from coembed.kernels.tanh import tanh_, tanh_of

__all__ = [
    "Block",
    "Noise",
    "ObservedPairs",
    "SparseMatrix",
    "TransposedMatrix",
    "column_blocks",
    "dropped",
    "exact_sum",
    "gram",
    "kept_scale",
    "random_block",
    "softplus_sum",
    "softplus_sum_symmetric",
    "square_sum",
    "tanh_",
    "tanh_of",
]
