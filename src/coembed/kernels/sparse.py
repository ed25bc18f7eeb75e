"""A constant sparse matrix that multiplies dense ones, forwards and backwards."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from coembed.kernels.exchange import in_turn, returned
from coembed.kernels.partition import Partition


def csr_tensor(matrix: sp.csr_array, device: torch.device | str, dtype: torch.dtype) -> Tensor:
    """The torch form of a SciPy CSR matrix, with 32-bit indices wherever they suffice."""
    small = max(matrix.nnz, *matrix.shape) < 2**31
    index = torch.int32 if small else torch.int64
    with warnings.catch_warnings():
        # torch says so once a process, at the first such tensor, which is always made here
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta", UserWarning)
        # a mapped array need not be writable: nobody writes to these
        warnings.filterwarnings("ignore", "The given NumPy array is not writable", UserWarning)
        return torch.sparse_csr_tensor(
            torch.as_tensor(matrix.indptr, dtype=index),
            torch.as_tensor(matrix.indices, dtype=index),
            torch.as_tensor(matrix.data, dtype=dtype),
            size=matrix.shape,
            device=device,
            check_invariants=False,
        )


class SparseMatrix:
    """A constant CSR matrix together with its transpose, which the gradient needs.

    A symmetric matrix is stored once. Where the rows of `matrix` are those of one process, and those of the
    dense factor are dealt out by `columns`, so are the rows of the product.

    Examples
    --------
    >>> matrix = SparseMatrix(sp.csr_array([[0.0, 2.0], [0.0, 0.0]]))
    >>> (matrix @ torch.tensor([[1.0], [3.0]])).tolist()
    [[6.0], [0.0]]
    >>> (matrix.T @ torch.tensor([[1.0], [3.0]])).tolist()
    [[0.0], [2.0]]
    """

    def __init__(
        self,
        matrix: sp.csr_array,
        *,
        symmetric: bool = False,
        rows: Partition | None = None,
        columns: Partition | None = None,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.rows = rows or Partition.whole(matrix.shape[0])
        self.columns = columns or Partition.whole(matrix.shape[1])
        self.shape: tuple[int, int] = matrix.shape
        self.symmetric = symmetric
        # a block for every process: what its rows of the dense factor are multiplied with
        blocks = column_blocks(matrix, self.columns)
        self.blocks = [csr_tensor(block, device, dtype) for block in blocks]
        self.transposed = (
            self.blocks if symmetric else [csr_tensor(block.T.tocsr(), device, dtype) for block in blocks]
        )

    @property
    def csr(self) -> Tensor:
        """The matrix, where one process has all of it."""
        return self.blocks[0]

    @property
    def T(self) -> TransposedMatrix:
        return TransposedMatrix(self)

    def __matmul__(self, dense: Tensor) -> Tensor:
        product: Tensor = _Product.apply(dense, self, False)
        return product

    def times(self, dense: Tensor) -> Tensor:
        """Own rows of the product, from the dense rows of one process after the other."""
        product: Tensor | None = None
        for process, share in in_turn(dense, self.columns):
            if product is None:
                product = _times(self.blocks[process], share)
            else:
                product += _times(self.blocks[process], share)
        assert product is not None
        return product

    def transposed_times(self, dense: Tensor) -> Tensor:
        """Own rows of the product of the transpose, to which every process adds."""
        if self.symmetric:
            return self.times(dense)
        product = dense.new_empty(0)
        for process, block in enumerate(self.transposed):
            part = _times(block, dense)
            returned(part, process, self.columns)
            if process == self.columns.rank:
                product = part
        return product


class TransposedMatrix:
    """The transpose of a matrix, without a copy."""

    def __init__(self, matrix: SparseMatrix) -> None:
        self.T = matrix
        self.rows, self.columns = matrix.columns, matrix.rows
        self.shape = (self.rows.own.size, self.columns.total)

    def __matmul__(self, dense: Tensor) -> Tensor:
        product: Tensor = _Product.apply(dense, self.T, True)
        return product


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, dense: Tensor, matrix: SparseMatrix, transposed: bool) -> Tensor:
        ctx.matrix, ctx.transposed = matrix, transposed
        return matrix.transposed_times(dense) if transposed else matrix.times(dense)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        gradient, matrix = gradients[0].contiguous(), ctx.matrix
        back = matrix.times(gradient) if ctx.transposed else matrix.transposed_times(gradient)
        return back, None, None


def column_blocks(matrix: sp.csr_array, columns: Partition) -> list[sp.csr_array]:
    """The columns of each process, counted from its first."""
    if columns.processes == 1:
        return [matrix]
    every = (columns.rows(process) for process in range(columns.processes))
    return [sp.csr_array(matrix[:, rows.start : rows.stop]) for rows in every]


def _times(block: Tensor, dense: Tensor) -> Tensor:
    if not block.shape[0] or not block.shape[1]:
        return dense.new_zeros(block.shape[0], dense.shape[1])  # a process without rows
    return block @ dense


def transposed_order(matrix: sp.csr_array) -> tuple[sp.csr_array, np.ndarray]:
    """The transpose of a CSR pattern, and where each of its entries stood in the original."""
    kind = np.int32 if matrix.nnz < 2**31 else np.int64
    places = np.arange(matrix.nnz, dtype=kind)
    numbered = sp.csr_array((places, matrix.indices, matrix.indptr), shape=matrix.shape)
    transposed = numbered.T.tocsr()
    return transposed, transposed.data
