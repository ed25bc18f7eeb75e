"""How far off numbers are: on cells that were kept aside, so that a spread means what it says."""

from __future__ import annotations

from collections.abc import Mapping
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
ENOUGH = 50
"""Cells kept aside of a column up to which it borrows errors of others: a dozen tell no tenth part."""


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
    for type in fitted.network.entity_types:
        errors = {
            name: _errors(fitted, name, pairs[:, 0], values)
            for name, (pairs, values) in holdout.cells.items()
            if fits[name].log_scale is not None and fitted.network.relation(name).source == type
        }
        fits |= {name: replace(fits[name], errors=each) for name, each in with_borrowed(errors).items()}
    return replace(fitted, relations=fits)


def by_the_others(errors: np.ndarray) -> np.ndarray:
    """Each error as it would be, had the scale been found on the others: large ones hide in their own.

    Examples
    --------
    >>> by_the_others(np.array([1.0, 1.0, 2.0])).round(2)
    array([0.89, 0.89, 2.83])
    """
    squares = errors.astype(np.float64) ** 2
    if len(errors) < 2 or not squares.any():
        return errors
    others = (squares.sum() - squares) / (len(squares) - 1)
    return errors * np.sqrt(squares.mean() / np.maximum(others, LEAST**2 * squares.mean()))


def with_borrowed(errors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """In ascending order; columns with few take what is usual of the other columns, up to `ENOUGH` in all.

    In units of their spreads errors of one column are much like those of another.

    Examples
    --------
    >>> one, other = np.linspace(0, 2, 9), np.linspace(0, 2, 1000)
    >>> found = with_borrowed({"one": one, "other": other})
    >>> len(found["one"]), len(found["other"])
    (50, 1000)
    """
    own = {name: by_the_others(each) for name, each in errors.items()}
    found = {}
    for name, each in own.items():
        others = np.concatenate([each[:0], *(other for key, other in own.items() if key != name)])
        wanted = ENOUGH - len(each) if len(others) else 0
        parts = (np.arange(max(wanted, 0)) + 0.5) / max(wanted, 1)
        borrowed = np.quantile(others, parts) if wanted > 0 else others[:0]
        found[name] = kept(np.concatenate([each, borrowed]))
    return found


def _errors(fitted: Fitted, name: str, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
    """How far off each cell is, in units of its spread."""
    relation = fitted.network.relation(name)
    here, features = fitted.latents_at(relation.source, rows), fitted.cell_features(relation.source, rows)
    expected, spread = cell_answers(fitted, relation, here, features)
    return np.abs(expected[:, 0] - values) / spread[:, 0]


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
