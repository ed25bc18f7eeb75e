"""Empty cells of a table filled with what a model expects, and how sure it is; nothing else is touched."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from coembed.errors import InputError
from coembed.fitted.gaussians import Gaussians
from coembed.fitted.placed_rows import Beside, placed_parts, read_rows
from coembed.fitted.questions import cell_answers, in_unit
from coembed.network.cell_values import cell_values
from coembed.network.columns import Cells
from coembed.network.columns.tags import SEPARATORS, separator_of
from coembed.network.readers.named_table import NamedTable
from coembed.network.readers.new_rows import NewRows, attribute_titles
from coembed.network.relations import Column, Relation
from coembed.network.written_cells import empty_cells, filled, written

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted

AT_ONCE = 10_000
"""Rows of which all cells are told at a time."""
DRAW = "draw"


@dataclass(frozen=True, eq=False)
class Imputed:
    """A table without the gaps that a model could fill.

    Attributes
    ----------
    table
        The columns as they were given, with empty cells filled; beside each such column its ``.spread`` (of a
        number, in its unit; of a date in days) or ``.probability``, empty where nothing was filled. With
        draws, once for each, with the number of the draw in front, and without those.
    empty, filled
        By column, how many cells were empty, and how many of them are filled.
    notices
        What was done with the table.
    """

    table: pa.Table
    empty: dict[str, int]
    filled: dict[str, int]
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Gaps:
    """The empty cells of one column, and what is expected in them.

    Attributes
    ----------
    rows
        Of the table as it was given.
    expected, spread
        A row a cell, in the unit of the model: a number, the probability of yes, or those of all values.
    sure
        How sure, from 0 to 1: the probability of what is filled in; of a number the share of the column's
        variance that its spread leaves out.
    """

    cells: Cells
    column: Column
    titles: tuple[str, ...]
    rows: np.ndarray
    expected: np.ndarray
    spread: np.ndarray
    sure: np.ndarray

    def values(self, rng: np.random.Generator | None) -> pa.Array:
        """What to fill in: the expected number or the likeliest value; or a draw of it."""
        if self.column.kind == "category":
            return pa.array(self.titles, pa.large_string()).take(pa.array(self._chosen(rng)))
        if self.column.kind == "yes/no":
            limit = 0.5 if rng is None else rng.random(len(self.rows))
            return written(self.cells, self.column, (self.expected[:, 0] > limit).astype(np.float64))
        told = self.expected[:, 0].astype(np.float64)
        if rng is not None:
            told = told + self.spread[:, 0] * rng.standard_normal(len(told))
        return written(self.cells, self.column, self.column.cell(told))

    def beside(self) -> tuple[str, np.ndarray]:
        """What a column of how sure it is is called, and what it holds."""
        if self.column.numeric:
            return "spread", in_unit(self.column, self.expected[:, 0], self.spread[:, 0])[1]
        return "probability", self.sure

    def _chosen(self, rng: np.random.Generator | None) -> np.ndarray:
        if rng is None:
            return self.expected.argmax(axis=1)
        ends = np.cumsum(self.expected, axis=1)
        return np.minimum((ends < rng.random((len(ends), 1)) * ends[:, -1:]).sum(axis=1), ends.shape[1] - 1)


@dataclass(frozen=True, eq=False)
class SeveralGaps(Gaps):
    """Items whose classes are not known, where each may have several: those more likely than not, or a draw.

    How sure is how likely all of them are told rightly, were each told by itself.
    """

    def values(self, rng: np.random.Generator | None) -> pa.Array:
        said = self.expected > (0.5 if rng is None else rng.random(self.expected.shape))
        names = [[name for name, there in zip(self.titles, row, strict=True) if there] for row in said]
        if self.cells.is_list:
            return pa.array(names, pa.list_(pa.large_string()))
        mark = separator_of(self.cells) or SEPARATORS[0]
        return pa.array([mark.join(each) or mark for each in names], pa.large_string())


def impute(
    fitted: Fitted,
    table: Any,
    type: str | None = None,
    *,
    id: str | None = None,
    as_new: bool = False,
    beside: Beside = (),
    only_sure: float = 0.0,
    draws: int = 0,
    seed: int = 0,
    same_rows: bool = False,
) -> Imputed:
    """See :meth:`coembed.fitted.Fitted.impute`.

    With `same_rows` the table is the one that the model was fitted to, row by row.
    """
    if not 0 <= only_sure <= 1:
        raise InputError(f"how sure to be is a share from 0 to 1, got {only_sure:g}")
    if draws < 0:
        raise InputError(f"draws is how many tables to draw, got {draws}")
    rows, said = read_rows(fitted, table, type, id, beside)
    known = np.arange(len(rows.items)) if same_rows and rows.id is None else rows.known
    codes, probabilities, features = _codes(fitted, rows, np.full(len(known), -1) if as_new else known)
    gaps = [*_gaps(fitted, rows, codes, features), *_label_gaps(fitted, rows, probabilities)]
    empty = {each.cells.name: len(each.rows) for each in gaps}
    if not gaps:
        said.append(f"{rows.table.path.name}: no cell of a column that the model knows is empty")
    gaps = [_sure_ones(each, only_sure) for each in gaps]
    full = {each.cells.name: len(each.rows) for each in gaps}
    if not draws:
        return Imputed(_filled_table(rows.table, gaps, None, True), empty, full, tuple(said))
    name, tables = free_name(DRAW, rows.table.columns), []
    for draw, rng in enumerate(np.random.default_rng(seed).spawn(draws), 1):
        drawn = _filled_table(rows.table, gaps, rng, False)
        tables.append(drawn.add_column(0, name, pa.array(np.full(len(drawn), draw))))
    return Imputed(pa.concat_tables(tables), empty, full, tuple(said))


def _codes(
    fitted: Fitted, rows: NewRows, known: np.ndarray
) -> tuple[Gaussians, np.ndarray | None, np.ndarray | None]:
    """Codes, class probabilities and what models of cells read of all rows: as they were learnt, or by what
    the rows hold.
    """
    size = len(known), fitted.latent_dim
    codes = Gaussians(np.empty(size, np.float32), np.empty(size, np.float32))
    learnt = fitted.probabilities_of(rows.type)
    probabilities = None if learnt is None else np.empty((len(known), learnt.shape[1]), np.float32)
    there = np.flatnonzero(known >= 0)
    own = fitted.latents_at(rows.type, known[there])
    codes.mean[there], codes.std[there] = own.mean, own.std
    read = fitted.cell_features(rows.type, known[there])
    features = None if read is None else np.empty((len(known), read.shape[1]), np.float32)
    if features is not None:
        features[there] = read
    if learnt is not None and probabilities is not None:
        probabilities[there] = learnt[known[there]]
    for part, placed in placed_parts(fitted, rows, np.flatnonzero(known < 0), rows.labels):
        codes.mean[part], codes.std[part] = placed.latents.mean, placed.latents.std
        if probabilities is not None:
            probabilities[part] = placed.probabilities
        if features is not None:
            features[part] = placed.cell_features(np.arange(len(part)))
    return codes, probabilities, features


def _gaps(fitted: Fitted, rows: NewRows, codes: Gaussians, features: np.ndarray | None) -> Iterator[Gaps]:
    """The empty cells of each column that has cells; those of tags and texts hold nothing, which is known."""
    titles = attribute_titles(fitted.network, rows.type)
    for relation in fitted.network.columns(rows.type):
        column = relation.column
        if column is None or not column.has_cells or column.name not in rows.table.columns:
            continue
        cells = rows.table.cells(column.name)
        at = np.flatnonzero(empty_cells(cells))
        if len(at):
            expected, spread = _told(fitted, relation, codes, features, rows.index[at])
            sure = _sureness(relation, expected, spread)
            own = tuple(titles[column.start : column.stop])
            yield Gaps(cells, column, own, at, expected, spread, sure)


def _told(
    fitted: Fitted, relation: Relation, codes: Gaussians, features: np.ndarray | None, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    parts = [
        cell_answers(fitted, relation, codes.take(some), None if features is None else features[some])
        for some in (rows[start : start + AT_ONCE] for start in range(0, len(rows), AT_ONCE))
    ]
    expected, spread = (np.concatenate(each) for each in zip(*parts, strict=True))
    return expected, spread


def _sureness(relation: Relation, expected: np.ndarray, spread: np.ndarray) -> np.ndarray:
    column = relation.column
    assert column is not None
    if column.numeric:
        variance = float(np.nanvar(cell_values(relation))) or 1.0
        return np.clip(1 - spread[:, 0] ** 2 / variance, 0, 1)
    if column.kind == "yes/no":
        return np.maximum(expected[:, 0], 1 - expected[:, 0])
    return expected.max(axis=1)


def _label_gaps(fitted: Fitted, rows: NewRows, probabilities: np.ndarray | None) -> Iterator[Gaps]:
    """The rows without a class, if the table has a column of classes."""
    labels = fitted.network.items(rows.type).labels
    if labels is None or probabilities is None or labels.column not in rows.table.columns:
        return
    cells = rows.table.cells(labels.column)
    at = np.flatnonzero(empty_cells(cells))
    if len(at) and labels.n_classes:
        told = probabilities[rows.index[at]]
        column = Column(labels.column, "category", 0, labels.n_classes)
        classes = tuple(str(each) for each in labels.classes)
        if labels.several:
            sure = np.maximum(told, 1 - told).prod(axis=1)
            yield SeveralGaps(cells, column, classes, at, told, np.zeros_like(told), sure)
            return
        yield Gaps(cells, column, classes, at, told, np.zeros_like(told), told.max(axis=1))


def _sure_ones(gaps: Gaps, least: float) -> Gaps:
    kept = gaps.sure >= least
    parts = {name: getattr(gaps, name)[kept] for name in ("rows", "expected", "spread", "sure")}
    return replace(gaps, **parts)


def _filled_table(
    table: NamedTable, gaps: Sequence[Gaps], rng: np.random.Generator | None, beside: bool
) -> pa.Table:
    """The table as it was given with some cells filled."""
    by_name = {each.cells.name: each for each in gaps if len(each.rows)}
    columns: dict[str, Any] = {}
    for name, cells in table.columns.items():
        each = by_name.get(name)
        columns[name] = cells.array if each is None else filled(cells, each.rows, each.values(rng))
        if each is not None and beside:
            kind, values = each.beside()
            wide = np.zeros(len(cells))
            wide[each.rows] = values
            shown = np.zeros(len(cells), dtype=bool)
            shown[each.rows] = True
            columns[free_name(f"{name}.{kind}", table.columns)] = pa.array(wide, mask=~shown)
    return pa.table(columns)


def free_name(name: str, taken: Container[str]) -> str:
    """A name that no other column has.

    Examples
    --------
    >>> free_name("age.spread", ["age", "age.spread"])
    'age.spread_'
    """
    while name in taken:
        name += "_"
    return name
