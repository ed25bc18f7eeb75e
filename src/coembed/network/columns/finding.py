"""Which kind a column is, by its cells; all rules are here, in the order in which they are asked.

====================================================================  =================================
a column                                                              is
====================================================================  =================================
one value only that is a mark (x), other cells empty                  tags
records or bytes; all cells empty; one value only                     left out
lists of texts                                                        tags
lists of numbers                                                      left out
true and false; yes and no, ja and nein, ...; 1 and 0; nothing else   yes/no
dates and times; texts that are dates in 95 % of the known cells      date
numbers that count the rows                                           left out
whole numbers with leading zeros, or called zip, postcode, phone,     a category; left out if most
code or id                                                            occur once
numbers, with one unit or none, words for an empty cell apart; if     number
there are more than 20 different ones, 5 % may be anything, and half
of the cells may have one of three words
web or mail addresses                                                 left out
texts with ``;`` ``|`` or ``,``, whose pieces are of at most three    tags; counts if each piece ends
words and half of which at most are different; with ``,`` half of     in ``:number``
the pieces are in several lists (not so: ``Wien, 1. Bezirk``)
texts of three words or more, of which most occur once, or of six     text
words or more, of which there are more than fifty
other texts, of which most occur once                                 left out
other texts                                                           category
====================================================================  =================================

Words for an empty cell (``MISSING`` of :mod:`~coembed.network.columns.column_cells`) are unknown in numbers,
categories, yes/no and dates; in tags those that are no words (n/a, -), where a cell holds nothing else. Ids,
titles, keys and texts know none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coembed.errors import no_such
from coembed.network.columns.column_cells import Cells
from coembed.network.columns.dates import looks_like_dates
from coembed.network.columns.numbers import distinct_numbers
from coembed.network.columns.tags import SEPARATORS, split_cells
from coembed.network.columns.yes_no import MARKS, says_yes_or_no
from coembed.network.relations import ColumnKind

SKIP: Literal["skip"] = "skip"
FoundKind = ColumnKind | Literal["skip"]
KNOWN_KINDS: tuple[str, ...] = (*get_args(ColumnKind), SKIP)
SAMPLE = 200
"""Different cells that must show that a closer look at all of them is worth it."""
ENOUGH_NUMBERS = 0.95
FEW_NUMBERS = 20
"""Up to so many different numbers, one other text makes the column a category (grades: 1, 2, 3, A)."""
FEW_WORDS = 3
"""Up to so many different texts among many different numbers say why there is no number (not measured)."""
MOST_WORDS_OF_A_TAG = 3
_CODE_NAMES = re.compile(r"(^|[^a-z])(id|ids|zip|zipcode|postcode|postal|plz|phone|code|key|uuid|isbn)$")
_ADDRESS = r"^(https?://|www\.)\S+$|^[^@\s]+@[^@\s]+\.[^@\s]+$"


@dataclass(frozen=True)
class Finding:
    """A kind, or `skip`, and why in words a person understands."""

    kind: FoundKind
    why: str = ""


def find_kind(cells: Cells) -> Finding:
    """The kind of a column.

    Examples
    --------
    >>> find_kind(Cells.of("age", ["31", "n/a", "44"])).kind
    'number'
    >>> find_kind(Cells.of("likes", ["go;chess", "chess", "go"])).kind
    'tags'
    >>> find_kind(Cells.of("nick", ["ann33", "bob", "evie"]))
    Finding(kind='skip', why="nearly every cell is different, such as 'ann33'")
    """
    if cells.is_nested or pa.types.is_time(cells.type) or pa.types.is_duration(cells.type):
        return Finding(SKIP, f"its cells are {cells.type}")
    if cells.is_list:
        return _find_list(cells)
    if not cells.known.any():
        return Finding(SKIP, "all cells are empty")
    if cells.known.sum() == 1:
        if cells.example(cells.known).lower() in MARKS and not cells.filled.all():
            return Finding("tags")
        return Finding(SKIP, f"all known cells are {cells.example(cells.known)!r}")
    if pa.types.is_boolean(cells.type) or says_yes_or_no(cells):
        return Finding("yes/no")
    if cells.is_date or (not pa.types.is_floating(cells.type) and _sampled_dates(cells)):
        return Finding("date")
    return _find_number(cells) or _find_text(cells)


def check_kind(kind: str, place: str) -> FoundKind:
    """A kind that a person named, or an InputError."""
    if kind not in KNOWN_KINDS:
        raise no_such(f"kind of column for {place}:", kind, KNOWN_KINDS)
    return kind  # type: ignore[return-value]


def mostly_once(cells: Cells, chosen: np.ndarray) -> bool:
    """Whether more than half of the chosen cells have a value that no other has.

    Examples
    --------
    >>> town = Cells.of("town", ["Oslo", "Rome", "Oslo"])
    >>> mostly_once(town, town.known)
    False
    """
    counts = cells.counts[chosen]
    return bool((counts == 1).sum() * 2 > counts.sum())


def words_of(cells: Cells, chosen: np.ndarray) -> float:
    """Words of a cell, on average."""
    texts = cells.distinct.filter(pa.array(chosen))
    counts = cells.counts[chosen]
    words = pc.count_substring_regex(texts, r"\S+").to_numpy(zero_copy_only=False)
    return float((words * counts).sum() / max(counts.sum(), 1))


def _find_list(cells: Cells) -> Finding:
    if pa.types.is_string(cells.type.value_type) or pa.types.is_large_string(cells.type.value_type):
        return Finding("tags") if len(split_cells(cells)[0]) else Finding(SKIP, "all lists are empty")
    return Finding(SKIP, f"its cells are lists of {cells.type.value_type}")


def _sampled_dates(cells: Cells) -> bool:
    few = cells.distinct.filter(pa.array(cells.known)).slice(0, SAMPLE)
    return looks_like_dates(Cells.of(cells.name, few)) and looks_like_dates(cells)


def _find_number(cells: Cells) -> Finding | None:
    known = int(cells.counts[cells.known].sum())
    if not cells.is_number and not _sampled_numbers(cells):
        return None
    numbers = distinct_numbers(cells)
    good = ~np.isnan(numbers)
    share = cells.counts[good].sum() / known
    others = int((cells.known & ~good).sum())
    enough = share >= (0.5 if others <= FEW_WORDS else ENOUGH_NUMBERS)
    if others and (not enough or good.sum() <= FEW_NUMBERS or _separated(cells, ~good)):
        return None
    if np.unique(numbers[good]).size == 1:
        return Finding(SKIP, f"all known cells are {cells.example(good)!r}")
    whole = bool((numbers[good] == np.rint(numbers[good])).all())
    if whole and _counts_rows(cells, numbers):
        return Finding(SKIP, "it counts the rows")
    if whole and (_CODE_NAMES.search(cells.name.lower().strip()) or _has_leading_zeros(cells)):
        if mostly_once(cells, good):
            return Finding(SKIP, f"nearly every cell is different, such as {cells.example(good)!r}")
        return Finding("category")
    return Finding("number")


def _sampled_numbers(cells: Cells) -> bool:
    few = Cells.of(cells.name, cells.distinct.filter(pa.array(cells.known)).slice(0, SAMPLE))
    return bool((~np.isnan(distinct_numbers(few))).mean() > 0.5)


def _separated(cells: Cells, chosen: np.ndarray) -> bool:
    """Whether cells are lists (8;9;10) rather than slips of the pen."""
    return bool(pc.any(pc.match_substring(cells.distinct.filter(pa.array(chosen)), ";")).as_py())


def _counts_rows(cells: Cells, numbers: np.ndarray) -> bool:
    found = np.sort(numbers[np.isfinite(numbers)])
    alone = len(found) == len(cells) > 2 and bool(cells.known.all())
    return alone and found[0] in (0, 1) and bool((np.diff(found) == 1).all())


def _has_leading_zeros(cells: Cells) -> bool:
    if cells.is_number:
        return False
    return bool(pc.any(pc.match_substring_regex(cells.distinct, r"^0\d+$")).as_py())


def _find_text(cells: Cells) -> Finding:
    filled = cells.filled
    few = cells.distinct.filter(pa.array(filled)).slice(0, SAMPLE)
    if pc.mean(pc.match_substring_regex(few, _ADDRESS).cast(pa.int8())).as_py() > 0.5:
        return Finding(SKIP, f"its cells are addresses, such as {cells.example(filled)!r}")
    for separator in SEPARATORS:
        kind = _find_tags(cells, separator)
        if kind is not None:
            return Finding(kind)
    once, words = mostly_once(cells, filled), words_of(cells, filled)
    if (once and words >= 3) or (words >= 6 and filled.sum() > 50):
        return Finding("text")
    if once:
        return Finding(SKIP, f"nearly every cell is different, such as {cells.example(cells.known)!r}")
    return Finding("category")


def _find_tags(cells: Cells, separator: str) -> Literal["tags", "counts"] | None:
    having = pc.match_substring(cells.distinct, separator)
    rows = int(cells.counts[having.to_numpy(zero_copy_only=False)].sum())
    # a comma somewhere makes no list
    if rows < (2 if separator == "," else 1) or rows < 0.05 * cells.counts[cells.filled].sum():
        return None
    tags, owners = split_cells(cells, separator)
    words = pc.count_substring_regex(tags, r"\S+").to_numpy(zero_copy_only=False)
    if (words > MOST_WORDS_OF_A_TAG).mean() > 0.01:
        return None
    encoded = tags.dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    weights = cells.counts[owners]
    if len(encoded.dictionary) * 2 > weights.sum() or len(encoded.dictionary) < 2:
        return None
    once = np.bincount(codes, weights=weights) == 1
    if once.sum() * 2 > weights.sum():
        return None
    if separator == "," and not _is_shared(codes, owners, having.to_numpy(zero_copy_only=False)):
        return None
    counted = pc.match_substring_regex(encoded.dictionary, r"^.+:\d+(\.\d+)?$")
    return "counts" if pc.all(counted).as_py() else "tags"


def _is_shared(codes: np.ndarray, owners: np.ndarray, listed: np.ndarray) -> bool:
    """Whether half of the pieces of lists are in other cells, too; else a comma is part of a name."""
    pairs = np.unique(np.stack([codes, owners]), axis=1)
    cells_of = np.bincount(pairs[0])
    inside = np.unique(codes[listed[owners]])
    return bool((cells_of[inside] > 1).mean() >= 0.5)
