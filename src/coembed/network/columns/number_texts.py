"""Numbers as people write them, $1,234.50, 75 %, 1.234,5 €, 40 kg, 1 500, (20), to those a program reads."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

_BLANKS = "[\u00a0\u2007\u2009\u202f]"
_CODES = "EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|CZK|BRL|MXN|KRW|RUB|TRY|ZAR"
_BEFORE = rf"(?:[$€£¥₹]|[A-Z]{{1,2}}\$|{_CODES}) ?"
_BEHIND = r" ?(?:[$€£¥₹%‰]|°?\pL[\pLµ²³/.]{0,8})"
_WRITTEN = (
    rf"^(?P<sign>[+-]?)(?P<before>{_BEFORE})?(?P<minus>-?)(?P<digits>\d[\d .,']*)(?P<behind>{_BEHIND})?$"
)
_MARKED = r"^[+-]?\d[\d.,']*([ ,'][\d.,']+)+$|^[+-]?\d{1,3}(\.\d{3}){2,}$"
_COMMA = r"^[+-]?\d+,\d+$"
# mark of thousands, mark of decimals, and how such a number looks; the first that fits all is taken
_MARKS = (
    (",", ".", r"^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$"),
    (".", ",", r"^[+-]?\d{1,3}(\.\d{3})+(,\d+)?$"),
    (" ", ".", r"^[+-]?\d{1,3}( \d{3})+(\.\d+)?$"),
    (" ", ",", r"^[+-]?\d{1,3}( \d{3})+(,\d+)?$"),
    ("'", ".", r"^[+-]?\d{1,3}('\d{3})+(\.\d+)?$"),
    ("", ",", _COMMA),
)


def plain_numbers(texts: pa.Array) -> pa.Array:
    """The texts of a column, numbers among them as a program reads them; what is none stays as it is.

    A currency or a unit must be the same in all cells that have one, else it may be a name (12 A, 12 B); and
    one pair of marks, of thousands and of decimals, must fit all cells with marks.

    Examples
    --------
    >>> plain_numbers(pa.array(["$1,200.50", "-$3", "($20)"])).to_pylist()
    ['1200.50', '-3', '-20']
    >>> plain_numbers(pa.array(["1.234,5 €", "7,25 €", "1.500 €", None])).to_pylist()
    ['1234.5', '7.25', '1500', None]
    >>> plain_numbers(pa.array(["12 A", "12 B"])).to_pylist()
    ['12 A', '12 B']
    """
    texts = texts.cast(pa.large_string())
    if not pc.any(_fits(texts, r"\d")).as_py():  # names: spares the patterns below, which are slow to make
        return texts
    texts = pc.replace_substring_regex(texts, _BLANKS, " ")
    texts = pc.replace_substring(texts, "\u2212", "-")
    texts = pc.replace_substring_regex(texts, r"^\(([^()-]*\d[^()-]*)\)$", r"-\1")
    return _without_marks(_without_units(texts))


def other_reading(texts: pa.Array) -> pa.Array | None:
    """The same numbers with their one mark taken for the other: of decimals for of thousands, and back.

    None where the cells decide: one has both marks, or no three digits behind its mark.

    Examples
    --------
    >>> other_reading(pa.array(["9.500", "12 ", None])).to_pylist()
    ['9500', '12', None]
    >>> other_reading(pa.array(["9,500 €"])).to_pylist(), other_reading(pa.array(["9.500", "7.25"]))
    (['9.500'], None)
    """
    bare = pc.utf8_trim_whitespace(_without_units(texts.cast(pa.large_string())))
    marked = _fits(bare, r"^[+-]?\d[\d.,']*[.,]\d+$")
    for mark, other in ((".", ""), (",", ".")):
        fits = _fits(bare, rf"^[+-]?\d{{1,3}}[{mark}]\d{{3}}$")
        if pc.any(fits).as_py() and pc.all(pc.or_(fits, pc.invert(marked))).as_py():
            return pc.if_else(fits, pc.replace_substring(bare, mark, other), bare)
    return None


def _without_units(texts: pa.Array) -> pa.Array:
    pieces = pc.extract_regex(texts, _WRITTEN)
    for name in ("before", "behind"):
        unit = pc.utf8_trim_whitespace(pc.struct_field(pieces, name).drop_null())
        if len(unit.filter(pc.not_equal(unit, "")).unique()) > 1:
            return texts
    number = (pc.struct_field(pieces, name) for name in ("sign", "minus", "digits"))
    bare = pc.utf8_trim_whitespace(pc.binary_join_element_wise(*number, pa.scalar("", pa.large_string())))
    return pc.if_else(pieces.is_valid(), bare, texts)


def _without_marks(texts: pa.Array) -> pa.Array:
    marked = _fits(texts, _MARKED)
    for thousands, decimal, pattern in _MARKS:
        shown = _fits(texts, pattern)
        fits = pc.or_(shown, _fits(texts, _COMMA)) if decimal == "," else shown
        if pc.any(pc.and_(shown, marked)).as_py() and pc.all(pc.or_(fits, pc.invert(marked))).as_py():
            bare = pc.replace_substring(texts, thousands, "") if thousands else texts
            return pc.if_else(fits, pc.replace_substring(bare, decimal, "."), texts)
    return texts


def _fits(texts: pa.Array, pattern: str) -> pa.Array:
    return pc.fill_null(pc.match_substring_regex(texts, pattern), False)
