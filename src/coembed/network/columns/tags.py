"""Tags: any number of short words in a cell, an attribute each; counts, where each has a number with it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from coembed.network.columns.column_cells import Cells, spread
from coembed.network.columns.kind import Coding
from coembed.network.relations import Absent, ColumnKind

SEPARATORS = (";", "|", ",")
OFTEN = 0.05
"""Share of the cells that a separator must part to come before those after it in the list."""
MOST_TAGS = 5_000
_BRACKETS = r"^\[(.*)\]$|^\{(.*)\}$|^\((.*)\)$"
_QUOTED = r"""^'(.*)'$|^"(.*)"$"""
_COUNTED = r"^(?P<tag>.+):(?P<count>\d+(?:\.\d+)?)$"


class Tags:
    """Presence of every tag; a cell without any has none."""

    name: ColumnKind = "tags"
    likelihood = "auto"
    absent: Absent = "no"

    def learn(self, cells: Cells) -> Coding:
        tags, _, owners = self._tokens(cells)
        found, kept = frequent_texts(tags, owners, cells, at_least=1, at_most=1.0, most=MOST_TAGS)
        said = [f"{found - len(kept):,} of {found:,} tags are rare and left out"] if found > len(kept) else []
        return Coding.make(cells.name, self.name, kept, said)

    def values(self, cells: Cells, coding: Coding) -> sp.csr_array:
        tags, counts, owners = self._tokens(cells)
        matrix = token_matrix(tags, counts, owners, len(cell_groups(cells)[1]), coding.titles)
        if self.name == "tags":
            matrix.data[:] = 1
        return spread(matrix, cell_groups(cells)[0])

    def _tokens(self, cells: Cells) -> tuple[pa.Array, np.ndarray, np.ndarray]:
        tags, owners = split_cells(cells)
        return tags, np.ones(len(tags)), owners


class Counts(Tags):
    """Tags with numbers: ``red:3;blue:1``."""

    name: ColumnKind = "counts"

    def _tokens(self, cells: Cells) -> tuple[pa.Array, np.ndarray, np.ndarray]:
        tokens, owners = split_cells(cells)
        pieces = pc.extract_regex(tokens, _COUNTED)
        tags = pc.if_else(pieces.is_valid(), pc.struct_field(pieces, "tag"), tokens)
        counts = pc.struct_field(pieces, "count").cast(pa.float64()).fill_null(1.0)
        return pc.utf8_trim_whitespace(tags), counts.to_numpy(zero_copy_only=False), owners


def cell_groups(cells: Cells) -> tuple[np.ndarray, pa.Array]:
    """Which of the cells that differ each cell is, and those; lists are not compared."""
    if cells.is_list:
        return np.arange(len(cells)), cells.array.combine_chunks()
    return cells.codes, cells.distinct


def split_cells(cells: Cells, separator: str | None = None) -> tuple[pa.Array, np.ndarray]:
    """All tags of the cells that differ, one after the other, and which of these each is from.

    A cell that is a sign for an empty one (n/a, -) has none, unless a separator is given.

    Examples
    --------
    >>> tags, owners = split_cells(Cells.of("likes", ["chess; go", "", "go"]))
    >>> tags.to_pylist(), owners
    (['chess', 'go', 'go'], array([0, 0, 2]))
    >>> split_cells(Cells.of("likes", ["['chess', 'go']", "[]"]))[0].to_pylist()
    ['chess', 'go']
    """
    groups = cell_groups(cells)[1]
    bare = None if cells.is_list else _without_brackets(groups)
    if cells.is_list:
        if isinstance(groups, pa.ChunkedArray):
            groups = pa.concat_arrays(groups.chunks) if groups.num_chunks else pa.array([], cells.type)
        lists = groups
    else:
        texts = groups if bare is None else bare
        if separator is None:
            separator = separator_of(cells)
            texts = pc.if_else(pa.array(cells.listing), texts, pa.scalar("", texts.type))
        lists = pc.split_pattern(texts, separator or ";")
    owners = pc.list_parent_indices(lists).to_numpy(zero_copy_only=False).astype(np.int64)
    tags = pc.utf8_trim_whitespace(lists.flatten().cast(pa.large_string()).fill_null(""))
    if bare is not None:
        tags = pc.replace_substring_regex(tags, _QUOTED, r"\1\2")
    there = pc.invert(pc.is_in(tags, pa.array(("", *SEPARATORS), pa.large_string())))
    return tags.filter(there), owners[there.to_numpy(zero_copy_only=False)]


def _without_brackets(texts: pa.Array) -> pa.Array | None:
    """What stands between the brackets of lists that a program wrote, ``['a', 'b']``; else None."""
    lists = pc.match_substring_regex(texts, _BRACKETS)
    filled = pc.not_equal(texts, "")
    if not pc.any(lists).as_py() or not pc.all(pc.or_(lists, pc.invert(filled))).as_py():
        return None
    return pc.replace_substring_regex(texts, _BRACKETS, r"\1\2\3")


def separator_of(cells: Cells) -> str | None:
    """The first of :data:`SEPARATORS` that parts cells often; else the first that parts any, or is in any.

    Examples
    --------
    >>> separator_of(Cells.of("ways", ["shop|web", "web", ";"]))  # ; alone: none of them
    '|'
    """
    texts, filled = cells.distinct, cells.counts[cells.filled].sum()
    share = {
        separator: cells.counts[_parts(texts, separator)].sum() / max(filled, 1) for separator in SEPARATORS
    }
    chosen = [each for each in SEPARATORS if share[each] >= OFTEN] or [e for e in SEPARATORS if share[e] > 0]
    chosen = chosen or [e for e in SEPARATORS if pc.any(pc.match_substring(texts, e)).as_py()]
    return chosen[0] if chosen else None


def _parts(texts: pa.Array, separator: str) -> np.ndarray:
    """Which texts have something on either side of the separator."""
    mark = re.escape(separator)
    parted = pc.match_substring_regex(texts, rf"[^\s{mark}]\s*{mark}[\s{mark}]*[^\s{mark}]")
    return np.asarray(parted.fill_null(False), dtype=bool)


def frequent_texts(
    tokens: pa.Array, owners: np.ndarray, cells: Cells, at_least: int, at_most: float, most: int
) -> tuple[int, list[str]]:
    """How many distinct tokens there are, and in order those of enough rows, not of too many.

    Parameters
    ----------
    at_most
        Share of all rows.
    most
        Of those that remain the most frequent are kept.
    """
    encoded = tokens.dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    found, n_groups = len(encoded.dictionary), len(cell_groups(cells)[1])
    rows_of_group = np.ones(n_groups) if cells.is_list else cells.counts
    there = sp.csr_array((np.ones(len(codes), np.float32), (owners, codes)), shape=(n_groups, found))
    there.sum_duplicates()  # a token twice in one cell is in one row
    weights = np.repeat(rows_of_group, np.diff(there.indptr))
    rows = np.bincount(there.indices, weights=weights, minlength=found)
    kept = np.flatnonzero((rows >= at_least) & (rows <= at_most * len(cells)))
    kept = kept[np.argsort(-rows[kept], kind="stable")[:most]]
    return found, sorted(encoded.dictionary.take(pa.array(kept)).to_pylist())


def token_matrix(
    tokens: pa.Array, counts: np.ndarray, owners: np.ndarray, n_groups: int, titles: Sequence[str]
) -> sp.csr_array:
    """How often each title is in each group of cells."""
    places = pc.index_in(tokens, pa.array(titles, pa.large_string())).fill_null(-1)
    places = places.to_numpy(zero_copy_only=False)
    there = places >= 0
    entries = (counts[there].astype(np.float32), (owners[there], places[there]))
    matrix = sp.csr_array(entries, shape=(n_groups, len(titles)))
    matrix.sum_duplicates()
    return matrix
