"""What the tables of a folder are, said explicitly: ``network.toml``.

What is found in tables is such a schema, too, and can be written, edited and put beside them.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from coembed.errors import InputError, no_such
from coembed.network.columns import KNOWN_KINDS, SKIP
from coembed.network.relations import ColumnKind
from coembed.untrusted import reading

SCHEMA_FILE = "network.toml"
KEY = "key"
"""The kind of a column that holds ids of a type: a relation."""


@dataclass(frozen=True)
class ColumnSchema:
    """How to take a column.

    Attributes
    ----------
    kind
        A kind of column, ``skip``, or ``key`` for ids of the type `of`.
    file
        A table of its own with two columns, item and value, and perhaps a third, a number; else the column is
        in the table of the type.
    parts
        Of a date: whether month and day of the week are taken, too.
    center, scale, log, whole
        Of a number or date: the way to its values; None: found from the cells.
    relation, likelihood, absent
        What the relation is called and what its values and gaps mean, if not as for all columns of its kind.
    """

    kind: str
    of: str | None = None
    file: str | None = None
    directed: bool | None = None
    parts: bool = True
    center: float | None = None
    scale: float | None = None
    log: bool | None = None
    whole: bool | None = None
    relation: str | None = None
    likelihood: str | None = None
    absent: str | None = None
    why: str = field(default="", compare=False)


@dataclass(frozen=True)
class TypeSchema:
    """A table of items.

    Attributes
    ----------
    id
        The column of unique ids; None: the rows are numbered.
    title, label
        Columns of names for people, and of classes.
    columns
        The others; None in a schema that a person wrote: to be found.
    several
        Whether a cell of the label holds several classes; None: as it looks.
    attributes, attribute_type, classes
        A table of all attributes (id, title, column) in order, what their type is called, and the classes in
        order, where the cells alone would not tell.
    """

    name: str
    file: str
    id: str | None = None
    title: str | None = None
    label: str | None = None
    columns: Mapping[str, ColumnSchema] = field(default_factory=dict)
    numbered: bool = False
    attributes: str | None = None
    attribute_type: str | None = None
    classes: tuple[str, ...] | None = None
    several: bool | None = None


@dataclass(frozen=True)
class RelationSchema:
    """A table of pairs: its two columns of ids, and the types that these are of.

    Attributes
    ----------
    directed
        Of a type with itself; None: unless every pair is listed both ways.
    weight
        The column of values; None: all count 1.
    split
        A column that makes a relation of each of its values.
    unused
        Further columns.
    """

    name: str
    file: str
    source: str
    target: str
    source_type: str
    target_type: str
    directed: bool | None = None
    weight: str | None = None
    split: str | None = None
    likelihood: str = "auto"
    absent: str = "no"
    unused: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class Schema:
    """Types in order, the main one first, and relations."""

    types: Mapping[str, TypeSchema]
    relations: Mapping[str, RelationSchema] = field(default_factory=dict)
    name: str | None = None
    place: str = SCHEMA_FILE

    @property
    def files(self) -> list[str]:
        """All tables that it names."""
        owned = [t.file for t in self.types.values()]
        owned += [c.file for t in self.types.values() for c in t.columns.values() if c.file]
        owned += [t.attributes for t in self.types.values() if t.attributes]
        return list(dict.fromkeys([*owned, *(r.file for r in self.relations.values())]))


def read_schema(path: Path) -> Schema:
    """Read a ``network.toml``; what is wrong in it is an InputError that names the key."""
    with reading(path, "a whole TOML file", "put it right there"):
        record = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    return _Reading(str(path)).schema(record)


def write_schema(schema: Schema) -> str:
    """A schema as TOML, with a comment wherever a person may want to choose otherwise.

    Examples
    --------
    >>> columns = {"age": ColumnSchema("number"), "nick": ColumnSchema("skip", why="every cell is different")}
    >>> people = TypeSchema("people", "people.csv", id="id", columns=columns)
    >>> print(write_schema(Schema({"people": people})))
    # Kinds of columns: number, category, yes/no, tags, counts, text, date, skip;
    # a column of ids of another type: { kind = "key", of = "TYPE" }.
    <BLANKLINE>
    [types.people]
    file = "people.csv"
    id = "id"
    <BLANKLINE>
    [types.people.columns]
    age = "number"
    nick = "skip"  # every cell is different
    <BLANKLINE>
    """
    lines = [
        f"# Kinds of columns: {', '.join(KNOWN_KINDS)};",
        '# a column of ids of another type: { kind = "key", of = "TYPE" }.',
    ]
    if schema.name is not None:
        lines += [f"name = {_toml(schema.name)}"]
    for items in schema.types.values():
        lines += ["", f"[types.{_key(items.name)}]", *_entries(items, skip=("name", "columns"))]
        if items.label is None:
            candidates = [name for name, each in items.columns.items() if each.kind == "category"]
            lines += [f"# label = {_toml(candidates[0])}"] if candidates else []
        if items.columns:
            lines += ["", f"[types.{_key(items.name)}.columns]"]
            lines += [_column_line(name, column) for name, column in items.columns.items()]
    for relation in schema.relations.values():
        lines += ["", f"[relations.{_key(relation.name)}]"]
        lines += _entries(relation, skip=("name", "unused"))
        if relation.directed is None and relation.source_type == relation.target_type:
            lines += ["# directed = true  # false: pairs have no order; so it is if all are listed both ways"]
        lines += [f"# split = {_toml(name)}  # a relation for each of its values" for name in relation.unused]
    return "\n".join(lines) + "\n"


def _entries(record: TypeSchema | RelationSchema, skip: tuple[str, ...]) -> list[str]:
    """What differs from the defaults."""
    defaults = {each.name: each.default for each in fields(record)}
    given = {name: getattr(record, name) for name in defaults if name not in skip}
    return [f"{key} = {_toml(value)}" for key, value in given.items() if value != defaults[key]]


def _column_line(name: str, column: ColumnSchema) -> str:
    given = {
        each.name: getattr(column, each.name)
        for each in fields(column)
        if each.name != "why" and getattr(column, each.name) != each.default
    }
    if list(given) == ["kind"]:
        value = _toml(column.kind)
    else:
        value = "{ " + ", ".join(f"{key} = {_toml(each)}" for key, each in given.items()) + " }"
    return f"{_key(name)} = {value}" + (f"  # {' '.join(column.why.split())}" if column.why else "")


def _toml(value: Any) -> str:
    """A value as TOML writes it; JSON's strings are TOML's, but for the character that it leaves as it is."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(float(value)) if isinstance(value, float) else str(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml(name)


class _Reading:
    """From a TOML record to a schema, with the place of every mistake."""

    def __init__(self, place: str) -> None:
        self.place = place

    def schema(self, record: dict[str, Any]) -> Schema:
        self._known(record, "", ("name", "types", "relations"))
        types = {
            name: self._type(name, given) for name, given in self._table(record, "types", "types").items()
        }
        if not types:
            raise InputError(f"{self.place}: there is no [types.NAME]; give at least one table of items")
        relations = self._table(record, "relations", "relations").items()
        return Schema(
            types,
            {name: self._relation(name, given, types) for name, given in relations},
            self._text(record, "name", "") if "name" in record else None,
            self.place,
        )

    def _type(self, name: str, given: Any) -> TypeSchema:
        where = f"types.{name}"
        self._is_table(given, where)
        self._known(given, where, [f.name for f in fields(TypeSchema) if f.name != "name"])
        columns = self._table(given, "columns", f"{where}.columns")
        classes = given.get("classes")
        if classes is not None and not (
            isinstance(classes, list) and all(isinstance(c, str) for c in classes)
        ):
            raise self._wrong(f"{where}.classes", "a list of texts")
        return TypeSchema(
            name,
            self._text(given, "file", where, required=True) or "",
            self._text(given, "id", where),
            self._text(given, "title", where),
            self._text(given, "label", where),
            {key: self._column(value, f"{where}.columns.{key}") for key, value in columns.items()},
            bool(self._flag(given, "numbered", where)),
            self._text(given, "attributes", where),
            self._text(given, "attribute_type", where),
            None if classes is None else tuple(classes),
            self._flag(given, "several", where),
        )

    def _column(self, given: Any, where: str) -> ColumnSchema:
        given = {"kind": given} if isinstance(given, str) else given
        self._is_table(given, where)
        self._known(given, where, [f.name for f in fields(ColumnSchema) if f.name != "why"])
        kind = self._text(given, "kind", where, required=True) or ""
        if kind not in (*KNOWN_KINDS, KEY):
            raise InputError(f"{self.place}: {where}: {no_such('kind of column', kind, (*KNOWN_KINDS, KEY))}")
        if kind == KEY and "of" not in given:
            raise InputError(f'{self.place}: {where} is a key: say of which type, with of = "TYPE"')
        for name in ("center", "scale"):
            if name in given and (isinstance(given[name], bool) or not isinstance(given[name], (int, float))):
                raise self._wrong(f"{where}.{name}", "a number")
        parts = self._flag(given, "parts", where)
        return ColumnSchema(
            kind,
            self._text(given, "of", where),
            self._text(given, "file", where),
            self._flag(given, "directed", where),
            True if parts is None else parts,
            None if "center" not in given else float(given["center"]),
            None if "scale" not in given else float(given["scale"]),
            self._flag(given, "log", where),
            self._flag(given, "whole", where),
            self._text(given, "relation", where),
            self._text(given, "likelihood", where),
            self._absent(given, where),
        )

    def _relation(self, name: str, given: Any, types: Mapping[str, TypeSchema]) -> RelationSchema:
        where = f"relations.{name}"
        self._is_table(given, where)
        self._known(
            given, where, [f.name for f in fields(RelationSchema) if f.name not in ("name", "unused")]
        )
        ends = {}
        for end in ("source_type", "target_type"):
            found = self._text(given, end, where)
            if found is None and len(types) == 1:
                found = next(iter(types))
            if found is None:
                raise InputError(f"{self.place}: {where} does not say its {end}; give a type of [types]")
            if found not in types:
                raise InputError(f"{self.place}: {where}.{end}: {no_such('type', found, types)}")
            ends[end] = found
        texts = {
            key: self._text(given, key, where, required=True) or "" for key in ("file", "source", "target")
        }
        return RelationSchema(
            name,
            texts["file"],
            texts["source"],
            texts["target"],
            ends["source_type"],
            ends["target_type"],
            directed=self._flag(given, "directed", where),
            weight=self._text(given, "weight", where),
            split=self._text(given, "split", where),
            likelihood=self._text(given, "likelihood", where) or "auto",
            absent=self._absent(given, where) or "no",
        )

    def _absent(self, given: Mapping[str, Any], where: str) -> str | None:
        absent = self._text(given, "absent", where)
        if absent not in (None, "no", "unknown"):
            raise self._wrong(f"{where}.absent", '"no" or "unknown"')
        return absent

    def _known(self, given: Mapping[str, Any], where: str, known: Any) -> None:
        for key in given:
            if key not in known:
                at = f"{self.place}: {where}" if where else self.place
                raise InputError(f"{at}: {no_such('key', key, list(known))}")

    def _table(self, given: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
        found = given.get(key, {})
        self._is_table(found, where)
        return found  # type: ignore[no-any-return]

    def _is_table(self, given: Any, where: str) -> None:
        if not isinstance(given, dict):
            raise self._wrong(where, "a table of keys and values")

    def _text(self, given: Mapping[str, Any], key: str, where: str, required: bool = False) -> str | None:
        value = given.get(key)
        if value is None and required:
            raise InputError(f"{self.place}: {where} does not say its {key}; add {key} = ...")
        if value is not None and not isinstance(value, str):
            raise self._wrong(f"{where}.{key}".removeprefix("."), "a text in quotes")
        return value

    def _flag(self, given: Mapping[str, Any], key: str, where: str) -> bool | None:
        value = given.get(key)
        if value is not None and not isinstance(value, bool):
            raise self._wrong(f"{where}.{key}", "true or false")
        return value

    def _wrong(self, where: str, expected: str) -> InputError:
        return InputError(f"{self.place}: {where} must be {expected}; put it right there")


def kind_of(column: ColumnSchema) -> ColumnKind | None:
    """The kind of a column that is to be coded; None for keys and what is left out."""
    return None if column.kind in (SKIP, KEY) else column.kind  # type: ignore[return-value]
