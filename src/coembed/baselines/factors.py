"""Linear models of the matrix in question: its leading singular vectors, and a ridge regression of items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import randomized_svd

from coembed.baselines.features import presence
from coembed.baselines.method_options import number, options
from coembed.baselines.rival_answers import Factors, csr_parts
from coembed.evaluation.problem import Answer, Problem

ITERATIONS = 7
"""Of the randomised decomposition; more do not change a figure in the third place."""


@dataclass(frozen=True)
class SVDOptions:
    rank: int = number(16, 1, 4096)


@dataclass(frozen=True)
class RidgeOptions:
    rank: int = number(512, 1, 4096)
    penalty: float = number(100.0, 1e-6, 1e9)


def svd(problem: Problem) -> Factors:
    """The best approximation of the 0-1 matrix of the task by one of a low rank.

    Examples
    --------
    >>> from coembed.network import Network
    >>> network = Network.build(np.zeros((3, 3)), attributes=[[1, 1], [1, 1], [0, 0]])
    >>> svd(Problem("attributes", network)).row_scores(np.array([0, 2])).round(3)
    array([[1., 1.],
           [0., 0.]], dtype=float32)
    """
    chosen = options(SVDOptions, problem)
    left, sizes, right = decompose(_matrix(problem), chosen.rank, problem.seed)
    return Factors(left * sizes, right)


def ridge(problem: Problem) -> Ridge:
    """Every item predicted from the node's other items by a ridge regression (EASE; Steck, 2019).

    min_B |X - X B|^2 + penalty |B|^2 with a zero diagonal has B = I - P / diag(P), P = (X^T X + penalty)^-1.
    P is never written down: of X^T X the leading directions are kept, rank 512 by default, all others
    count as zero, so that P = (I - V w V^T) / penalty with w = s^2 / (s^2 + penalty).
    """
    chosen = options(RidgeOptions, problem)
    matrix = _matrix(problem)
    _, sizes, right = decompose(matrix, chosen.rank, problem.seed)
    shrunk = sizes**2 / (sizes**2 + chosen.penalty)
    # penalty * diag(P); what is left of an item when all directions are taken out of it
    own = np.maximum(1 - (right**2 * shrunk).sum(axis=1), 1e-6)
    return Ridge(matrix, right, shrunk, own)


@dataclass(frozen=True, eq=False)
class Ridge(Answer):
    """x_u B = x_u - (x_u - x_u V w V^T) / (penalty diag P), for rows u of the matrix."""

    matrix: sp.csr_array
    right: np.ndarray
    shrunk: np.ndarray
    own: np.ndarray

    def row_scores(self, nodes: np.ndarray) -> np.ndarray:
        rows = self.matrix[nodes]
        smooth = ((rows @ self.right) * self.shrunk) @ self.right.T
        known = rows.toarray()
        return known - (known - smooth) / self.own

    def arrays(self) -> Mapping[str, np.ndarray]:
        return {"right": self.right, "shrunk": self.shrunk, "own": self.own, **csr_parts("x", self.matrix)}


def decompose(matrix: sp.csr_array, rank: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Leading left vectors (one a column), sizes, and right vectors (one a column)."""
    rank = min(rank, *matrix.shape)
    if not matrix.nnz:
        nothing = np.zeros((matrix.shape[0], 1), np.float32), np.zeros((matrix.shape[1], 1), np.float32)
        return nothing[0], np.zeros(1, np.float32), nothing[1]
    left, sizes, right = randomized_svd(matrix, rank, n_iter=ITERATIONS, random_state=seed)
    return left.astype(np.float32), sizes.astype(np.float32), right.T.astype(np.float32)


def _matrix(problem: Problem) -> sp.csr_array:
    return presence(problem.asked.values)
