"""Inner products at the observed pairs only (a sampled dense-dense product)."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp
import torch
from torch import Tensor

from coembed.kernels.sparse import csr_tensor, gathered_rows, lopsided, scattered, transposed_order


class ObservedPairs:
    """The pairs (i, j) of a sparse matrix, in CSR order.

    Examples
    --------
    >>> pairs = ObservedPairs(sp.csr_array([[0.0, 1.0], [0.0, 0.0]]))
    >>> left, right = torch.tensor([[1.0, 2.0], [0.0, 0.0]]), torch.tensor([[0.0, 0.0], [3.0, 4.0]])
    >>> pairs.inner_products(left, right).tolist()
    [11.0]
    """

    def __init__(
        self, matrix: sp.csr_array, *, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32
    ) -> None:
        self.pattern = csr_tensor(matrix, device, dtype)
        # starts and columns of the transpose, and where each of its entries stands in the pattern
        self.transposed: tuple[Tensor, Tensor, Tensor] | None = None
        if self.pattern.device.type != "cpu" or not lopsided(matrix.shape):
            transposed, order = transposed_order(matrix)
            parts = transposed.indptr, transposed.indices, order
            starts, columns, places = (torch.as_tensor(part, device=device) for part in parts)
            kind = self.pattern.crow_indices().dtype
            self.transposed = starts.to(kind), columns.to(kind), places

    def __len__(self) -> int:
        return len(self.values)

    @property
    def values(self) -> Tensor:
        """The entries of the matrix."""
        return self.pattern.values()

    @property
    def rows(self) -> Tensor:
        counts = self.pattern.crow_indices().diff().long()
        return torch.arange(len(counts), device=counts.device).repeat_interleave(counts)

    @property
    def columns(self) -> Tensor:
        return self.pattern.col_indices().long()

    def inner_products(self, left: Tensor, right: Tensor) -> Tensor:
        """<left_i, right_j> at every pair."""
        products: Tensor = _InnerProducts.apply(left, right, self)
        return products


class _InnerProducts(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, pairs: ObservedPairs) -> Tensor:
        ctx.save_for_backward(left, right)
        ctx.pairs = pairs
        return torch.sparse.sampled_addmm(pairs.pattern, left, right.t(), beta=0.0).values()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        left, right = ctx.saved_tensors
        pairs: ObservedPairs = ctx.pairs
        weights = gradients[0].contiguous()
        pattern = pairs.pattern
        own = pattern.crow_indices(), pattern.col_indices()
        to_left = gathered_rows(_csr(*own, weights, pattern.shape), right)
        if pairs.transposed is None:
            return to_left, scattered(pairs.pattern, left, weights), None
        starts, columns, order = pairs.transposed
        turned = _csr(starts, columns, weights[order], pattern.shape[::-1])
        return to_left, gathered_rows(turned, left), None


def _csr(starts: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, ...]) -> Tensor:
    return torch.sparse_csr_tensor(starts, columns, values, size=shape, check_invariants=False)
