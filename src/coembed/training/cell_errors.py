"""How far off numbers are: on cells that were kept aside, so that a spread means what it says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from coembed.fitted import Fitted
from coembed.fitted.conformal import kept
from coembed.fitted.questions import cell_answers
from coembed.network.pairs import ACROSS, true_pairs
from coembed.training.holdout import Holdout

LEAST = 0.1
"""Error, in standard units, below which no number is claimed to be told."""
SEEN = 0.5
"""The least error of a column of which nothing was kept aside: the model has seen what it is judged on."""
MOST = 20_000


def with_cell_errors(fitted: Fitted, holdout: Holdout) -> Fitted:
    """The result with a scale of errors for every number column, and the errors of cells kept aside.

    The variance of a cell is that of the score, times a gain where it is too large, plus the squared scale:
    both together are, on average, the squared error on the cells that were kept aside.
    """
    fits = dict(fitted.relations)
    for name, relation in fitted.network.relations.items():
        if relation.column is None or not relation.column.numeric:
            continue
        if name in holdout.cells:
            pairs, values, least = *holdout.cells[name], LEAST
        else:
            pairs, values, least = (
                true_pairs(relation.values, ACROSS)[:MOST],
                relation.values.data[:MOST],
                SEEN,
            )
        scale, gain = _scale_and_gain(fitted, name, pairs[:, 0], values, least)
        fits[name] = replace(fits[name], log_scale=np.log(np.array([scale], np.float32)), variance_gain=gain)
    fitted = replace(fitted, relations=fits)
    for name, (pairs, values) in holdout.cells.items():
        if fits[name].log_scale is not None:
            fits[name] = replace(fits[name], errors=_errors(fitted, name, pairs[:, 0], values))
    return replace(fitted, relations=fits)


def _errors(fitted: Fitted, name: str, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
    """How far off each cell is, in units of its spread."""
    relation = fitted.network.relation(name)
    here, features = fitted.latents_at(relation.source, rows), fitted.cell_features(relation.source, rows)
    expected, spread = cell_answers(fitted, relation, here, features)
    return kept(abs(expected[:, 0] - values) / spread[:, 0])


def _scale_and_gain(
    fitted: Fitted, name: str, rows: np.ndarray, values: np.ndarray, least: float
) -> tuple[float, float]:
    if not len(rows):
        return 1.0, 1.0
    error = max(float(np.mean((fitted.cells(name, rows) - values) ** 2)), least**2)
    told = float(np.mean(fitted.cell_moments(name, rows).variance[:, 0]))
    if told < error:
        return float(np.sqrt(error - told)), 1.0
    return least, max(error - least**2, 0.0) / told
