"""Floors of pairs that join several kinds of evidence: attributes carried along links; a linear model of links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from coembed.baselines.classifiers import spread_along
from coembed.baselines.features import degree_scaled, idf_rows, presence, symmetric
from coembed.baselines.table_features import joined, own_features
from coembed.evaluation.problem import Answer, Problem
from coembed.network.pairs import true_pairs, uniform_negatives

ROUNDS = 20
LEARNT = 20_000
"""Links, and as many pairs that are none, that the linear model learns from."""


@dataclass(frozen=True, eq=False)
class Carried(Answer):
    """Score of a pair: how much of the attribute has come along the links."""

    values: np.ndarray

    def row_scores(self, nodes: np.ndarray) -> np.ndarray:
        return self.values[nodes]

    def pair_scores(self, pairs: np.ndarray) -> np.ndarray:
        return self.values[pairs[:, 0], pairs[:, 1]]

    def arrays(self) -> Mapping[str, np.ndarray]:
        return {"values": self.values}
