"""Inner products at the observed pairs only (a sampled dense-dense product)."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp
import torch
from torch import Tensor

from coembed.kernels.sparse import csr_tensor, transposed_order


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
        transposed, order = transposed_order(matrix)
        # of both patterns the values are never read: they are those of the matrix, whatever these are
        self.pattern = csr_tensor(matrix, device, dtype)
        self.transposed = _with_values(csr_tensor(transposed, device, dtype), self.pattern.values())
        self.order = torch.as_tensor(order, device=device)

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
        products: Tensor = _InnerProducts.apply(left, right, self.pattern, self.transposed, self.order)
        return products


class _InnerProducts(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, left: Tensor, right: Tensor, pattern: Tensor, transposed: Tensor, order: Tensor
    ) -> Tensor:
        ctx.save_for_backward(left, right)
        ctx.pattern, ctx.transposed, ctx.order = pattern, transposed, order
        return torch.sparse.sampled_addmm(pattern, left, right.t(), beta=0.0).values()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        left, right = ctx.saved_tensors
        weights = gradients[0].contiguous()
        to_left = _with_values(ctx.pattern, weights) @ right
        to_right = _with_values(ctx.transposed, weights[ctx.order]) @ left
        return to_left, to_right, None, None, None


def _with_values(pattern: Tensor, values: Tensor) -> Tensor:
    return torch.sparse_csr_tensor(
        pattern.crow_indices(), pattern.col_indices(), values, size=pattern.shape, check_invariants=False
    )
