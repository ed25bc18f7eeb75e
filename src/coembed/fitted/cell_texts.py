"""Cells of columns as people write them: numbers to the digits that their spread leaves, dates as dates."""

from __future__ import annotations

import math

import numpy as np

from coembed.network.relations import Column, Relation

MOST_DAYS = 3_000_000
"""Days from 1970 beyond which there is no date."""


def number_texts(value: float, spread: float, whole: bool = False) -> tuple[str, str]:
    """A number and its spread, to two digits of the spread.

    Examples
    --------
    >>> number_texts(52137.2, 9312.0), number_texts(0.51234, 0.0123), number_texts(3.7, 0.4, whole=True)
    (('52,100', '9,300'), ('0.512', '0.012'), ('4', '0'))
    """
    if not (math.isfinite(value) and math.isfinite(spread)):
        return "unknown", "unknown"
    size = spread if spread > 0 else abs(value) / 1000
    digits = 1 - math.floor(math.log10(size)) if size > 0 else 0
    digits = min(digits, 0) if whole else min(digits, 12)
    decimals = max(digits, 0)
    return tuple(f"{round(each, digits) + 0.0:,.{decimals}f}" for each in (value, spread))  # type: ignore[return-value]


def cell_texts(column: Column, value: float, spread: float) -> tuple[str, str]:
    """An expected cell of a column of numbers or dates, and its spread.

    Examples
    --------
    >>> cell_texts(Column("born", "date", whole=True), 10957.0, 12.3)
    ('2000-01-01', '12 days')
    """
    if column.kind != "date":
        return number_texts(value, spread, column.whole)
    days = number_texts(value, spread, whole=True)[1]
    return date_text(value), f"{days} day{'' if days == '1' else 's'}"


def interval_text(column: Column, low: float | None, high: float | None) -> str:
    """Between what a number or a date is.

    Examples
    --------
    >>> interval_text(Column("income", "number", whole=True), 38_012.4, 70_498.0)
    '38,000 to 70,500'
    >>> interval_text(Column("age", "number"), None, None)
    'unknown'
    """
    if low is None or high is None:
        return "unknown"
    # digits as if the middle had a spread of a quarter: ends are no surer than that
    ends = (cell_texts(column, end, (high - low) / 4 or abs(low) / 100) for end in (low, high))
    return " to ".join(text for text, _ in ends)


def date_text(days: float) -> str:
    """The date that is so many days after the first of 1970.

    Examples
    --------
    >>> date_text(-1.0)
    '1969-12-31'
    """
    if not math.isfinite(days) or abs(days) > MOST_DAYS:
        return "unknown"
    return str(np.datetime64("1970-01-01", "D") + np.timedelta64(round(days), "D"))


def date_texts(days: np.ndarray, whole: bool) -> list[str | None]:
    """Dates of many numbers of days since 1970, with the time of day where the column has one.

    Examples
    --------
    >>> date_texts(np.array([18516.0, np.nan]), whole=True), date_texts(np.array([0.5]), whole=False)
    (['2020-09-11', None], ['1970-01-01 12:00'])
    """
    known = np.isfinite(days) & (np.abs(days) <= MOST_DAYS)
    minutes = np.rint(np.where(known, days, 0) * 1440).astype("datetime64[m]")
    if whole:
        minutes = np.rint(np.where(known, days, 0)).astype("datetime64[D]")
    texts = np.char.replace(np.datetime_as_string(minutes), "T", " ")
    return [str(text) if there else None for text, there in zip(texts, known, strict=True)]


def known_text(relation: Relation, row: int, titles: list[str]) -> str | None:
    """The known cell of an item as its table would have it; None if it is not known.

    Parameters
    ----------
    titles
        What people call the attributes of the column.
    """
    column, matrix = relation.column, relation.values
    part = slice(matrix.indptr[row], matrix.indptr[row + 1])
    if column is None or part.start == part.stop:
        return None
    value = float(matrix.data[part.start])
    if column.kind == "category":
        return titles[int(matrix.indices[part.start]) - column.start]
    if column.kind == "yes/no":
        return "yes" if value else "no"
    return cell_text(column, float(column.held(value)))


def cell_text(column: Column, cell: float) -> str:
    """A number or a date as its table would have it.

    Examples
    --------
    >>> cell_text(Column("income", "number", whole=True), 51999.9), cell_text(Column("born", "date"), 10957.0)
    ('52,000', '2000-01-01')
    """
    if column.kind == "date":
        return date_text(cell)
    return f"{round(cell):,}" if column.whole else f"{cell:,.6g}"
