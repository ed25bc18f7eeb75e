"""Dates: days since 1970 as a number; besides, where they vary, the month and the day of the week."""

from __future__ import annotations

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
_MONTH_FIRST = "%m/%d/%Y"
# (how it looks, how pyarrow reads it); the first that nearly all known cells have is taken
_FORMATS = (
    (r"^\d{4}/\d{1,2}/\d{1,2}$", "%Y/%m/%d"),
    (r"^\d{1,2}\.\d{1,2}\.\d{4}$", "%d.%m.%Y"),
    (r"^\d{1,2}/\d{1,2}/\d{4}$", "%d/%m/%Y"),
    (r"^\d{1,2}/\d{1,2}/\d{4}$", _MONTH_FIRST),
    (r"^\d{1,2}-\d{1,2}-\d{4}$", "%d-%m-%Y"),
    (r"^\d{1,2} [A-Za-z]{3,9} \d{4}$", "%d %b %Y"),
    (r"^[A-Za-z]{3,9} \d{1,2}, \d{4}$", "%b %d, %Y"),
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
            odd = cells.known & np.isnan(_distinct_days(cells)[0])
            if odd.any():
                count = int(cells.counts[odd].sum())
                said.append(f"{count} cell(s) such as {cells.example(odd)!r} are no dates: taken as unknown")
            if _distinct_days(cells)[1]:
                said.append("day and month could be either way round: taken as month/day/year")
        whole = bool((known == np.rint(known)).all())
        return Coding.make(cells.name, self.name, [cells.name], said, center=center, scale=scale, whole=whole)

    def values(self, cells: Cells, coding: Coding) -> sp.csr_array:
        return scaled(parse_dates(cells), coding)


def date_parts(cells: Cells) -> list[tuple[str, Coding, sp.csr_array]]:
    """Month and day of the week as categories, each if there is more than one of them."""
    found = []
    for part, (titles, places) in _parts(cells).items():
        there = np.unique(places[places >= 0])
        if len(there) < 2:
            continue
        coding = Coding.make(f"{cells.name}.{part}", "category", [titles[i] for i in there])
        position = np.full(len(titles) + 1, -1)  # the last is for no date
        position[there] = np.arange(len(there))
        matrix = one_a_row(position[places], np.ones(len(places)), len(there))
        found.append((part, coding, matrix))
    return found


def date_part(cells: Cells, part: str) -> pa.Array:
    """The month or the day of the week of dates, in words; nothing where there is no date.

    Examples
    --------
    >>> date_part(Cells.of("joined", ["1970-01-03", ""]), "weekday").to_pylist()
    ['Saturday', None]
    """
    titles, places = _parts(cells)[part]
    return pa.array(titles).take(pa.array(places, mask=places < 0))


def _parts(cells: Cells) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
    """By part, its names and which of them each date has; -1 without a date."""
    days = parse_dates(cells)
    known = np.isfinite(days)
    whole = np.floor(np.where(known, days, 0)).astype(np.int64)
    months = whole.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12
    weekdays = (whole + 3) % 7  # 1970 began on a Thursday
    return {
        PARTS[0]: (MONTHS, np.where(known, months, -1)),
        PARTS[1]: (WEEKDAYS, np.where(known, weekdays, -1)),
    }


def parse_dates(cells: Cells) -> np.ndarray:
    """Days since 1970, with the time of day as a fraction; NaN where there is no date.

    Examples
    --------
    >>> parse_dates(Cells.of("joined", ["1970-01-03", "", "1970-01-01 12:00"]))
    array([2. , nan, 0.5])
    >>> parse_dates(Cells.of("joined", ["31/01/1970", "2/1/1970"]))
    array([30.,  1.])
    """
    if cells.is_date:
        return _days(cells.array)
    return _distinct_days(cells)[0][cells.codes]


def looks_like_dates(cells: Cells) -> bool:
    """Whether nearly all known cells are dates of one format."""
    days, _ = _distinct_days(cells)
    known = int(cells.counts[cells.known].sum())
    return bool(known and cells.counts[~np.isnan(days)].sum() >= ENOUGH * known)


def _distinct_days(cells: Cells) -> tuple[np.ndarray, bool]:
    """Days of each distinct text, and whether day and month could be exchanged."""
    texts = pc.if_else(pa.array(cells.known), cells.distinct, pa.scalar(None, pa.large_string()))
    known = cells.counts[cells.known].sum()

    def enough(days: np.ndarray) -> bool:
        return bool(cells.counts[~np.isnan(days)].sum() >= ENOUGH * known)

    iso = pc.fill_null(pc.match_substring_regex(texts, _ISO), False)
    if pc.any(iso).as_py():
        days = _iso_days(pc.if_else(iso, texts, pa.scalar(None, pa.large_string())))
        if enough(days):
            return days, False
    read = {}
    for pattern, format in _FORMATS:
        fits = pc.fill_null(pc.match_substring_regex(texts, pattern), False)
        if not pc.any(fits).as_py():
            continue
        fitting = pc.if_else(fits, texts, pa.scalar(None, pa.large_string()))
        days = _days(pc.strptime(fitting, format, "us", error_is_null=True))
        if enough(days):
            read[format] = days
    if _MONTH_FIRST in read and len(read) == 2:
        day_first = read["%d/%m/%Y"]
        good = np.isnan(read[_MONTH_FIRST]).sum() - np.isnan(day_first).sum()
        return (day_first, False) if good > 0 else (read[_MONTH_FIRST], good == 0)
    for days in read.values():
        return days, False
    return np.full(len(cells.distinct), np.nan), False


def _iso_days(texts: pa.Array) -> np.ndarray:
    short = pc.replace_substring_regex(texts, r"(Z|[+-]\d{2}:?\d{2})$", "")
    # a bare date ends in what looks like an offset, too: -12
    short = pc.if_else(pc.equal(pc.utf8_length(texts), 10), texts, short)
    try:
        return _days(short.cast(pa.timestamp("us")))
    except pa.ArrowInvalid:  # one of them is no day of the calendar
        return _days(pc.strptime(pc.utf8_slice_codeunits(short, 0, 10), "%Y-%m-%d", "us", error_is_null=True))


def _days(times: pa.Array) -> np.ndarray:
    if pa.types.is_time(times.type):
        return np.full(len(times), np.nan)
    stamps = times.cast(pa.timestamp("us"), safe=False)
    known = np.asarray(stamps.is_valid(), dtype=bool)
    numbers = np.asarray(stamps.cast(pa.int64()).fill_null(0), dtype=np.float64)
    return np.where(known, numbers / _DAY, np.nan)
