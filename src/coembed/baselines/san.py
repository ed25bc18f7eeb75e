"""SAN (Gong and others, 2014): attributes as nodes of one larger graph, and a random walk on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp
import torch

from coembed.baselines.features import presence
from coembed.baselines.gradient_training import report
from coembed.baselines.method_options import number, options
from coembed.baselines.rival_answers import KeptRows, csr_parts, keep_rows
from coembed.evaluation.problem import Problem
from coembed.kernels import SparseMatrix
from coembed.network import Network


@dataclass(frozen=True)
class SANOptions:
    restart: float = number(0.5, 0.01, 0.99)
    links: float = number(0.1, 0, 1e6)
    """Weight of a link, that of having an attribute being one."""
    steps: int = number(8, 1, 1000)
    """Of the walk that are followed; the rest of its way has the probability (1 - restart)^steps."""


def fit(problem: Problem) -> KeptRows:
    """Score of a pair: how often a walk from the node, ever and again sent back to it, is at the other end.

    Of two nodes, which have no direction, the sum of both ways.
    """
    network, chosen = problem.network, options(SANOptions, problem)
    weights = joint_weights(network, chosen.links)
    moves = transitions(weights)
    # rows of P^t as columns of (P^T)^t
    back = sp.csr_array(moves.T)
    sums = _sums(weights)[: network.n_nodes] if problem.asked.pairing.undirected else None
    rows = partial(_rows, back, network.n_nodes, sums, chosen)
    items = network.n_nodes if problem.asked.pairing.undirected else network.n_attributes
    return keep_rows(
        rows,
        (network.n_nodes, items),
        csr_parts("moves", moves),
        lambda *done: report(problem, *done),
        None if problem.asked.pairing.undirected else partial(_columns, moves, network.n_nodes, chosen),
    )


def joint_weights(network: Network, links: float) -> sp.csr_array:
    """How nodes and attributes are joined in one graph, the nodes first.

    Examples
    --------
    >>> network = Network.build([[0, 1], [1, 0]], attributes=[[1.0], [0.0]])
    >>> joint_weights(network, links=3.0).toarray()
    array([[0., 3., 1.],
           [3., 0., 0.],
           [1., 0., 0.]], dtype=float32)
    """
    has = presence(network.attributes)
    weights = sp.csr_array(
        sp.block_array([[presence(network.links) * np.float32(links), has], [has.T, None]], format="csr")
        if network.n_attributes
        else presence(network.links) * np.float32(links)
    )
    weights.eliminate_zeros()
    return weights


def transitions(weights: sp.csr_array) -> sp.csr_array:
    """Where a walker goes from each place; rows sum to one, or are empty.

    Examples
    --------
    >>> transitions(sp.csr_array([[0.0, 3.0], [4.0, 4.0]], dtype=np.float32)).toarray()
    array([[0. , 1. ],
           [0.5, 0.5]], dtype=float32)
    """
    return sp.csr_array(sp.diags_array(1 / _sums(weights)) @ weights)


def _sums(weights: sp.csr_array) -> np.ndarray:
    """Of the rows; one for a row without any weight."""
    sums = np.asarray(weights.sum(axis=1))
    return np.where(sums > 0, sums, np.float32(1))


def walk_with_restart(moves: sp.csr_array, start: np.ndarray, restart: float, steps: int) -> np.ndarray:
    """restart * sum over t of (1 - restart)^t moves^t start, up to the given number of steps."""
    matrix = SparseMatrix(moves)
    home = restart * torch.as_tensor(start, dtype=torch.float32).contiguous()
    here = home
    for _ in range(steps):
        here = torch.add(home, matrix @ here, alpha=1 - restart)
    return here.numpy()


def _rows(
    back: sp.csr_array, n_nodes: int, sums: np.ndarray | None, chosen: SANOptions, nodes: np.ndarray
) -> np.ndarray:
    start = np.zeros((back.shape[0], len(nodes)), dtype=np.float32)
    start[nodes, np.arange(len(nodes))] = 1
    there = walk_with_restart(back, start, chosen.restart, chosen.steps).T
    if sums is None:
        return there[:, n_nodes:]
    # weights have no direction, so s_i P^t(i, j) = s_j P^t(j, i): the way back needs no walk of its own
    there = there[:, :n_nodes]
    return there * (1 + sums[nodes, None] / sums)


def _columns(moves: sp.csr_array, n_nodes: int, chosen: SANOptions, items: np.ndarray) -> np.ndarray:
    """How often walks from all nodes are at some attributes: the same sum of powers, from its other end."""
    end = np.zeros((moves.shape[0], len(items)), dtype=np.float32)
    end[n_nodes + items, np.arange(len(items))] = 1
    return walk_with_restart(moves, end, chosen.restart, chosen.steps)[:n_nodes].T
