"""EdgeExplain (Chakrabarti, Funiak, Chang and Macskassy, 2014): every link wants a reason, one is enough."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from coembed.baselines.features import frequency, largest_entries, presence, unit_length_rows
from coembed.baselines.gradient_training import report
from coembed.baselines.method_options import number, options
from coembed.baselines.rival_answers import KeptRows, csr_parts, keep_rows
from coembed.evaluation.problem import Problem

ROWS = 512
ENTRIES = 30_000
"""Links whose inner products are made at a time."""


@dataclass(frozen=True)
class EdgeExplainOptions:
    rounds: int = number(3, 1, 1000)
    steep: float = number(10.0, 0, 1e6)
    """alpha: how much a shared attribute explains."""
    shift: float = number(-2.0, -1e6, 1e6)
    """c: how well a link is explained by nothing."""
    rate: float = number(0.5, 1e-6, 1e6)
    kept: int = number(1500, 1, 1_000_000)
    """Most likely attributes of a node that go on to the next round."""


@dataclass(frozen=True, eq=False)
class Guess:
    """What is believed between two rounds: attributes of each node (F), and how unexplained its links are."""

    beliefs: sp.csr_array
    unexplained: sp.csr_array
    observed: sp.csr_array
    options: EdgeExplainOptions

    def rows(self, nodes: np.ndarray) -> np.ndarray:
        """F + rate * alpha * (W F) / degree at some nodes, between 0 and 1; what is observed stays 1."""
        weights = self.unexplained[nodes]
        degree = np.maximum(np.diff(weights.indptr), 1)[:, None]
        gradient = (weights @ self.beliefs).toarray() * (self.options.steep / degree)
        moved = np.clip(self.beliefs[nodes].toarray() + self.options.rate * gradient, 0, 1)
        return np.maximum(moved, self.observed[nodes].toarray())


def fit(problem: Problem) -> KeptRows:
    """Raise sum over links of log sigma(alpha <f_i, f_j> + c) by projected gradients from what is observed.

    Score of a pair: the belief after the last round.
    """
    network, chosen = problem.network, options(EdgeExplainOptions, problem)
    observed = presence(network.attributes)
    idf = np.log(network.n_nodes / np.maximum(frequency(observed), 1)).astype(np.float32)
    links = presence(network.links)
    beliefs = unit_length_rows(observed)
    for done in range(1, chosen.rounds + 1):
        guess = Guess(beliefs, _unexplained(links, beliefs, idf, chosen), observed, chosen)
        if done < chosen.rounds:
            blocks = [
                largest_entries(guess.rows(np.arange(start, min(start + ROWS, network.n_nodes))), chosen.kept)
                for start in range(0, network.n_nodes, ROWS)
            ]
            beliefs = unit_length_rows(sp.vstack(blocks, format="csr"))
        report(problem, done, chosen.rounds)
    learnt = csr_parts("beliefs", guess.beliefs) | csr_parts("unexplained", guess.unexplained)
    return keep_rows(partial(Guess.rows, guess), observed.shape, learnt)


def _unexplained(
    links: sp.csr_array, beliefs: sp.csr_array, idf: np.ndarray, chosen: EdgeExplainOptions
) -> sp.csr_array:
    """sigma(-(alpha r + c)) at every link, r the cosine of the beliefs, rare attributes weighing more."""
    weighed = unit_length_rows(_scaled_columns(beliefs, idf))
    ends = np.repeat(np.arange(links.shape[0]), np.diff(links.indptr)), links.indices
    weights = links.copy()
    for start in range(0, links.nnz, ENTRIES):
        part = slice(start, start + ENTRIES)
        agreement = weighed[ends[0][part]].multiply(weighed[ends[1][part]]).sum(axis=1)
        weights.data[part] = expit(-(chosen.steep * np.asarray(agreement) + chosen.shift))
    return weights


def _scaled_columns(matrix: sp.csr_array, scale: np.ndarray) -> sp.csr_array:
    scaled = sp.csr_array(
        (matrix.data * scale[matrix.indices], matrix.indices, matrix.indptr), shape=matrix.shape
    )
    scaled.eliminate_zeros()
    return scaled
