"""Leading singular vectors of a sparse matrix, and how many of them a large network can afford."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

NUMBERS = 64_000_000
"""Numbers that one dense matrix of a row an item may hold (256 MB)."""
LEAST_RANK = 16

MANY_ROWS = 65_536
ROUNDS = 4
SPARE = 10
# rows multiplied at a time: what they give is added up at once
ROWS = 65_536


def affordable_rank(rank: int, n_items: int) -> int:
    """The rank asked for, or as much of it as fits.

    Examples
    --------
    >>> affordable_rank(256, 200_000), affordable_rank(256, 1_000_000), affordable_rank(256, 10**8)
    (256, 64, 16)
    """
    return min(rank, max(NUMBERS // max(n_items, 1), LEAST_RANK))


def leading_vectors(
    matrix: sp.csr_array, rank: int, seed: int, rounds: int = ROUNDS
) -> tuple[np.ndarray, np.ndarray]:
    """The `rank` leading right singular vectors, as columns, and their singular values.

    Fewer if the matrix has no more. Of many rows by iterating in the space of columns, so that nothing
    dense has as many rows as the matrix (unless it has as many columns).

    Examples
    --------
    >>> vectors, values = leading_vectors(sp.csr_array(np.diag([1.0, 3.0, 2.0])), 2, seed=0)
    >>> abs(vectors.T).round(6).tolist(), values.tolist()
    ([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [3.0, 2.0])
    """
    rank = min(rank, *matrix.shape)
    if not matrix.nnz:
        return np.zeros((matrix.shape[1], 0), dtype=np.float32), np.zeros(0, dtype=np.float32)
    if matrix.shape[0] <= MANY_ROWS:
        # here, not above: a question to a saved model would wait for it
        from sklearn.utils.extmath import randomized_svd

        _, values, rows = randomized_svd(matrix, rank, n_iter=rounds, random_state=seed)
        return np.ascontiguousarray(rows.T.astype(np.float32)), values.astype(np.float32)
    width = min(rank + SPARE, *matrix.shape)
    space = np.random.default_rng(seed).standard_normal((matrix.shape[1], width), dtype=np.float32)
    for _ in range(rounds + 1):
        space = _gram_times(matrix, orthonormal(space))
    space = orthonormal(space)
    # within the space the Gram matrix is small
    squares, turn = np.linalg.eigh(np.asarray(space.T @ _gram_times(matrix, space), dtype=np.float64))
    best = np.argsort(-squares)[:rank]
    values = np.sqrt(np.maximum(squares[best], 0)).astype(np.float32)
    return np.ascontiguousarray(space @ turn[:, best].astype(np.float32)), values


def leading_eigenvectors(matrix: sp.csr_array, rank: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The `rank` largest eigenvalues of a symmetric matrix, and their vectors as columns.

    Between two types every eigenvalue has a negative twin, of which nothing is wanted. Of a matrix S whose
    eigenvalues are within one of zero, S (S + I) has the same vectors, and hardly anything of the negative.

    Examples
    --------
    >>> values, vectors = leading_eigenvectors(sp.csr_array(np.diag([0.1, -0.9, 0.5])), 2, seed=0)
    >>> values.astype(float).round(4).tolist(), abs(vectors).round(2).T.tolist()
    ([0.5, 0.1], [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    """
    width = min(rank + SPARE, matrix.shape[0])
    space = np.random.default_rng([seed, 29]).standard_normal((matrix.shape[0], width), dtype=np.float32)
    for _ in range(ROUNDS + 1):
        once = matrix @ orthonormal(space)
        space = matrix @ once + once
    space = orthonormal(space)
    values, turn = np.linalg.eigh(np.asarray(space.T @ (matrix @ space), dtype=np.float64))
    best = np.argsort(-values)[:rank]
    return values[best].astype(np.float32), space @ turn[:, best].astype(np.float32)


def orthonormal(columns: np.ndarray) -> np.ndarray:
    """Columns of length one at right angles that span the same space, by their Gram matrix, twice.

    On a million rows it takes an eighth of the time of a QR decomposition; the second time repairs what the
    square of the condition lost the first.

    Examples
    --------
    >>> found = orthonormal(np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32))
    >>> bool(np.allclose(found.T @ found, np.eye(3), atol=1e-5))
    True
    """
    for _ in range(2):
        gram = np.zeros((columns.shape[1],) * 2)
        for start in range(0, len(columns), ROWS):
            rows = columns[start : start + ROWS].astype(np.float64)
            gram += rows.T @ rows
        values, turn = np.linalg.eigh(gram)
        turn /= np.sqrt(np.maximum(values, 1e-12 * max(values[-1], 1e-300)))
        columns = columns @ turn.astype(np.float32)
    return columns


def _gram_times(matrix: sp.csr_array, dense: np.ndarray) -> np.ndarray:
    """matrix^T matrix dense."""
    total = np.zeros_like(dense)
    for start in range(0, matrix.shape[0], ROWS):
        rows = matrix[start : start + ROWS]
        total += rows.T @ (rows @ dense)
    return total
