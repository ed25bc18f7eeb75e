"""Queries over the items of a model: ``class:fish p<0.6 has:river income>50000 type:verb``.

A term says something of a field of :mod:`item_fields`; terms after one another must all fit. Where a term
does not apply, as an income that is not known, neither it nor its opposite fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coembed.errors import InputError, no_such
from coembed.fitted.item_fields import Field, field_names, field_of, name_texts, named, named_items
from coembed.fitted.query_syntax import Group, Term, parse, wrong
from coembed.network.matrices import presence
from coembed.network.names import as_unicode
from coembed.network.relations import Relation

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted
    from coembed.fitted.kept_selections import Kept

HAS, LINKED, ID, MISSING, IN = "has", "linked", "id", "missing", "in"
WORDS = (HAS, LINKED, ID, MISSING, IN)
"""Fields that are no values: what items have, whom they are linked to, names, empty cells, selections."""
_COMPARED: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
_SIZES = {"k": 1e3, "m": 1e6}


class Verdict(NamedTuple):
    """Of every item of a type, whether it fits, and whether anything can be said."""

    fits: np.ndarray
    applies: np.ndarray


Verdicts = dict[str, Verdict]


@dataclass(frozen=True, eq=False)
class Found:
    """Items that fit, by type: positions in the order of the network."""

    query: str
    rows: dict[str, np.ndarray]

    def __len__(self) -> int:
        return sum(len(rows) for rows in self.rows.values())

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(rows):,} {type}" for type, rows in self.rows.items() if len(rows))
        return f"Found({self.query!r}: {counts or 'nothing'})"


def find(fitted: Fitted, query: str, selections: Mapping[str, Kept] | None = None) -> Found:
    """See :meth:`Fitted.find`.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> from coembed.settings import preset_settings
    >>> from coembed.training import fit
    >>> fitted = fit(demo_network(), preset_settings("paper", epochs=1, dim=2))
    >>> find(fitted, "has:river degree>4")
    Found('has:river degree>4': 13 node)
    >>> find(fitted, "has:rivr")
    Traceback (most recent call last):
    coembed.errors.NoSuch: query, character 1: there is no attribute 'rivr'; did you mean 'river'?
    """
    verdicts = _Asked(fitted, selections or {}).group(parse(query))
    return Found(query, {type: np.flatnonzero(verdict.fits) for type, verdict in verdicts.items()})


@dataclass(frozen=True, eq=False)
class _Asked:
    """A model and the selections that a query may name."""

    fitted: Fitted
    selections: Mapping[str, Kept]

    def group(self, group: Group) -> Verdicts:
        parts = [
            self.group(part) if isinstance(part, Group) else _negated(self.term(part), part.negated)
            for part in group.parts
        ]
        merge = np.logical_and if group.every else np.logical_or
        found = {
            type: Verdict(
                merge.reduce([part[type].fits for part in parts]),
                merge.reduce([part[type].applies for part in parts]),
            )
            for type in self.fitted.network.types
        }
        return _negated(found, group.negated)

    def term(self, term: Term) -> Verdicts:
        try:
            if term.operator == "!=":
                return _negated(self.said(Term(term.field, ":", term.values, term.place)), True)
            return self.said(term)
        except InputError as error:
            place = f"query, character {term.place + 1}: "
            if str(error).startswith(place):
                raise
            raise type(error)(f"{place}{error}") from None

    def said(self, term: Term) -> Verdicts:
        fitted, network, name = self.fitted, self.fitted.network, term.field
        if name in (None, *WORDS) and term.operator in _COMPARED:
            raise wrong(term.place, f"{name} cannot be compared; write {name}:{term.values[0]}")
        if name is None:
            return {type: _always(_containing(fitted, type, term.values[0])) for type in network.types}
        if name == ID:
            return {
                type: _always(_any(named_items(fitted, type, value) for value in term.values))
                for type in network.types
            }
        if name == IN:
            return self.inside(term)
        if name == HAS:
            return _having(fitted, term)
        if name == MISSING:
            return _missing(fitted, term)
        if name == LINKED or (name in network.relations and network.relation(name).column is None):
            return _linked(fitted, term)
        fields = {type: field_of(fitted, type, name) for type in network.types}
        there = {type: field for type, field in fields.items() if field is not None}
        if not there:
            joining = [each.name for each in network.entity_relations]
            raise no_such("field", name, [*known_fields(fitted), *WORDS, *joining])
        return _compared(fitted, term, there)

    def inside(self, term: Term) -> Verdicts:
        """Items of selections that are kept."""
        network = self.fitted.network
        fits = {type: np.zeros(len(items), dtype=bool) for type, items in network.types.items()}
        for value in term.values:
            if value not in self.selections:
                raise no_such("selection", value, self.selections)
            for type, rows in self.selections[value].rows(network).items():
                fits[type][rows] = True
        return {type: _always(each) for type, each in fits.items()}


def _negated(verdicts: Verdicts, negated: bool) -> Verdicts:
    if not negated:
        return verdicts
    return {type: Verdict(each.applies & ~each.fits, each.applies) for type, each in verdicts.items()}


def known_fields(fitted: Fitted) -> list[str]:
    """The names of all fields of all types."""
    return list(dict.fromkeys(name for type in fitted.network.types for name, _ in field_names(fitted, type)))


def _compared(fitted: Fitted, term: Term, there: dict[str, Field]) -> Verdicts:
    numeric = any(field.kind in ("number", "date") for field in there.values())
    if term.operator in _COMPARED and not numeric:
        raise wrong(term.place, f"{term.field} is no number; write {term.field}:{term.values[0]}")
    places = {} if numeric else _places(term, there)
    found = {}
    for type, items in fitted.network.types.items():
        field = there.get(type)
        if field is None:
            found[type] = Verdict(np.zeros(len(items), dtype=bool), np.zeros(len(items), dtype=bool))
        elif type in places:
            found[type] = Verdict(field.having(places[type]), field.known)
        else:
            found[type] = Verdict(_any(_number_fits(field, term, each) for each in term.values), field.known)
    return found


def _number_fits(field: Field, term: Term, value: str) -> np.ndarray:
    if field.kind not in ("number", "date"):  # of two types, one has a number of that name and one names
        return np.zeros(len(field.known), dtype=bool)
    low, high = _span(field, term, value)
    with np.errstate(invalid="ignore"):
        if term.operator in _COMPARED:
            return _COMPARED[term.operator](field.values, high if term.operator in ("<=", ">") else low)
        return (field.values >= low) & (field.values <= high)


def _span(field: Field, term: Term, value: str) -> tuple[float, float]:
    """The number that was written; of a date all days of a year or month, as it was written."""
    if field.kind == "date":
        try:
            start = np.datetime64(value)
            if np.isnat(start):
                raise ValueError(value)
            low, end = start.astype("datetime64[D]"), (start + 1).astype("datetime64[D]")
        except ValueError:
            text = f"{value!r} is no date; write it as 2024, 2024-05 or 2024-05-31"
            raise wrong(term.place, text) from None
        return float(low.astype(int)), float(end.astype(int) - 1)
    try:
        size = _SIZES.get(value[-1:].lower(), 1.0)
        number = float(value[:-1] if size != 1 else value) * size
        if not np.isfinite(number):
            raise ValueError(value)
    except ValueError:
        raise wrong(term.place, f"{value[:80]!r} is no number, which {term.field} needs") from None
    return number, number


def _places(term: Term, there: dict[str, Field]) -> dict[str, np.ndarray]:
    """Which names of each type's field are meant; each value must be known somewhere."""
    arrays = {
        type: pa.array([as_unicode(each) for each in field.names], pa.large_string())
        for type, field in there.items()
    }
    meant = {type: np.zeros(len(names), dtype=bool) for type, names in arrays.items()}
    for value in term.values:
        hits = {type: named(names, value) for type, names in arrays.items()}
        if "*" not in value and not any(hit.any() for hit in hits.values()):
            every = dict.fromkeys(name for field in there.values() for name in field.names)
            what = term.field if term.field in ("class", "type") else f"value of {term.field}"
            raise no_such(str(what), value, every, list(every)[:12])
        for type, hit in hits.items():
            meant[type] |= hit
    return {type: np.flatnonzero(each) for type, each in meant.items()}


def _having(fitted: Fitted, term: Term) -> Verdicts:
    """Items that have an attribute: a tag, a word, a value of a category, a yes; a number that is known."""
    network = fitted.network
    owners = {type: network.attribute_type(type) for type in network.types}
    wanted = {each: np.zeros(len(network.items(each)), bool) for each in owners.values() if each is not None}
    for value in term.values:
        hits = {type: named_items(fitted, type, value) for type in wanted}
        if "*" not in value and not any(hit.any() for hit in hits.values()):
            raise no_such("attribute", value, *_near(fitted, wanted))
        for type, hit in hits.items():
            wanted[type] |= hit
    found = {}
    for type, items in network.types.items():
        fits, attributes = np.zeros(len(items), dtype=bool), owners[type]
        for relation in network.columns(type) if attributes is not None else ():
            fits |= _joined(relation, wanted[relation.target])
        found[type] = Verdict(fits, np.full(len(items), attributes is not None))
    return found


def _joined(relation: Relation, wanted: np.ndarray) -> np.ndarray:
    known = relation.column is not None and relation.column.numeric
    matrix = presence(relation.values) if known else abs(relation.values)
    return np.asarray(matrix @ wanted.astype(np.float32)) > 0


def _near(fitted: Fitted, types: Iterable[str]) -> tuple[list[str], list[str]]:
    """Names for a hint: all to be compared with, and a few to be listed."""
    names = [
        name for type in types for texts in name_texts(fitted, type) for name in texts[:20_000].to_pylist()
    ]
    return names, names[:12]


def _missing(fitted: Fitted, term: Term) -> Verdicts:
    found = {}
    columns = [field_of(fitted, type, value) for value in term.values for type in fitted.network.types]
    if not any(field is not None for field in columns):
        raise no_such("field", term.values[0], known_fields(fitted))
    for type, items in fitted.network.types.items():
        fields = [field_of(fitted, type, value) for value in term.values]
        known = [field.known for field in fields if field is not None]
        empty = _any(~each for each in known) if known else np.zeros(len(items), dtype=bool)
        found[type] = Verdict(empty, np.full(len(items), bool(known)))
    return found


def _linked(fitted: Fitted, term: Term) -> Verdicts:
    """Items that a relation joins to one of the items named; by ``linked`` any relation, either way."""
    network = fitted.network
    relations = network.entity_relations if term.field == LINKED else [network.relation(str(term.field))]
    ends = dict.fromkeys(end for each in relations for end in (each.source, each.target))
    wanted = {type: np.zeros(len(network.items(type)), dtype=bool) for type in ends}
    for value in term.values:
        hits = {type: named_items(fitted, type, value) for type in ends}
        if "*" not in value and not any(hit.any() for hit in hits.values()):
            raise no_such("item", value, *_near(fitted, ends))
        for type, hit in hits.items():
            wanted[type] |= hit
    fits = {type: np.zeros(len(items), dtype=bool) for type, items in network.types.items()}
    applies = {type: np.zeros(len(items), dtype=bool) for type, items in network.types.items()}
    for each in relations:
        fits[each.source] |= np.asarray(presence(each.values) @ wanted[each.target].astype(np.float32)) > 0
        applies[each.source][:] = True
        if term.field == LINKED or each.pairing.undirected or each.source != each.target:
            backwards = presence(each.backwards) @ wanted[each.source].astype(np.float32)
            fits[each.target] |= np.asarray(backwards) > 0
            applies[each.target][:] = True
    return {type: Verdict(fits[type], applies[type]) for type in network.types}


def _containing(fitted: Fitted, type: str, word: str) -> np.ndarray:
    """Of every item, whether its id or title contains a word."""
    pattern = as_unicode(word)
    return _any(
        np.asarray(pc.match_substring(texts, pattern, ignore_case=True)) for texts in name_texts(fitted, type)
    )


def _always(fits: np.ndarray) -> Verdict:
    return Verdict(fits, np.ones(len(fits), dtype=bool))


def _any(masks: Iterable[np.ndarray]) -> np.ndarray:
    return np.logical_or.reduce(list(masks))
