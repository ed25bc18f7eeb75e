"""Cells of new rows in columns that are known: coded as in training, and what is strange in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from coembed.network.columns import KINDS, Cells, Coding
from coembed.network.columns.dates import PARTS, date_part, either_way_round
from coembed.network.columns.numbers import as_learnt
from coembed.network.columns.tags import Tags
from coembed.network.relations import Relation


def known_coding(relation: Relation, titles: Sequence[str]) -> Coding:
    """How a column was coded; `titles` are those of its attributes.

    Examples
    --------
    >>> from coembed.network.relations import Column
    >>> city = Column("city", "category", 1, 3)
    >>> relation = Relation.build("city", "people", "values", np.zeros((1, 3)), column=city)
    >>> known_coding(relation, ["Oslo", "Rome"]).places
    {'Oslo': 0, 'Rome': 1}
    """
    column = relation.column
    assert column is not None
    return Coding(replace(column, start=0, stop=len(titles)), tuple(titles))


def cells_of(relation: Relation, columns: Mapping[str, Cells]) -> Cells | None:
    """The cells of a table that a column of the network is made of; of a part of a date those of the date."""
    column = relation.column
    assert column is not None
    if column.name in columns:
        return columns[column.name]
    base, _, part = column.name.rpartition(".")
    if part in PARTS and base in columns:
        return Cells.of(column.name, date_part(columns[base], part, column.day_first))
    return None


def code_known(relation: Relation, titles: Sequence[str], cells: Cells) -> tuple[sp.csr_array, list[str]]:
    """The rows that cells make in a known column, and what there is to say of them.

    `titles` are those of all attributes of the type.
    """
    column = relation.column
    assert column is not None
    coding = known_coding(relation, titles[column.start : column.stop])
    if column.kind == "number":
        cells = as_learnt(cells, coding)
    matrix = KINDS[column.kind].values(cells, coding)
    strange = _strange(cells, coding, matrix)
    return moved_columns(matrix, column.start, relation.values.shape[1]), strange


def moved_columns(matrix: sp.csr_array, start: int, width: int) -> sp.csr_array:
    """A matrix of the attributes of one column as one of those of all."""
    return sp.csr_array((matrix.data, matrix.indices + start, matrix.indptr), (matrix.shape[0], width))


def _strange(cells: Cells, coding: Coding, matrix: sp.csr_array) -> list[str]:
    """Cells that hold something, but nothing that was known when the column was coded."""
    kind = coding.column.kind
    if coding.column.has_cells:
        said = []
        if kind == "date" and coding.column.day_first is None and either_way_round(cells):
            said.append("day and month could be either way round: taken as month/day/year")
        lost = _filled(cells) & (np.diff(matrix.indptr) == 0)
        if lost.any():
            sample = str(cells.array[int(np.argmax(lost))].as_py())[:40]
            what = "no value that the model knows" if kind == "category" else f"no {_WORDS[kind]}"
            said.append(f"{int(lost.sum()):,} cell(s) such as {sample!r} hold {what}: taken as empty")
        return said
    if not isinstance(KINDS[kind], Tags):
        return []  # of a text, most words that are new are rare ones
    tags = KINDS[kind]._tokens(cells)[0].unique()  # type: ignore[attr-defined]
    new = tags.filter(pc.invert(pc.is_in(tags, pa.array(coding.titles, pa.large_string()))))
    if not len(new):
        return []
    return [f"{len(new):,} tag(s) such as {new[0].as_py()[:40]!r} are unknown to the model: left out"]


_WORDS = {"number": "number", "date": "date", "yes/no": "yes or no"}


def _filled(cells: Cells) -> np.ndarray:
    """Which cells say something."""
    if cells.is_number or cells.is_date:
        return np.asarray(cells.array.is_valid(), dtype=bool)
    return cells.known[cells.codes]
