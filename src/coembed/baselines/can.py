"""CAN (Meng and others, 2019): this package's model without its labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from coembed.evaluation import scan_method as scan
from coembed.evaluation.problem import Problem, no_nodes
from coembed.network import UNKNOWN

PRESET = "paper"


def fit(problem: Problem) -> scan.ScanAnswer:
    """The model for links and attributes alone: no labels, no classes, settings of the preset `paper`."""
    network = replace(
        problem.network,
        labels=np.full(problem.network.n_nodes, UNKNOWN),
        class_names=np.empty(0, dtype=object),
    )
    return scan.fit(replace(problem, network=network, validation=no_nodes(), preset=PRESET))
