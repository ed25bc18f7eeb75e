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
        self.transposed: tuple[Tensor, Tensor] | None = None
        if self.pattern.device.type != "cpu" or not lopsided(matrix.shape):
            transposed, order = transposed_order(matrix)
            self.transposed = csr_tensor(transposed, device, dtype), torch.as_tensor(order, device=device)

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
        to_left = gathered_rows(_with_values(pairs.pattern, weights), right)
        if pairs.transposed is None:
            return to_left, scattered(pairs.pattern, left, weights), None
        transposed, order = pairs.transposed
        return to_left, gathered_rows(_with_values(transposed, weights[order]), left), None


def _with_values(pattern: Tensor, values: Tensor) -> Tensor:
    return torch.sparse_csr_tensor(
        pattern.crow_indices(), pattern.col_indices(), values, size=pattern.shape, check_invariants=False
    )
