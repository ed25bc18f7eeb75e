"""Numbers: one attribute, its values centred at the median and scaled robustly, with the way back."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network.columns.column_cells import Cells
from coembed.network.columns.kind import Coding, one_a_row
from coembed.network.columns.number_texts import other_reading, plain_numbers
from coembed.network.relations import Absent, ColumnKind

FARTHEST = 10.0
"""Scales from the median beyond which a cell counts as that far: a 999999 must not outshout all others."""
_QUARTILES_OF_NORMAL = 1.349  # distance of the quartiles of a normal distribution, in standard deviations


class Numbers:
    """Values (x - center) / scale; x is the cell, or log(1 + cell) of what is clearly skewed."""

    name: ColumnKind = "number"
    likelihood = "gaussian"
    absent: Absent = "unknown"

    def learn(self, cells: Cells) -> Coding:
        numbers = parse_numbers(cells)
        known = numbers[np.isfinite(numbers)]
        if not len(known):
            raise InputError(f"column {cells.name!r} holds no number; choose another kind, or skip it")
        log = _is_skewed(known)
        center, scale = robust_scale(np.log1p(known) if log else known)
        whole = bool((known == np.rint(known)).all())
        coding = Coding.make(
            cells.name, self.name, [cells.name], (), center=center, scale=scale, log=log, whole=whole
        )
        return Coding(coding.column, coding.titles, tuple(_said(cells, numbers, coding)))

    def values(self, cells: Cells, coding: Coding) -> sp.csr_array:
        return scaled(parse_numbers(cells), coding)


def scaled(numbers: np.ndarray, coding: Coding) -> sp.csr_array:
    """One column of values; NaN and infinity are unknown, the median a stored zero."""
    known = np.isfinite(numbers)
    if coding.column.log:
        known &= numbers > -1
    values = coding.column.value(np.where(known, numbers, 0.0))
    return one_a_row(np.where(known, 0, -1), np.clip(values, -FARTHEST, FARTHEST), 1)


def as_learnt(cells: Cells, coding: Coding) -> Cells:
    """The cells, read with the marks that bring them nearer to those that the column was learnt from.

    In a few new cells 9.500 alone does not tell whether it is nine or nine thousand; the column does.

    Examples
    --------
    >>> sales = Numbers().learn(Cells.of("sales", ["1.234,5", "9.310,97", "15.720,07"]))
    >>> [as_learnt(Cells.of("sales", [text]), sales).texts.to_pylist() for text in ("9.500", "2.95")]
    [['9500'], ['2.95']]
    """
    other = None if cells.is_number or cells.is_list else other_reading(cells.distinct)
    if other is None:
        return cells
    read = [cells, Cells.of(cells.name, other.take(pa.array(cells.codes)))]
    numbers = [parse_numbers(each) for each in read]
    far = [np.abs(coding.column.value(np.maximum(each[np.isfinite(each)], 0.0))) for each in numbers]
    return read[int(len(far[1]) > 0 and np.median(far[1]) < np.median(far[0]))]


def parse_numbers(cells: Cells) -> np.ndarray:
    """All cells as float64; NaN where there is no number.

    Examples
    --------
    >>> parse_numbers(Cells.of("x", ["1", "n/a", "2e1", "many"]))
    array([ 1., nan, 20., nan])
    >>> parse_numbers(Cells.of("x", ["1,5", "2", ""])), parse_numbers(Cells.of("x", ["1,500", "2,000.5"]))
    (array([1.5, 2. , nan]), array([1500. , 2000.5]))
    """
    if cells.is_number:
        # not `safe`: a whole number beyond 2^53 is the float next to it, and not refused
        return np.asarray(cells.array.cast(pa.float64(), safe=False).fill_null(np.nan), dtype=np.float64)
    return distinct_numbers(cells)[cells.codes]


def distinct_numbers(cells: Cells) -> np.ndarray:
    """The number that each distinct text is, NaN for others."""
    texts = pc.if_else(pa.array(cells.known), cells.distinct, pa.scalar(None, pa.large_string()))
    try:
        return np.asarray(texts.cast(pa.float64()).fill_null(np.nan), dtype=np.float64)
    except pa.ArrowInvalid:
        texts = plain_numbers(texts)
    plain = pc.match_substring_regex(texts, r"^[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i)inf|infinity)$")
    numbers = pc.if_else(plain, texts, pa.scalar(None, pa.large_string())).cast(pa.float64())
    return np.asarray(numbers.fill_null(np.nan), dtype=np.float64)


def robust_scale(known: np.ndarray) -> tuple[float, float]:
    """Median, and the distance of the quartiles in standard deviations; never far below the deviation itself.

    Examples
    --------
    >>> robust_scale(np.array([1.0, 2.0, 3.0]))[0], robust_scale(np.array([5.0, 5.0, 5.0, 5.0, 9.0]))[1] > 1
    (2.0, True)
    """
    low, center, high = np.quantile(known, [0.25, 0.5, 0.75])
    deviation = float(known.std())
    scale = float(high - low) / _QUARTILES_OF_NORMAL or deviation
    # a column of which the middle half hardly moves would give all others huge values
    scale = max(scale, deviation / 3)
    return float(center), scale if scale > 0 and np.isfinite(scale) else 1.0


def _is_skewed(known: np.ndarray) -> bool:
    """Clearly, that is: the logarithm at least halves it."""
    if known.min() < 0 or len(known) < 3:
        return False
    before = _skewness(known)
    return before > 1 and abs(_skewness(np.log1p(known))) < before / 2


def _skewness(x: np.ndarray) -> float:
    deviation = x.std()
    return float((((x - x.mean()) / deviation) ** 3).mean()) if deviation > 0 else 0.0


def _said(cells: Cells, numbers: np.ndarray, coding: Coding) -> list[str]:
    said = []
    infinite = int(np.isinf(numbers).sum())
    if infinite:
        said.append(f"{infinite} cell(s) are infinite and were taken as unknown")
    if not cells.is_number:
        odd = cells.known & np.isnan(distinct_numbers(cells))
        if odd.any():
            count = int(cells.counts[odd].sum())
            said.append(f"{count} cell(s) such as {cells.example(odd)!r} are no numbers: taken as unknown")
    known = numbers[np.isfinite(numbers)]
    far = int((np.abs(coding.column.value(known)) > FARTHEST).sum())
    if far:
        said.append(f"{far} cell(s) lie more than {FARTHEST:g} scales from the median and count as that far")
    return said
