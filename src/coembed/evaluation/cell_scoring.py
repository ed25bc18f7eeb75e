"""How well hidden cells of columns are told."""

from __future__ import annotations

import numpy as np

from coembed.errors import InputError
from coembed.evaluation.problem import Answer
from coembed.evaluation.trial import Trial
from coembed.metrics import error_taken_away, r_squared, squared_error
from coembed.network import Network, Relation
from coembed.network.cell_values import attribute_range, cell_values


def score_cells(network: Network, trial: Trial, answer: Answer) -> dict[str, float]:
    """R² of each number, accuracy of each category and each yes or no, their means, and the gain.

    `gain` is the share of the error that is taken away from what the mean or the commonest value of the cells
    that may be seen would make, squared or counted, in the mean over the columns.
    """
    by_column: dict[str, float] = {}
    r2, right, gains = [], [], []
    for name, rows in trial.cells.items():
        relation, seen = network.relation(name), trial.problem.network.relation(name)
        assert relation.column is not None
        truth, known = cell_values(relation)[rows], cell_values(seen)
        told = finite(answer.cells(name, rows))
        _check_shape(relation, told, len(rows))
        known = known[~np.isnan(known)]
        if relation.column.numeric:
            usual = float(known.mean()) if len(known) else 0.0
            error, usual_error = squared_error(truth, told), squared_error(truth, usual)
            r2.append(r_squared(truth, told))
            by_column[f"r2 {relation.column.name}"] = r2[-1]
        else:
            said = (told > 0.5).astype(float) if told.ndim == 1 else told.argmax(axis=1)
            values, counts = np.unique(known, return_counts=True)
            usual = float(values[counts.argmax()]) if len(known) else 0.0
            error, usual_error = float(np.sum(truth != said)), float(np.sum(truth != usual))
            right.append(1 - error / len(rows))
            by_column[f"accuracy {relation.column.name}"] = right[-1]
        gains.append(error_taken_away(error, usual_error))
    means = {
        name: float(np.mean(values))
        for name, values in (("mean_r2", r2), ("mean_accuracy", right), ("gain", gains))
        if values
    }
    return means | by_column


def finite(values: np.ndarray) -> np.ndarray:
    """The values, unless a training that diverged made them."""
    if not np.isfinite(values).all():
        raise InputError(
            "the method's answer holds NaN or infinity: its training diverged; try a lower learning rate"
        )
    return values


def _check_shape(relation: Relation, told: np.ndarray, rows: int) -> None:
    assert relation.column is not None
    wide, own = relation.column.kind == "category", attribute_range(relation)
    width = own.stop - own.start
    wanted = (rows, width) if wide else (rows,)
    if told.shape != wanted:
        raise InputError(f"the method tells column {relation.name} in shape {told.shape}, not {wanted}")
