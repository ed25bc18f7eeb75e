"""What is known of items by name: class, probability, spread, degree, and every column; a value an item.

These are the words of the query language, what points are coloured by, and the columns of a selection.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from coembed.fitted.class_answers import leading_classes, said_classes
from coembed.fitted.frame_export import spreads
from coembed.fitted.gaussians import with_observed
from coembed.network.items import UNKNOWN
from coembed.network.matrices import presence
from coembed.network.names import as_unicode
from coembed.network.relations import Relation
from coembed.network.ways import item_weights

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted

FieldKind = Literal["number", "date", "category", "tags"]
TYPE, CLASS, IS, P, DOUBT, SPREAD, DEGREE = "type", "class", "is", "p", "doubt", "spread", "degree"
BUILT_IN = (TYPE, CLASS, IS, P, DOUBT, SPREAD, DEGREE)
"""Fields that items have whatever their table; a column of the same name is called with a dot before it."""
STATES = ("predicted", "labelled")


@dataclass(frozen=True, eq=False)
class Field:
    """One value an item of a type, or a set of names.

    Attributes
    ----------
    values
        Of a number float64, of a date days since 1970, both with NaN for unknown; of a category positions in
        `names` with ``UNKNOWN``; of tags a sparse matrix, items x names.
    """

    name: str
    kind: FieldKind
    values: np.ndarray | sp.csr_array
    names: tuple[str, ...] = ()
    relation: Relation | None = None

    @property
    def known(self) -> np.ndarray:
        """Of every item, whether its value is known."""
        if isinstance(self.values, sp.csr_array):
            return np.ones(self.values.shape[0], dtype=bool)
        return ~np.isnan(self.values) if self.kind in ("number", "date") else self.values != UNKNOWN

    def having(self, places: np.ndarray) -> np.ndarray:
        """Of every item, whether its value is one of some names."""
        if isinstance(self.values, sp.csr_array):
            wanted = np.zeros(self.values.shape[1], dtype=np.float32)
            wanted[places] = 1
            return np.asarray(self.values @ wanted) > 0
        return np.isin(self.values, places)


def field_of(fitted: Fitted, type: str, name: str) -> Field | None:
    """A field of a type by its name; None if the type has no such field.

    ``.NAME`` and ``TYPE.NAME`` are a column, ``p.CLASS`` the probability of one class.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> from coembed.settings import preset_settings
    >>> from coembed.training import fit
    >>> fitted = fit(demo_network(), preset_settings("paper", epochs=1, dim=2))
    >>> field_of(fitted, "node", "degree").values[:3], field_of(fitted, "node", "class").names[:2]
    (array([ 4.,  3., 25.]), ('animal', 'artifact'))
    """
    if name in BUILT_IN:
        return _built_in(fitted, type, name)
    for relation in fitted.network.columns(type):
        assert relation.column is not None
        if name in (relation.column.name, f".{relation.column.name}", f"{type}.{relation.column.name}"):
            return replace(_column(fitted, relation), name=name)
    labels, probabilities = fitted.network.items(type).labels, fitted.probabilities_of(type)
    if name.startswith("p.") and labels is not None and probabilities is not None:
        at = np.flatnonzero(labels.classes == name.removeprefix("p."))
        if len(at):
            return Field(name, "number", probabilities[:, at[0]].astype(np.float64))
    return None


def field_names(fitted: Fitted, type: str) -> list[tuple[str, FieldKind]]:
    """The fields of a type with their kinds, without those of single classes."""
    labelled = fitted.network.items(type).n_classes and fitted.probabilities_of(type) is not None
    several = fitted.has_several(type)
    found: list[tuple[str, FieldKind]] = [(TYPE, "category")]
    if labelled:
        found += [(CLASS, "tags" if several else "category"), (IS, "category")]
        found += [] if several else [(P, "number"), (DOUBT, "number")]
    found += [(SPREAD, "number"), (DEGREE, "number")]
    for relation in fitted.network.columns(type):
        assert relation.column is not None
        name = relation.column.name
        found.append((f".{name}" if name in BUILT_IN else name, _kind(relation)))
    return found


def _built_in(fitted: Fitted, type: str, name: str) -> Field | None:
    items = fitted.network.items(type)
    if name == TYPE:
        return Field(name, "category", np.zeros(len(items), dtype=np.int64), (type,))
    if name == SPREAD:
        return Field(name, "number", spreads(fitted, type))
    if name == DEGREE:
        return Field(name, "number", item_weights(fitted.network, type).astype(np.float64))
    labels, probabilities = items.labels, fitted.probabilities_of(type)
    if labels is None or probabilities is None or not labels.n_classes:
        return None
    if name == IS:
        return Field(name, "category", labels.is_known.astype(np.int64), STATES)
    names = tuple(str(each) for each in labels.classes)
    if labels.several:
        if name != CLASS:
            return None
        said = with_observed(said_classes(fitted, type).astype(np.int8), labels.values)
        return Field(name, "tags", sp.csr_array(said == 1, dtype=np.float32), names)
    everybody = np.arange(len(items))
    classes = leading_classes(fitted, type, everybody)
    if name == CLASS:
        return Field(name, "category", classes, names)
    own = np.where(labels.is_known, 1.0, probabilities[everybody, classes].astype(np.float64))
    return Field(name, "number", own if name == P else 1 - own)


def _kind(relation: Relation) -> FieldKind:
    assert relation.column is not None
    kind = relation.column.kind
    if kind == "number" or kind == "date":
        return kind
    return "category" if relation.column.has_cells else "tags"


def _column(fitted: Fitted, relation: Relation) -> Field:
    column, matrix, kind = relation.column, relation.values, _kind(relation)
    assert column is not None
    if kind == "tags":
        titles = column_titles(fitted, relation)
        return Field(
            column.name, kind, presence(matrix)[:, column.start : column.stop].tocsr(), titles, relation
        )
    there = np.diff(matrix.indptr) > 0
    first = matrix.indptr[:-1][there]
    if column.numeric:
        numbers = np.full(matrix.shape[0], np.nan)
        numbers[there] = column.held(matrix.data[first])
        return Field(column.name, kind, numbers, (), relation)
    codes = np.full(matrix.shape[0], UNKNOWN, dtype=np.int64)
    if column.kind == "yes/no":
        codes[there] = matrix.data[first] > 0
        return Field(column.name, kind, codes, ("no", "yes"), relation)
    codes[there] = matrix.indices[first] - column.start
    return Field(column.name, kind, codes, column_titles(fitted, relation), relation)


def column_titles(fitted: Fitted, relation: Relation) -> tuple[str, ...]:
    """What people call the values of a column."""
    assert relation.column is not None
    attributes = fitted.network.items(relation.target)
    return tuple(attributes.title(i) for i in range(relation.column.start, relation.column.stop))


def named(names: pa.Array, value: str) -> np.ndarray:
    """Which names are meant: exactly, or else whatever the case; ``*`` stands for any letters.

    Examples
    --------
    >>> names = pa.array(["River", "river bank", "sea"])
    >>> named(names, "river").tolist(), named(names, "RIV*").tolist()
    ([True, False, False], [True, True, False])
    """
    value = as_unicode(value)
    if "*" not in value:
        exact = pc.equal(names, pa.scalar(value, names.type))
        if pc.any(exact).as_py():
            return np.asarray(exact)
    pattern = "^" + ".*".join(_escaped(part) for part in value.split("*")) + "$"
    return np.asarray(pc.match_substring_regex(names, pattern, ignore_case=True))


def _escaped(text: str) -> str:
    return "".join(letter if letter.isalnum() or letter in " _" else f"\\{letter}" for letter in text)


def name_texts(fitted: Fitted, type: str) -> list[pa.Array]:
    """Ids and titles of a type, to be searched; made once."""
    if type not in fitted.name_texts:
        items = fitted.network.items(type)
        listed = [items.ids] if items.titles is None else [items.ids, items.titles]
        fitted.name_texts[type] = [
            pa.array([as_unicode(str(each)) for each in names], pa.large_string()) for names in listed
        ]
    return fitted.name_texts[type]


def named_items(fitted: Fitted, type: str, value: str) -> np.ndarray:
    """Of every item of a type, whether its id or title is meant."""
    found = [named(texts, value) for texts in name_texts(fitted, type)]
    return np.any(found, axis=0)
