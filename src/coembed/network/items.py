"""The items of one type, and the classes that some of them are known to have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from coembed.errors import InputError
from coembed.network.names import NameArray, Names
from coembed.untrusted import check_count

if TYPE_CHECKING:
    import pyarrow as pa

UNKNOWN = -1
"""The label of an item whose class is not known."""
SEARCHED = 50_000
"""Ids among which one like a misspelt one is looked for."""


@dataclass(frozen=True, eq=False)
class Labels:
    """One class an item, known for some; or several, each of them known or not.

    Attributes
    ----------
    classes
        Names of the classes, unique strings.
    values
        int64, one an item: index into `classes`, or ``UNKNOWN``. Of several classes int8, items x classes:
        1 for yes, 0 for no, or ``UNKNOWN``.
    column
        What the classes are called in the table that they are from.
    """

    classes: np.ndarray
    values: np.ndarray
    column: str = "label"

    @classmethod
    def build(
        cls,
        values: Sequence[int] | np.ndarray,
        classes: Sequence[str] | np.ndarray | None = None,
        column: str = "label",
    ) -> Labels:
        """Check integer labels; a negative one is unknown.

        Examples
        --------
        >>> Labels.build([0, -7, 1]).values, Labels.build([0, -7, 1]).classes
        (array([ 0, -1,  1]), array(['class0', 'class1'], dtype=object))
        """
        given = np.asarray(values)
        if given.ndim != 1 or given.dtype.kind not in "iu":
            raise InputError(
                f"labels must be integers, one an item with {UNKNOWN} for unknown, "
                f"got {given.dtype} of shape {given.shape}"
            )
        seen = int(given.max(initial=0)) + 1 if (given >= 0).any() else 0
        if classes is None:
            check_count("labels", "classes", seen, len(given))
        count = seen if classes is None else len(classes)
        if seen > count:
            raise InputError(f"label {seen - 1} has no name among {count} class names")
        known = np.where(given < 0, UNKNOWN, given).astype(np.int64)
        return cls(unique_names(classes, count, "class"), known, column)

    @classmethod
    def of_several(
        cls, values: np.ndarray, classes: Sequence[str] | np.ndarray, column: str = "label"
    ) -> Labels:
        """Check labels of which an item may have several: 1, 0 or unknown for each class.

        Examples
        --------
        >>> labels = Labels.of_several(np.array([[1, 0], [-1, -1]]), ["fish", "food"])
        >>> labels.texts(np.array([0, 1])).to_pylist(), labels.known.tolist()
        (['fish', ''], [0])
        """
        given = np.asarray(values)
        if given.ndim != 2 or given.dtype.kind not in "iub" or not np.isin(given, (-1, 0, 1)).all():
            raise InputError(
                f"labels of several classes must be 1, 0 or {UNKNOWN}, items x classes, "
                f"got {given.dtype} of shape {given.shape}"
            )
        return cls(unique_names(classes, given.shape[1], "class"), given.astype(np.int8), column)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def several(self) -> bool:
        """Whether an item may have several classes."""
        return self.values.ndim == 2

    @property
    def is_known(self) -> np.ndarray:
        """Of every item, whether its class, or anything of its classes, is known."""
        known = self.values != UNKNOWN
        return known.any(axis=1) if self.several else known

    @property
    def known(self) -> np.ndarray:
        """Positions of the items whose class is known; of several, any of it."""
        return np.flatnonzero(self.is_known)

    @property
    def sizes(self) -> np.ndarray:
        """How many items are known to have each class."""
        if self.several:
            return np.asarray((self.values == 1).sum(axis=0))
        return np.bincount(self.values[self.known], minlength=self.n_classes)

    def without(self, rows: np.ndarray) -> Labels:
        """The labels of some items made unknown."""
        values = self.values.copy()
        values[rows] = UNKNOWN
        return replace(self, values=values)

    def only(self, rows: np.ndarray) -> Labels:
        """The labels of all other items made unknown."""
        values = np.full_like(self.values, UNKNOWN)
        values[rows] = self.values[rows]
        return replace(self, values=values)

    def texts(self, rows: np.ndarray, doubt: str = "") -> pa.Array:
        """The known classes of some items as the cell of a table would have them, empty for unknown.

        Of several, ``;`` alone is known to have none; with `doubt`, classes that are not known follow it.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        names = pa.array([str(name) for name in self.classes], pa.large_string())
        values = self.values[rows]
        if not self.several:
            return names.take(pa.array(values, mask=values < 0)).fill_null("")
        known = (values != UNKNOWN).any(axis=1)
        listed = (values == 1) | ((values == UNKNOWN) & known[:, None] & bool(doubt))
        row, place = np.nonzero(listed)
        named = names.take(pa.array(place))
        unsure = pa.array(values[row, place] == UNKNOWN)
        mark, nothing = (pa.scalar(text, pa.large_string()) for text in (doubt, ""))
        named = pc.if_else(unsure, pc.binary_join_element_wise(mark, named, nothing), named)
        ends = np.append(0, np.cumsum(listed.sum(axis=1)))
        lists = pa.LargeListArray.from_arrays(pa.array(ends), named)
        cells = pc.binary_join(lists, pa.scalar(";", pa.large_string()))
        without = pa.array(known & ~listed.any(axis=1))
        return pc.if_else(without, pa.scalar(";", pa.large_string()), cells)


@dataclass(frozen=True, eq=False)
class Items:
    """All items of one type.

    Attributes
    ----------
    name
        Of the type.
    ids
        What answers name: unique strings (an object array, or :class:`Names`).
    titles
        What people call the items, which need not be unique; None: by their ids.
    labels
        Their classes, if they have any.
    id_column
        What their table calls the ids; None: they are of no table, or its rows are numbered.

    Examples
    --------
    >>> people = Items.build("people", ["p-1", "p-2"], titles=["Ann", "Ann"])
    >>> people, people.position("p-2"), people.title(1)
    (Items('people', 2 items), 1, 'Ann')
    >>> people.position("p-3")
    Traceback (most recent call last):
    coembed.errors.InputError: there is no people 'p-3'; did you mean 'p-2' or 'p-1'?
    """

    name: str
    ids: NameArray
    titles: NameArray | None = None
    labels: Labels | None = None
    id_column: str | None = None

    @classmethod
    def build(
        cls,
        name: str,
        ids: NameArray | int,
        titles: NameArray | None = None,
        labels: Labels | None = None,
        id_column: str | None = None,
    ) -> Items:
        """Check ids, of which a mere number makes some up; titles and labels must be one an item."""
        count = ids if isinstance(ids, int) else len(ids)
        found = unique_names(None if isinstance(ids, int) else ids, count, name)
        for what, given in (("titles", titles), ("labels", None if labels is None else labels.values)):
            if given is not None and len(given) != count:
                raise InputError(f"type {name} has {count} items but {len(given)} {what}; give one for each")
        return cls(name, found, titles, labels, id_column)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        known = f", {len(self.labels.known)} labelled" if self.labels is not None else ""
        return f"Items({self.name!r}, {len(self)} items{known})"

    @property
    def n_classes(self) -> int:
        return 0 if self.labels is None else self.labels.n_classes

    def title(self, position: int) -> str:
        """What people call an item."""
        return str(self.ids[position] if self.titles is None else self.titles[position])

    def speaking(self, position: int) -> str:
        """What to call an attribute where nothing says which column it is of: a bare 8 is ``frames=8``."""
        title = self.title(position)
        return title if any(each.isalpha() for each in title) else str(self.ids[position])

    def with_labels(self, values: np.ndarray) -> Items:
        """The same items with other labels of the same classes."""
        if self.labels is None:
            raise InputError(f"type {self.name} has no classes")
        kind = np.int8 if self.labels.several else np.int64
        return replace(self, labels=replace(self.labels, values=np.asarray(values, dtype=kind)))

    def find(self, item: object) -> int | None:
        """Position of an item by its id, or by a title that no other has."""
        key = str(item)
        found = self.ids.find(key) if isinstance(self.ids, Names) else self._positions.get(key)
        return found if found is not None else self._by_title.get(key)

    def position(self, item: object) -> int:
        """The same, or an :class:`InputError` that names the nearest ids."""
        found = self.find(item)
        if found is not None:
            return found
        near = get_close_matches(str(item), [str(each) for each in self.ids[:SEARCHED]], n=2)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "check the spelling"
        raise InputError(f"there is no {self.name} {str(item)[:80]!r}; {hint}")

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.ids)}

    @cached_property
    def _by_title(self) -> dict[str, int]:
        if self.titles is None:
            return {}
        found: dict[str, int] = {}
        twice = set()
        for i, title in enumerate(self.titles):
            if found.setdefault(str(title), i) != i:
                twice.add(str(title))
        return {title: i for title, i in found.items() if title not in twice}


def ids_and_titles(
    names: NameArray | None, count: int, kind: str
) -> tuple[NameArray, NameArray | None, list[str]]:
    """Ids of items by their names; if names repeat they are titles, ids are made up, and that is said.

    Examples
    --------
    >>> ids_and_titles(["Ann", "Bob"], 2, "node")
    (array(['Ann', 'Bob'], dtype=object), None, [])
    >>> ids, titles, [said] = ids_and_titles(["Ann", "Ann", "Bob"], 3, "node")
    >>> ids, titles
    (array(['node0', 'node1', 'node2'], dtype=object), array(['Ann', 'Ann', 'Bob'], dtype=object))
    >>> said
    "node name 'Ann' occurs twice: names are titles, and ids were made (node0, node1, ...)"
    """
    if names is not None and not isinstance(names, Names):
        names = _texts(names, kind)
    twice = None if names is None else _repeated(names)
    if names is None or twice is None or len(names) != count:
        return unique_names(names, count, kind), None, []
    titles = np.empty(count, dtype=object)
    titles[:] = list(names)
    made = f"ids were made ({kind}0, {kind}1, ...)"
    said = f"{kind} name {twice[:40]!r} occurs twice: names are titles, and {made}"
    return unique_names(None, count, kind), titles, [said]


def _repeated(names: NameArray) -> str | None:
    if isinstance(names, Names):
        return names.repeated()
    once: set[str] = set()
    return next((n for n in names if n in once or once.add(n)), None)  # type: ignore[func-returns-value]


def _texts(names: NameArray, kind: str) -> list[str]:
    """Names as texts: bytes are decoded, and a row of names is none."""
    if getattr(names, "ndim", 1) != 1:
        raise InputError(f"{kind} names are an array of shape {names.shape}; give a list of texts")
    try:
        return [n.decode() if isinstance(n, bytes) else str(n) for n in names]
    except UnicodeDecodeError as error:
        raise InputError(f"{kind} name {error.object[:40]!r} is not UTF-8; give texts") from None


def unique_names(names: NameArray | None, count: int, kind: str) -> NameArray:
    """Unique strings, one for each of `count`; without any, made up.

    Examples
    --------
    >>> unique_names(None, 2, "node")
    array(['node0', 'node1'], dtype=object)
    """
    if names is None:
        made_up = np.empty(count, dtype=object)
        made_up[:] = [f"{kind}{i}" for i in range(count)]
        return made_up
    if isinstance(names, Names):
        if len(names) == count and names.repeated() is None:
            return names
        names = list(names)
    listed = _texts(names, kind)
    if len(listed) != count:
        raise InputError(f"{len(listed)} {kind} names for {count}; give one for each")
    twice = _repeated(listed)
    if twice is not None:
        raise InputError(f"{kind} name {twice!r} occurs twice; names must be unique")
    array = np.empty(count, dtype=object)
    array[:] = listed
    return array
