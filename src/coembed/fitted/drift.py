"""How new rows differ, by column and relation, from those that a model has learnt from."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from coembed.fitted.cell_texts import date_text, number_texts
from coembed.network.cell_values import cell_values
from coembed.network.network import Network
from coembed.network.readers.new_rows import NewRows
from coembed.network.relations import Relation
from coembed.network.ways import ways_of

LARGE = 0.2
"""Share of the rows that would have to be others for a column to look as in training."""
CHANCE = 1e-3
"""How likely chance alone may make a difference, of all columns together."""
FEWEST = 20
"""Rows below which nothing is said: a handful is always different."""
_BINS = 10
Compared = tuple[float, float, str]
"""How far apart, how likely by chance, and what differs most."""


@dataclass(frozen=True)
class Drift:
    """A column, or a relation, that differs.

    Attributes
    ----------
    distance
        Total variation: the share of the rows that would have to be others.
    text
        What differs most, in words.
    """

    column: str
    distance: float
    text: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def drifts(network: Network, new: NewRows) -> list[Drift]:
    """Columns and relations in which new rows differ much, and more than by chance; largest first."""
    if len(new.items) < FEWEST:
        return []
    compared: list[tuple[str, Compared]] = []
    for relation in network.columns(new.type):
        given = new.rows.get(f"{relation.name}>")
        if given is not None and relation.column is not None:
            differ = _of_cells if relation.column.has_cells else _of_words
            compared.append((relation.column.name, differ(network, relation, relation.with_values(given))))
    for way in ways_of(network, new.type):
        relation = network.relation(way.relation)
        counts = np.diff((relation.values if way.forwards else relation.backwards).indptr)
        compared.append((way.relation, _of_links(counts, new.links(way.name))))
    found = [
        Drift(name, distance, f"{name}: {text}")
        for name, (distance, chance, text) in compared
        if distance >= LARGE and chance * len(compared) < CHANCE
    ]
    return sorted(found, key=lambda each: -each.distance)


def _of_cells(network: Network, old: Relation, new: Relation) -> Compared:
    column = old.column
    assert column is not None
    then, now = cell_values(old), cell_values(new)
    if column.numeric:
        known = then[np.isfinite(then)]
        edges = np.unique(np.quantile(known, np.linspace(0, 1, _BINS + 1)[1:-1])) if len(known) else known
        bins = [np.where(np.isfinite(x), np.searchsorted(edges, x, side="right"), -1) for x in (then, now)]
        n_values = len(edges) + 1
    else:
        bins = [np.where(np.isfinite(x), x, -1).astype(np.int64) for x in (then, now)]
        n_values = column.stop - column.start if column.kind == "category" else 2
    counts = np.stack([np.bincount(each + 1, minlength=n_values + 1) for each in bins])
    shares = counts / counts.sum(axis=1, keepdims=True)
    moved = shares[1] - shares[0]
    largest = int(np.abs(moved).argmax())
    if largest == 0:
        what = _shares("empty", shares[:, 0])
    elif column.numeric:
        what = _medians(old, then, now)
    elif column.kind == "category":
        what = _shares(repr(network.items(old.target).title(column.start + largest - 1)), shares[:, largest])
    else:
        what = _shares("yes", shares[:, 2])
    return float(np.abs(moved).sum() / 2), _by_chance(counts), what


def _of_words(network: Network, old: Relation, new: Relation) -> Compared:
    """Of tags and words the one whose share of the rows has changed most."""
    from scipy.stats import norm

    column = old.column
    assert column is not None
    span = slice(column.start, column.stop)
    counts = [np.bincount(each.values.indices, minlength=each.values.shape[1])[span] for each in (old, new)]
    sizes = [each.values.shape[0] for each in (old, new)]
    shares = np.stack([count / size for count, size in zip(counts, sizes, strict=True)])
    moved = np.abs(shares[1] - shares[0])
    if not len(moved):
        return 0.0, 1.0, ""
    largest = int(moved.argmax())
    pooled = (counts[0][largest] + counts[1][largest]) / sum(sizes)
    error = np.sqrt(pooled * (1 - pooled) * (1 / sizes[0] + 1 / sizes[1])) or 1.0
    chance = float(2 * norm.sf(moved[largest] / error) * len(moved))
    title = repr(network.items(old.target).title(column.start + largest))
    return float(moved[largest]), chance, _shares(title, shares[:, largest])


def _of_links(then: np.ndarray, now: np.ndarray) -> Compared:
    """Of a relation, whether rows have any entry at all."""
    counts = np.stack([np.bincount(each > 0, minlength=2) for each in (then, now)])
    shares = counts[:, 1] / counts.sum(axis=1)
    return float(abs(shares[1] - shares[0])), _by_chance(counts), _shares("any", shares)


def _by_chance(counts: np.ndarray) -> float:
    """How likely two samples of one distribution differ so much (Pearson's chi-squared test)."""
    from scipy.stats import chi2

    counts = counts[:, counts.sum(axis=0) > 0].astype(np.float64)
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return float(chi2.sf(statistic, max(counts.shape[1] - 1, 1)))


def _shares(what: str, shares: np.ndarray) -> str:
    return f"{what} in {shares[1]:.0%} of the rows, {shares[0]:.0%} in training"


def _medians(relation: Relation, then: np.ndarray, now: np.ndarray) -> str:
    column = relation.column
    assert column is not None
    cells = [column.cell(float(np.nanmedian(x))) for x in (then, now)]
    if column.kind == "date":
        old, new = map(date_text, cells)
    else:
        spread = float(np.nanstd(column.cell(then)))
        old, new = (number_texts(cell, spread / 10, column.whole)[0] for cell in cells)
    return f"median {new}, {old} in training"
