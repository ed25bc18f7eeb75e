"""Dates: days since 1970 as a number; besides, where they vary, the month and the day of the week."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network.columns.column_cells import Cells
from coembed.network.columns.kind import Coding, one_a_row
from coembed.network.columns.numbers import robust_scale, scaled
from coembed.network.relations import Absent, ColumnKind

# fmt: off
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# fmt: on
PARTS = ("month", "weekday")
_ISO = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$"
# (how it looks, how pyarrow reads it)
_FORMATS = (
    (r"^\d{4}/\d{1,2}/\d{1,2}$", "%Y/%m/%d"),
    (r"^(19|20)\d{2}(0[1-9]|1[0-2])([0-2]\d|3[01])$", "%Y%m%d"),
    (r"^\d{1,2}\.\d{1,2}\.\d{4}$", "%d.%m.%Y"),
    (r"^\d{1,2}\.\d{1,2}\.\d{2}$", "%d.%m.%y"),
    (r"^\d{1,2}/\d{1,2}/\d{4}$", "%d/%m/%Y"),
    (r"^\d{1,2}/\d{1,2}/\d{4}$", "%m/%d/%Y"),
    (r"^\d{1,2}/\d{1,2}/\d{2}$", "%d/%m/%y"),
    (r"^\d{1,2}/\d{1,2}/\d{2}$", "%m/%d/%y"),
    (r"^\d{1,2}-\d{1,2}-\d{4}$", "%d-%m-%Y"),
    (r"^\d{1,2}[ -][A-Za-z]{3,9}[ -]\d{4}$", "%d %b %Y"),
    (r"^\d{1,2}[ -][A-Za-z]{3,9}[ -]\d{2}$", "%d %b %y"),
    (r"^[A-Za-z]{3,9} \d{1,2} \d{4}$", "%b %d %Y"),
)
_TWO_WAYS = {"%d/%m/%Y": "%m/%d/%Y", "%d/%m/%y": "%m/%d/%y"}
_TIME = (
    r"^(?P<day>.*\d),? (?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?"
    r"(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?$"
)
ENOUGH = 0.95
"""Share of the known cells that must be dates."""
_DAY = 86_400_000_000  # in microseconds


class Dates:
    """The number of a date; :func:`date_parts` gives the rest."""

    name: ColumnKind = "date"
    likelihood = "gaussian"
    absent: Absent = "unknown"

    def learn(self, cells: Cells) -> Coding:
        days = parse_dates(cells)
        known = days[np.isfinite(days)]
        if not len(known):
            raise InputError(
                f"column {cells.name!r} holds no date that is understood; give 2024-12-31, or skip it"
            )
        center, scale = robust_scale(known)
        said = []
        if not cells.is_date:
            odd = cells.known & np.isnan(_distinct_days(cells).days)
            if odd.any():
                count = int(cells.counts[odd].sum())
                said.append(f"{count} cell(s) such as {cells.example(odd)!r} are no dates: taken as unknown")
            if either_way_round(cells):
                said.append("day and month could be either way round: taken as month/day/year")
        whole = bool((known == np.rint(known)).all())
        way = {"center": center, "scale": scale, "whole": whole, "day_first": day_first(cells)}
        return Coding.make(cells.name, self.name, [cells.name], said, **way)

    def values(self, cells: Cells, coding: Coding) -> sp.csr_array:
        return scaled(parse_dates(cells, coding.column.day_first), coding)


def date_parts(cells: Cells) -> list[tuple[str, Coding, sp.csr_array]]:
    """Month and day of the week as categories, each if there is more than one of them."""
    found = []
    for part, (titles, places) in _parts(cells).items():
        there = np.unique(places[places >= 0])
        if len(there) < 2:
            continue
        named = [titles[i] for i in there]
        coding = Coding.make(f"{cells.name}.{part}", "category", named, day_first=day_first(cells))
        position = np.full(len(titles) + 1, -1)  # the last is for no date
        position[there] = np.arange(len(there))
        matrix = one_a_row(position[places], np.ones(len(places)), len(there))
        found.append((part, coding, matrix))
    return found


def date_part(cells: Cells, part: str, day_first: bool | None = None) -> pa.Array:
    """The month or the day of the week of dates, in words; nothing where there is no date.

    Examples
    --------
    >>> date_part(Cells.of("joined", ["1970-01-03", ""]), "weekday").to_pylist()
    ['Saturday', None]
    """
    titles, places = _parts(cells, day_first)[part]
    return pa.array(titles).take(pa.array(places, mask=places < 0))


def _parts(cells: Cells, day_first: bool | None = None) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
    """By part, its names and which of them each date has; -1 without a date."""
    days = parse_dates(cells, day_first)
    known = np.isfinite(days)
    whole = np.floor(np.where(known, days, 0)).astype(np.int64)
    months = whole.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12
    weekdays = (whole + 3) % 7  # 1970 began on a Thursday
    return {
        PARTS[0]: (MONTHS, np.where(known, months, -1)),
        PARTS[1]: (WEEKDAYS, np.where(known, weekdays, -1)),
    }


def parse_dates(cells: Cells, day_first: bool | None = None) -> np.ndarray:
    """Days since 1970, with the time of day as a fraction; NaN where there is no date.

    Where day and month could be exchanged in all of them, `day_first` says which way round they are.

    Examples
    --------
    >>> parse_dates(Cells.of("joined", ["1970-01-03", "", "1970-01-01 12:00"]))
    array([2. , nan, 0.5])
    >>> parse_dates(Cells.of("joined", ["31/01/1970", "2/1/1970"]))
    array([30.,  1.])
    >>> parse_dates(Cells.of("joined", ["31-Jan-1970", "2-Jan-1970 6:00 PM"]))
    array([30.  ,  1.75])

    Some that are no dates, or are written in another way, do not spoil the others:

    >>> parse_dates(Cells.of("joined", ["31.01.1970", "1970-01-03", "31.02.1970", "soon"]))
    array([30.,  2., nan, nan])
    """
    if cells.is_date:
        return _days(cells.array)
    return _distinct_days(cells, day_first).days[cells.codes]


def looks_like_dates(cells: Cells) -> bool:
    """Whether nearly all known cells are dates."""
    return _enough(_distinct_days(cells).days, cells)


def either_way_round(cells: Cells) -> bool:
    """Whether day and month could be exchanged in all dates."""
    return not cells.is_date and _distinct_days(cells).either_way


def day_first(cells: Cells) -> bool | None:
    """Whether the day stands before the month, parted by a stroke; None where nothing tells.

    Examples
    --------
    >>> [day_first(Cells.of("joined", [text])) for text in ("31/1/1970", "1/31/1970", "2/1/1970", "2.1.1970")]
    [True, False, None, None]
    """
    return None if cells.is_date else _distinct_days(cells).day_first


class _Read(NamedTuple):
    """Days of each distinct text, whether day and month could be exchanged, and which of them is first."""

    days: np.ndarray
    either_way: bool
    day_first: bool | None


def _distinct_days(cells: Cells, day_first: bool | None = None) -> _Read:
    """The format that reads most cells goes first; what it cannot read, others may."""
    no_text = pa.scalar(None, pa.large_string())
    texts = pc.if_else(pa.array(cells.known), cells.distinct, no_text)
    read: dict[str, np.ndarray] = {}
    iso = pc.fill_null(pc.match_substring_regex(texts, _ISO), False)
    if pc.any(iso).as_py():
        read["iso"] = _iso_days(pc.if_else(iso, texts, no_text))
    if not _enough(read.get("iso"), cells):
        bare, times = _without_times(texts)
        for pattern, format in _FORMATS:
            fits = pc.fill_null(pc.match_substring_regex(bare, pattern), False)
            if pc.any(fits).as_py():
                read[format] = _days(_stamps(pc.if_else(fits, bare, no_text), format)) + times
    either_way, found_first = False, None
    for by_day, by_month in _TWO_WAYS.items():
        if by_day in read:
            lost, lost_by_month = (np.isnan(read[each]).sum() for each in (by_day, by_month))
            if lost == lost_by_month:
                either_way = True
                del read[by_month if day_first else by_day]
            else:
                found_first = bool(lost < lost_by_month)
                del read[by_month if found_first else by_day]
    found = np.full(len(cells.distinct), np.nan)
    for days in sorted(read.values(), key=lambda days: -int(cells.counts[~np.isnan(days)].sum())):
        found = np.where(np.isnan(found), days, found)
    return _Read(found, either_way, found_first)


def _stamps(texts: pa.Array, format: str) -> pa.Array:
    """Texts read by a format; nothing for days that no month has, which are read as some of the next."""
    stamps = pc.strptime(texts, format, "us", error_is_null=True)
    again = pc.strftime(stamps, re.sub(r"%b|[^%dmyY]", "", format))
    padded = pc.replace_substring_regex(texts, r"\b(\d)\b", r"0\1")
    same = pc.equal(pc.replace_substring_regex(padded, r"\D", ""), again)
    return pc.if_else(pc.fill_null(same, False), stamps, pa.scalar(None, stamps.type))


def _enough(days: np.ndarray | None, cells: Cells) -> bool:
    """Whether nearly all known cells are dates."""
    known = int(cells.counts[cells.known].sum())
    return bool(days is not None and known and cells.counts[~np.isnan(days)].sum() >= ENOUGH * known)


def _without_times(texts: pa.Array) -> tuple[pa.Array, np.ndarray]:
    """The days of texts like 31.12.2024 13:05 or 12/31/2024 1:05 PM, and the time as a part of a day."""
    pieces = pc.extract_regex(texts, _TIME)
    days = pc.if_else(pieces.is_valid(), pc.struct_field(pieces, "day"), texts)
    # Dec 31, 2024 and 31-Dec-2024 with blanks only
    days = pc.replace_substring_regex(pc.replace_substring(days, ",", ""), r"-(\pL+)-", r" \1 ")

    def part(name: str) -> np.ndarray:
        digits = pc.struct_field(pieces, name)
        digits = pc.if_else(pc.equal(digits, ""), pa.scalar("0", digits.type), digits)
        return np.asarray(digits.cast(pa.float64()).fill_null(0.0), dtype=np.float64)

    half = pc.utf8_lower(pc.struct_field(pieces, "half")).fill_null("").to_numpy(zero_copy_only=False)
    hours = np.where(half == "", part("hour"), part("hour") % 12 + 12 * (half == "p"))
    return days, (hours + part("minute") / 60 + part("second") / 3600) / 24


def _iso_days(texts: pa.Array) -> np.ndarray:
    short = pc.replace_substring_regex(texts, r"(Z|[+-]\d{2}:?\d{2})$", "")
    # a bare date ends in what looks like an offset, too: -12
    short = pc.if_else(pc.equal(pc.utf8_length(texts), 10), texts, short)
    try:
        return _days(short.cast(pa.timestamp("us")))
    except pa.ArrowInvalid:  # one of them is no day of the calendar
        return _days(_stamps(pc.utf8_slice_codeunits(short, 0, 10), "%Y-%m-%d"))


def _days(times: pa.Array) -> np.ndarray:
    if pa.types.is_time(times.type):
        return np.full(len(times), np.nan)
    stamps = times.cast(pa.timestamp("us"), safe=False)
    known = np.asarray(stamps.is_valid(), dtype=bool)
    numbers = np.asarray(stamps.cast(pa.int64()).fill_null(0), dtype=np.float64)
    return np.where(known, numbers / _DAY, np.nan)
