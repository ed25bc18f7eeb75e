"""CAN (Meng and others, 2019): this package's model without its labels."""

from __future__ import annotations

from dataclasses import replace

from coembed.evaluation import scan_method
from coembed.evaluation.problem import Answer, Problem, no_nodes

PRESET = "paper"


def fit(problem: Problem) -> Answer:
    """The model for links and attributes alone: no labels, no classes, settings of the preset `paper`."""
    network = problem.network.without_classes()
    return scan_method.fit(replace(problem, network=network, validation=no_nodes(), preset=PRESET))
