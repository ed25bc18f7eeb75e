"""Which column of a table is its id, and which columns hold ids of other tables."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coembed.network.columns import Cells
from coembed.network.columns.dates import looks_like_dates
from coembed.network.columns.finding import words_of
from coembed.network.columns.numbers import distinct_numbers
from coembed.network.columns.tags import split_cells
from coembed.network.readers.named_table import NamedTable

FOUND = 0.95
"""Share of the distinct values of a column that must be ids of a type to make it a key."""
FOUND_NAMED = 0.5
"""The same for a column that is named after the type."""
ID_NAMES = frozenset({"id", "key", "_id", "uuid"})
TITLE_NAMES = ("title", "name")
PARENTS = frozenset({"parent", "parent_id", "manager", "manager_id", "boss", "boss_id", "reports_to"})
"""Names of columns that hold ids of their own table, even if these are numbers."""
_BEHIND = ("id", "ids", "key", "keys", "no", "nr", "number", "code", "ref")
SAMPLE = 500
MOST_WORDS_OF_AN_ID = 5
FEW_ROWS = 20
"""In a shorter table any column of whole numbers may be unique by chance."""


@dataclass(frozen=True, eq=False)
class Ids:
    """The ids of a type, as keys are compared with them."""

    type: str
    column: str | None
    texts: pa.Array

    @classmethod
    def of(cls, type: str, cells: Cells) -> Ids:
        return cls(type, cells.name, cells.distinct)

    @cached_property
    def integers(self) -> bool:
        """Whether they are whole numbers, which are found among any other numbers, too."""
        few = self.texts.slice(0, SAMPLE)
        return bool(pc.all(pc.match_substring_regex(few, r"^-?\d+$")).as_py())

    def positions(self, texts: pa.Array) -> np.ndarray:
        """Where each text is among the ids; -1 where it is not."""
        found = pc.index_in(as_keys(texts), self.texts).fill_null(-1)
        return found.to_numpy(zero_copy_only=False).astype(np.int64)

    def share(self, texts: pa.Array) -> float:
        """Of distinct texts, how many are among the ids."""
        if not len(texts) or not len(self.texts):
            return 0.0
        sample = as_keys(texts.slice(0, SAMPLE))
        # cheaper than looking up all: most columns are no keys
        if pc.sum(pc.is_in(self.texts, sample)).as_py() < 0.5 * len(sample):
            return 0.0
        return float((self.positions(texts) >= 0).mean())


def as_keys(texts: pa.Array) -> pa.Array:
    """Whole numbers that a program wrote as 7.0 for want of an empty whole number are 7."""
    if pc.all(pc.match_substring_regex(texts, r"^(-?\d+\.0)?$")).as_py():
        return pc.replace_substring_regex(texts, r"\.0$", "")
    return texts


def key_texts(cells: Cells) -> pa.Array | None:
    """The distinct keys that a column could hold: cells, or tags of them; None for what holds none."""
    if cells.is_nested or cells.is_date or (cells.is_list and pa.types.is_nested(cells.type.value_type)):
        return None
    if cells.is_list:
        return split_cells(cells)[0].unique()
    return cells.distinct.filter(pa.array(cells.filled))


def tag_keys(cells: Cells) -> pa.Array | None:
    """The distinct tags of a text column with ``;`` in it."""
    if cells.is_list or cells.is_number or not pc.any(pc.match_substring(cells.distinct, ";")).as_py():
        return None
    return split_cells(cells, ";")[0].unique()


def key_of(cells: Cells, candidates: Iterable[Ids], lenient: bool = False) -> str | None:
    """The type whose ids a column holds, if any.

    Numbers are keys only where the column is named after the type, as ages are found among numbered ids;
    and a few texts only if named so, or if they are a good part of the ids. `lenient`: in a table that holds
    little else.
    """
    texts = key_texts(cells)
    if texts is None or not len(texts):
        return None
    found = []
    for ids in candidates:
        named = is_named_after(cells.name, ids)
        rare = len(texts) < 10 and len(texts) < 0.02 * len(ids.texts)
        if not named and not lenient and (ids.integers or rare):
            continue
        share = max(ids.share(texts), _share_of_tags(cells, ids))
        if share >= (FOUND_NAMED if named else FOUND):
            found.append((not named, -share, len(ids.texts), ids.type))
    return min(found)[-1] if found else None


def nearly_key_of(cells: Cells, candidates: Iterable[Ids]) -> tuple[str, float] | None:
    """The type of which a column holds some ids, but too few, and their share."""
    texts = key_texts(cells)
    if texts is None:
        return None
    shares = [(ids.share(texts), ids.type) for ids in candidates if not ids.integers]
    share, type = max(shares, default=(0.0, ""))
    return (type, share) if 0.5 <= share < FOUND else None


def _share_of_tags(cells: Cells, ids: Ids) -> float:
    tags = tag_keys(cells)
    return 0.0 if tags is None or not len(tags) else ids.share(tags)


def is_named_after(column: str, ids: Ids) -> bool:
    """Whether a column is called like a type, perhaps with more before it, and id or the like behind it.

    Examples
    --------
    >>> customers = Ids("customers", "id", pa.array(["1"]))
    >>> [is_named_after(name, customers) for name in ("customer_id", "Customers", "firstCustomerId")]
    [True, True, True]
    >>> [is_named_after(name, customers) for name in ("customer_rating", "age", "id")]
    [False, False, False]
    """
    if column == ids.column and column.lower() not in ID_NAMES:
        return True
    words = _words(column)
    wanted = _words(ids.type)
    if not words or not wanted:
        return False
    words = words[:-1] if words[-1] in _BEHIND and len(words) > 1 else words
    return words[-len(wanted) :] in (wanted, [*wanted[:-1], singular(wanted[-1])])


def id_column(table: NamedTable) -> str | None:
    """The column of unique ids: one called so, else the first unique one of short texts or numbers."""
    called = [name for name in table.columns if is_id_name(name, table.name) and is_unique(table, name)]
    # id itself before customer_id
    named = min(called, key=lambda name: name.strip().lower() not in ID_NAMES, default=None)
    if named is not None or repeated_id(table) is not None:
        return named
    return next((name for name in table.columns if _could_be_id(table, name)), None)


def repeated_id(table: NamedTable) -> str | None:
    """A column that is called id and repeats a few: meant as one, and for the reader to refuse or to join."""
    for name, cells in table.columns.items():
        if is_id_name(name, table.name) and not is_unique(table, name) and not cells.is_list:
            return name if len(cells.distinct) * 2 >= len(cells) else None
    return None


def nearly_unique(table: NamedTable) -> str | None:
    """The first column of short texts that repeats a few: it may be meant as one of ids."""
    for name, cells in table.columns.items():
        if cells.is_list or cells.is_nested or cells.is_number or cells.is_date or is_unique(table, name):
            continue
        if len(cells.distinct) * 2 >= len(cells) > 0 and words_of(cells, cells.filled) <= MOST_WORDS_OF_AN_ID:
            return name
    return None


def is_id_name(column: str, table: str) -> bool:
    """Whether a column is called id, key, or after its table.

    Examples
    --------
    >>> [is_id_name(name, "customers") for name in ("ID", "customer_id", "customersId", "customer")]
    [True, True, True, False]
    """
    words, own = _words(column), _words(table)
    if column.strip().lower() in ID_NAMES:
        return True
    return bool(own) and words in ([*own, "id"], [*own[:-1], singular(own[-1]), "id"])


def is_unique(table: NamedTable, column: str) -> bool:
    cells = table.columns[column]
    if cells.is_list or cells.is_nested:
        return False
    return len(cells.distinct) == len(cells) > 0 and bool(cells.filled.all())


def _could_be_id(table: NamedTable, column: str) -> bool:
    if not is_unique(table, column):
        return False
    cells = table.columns[column]
    if cells.is_date or pa.types.is_floating(cells.type) or looks_like_dates(cells):
        return False
    numbers = distinct_numbers(cells)
    if np.isfinite(numbers).all():
        if (numbers != np.rint(numbers)).any():
            return False
        counted = numbers.min() in (0, 1) and bool((np.diff(np.sort(numbers)) == 1).all())
        first = column == next(iter(table.columns))
        return counted or (first and len(cells) >= FEW_ROWS) or _words(column)[-1:] == ["id"]
    return (
        words_of(cells, cells.filled) <= MOST_WORDS_OF_AN_ID
        and not pc.any(pc.match_substring(cells.distinct, ";")).as_py()
    )


def singular(word: str) -> str:
    """
    >>> [singular(word) for word in ("customers", "cities", "news", "boxes", "classes", "film")]
    ['customer', 'city', 'new', 'box', 'class', 'film']
    """
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes", "zes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _words(name: str) -> list[str]:
    """
    >>> _words("customerId"), _words("Film title_2")
    (['customer', 'id'], ['film', 'title', '2'])
    """
    apart = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    return [word for word in re.split(r"[\W_]+", apart.lower()) if word]
