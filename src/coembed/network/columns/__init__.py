"""Columns of tables: kinds are found from the cells, and code cells as attributes and values."""

from __future__ import annotations

import scipy.sparse as sp

from coembed.network.columns.categories import Categories
from coembed.network.columns.column_cells import MISSING, Cells
from coembed.network.columns.dates import Dates, date_parts
from coembed.network.columns.finding import KNOWN_KINDS, SKIP, Finding, check_kind, find_kind
from coembed.network.columns.kind import Coding, Kind
from coembed.network.columns.numbers import Numbers
from coembed.network.columns.tags import Counts, Tags
from coembed.network.columns.text import Text
from coembed.network.columns.yes_no import YesNo
from coembed.network.relations import ColumnKind

KINDS: dict[ColumnKind, Kind] = {
    each.name: each for each in (Numbers(), Categories(), YesNo(), Tags(), Counts(), Text(), Dates())
}
"""All kinds of columns by name."""

__all__ = [
    "KINDS",
    "KNOWN_KINDS",
    "MISSING",
    "SKIP",
    "Cells",
    "Coding",
    "Finding",
    "Kind",
    "check_kind",
    "code_column",
    "find_kind",
]


def code_column(cells: Cells, kind: ColumnKind, parts: bool = True) -> list[tuple[Coding, sp.csr_array]]:
    """What a column becomes: one coding with its values; of a date also the month and the day of the week.

    Examples
    --------
    >>> [(coding, matrix)] = code_column(Cells.of("city", ["Oslo", "", "Rome"]), "category")
    >>> coding.ids, matrix.toarray().tolist()
    (['city=Oslo', 'city=Rome'], [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    """
    coding = KINDS[kind].learn(cells)
    found = [(coding, KINDS[kind].values(cells, coding))]
    if kind == "date" and parts:
        found += [(coding, matrix) for _, coding, matrix in date_parts(cells)]
    return found
