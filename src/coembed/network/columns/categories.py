"""Categories: an attribute for each value, of which a cell has one."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network.columns.column_cells import Cells
from coembed.network.columns.kind import Coding, one_a_row
from coembed.network.relations import Absent, ColumnKind

MOST_VALUES = 1_000
OTHER = "other"
"""The value that all the rare ones share where there are too many."""


class Categories:
    """One of a few values; the most frequent ones where there are more than :data:`MOST_VALUES`."""

    name: ColumnKind = "category"
    likelihood = "categorical"
    absent: Absent = "unknown"

    def learn(self, cells: Cells) -> Coding:
        places = np.flatnonzero(cells.known)
        if not len(places):
            raise InputError(f"column {cells.name!r} has no value in any row; skip it")
        if len(places) <= MOST_VALUES:
            return Coding.make(cells.name, self.name, sorted_texts(cells.distinct.take(places)))
        by_count = places[np.argsort(-cells.counts[places], kind="stable")]
        kept = [
            text for text in cells.distinct.take(by_count[: MOST_VALUES - 1]).to_pylist() if text != OTHER
        ]
        rest = int(cells.counts[by_count].sum() - cells.counts[by_count[: len(kept)]].sum())
        said = (
            f"of {len(places):,} values the {len(kept):,} most frequent count, {rest:,} cell(s) are {OTHER!r}"
        )
        return Coding.make(cells.name, self.name, [*sorted(kept), OTHER], [said])

    def values(self, cells: Cells, coding: Coding) -> sp.csr_array:
        return coded(cells.distinct, cells.known, cells.codes, coding)


def coded(distinct: pa.Array, known: np.ndarray, codes: np.ndarray, coding: Coding) -> sp.csr_array:
    """The value of each cell; one that was not there before is `other`, if there is such, else unknown."""
    titles = pa.array(coding.titles, pa.large_string())
    found = pc.index_in(distinct, titles).fill_null(coding.places.get(OTHER, -1))
    places = np.where(known, found.to_numpy(zero_copy_only=False), -1)[codes]
    return one_a_row(places, np.ones(len(places)), len(titles))


def sorted_texts(texts: pa.Array) -> list[str]:
    """Texts in order; whole numbers as numbers.

    Examples
    --------
    >>> sorted_texts(pa.array(["10", "9", "-1"])), sorted_texts(pa.array(["b", "10", "a"]))
    (['-1', '9', '10'], ['10', 'a', 'b'])
    """
    found = texts.to_pylist()
    if all(text.removeprefix("-").isdecimal() for text in found):
        return sorted(found, key=lambda text: (int(text), text))
    return sorted(found)
