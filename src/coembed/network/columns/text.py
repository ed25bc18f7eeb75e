"""Text: its words, lower case and without stop words, an attribute each; the values are counts."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from coembed.network.columns.column_cells import Cells, spread
from coembed.network.columns.kind import Coding
from coembed.network.columns.tags import cell_groups, frequent_texts, token_matrix
from coembed.network.relations import Absent, ColumnKind

MOST_WORDS = 5_000
COMMONEST = 0.5
"""A word of more rows than this share tells none of them apart."""
_STOP_WORDS = """
a about above after again against all also am an and any are as at be because been before being
below between both but by can could did do does doing down during each etc few for from further had
has have having he her here hers him his how i if in into is it its itself just me more most my no
nor not now of off on once one only or other our ours out over own per she should so some such than
that the their theirs them then there these they this those through to too under until up upon very
was we were what when where which while who whom whose why will with within without would you your
yours esp especially usually used using
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


class Text:
    """Words in at least two rows (three from a thousand rows on) and at most half of them."""

    name: ColumnKind = "text"
    likelihood = "auto"
    absent: Absent = "no"

    def learn(self, cells: Cells) -> Coding:
        words, owners = split_words(cells)
        at_least = 2 if len(cells) < 1000 else 3
        found, kept = frequent_texts(words, owners, cells, at_least, COMMONEST, MOST_WORDS)
        said = [] if kept else [f"none of its {found:,} words is in {at_least} rows: nothing is left of it"]
        return Coding.make(cells.name, self.name, kept, said)

    def values(self, cells: Cells, coding: Coding) -> sp.csr_array:
        words, owners = split_words(cells)
        groups = cell_groups(cells)
        return spread(
            token_matrix(words, np.ones(len(words)), owners, len(groups[1]), coding.titles), groups[0]
        )


def split_words(cells: Cells) -> tuple[pa.Array, np.ndarray]:
    """All words of the cells that differ, one after the other, and which of these each is from.

    Examples
    --------
    >>> words, owners = split_words(Cells.of("remark", ["The cat's 2 toys", "", "Ça va: a CAT"]))
    >>> words.to_pylist(), owners
    (["cat's", 'toys', 'ça', 'va', 'cat'], array([0, 0, 2, 2, 2]))
    """
    lists = pc.split_pattern_regex(pc.utf8_lower(cells.distinct), r"[^\p{L}\p{M}\p{N}']+")
    owners = pc.list_parent_indices(lists).to_numpy(zero_copy_only=False).astype(np.int64)
    words = pc.utf8_trim(lists.flatten(), "'")
    useful = pc.and_(
        pc.match_substring_regex(words, r"\p{L}.|.\p{L}"),
        pc.invert(pc.is_in(words, pa.array(sorted(STOP_WORDS), pa.large_string()))),
    )
    return words.filter(useful), owners[useful.to_numpy(zero_copy_only=False)]
