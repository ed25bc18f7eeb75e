"""Yes or no: one attribute, whose known value is 1 or 0."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network.columns.column_cells import Cells
from coembed.network.columns.kind import Coding, one_a_row
from coembed.network.relations import Absent, ColumnKind

# fmt: off
PAIRS = (
    ("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("on", "off"), ("1", "0"), ("1.0", "0.0"),
    ("ja", "nein"), ("j", "n"), ("wahr", "falsch"), ("oui", "non"), ("vrai", "faux"), ("sí", "no"),
    ("si", "no"), ("sì", "no"), ("vero", "falso"), ("sim", "não"), ("ja", "nee"), ("ja", "nej"),
    ("tak", "nie"), ("ano", "ne"), ("evet", "hayır"), ("да", "нет"), ("是", "否"), ("はい", "いいえ"),
    ("✓", "✗"), ("✔", "✘"),
)
# fmt: on
"""Words for yes and no, in lower case."""
MARKS = frozenset({"x", "✓", "✔", "✗", "•", "*", "☒", "☑"})
"""What people tick with, and leave the cell empty where they do not."""
_MEANING = {word: float(1 - i) for pair in PAIRS for i, word in enumerate(pair)}


class YesNo:
    """A known no is a stored zero."""

    name: ColumnKind = "yes/no"
    likelihood = "bernoulli"
    absent: Absent = "unknown"

    def learn(self, cells: Cells) -> Coding:
        odd = cells.known & np.isnan(distinct_meanings(cells))
        if odd.any():
            raise InputError(
                f"column {cells.name!r} holds {cells.example(odd)!r}, which is neither yes nor no; "
                "give yes/no, true/false or 1/0, or call it a category"
            )
        return Coding.make(cells.name, self.name, [cells.name])

    def values(self, cells: Cells, coding: Coding) -> sp.csr_array:
        meanings = distinct_meanings(cells)[cells.codes]
        return one_a_row(np.where(np.isnan(meanings), -1, 0), meanings, 1)


def distinct_meanings(cells: Cells) -> np.ndarray:
    """1 for yes, 0 for no, NaN for all else, of each distinct text.

    Examples
    --------
    >>> distinct_meanings(Cells.of("member", ["Yes", "no", "?", "perhaps"]))
    array([ 1.,  0., nan, nan])
    """
    return np.array([_MEANING.get(text.lower(), np.nan) for text in cells.distinct.to_pylist()], dtype=float)


def says_yes_or_no(cells: Cells) -> bool:
    """Whether the known texts are exactly one of the pairs."""
    if not 2 <= cells.known.sum() <= 4:  # Yes and yes may both be there
        return False
    found = {
        text.lower() for text, known in zip(cells.distinct.to_pylist(), cells.known, strict=True) if known
    }
    return any(found == set(pair) for pair in PAIRS)
