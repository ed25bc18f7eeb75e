"""Values of a column as its table would have written them, to stand beside the cells that are there."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coembed.network.columns import Cells
from coembed.network.columns.dates import parse_dates
from coembed.network.columns.numbers import distinct_numbers
from coembed.network.columns.yes_no import PAIRS, distinct_meanings
from coembed.network.relations import Column

DATES = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y%m%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%d %b %Y",
    "%b %d, %Y",
)
"""Ways to write a date; that of most cells is taken, the first if of none."""
SAMPLE = 300
MOST_DIGITS = 6
MARKS = (("", "."), ("", ","), (",", "."), (".", ","), (" ", "."), (" ", ","), ("'", "."), ("’", "."))
"""Between thousands, and before what is less than one."""
_AROUND = re.compile(r"^[+-]?(\D*?)[+-]?\d(?:.*\d)?(\D*)$")


def empty_cells(cells: Cells) -> np.ndarray:
    """Which cells hold nothing, or a word for nothing; not those that could not be understood.

    Examples
    --------
    >>> empty_cells(Cells.of("age", ["31", "", "n/a", "many"])).tolist()
    [False, True, True, False]
    """
    if cells.is_list or cells.is_nested or cells.is_number or cells.is_date:
        return np.asarray(cells.array.is_null(nan_is_null=True), dtype=bool)
    return ~cells.known[cells.codes]


def written(cells: Cells, column: Column, values: np.ndarray) -> pa.Array:
    """Numbers (of a date days since 1970, of yes or no 1 and 0) as the column has its own.

    Examples
    --------
    >>> member = Cells.of("member", ["True", "False", "True", ""])
    >>> written(member, Column("member", "yes/no"), np.array([0.0])).to_pylist()
    ['False']
    >>> born = Cells.of("born", ["31.01.1970", "02.01.1970"])
    >>> written(born, Column("born", "date", whole=True), np.array([31.0])).to_pylist()
    ['01.02.1970']
    >>> written(Cells.of("size", ["1,5", "2,25"]), Column("size", "number"), np.array([1.234])).to_pylist()
    ['1,23']
    >>> income = Cells.of("income", ["$1,200", "$52,100", "$800"])
    >>> written(income, Column("income", "number", whole=True), np.array([38000.4, -70.0])).to_pylist()
    ['$38,000', '-$70']
    """
    if column.kind == "yes/no":
        return _yes_or_no(cells, values)
    if column.kind == "date":
        return _dates(cells, values, column.whole, column.day_first)
    if not cells.is_number:
        return _number_texts(cells, values, column.whole)
    whole = column.whole or pa.types.is_integer(cells.type)
    kept = np.rint(values) if whole else values
    return pa.array(kept.astype(np.int64) if pa.types.is_integer(cells.type) else kept)


def filled(cells: Cells, rows: np.ndarray, values: pa.Array) -> pa.ChunkedArray:
    """The column with these values in place of what some rows had.

    Examples
    --------
    >>> filled(Cells.of("age", [31, None, 44]), np.array([1]), pa.array([28])).to_pylist()
    [31, 28, 44]
    """
    place = np.full(len(cells), -1)
    place[rows] = np.arange(len(rows))
    given = cells.array
    if pa.types.is_decimal(given.type):  # an expected value has no fixed number of digits
        given = given.cast(pa.float64())
    if pa.types.is_null(given.type):  # nothing was there that could have a type
        given = given.cast(values.type)
    chosen = values.cast(given.type, safe=False).take(pa.array(place, mask=place < 0))
    return pc.if_else(pa.array(place >= 0), chosen, given)


def _yes_or_no(cells: Cells, values: np.ndarray) -> pa.Array:
    if pa.types.is_boolean(cells.type):
        return pa.array(values > 0.5)
    words = {1.0: "yes", 0.0: "no"}
    meanings = distinct_meanings(cells)
    for place in np.argsort(cells.counts, kind="stable"):  # the commonest comes last, and stays
        if not np.isnan(meanings[place]):
            words[meanings[place]] = cells.distinct[int(place)].as_py()
            other = next((p for p in PAIRS if words[meanings[place]].lower() in p), None)
            if other is not None and not (meanings == 1 - meanings[place]).any():
                opposite = other[int(meanings[place])]
                words[1 - meanings[place]] = (
                    opposite.upper() if words[meanings[place]].isupper() else opposite
                )
    texts = pa.array([words[float(each > 0.5)] for each in (0.0, 1.0)], pa.large_string())
    chosen = texts.take(pa.array((values > 0.5).astype(np.int64)))
    return chosen.cast(pa.int64()) if cells.is_number else chosen


def _dates(cells: Cells, days: np.ndarray, whole: bool, day_first: bool | None) -> pa.Array:
    if whole:
        days = np.rint(days)
        stamps = days.astype(np.int64).astype("datetime64[D]")
    else:
        stamps = np.rint(days * 86_400).astype(np.int64).astype("datetime64[s]")
    if cells.is_date:
        return pa.array(stamps)
    there = cells.distinct.filter(pa.array(cells.known)).slice(0, SAMPLE)
    before = parse_dates(Cells.of(cells.name, there), day_first)
    read = np.flatnonzero(np.isfinite(before))
    known = np.rint(before[read] * 86_400).astype(np.int64).astype("datetime64[s]").astype(object)
    texts = [_padded(text) for text in there.take(pa.array(read)).to_pylist()]
    ways = [way if whole else f"{way} %H:%M" for way in DATES]

    def agreeing(way: str) -> int:
        return sum(
            text.startswith(_padded(each.strftime(way))) for text, each in zip(texts, known, strict=True)
        )

    way = max(ways, key=agreeing)
    return pa.array([each.strftime(way) for each in stamps.astype(object)], pa.large_string())


def _padded(date: str) -> str:
    """Its numbers of one digit with a zero in front, so that 3/4/2020 is as 03/04/2020."""
    return re.sub(r"\b(\d)\b", r"0\1", date)


def _number_texts(cells: Cells, values: np.ndarray, whole: bool) -> pa.Array:
    way = _way_of_numbers(cells)
    digits = 0 if whole else _digits(cells, way.mark)
    return pa.array([way.written(each, digits) for each in values], pa.large_string())


class _Way(NamedTuple):
    """How numbers are written: what stands before and behind them, thousands, and the decimal mark."""

    before: str
    behind: str
    thousands: str
    mark: str

    def written(self, value: float, digits: int) -> str:
        """As text; a sign goes in front of all."""
        text = f"{abs(value):,.{digits}f}".translate({ord(","): self.thousands, ord("."): self.mark})
        sign = "-" if value < 0 and text.strip("0.,") else ""
        return f"{sign}{self.before}{text}{self.behind}"


def _way_of_numbers(cells: Cells) -> _Way:
    """The way in which most of the cells are written."""
    known = np.flatnonzero(cells.known)[:SAMPLE]
    texts, numbers = cells.distinct.take(pa.array(known)).to_pylist(), distinct_numbers(cells)[known]
    found = Counter(_AROUND.sub(r"\1\0\2", text.strip()) for text in texts if _AROUND.search(text))
    before, _, behind = found.most_common(1)[0][0].partition("\0") if found else ("", "", "")
    ways = [_Way(before, behind, *marks) for marks in MARKS]

    def agreeing(way: _Way) -> int:
        return sum(
            way.written(number, _behind_mark(text, way.mark)) == text.strip()
            for text, number in zip(texts, numbers, strict=True)
        )

    return max(ways, key=agreeing)


def _behind_mark(text: str, mark: str) -> int:
    found = re.search(rf"{re.escape(mark)}(\d+)\D*$", text)
    return len(found[1]) if found else 0


def _digits(cells: Cells, mark: str) -> int:
    """How many digits the cells have behind their mark, at most."""
    texts = cells.distinct.slice(0, SAMPLE).to_pylist()
    return min(max(_behind_mark(text, mark) for text in texts), MOST_DIGITS) or 2
