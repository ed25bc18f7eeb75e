"""A constant sparse matrix that multiplies dense ones, forwards and backwards."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from coembed.distributed.exchange import in_turn, returned
from coembed.distributed.partition import Partition

LOPSIDED = 4
MANY_ENTRIES = 100_000
"""Entries from which on several threads are worth their start."""


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


def lopsided(shape: tuple[int, int]) -> bool:
    """Whether one side is so much longer that rows are better added up at random places of the short one.

    With 4,000,000 entries of 200,000 nodes over 5,000 attributes that takes a seventh of the time of a
    product with the transpose in CSR form; with 8,000 attributes of 5,000 nodes a third more.
    """
    return max(shape) > LOPSIDED * min(shape)


class Factor:
    """A CSR matrix that multiplies dense ones by itself and by its transpose.

    On the processor a lopsided one is kept once, with its long side as rows: a product then reads at random
    places, and that of the transpose adds at random places, only in the dense matrix that is the smaller of
    the two. Of all others the transpose is made when it is first needed, and kept.
    """

    def __init__(self, matrix: sp.csr_array, device: torch.device | str, dtype: torch.dtype) -> None:
        self.shape: tuple[int, int] = matrix.shape
        self.alone = torch.device(device).type == "cpu" and lopsided(matrix.shape)
        self.turned = self.alone and matrix.shape[0] < matrix.shape[1]
        self.stored = csr_tensor(matrix.T.tocsr() if self.turned else matrix, device, dtype)

    @cached_property
    def transposed(self) -> Tensor:
        return turned(self.stored)

    def times(self, dense: Tensor) -> Tensor:
        return scattered(self.stored, dense) if self.turned else gathered_rows(self.stored, dense)

    def transposed_times(self, dense: Tensor) -> Tensor:
        if not self.alone:
            return gathered_rows(self.transposed, dense)
        return gathered_rows(self.stored, dense) if self.turned else scattered(self.stored, dense)


class SparseMatrix:
    """A constant sparse matrix that multiplies dense ones; the gradient needs the product of its transpose.

    Where the rows of `matrix` are those of one process, and those of the
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
        self.blocks = [Factor(block, device, dtype) for block in column_blocks(matrix, self.columns)]

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
            part = self.blocks[process].times(share)
            product = part if product is None else product.add_(part)
        assert product is not None
        return product

    def transposed_times(self, dense: Tensor) -> Tensor:
        """Own rows of the product of the transpose, to which every process adds."""
        if self.symmetric:
            return self.times(dense)
        product = dense.new_empty(0)
        for process, block in enumerate(self.blocks):
            part = block.transposed_times(dense)
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


def gathered_rows(matrix: Tensor, dense: Tensor) -> Tensor:
    """matrix @ dense: every row gathers those of the dense matrix that it has entries for."""
    if not matrix.shape[0] or not matrix.shape[1]:
        return dense.new_zeros(matrix.shape[0], dense.shape[1])  # a process without rows
    # `matrix @ dense` would fill the product with zeros, and copy them, before it begins; without MKL, torch
    # may multiply what stands there by zero, which leaves what is not a number
    fresh = dense.new_empty if dense.is_cuda or torch.backends.mkl.is_available() else dense.new_zeros
    return fresh(matrix.shape[0], dense.shape[1]).addmm_(matrix, dense, beta=0)


def scattered(matrix: Tensor, dense: Tensor, values: Tensor | None = None) -> Tensor:
    """matrix^T @ dense, on the processor: every row is added to those that the matrix has entries for.

    `values` take the place of those of the matrix. torch has no such product (its own for a transposed CSR
    matrix is several times slower); SciPy's lets go of the interpreter, so that threads share the rows.

    Examples
    --------
    >>> matrix = csr_tensor(sp.csr_array([[0.0, 2.0], [0.0, 3.0]]), "cpu", torch.float32)
    >>> scattered(matrix, torch.tensor([[1.0], [10.0]])).tolist()
    [[0.0], [32.0]]
    """
    starts, places = matrix.crow_indices().numpy(), matrix.col_indices().numpy()
    entries = (matrix.values() if values is None else values).numpy()
    rows = dense.detach().contiguous().numpy()

    def part(first: int, last: int) -> np.ndarray:
        begin, end = starts[first], starts[last]
        columns = sp.csc_array(
            (entries[begin:end], places[begin:end], starts[first : last + 1] - begin),
            shape=(matrix.shape[1], last - first),
        )
        return np.asarray(columns @ rows[first:last])

    threads = torch.get_num_threads() if matrix.shape[1] < matrix.shape[0] else 1
    if threads == 1 or len(places) < MANY_ENTRIES:
        return torch.from_numpy(part(0, matrix.shape[0]))
    cuts = np.searchsorted(starts, len(places) * np.arange(threads + 1) // threads)
    cuts[0], cuts[-1] = 0, matrix.shape[0]
    first, *others = _threads(threads).map(part, cuts[:-1], cuts[1:])
    for other in others:
        first += other
    return torch.from_numpy(first)


@cache
def _threads(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count)


def turned(matrix: Tensor) -> Tensor:
    """The transpose of a CSR tensor, as one of its own."""
    parts = (part.cpu().numpy() for part in (matrix.values(), matrix.col_indices(), matrix.crow_indices()))
    transpose = sp.csr_array(tuple(parts), shape=matrix.shape).T.tocsr()
    return csr_tensor(transpose, matrix.device, matrix.dtype)


def transposed_order(matrix: sp.csr_array) -> tuple[sp.csr_array, np.ndarray]:
    """The transpose of a CSR pattern, and where each of its entries stood in the original."""
    kind = np.int32 if matrix.nnz < 2**31 else np.int64
    places = np.arange(matrix.nnz, dtype=kind)
    numbered = sp.csr_array((places, matrix.indices, matrix.indptr), shape=matrix.shape)
    transposed = numbered.T.tocsr()
    return transposed, transposed.data
