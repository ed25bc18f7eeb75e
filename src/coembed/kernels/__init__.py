"""Sparse products and sums over all pairs, with gradients, in memory that grows with the nonzeros.

Knows nothing of the model: matrices and vectors in, numbers out.
"""

from coembed.kernels.all_pairs import (
    Block,
    Parabola,
    exact_sum,
    gram,
    pairwise_sum,
    pairwise_sum_symmetric,
    random_block,
    square_sum,
    weighted_sum,
)
from coembed.kernels.noise import HIDDEN_SHARE, Noise, dropped, hidden_cells, kept_scale
from coembed.kernels.observed_pairs import ObservedPairs
from coembed.kernels.sparse import SparseMatrix, TransposedMatrix, column_blocks
from coembed.kernels.tanh import tanh_, tanh_of

__all__ = [
    "HIDDEN_SHARE",
    "Block",
    "Noise",
    "ObservedPairs",
    "Parabola",
    "SparseMatrix",
    "TransposedMatrix",
    "column_blocks",
    "dropped",
    "exact_sum",
    "gram",
    "hidden_cells",
    "kept_scale",
    "pairwise_sum",
    "pairwise_sum_symmetric",
    "random_block",
    "square_sum",
    "tanh_",
    "tanh_of",
    "weighted_sum",
]
