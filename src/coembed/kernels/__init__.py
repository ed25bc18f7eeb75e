"""Sparse products and sums over all pairs, with gradients, in memory that grows with the nonzeros.

Knows nothing of the model: matrices and vectors in, numbers out.
"""

import os

# Tables of many nodes are read at random places: in pages of 2 MB instead of 4 kB that takes as little as
# half the time. torch looks at this when it first takes memory: it stands before all that imports it.
os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")

from coembed.kernels.all_pairs import (
    Block,
    exact_sum,
    gram,
    random_block,
    softplus_sum,
    softplus_sum_symmetric,
    square_sum,
)
from coembed.kernels.exchange import (
    all_true,
    chosen,
    collected,
    gathered,
    mean_of_all,
    pair_sum,
    sum_of_all,
    summed_gradients,
    total,
)
from coembed.kernels.noise import Noise, dropped, kept_scale
from coembed.kernels.observed import ObservedPairs
from coembed.kernels.partition import Partition, held_by, rows_of, table
from coembed.kernels.rows import Rows
from coembed.kernels.sparse import SparseMatrix, TransposedMatrix, column_blocks
from coembed.kernels.squashing import tanh_, tanh_of

__all__ = [
    "Block",
    "Noise",
    "ObservedPairs",
    "Partition",
    "Rows",
    "SparseMatrix",
    "TransposedMatrix",
    "all_true",
    "chosen",
    "collected",
    "column_blocks",
    "dropped",
    "exact_sum",
    "gathered",
    "gram",
    "held_by",
    "kept_scale",
    "mean_of_all",
    "pair_sum",
    "random_block",
    "rows_of",
    "softplus_sum",
    "softplus_sum_symmetric",
    "square_sum",
    "sum_of_all",
    "summed_gradients",
    "table",
    "tanh_",
    "tanh_of",
    "total",
]
