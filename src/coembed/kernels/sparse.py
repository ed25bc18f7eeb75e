"""A constant sparse matrix that multiplies dense ones, forwards and backwards."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor


def csr_tensor(matrix: sp.csr_array, device: torch.device | str, dtype: torch.dtype) -> Tensor:
    """The torch form of a SciPy CSR matrix, with 32-bit indices wherever they suffice."""
    small = max(matrix.nnz, *matrix.shape) < 2**31
    index = torch.int32 if small else torch.int64
    with warnings.catch_warnings():
        # torch says so once a process, at the first such tensor, which is always made here
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta", UserWarning)
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

    A symmetric matrix is stored once.

    Examples
    --------
    >>> matrix = SparseMatrix(sp.csr_array([[0.0, 2.0], [0.0, 0.0]]))
    >>> (matrix @ torch.tensor([[1.0], [3.0]])).tolist()
    [[6.0], [0.0]]
    """

    def __init__(
        self,
        matrix: sp.csr_array,
        *,
        symmetric: bool = False,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.shape: tuple[int, int] = matrix.shape
        self.csr = csr_tensor(matrix, device, dtype)
        self.transposed = self.csr if symmetric else csr_tensor(matrix.T.tocsr(), device, dtype)

    def __matmul__(self, dense: Tensor) -> Tensor:
        product: Tensor = _Product.apply(dense, self.csr, self.transposed)
        return product


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, dense: Tensor, csr: Tensor, transposed: Tensor) -> Tensor:
        ctx.transposed = transposed
        return csr @ dense

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return ctx.transposed @ gradients[0].contiguous(), None, None


def transposed_order(matrix: sp.csr_array) -> tuple[sp.csr_array, np.ndarray]:
    """The transpose of a CSR pattern, and where each of its entries stood in the original."""
    numbered = sp.csr_array((np.arange(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
    transposed = numbered.T.tocsr()
    return transposed, transposed.data
