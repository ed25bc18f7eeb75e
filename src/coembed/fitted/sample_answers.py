"""Rows of features that the fit has not seen, each by itself: class probabilities and means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from coembed.fitted.newcomers import Newcomers, place_newcomers
from coembed.fitted.placed_rows import AT_ONCE, placed_parts, read_rows
from coembed.network.adapters.sample_rows import as_rows

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted


def answer_rows(fitted: Fitted, rows: Any) -> tuple[np.ndarray | None, np.ndarray]:
    """Probabilities (None without classes) and means of new rows of a network of such rows."""
    given, type = as_rows(rows), fitted.main
    count = given.num_rows if isinstance(given, pa.Table) else given.shape[0]
    space = fitted.types[type]
    classes = 0 if space.probabilities is None else space.probabilities.shape[1]
    probabilities = np.empty((count, classes), dtype=np.float64)
    means = np.empty((count, space.mean.shape[1]), dtype=space.mean.dtype)
    if isinstance(given, pa.Table):
        read, _ = read_rows(fitted, given, type, None)
        parts = placed_parts(fitted, read, np.arange(count))
    else:
        (name,) = [each.name for each in fitted.network.columns(type)]
        parts = (
            (
                np.arange(start, min(start + AT_ONCE, count)),
                place_newcomers(fitted, type, {name: given[start : start + AT_ONCE]}),
            )
            for start in range(0, count, AT_ONCE)
        )
    for part, placed in parts:
        means[part] = _own(fitted, placed)
        if placed.probabilities is not None:
            probabilities[part] = placed.probabilities
    if not classes:
        return None, means
    return probabilities / probabilities.sum(axis=1, keepdims=True), means


def _own(fitted: Fitted, placed: Newcomers) -> np.ndarray:
    """Means of z: what is inferred, without the block of the class."""
    space = fitted.types[placed.type]
    width = placed.latents.mean.shape[1] - space.mean.shape[1]
    block = space.mean.shape[1] if space.block is None else space.block
    return np.delete(placed.latents.mean, slice(block, block + width), axis=1)
