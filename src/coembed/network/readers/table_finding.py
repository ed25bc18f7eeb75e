"""Which table is a type and which a relation, and what their columns are: from tables to a schema.

- A table with a column of unique ids is a type: one called id, key or after the table, else the first unique
  column of short texts or of numbers.
- A table with two columns of which 95 % of the values are ids of types (half of them, if the column is named
  after the type) is a relation, even if one of the two is unique; not if it has an id of its own besides.
- A table of ids of one type and one more column, of texts that repeat, is a column of that type: its tags.
- Any other table is a type, too, whose rows are numbered.
- A column of a type that holds ids of another, or of its own, is a relation; so are tags of ids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from coembed.errors import InputError, no_such
from coembed.network.columns import SKIP, check_kind, find_kind
from coembed.network.columns.finding import mostly_once, words_of
from coembed.network.readers.delimited_text import ID_TITLES, NUMBER_TITLES
from coembed.network.readers.keys import (
    ID_NAMES,
    PARENTS,
    TITLE_NAMES,
    Ids,
    id_column,
    key_of,
    nearly_key_of,
    repeated_id,
)
from coembed.network.readers.named_table import NamedTable
from coembed.network.readers.table_schema import KEY, ColumnSchema, RelationSchema, Schema, TypeSchema

LABEL_NAMES = ("label", "class", "target", "y")
"""Names of a column that is taken as the label without being asked."""


@dataclass(frozen=True, eq=False)
class Wishes:
    """What a person asked for: label columns, and kinds of columns, by ``column`` or ``table.column``."""

    labels: Sequence[str] = ()
    kinds: Mapping[str, str] | None = None

    def check(self, tables: Sequence[NamedTable]) -> None:
        """Whatever was named must be there."""
        known = [_names(table.name, column) for table in tables for column in table.columns]
        every = [name for names in known for name in names]
        listed = [names[len(tables) > 1] for names in known]
        for label in self.labels:
            if label not in every:
                raise no_such("column for the label", label, every, listed)
        for name, kind in (self.kinds or {}).items():
            if name not in every:
                raise no_such("column", name, every, listed)
            check_kind(kind, name)

    def label(self, table: str, columns: Mapping[str, object]) -> str | None:
        chosen = [name for name in columns if any(each in self.labels for each in _names(table, name))]
        if len(chosen) > 1:
            raise InputError(f"{table} has two label columns, {' and '.join(map(repr, chosen))}; choose one")
        return chosen[0] if chosen else None

    def kind(self, table: str, column: str) -> str | None:
        given = self.kinds or {}
        return next((given[name] for name in reversed(_names(table, column)) if name in given), None)


def find_schema(
    tables: Sequence[NamedTable], wishes: Wishes, said: list[str], given: Schema | None
) -> Schema:
    """The schema of tables; `given` says what is known of it, and then no other tables are looked at."""
    wishes.check(tables)
    by_file = {table.path.name: table for table in tables}
    roles = _Roles(tables, said).found() if given is None else given
    if not any(table.n_rows for table in tables):
        raise InputError(f"{tables[0].path} holds no rows below its header; give at least one")
    if not roles.types:
        raise InputError(
            f"{tables[0].path.parent}: no table has a column of unique ids; give one an id, or say what they "
            "are in network.toml"
        )
    if given is not None:
        types = {name: _with_id(by_file[items.file], items, said) for name, items in roles.types.items()}
        roles = replace(roles, types=types)
    ids = [
        Ids.of(name, by_file[items.file].cells(items.id))
        for name, items in roles.types.items()
        if items.id is not None
    ]
    types = {}
    for name, items in roles.types.items():
        types[name] = _with_columns(by_file[items.file], items, ids, wishes, said)
    if wishes.labels:  # what is asked about comes first
        types = dict(sorted(types.items(), key=lambda each: each[1].label is None))
    return replace(roles, types=types)


class _Roles:
    """Types and relations among tables of which nothing is known yet."""

    def __init__(self, tables: Sequence[NamedTable], said: list[str]) -> None:
        self.said = said
        self.tables = [table for table in tables if self._has_rows(table)]
        self.id_of = {table.name: id_column(table) for table in self.tables}

    def _has_rows(self, table: NamedTable) -> bool:
        if not table.n_rows:
            self.said.append(f"{table.path.name} holds no rows below its header and is left out")
        return table.n_rows > 0

    def found(self) -> Schema:
        types = [table for table in self.tables if self.id_of[table.name] is not None]
        # tables of little else but keys first: what is left are those that the keys are of
        for table in sorted(types, key=lambda table: len(table.columns)):
            own = self.id_of[table.name]
            if own is None or own.lower() in ID_NAMES:
                continue
            others = [each for each in types if each is not table]
            ends = self._ends(table, others)
            if (ends is not None and own in (ends.source, ends.target)) or self._list(table, others):
                types.remove(table)
        schemas: dict[str, TypeSchema] = {}
        relations: dict[str, RelationSchema] = {}
        lists: list[tuple[str, str, ColumnSchema]] = []
        for table in self.tables:
            if table in types:
                schemas[table.name] = self._type(table)
            elif (ends := self._ends(table, types)) is not None:
                relations[table.name] = self._relation(table, ends)
            elif (listed := self._list(table, types)) is not None:
                lists.append((table.name, *listed))
                self.said.append(f"{table.path.name}: its values are tags of {listed[0]}")
            else:
                schemas[table.name] = self._without_key(table, types)
        for name, owner, column in lists:
            schemas[owner] = replace(schemas[owner], columns={**schemas[owner].columns, name: column})
        return Schema(schemas, relations)

    def _type(self, table: NamedTable) -> TypeSchema:
        own = self.id_of[table.name]
        title = next((c for c in table.columns if c.lower() in TITLE_NAMES and c != own), None)
        return TypeSchema(table.name, table.path.name, own, title, numbered=own is None)

    def _without_key(self, table: NamedTable, types: Sequence[NamedTable]) -> TypeSchema:
        repeated = repeated_id(table)
        if repeated is not None:
            self.id_of[table.name] = repeated
            return self._type(table)
        self._say_near_misses(table, types)
        self.said.append(f"{table.path.name}: no column has unique ids: the rows are numbered")
        return self._type(table)

    def _say_near_misses(self, table: NamedTable, types: Sequence[NamedTable]) -> None:
        ids = [Ids.of(each.name, each.columns[self.id_of[each.name] or ""]) for each in types]
        for column, cells in table.columns.items():
            near = nearly_key_of(cells, ids)
            if near is not None:
                self.said.append(
                    f"{table.path.name}: only {near[1]:.0%} of {column!r} are ids of {near[0]}, so it is no "
                    "key; put the ids right, or say it in network.toml"
                )

    def _ends(self, table: NamedTable, types: Sequence[NamedTable]) -> RelationSchema | None:
        """The first two columns that are keys."""
        ids = [Ids.of(each.name, each.columns[self.id_of[each.name] or ""]) for each in types]
        others = [name for name in table.columns if name.lower() not in NUMBER_TITLES]
        found: list[tuple[str, str]] = []
        for place, (name, cells) in enumerate(table.columns.items()):
            lenient = place < 2 and (len(others) <= 3 or name.lower() in ID_TITLES)
            type = key_of(cells, ids, lenient) if len(found) < 2 else None
            if type is not None:
                found.append((name, type))
        if len(found) < 2:
            return None
        (source, source_type), (target, target_type) = found
        return RelationSchema(table.name, table.path.name, source, target, source_type, target_type)

    def _relation(self, table: NamedTable, ends: RelationSchema) -> RelationSchema:
        rest = [name for name in table.columns if name not in (ends.source, ends.target)]
        weight = next((name for name in rest if name.lower() in NUMBER_TITLES), None)
        unused = tuple(name for name in rest if name != weight)
        if unused:
            self.said.append(
                f"{table.path.name}: column(s) {', '.join(map(repr, unused))} were not used; "
                "in network.toml, weight = ... makes one the weight of the links, "
                "split = ... a relation of each value"
            )
        return replace(ends, weight=weight, unused=unused)

    def _list(self, table: NamedTable, types: Sequence[NamedTable]) -> tuple[str, ColumnSchema] | None:
        """A long table of tags: ids of a type, texts that repeat, perhaps a count."""
        names = list(table.columns)
        counted = len(names) == 3 and names[2].lower() in NUMBER_TITLES
        if len(names) != 2 and not counted:
            return None
        ids = [Ids.of(each.name, each.columns[self.id_of[each.name] or ""]) for each in types]
        owner = key_of(table.columns[names[0]], ids, lenient=True)
        value = table.columns[names[1]]
        if owner is None or value.is_list or value.is_number or find_kind(value).kind in ("number", "date"):
            return None
        if mostly_once(value, value.filled) or words_of(value, value.filled) > 3:
            return None
        return owner, ColumnSchema("counts" if counted else "tags", file=table.path.name)


def _with_id(table: NamedTable, items: TypeSchema, said: list[str]) -> TypeSchema:
    """What a schema does not say of ids and titles is found."""
    own = items.id
    if own is None and not items.numbered:
        own = id_column(table) or repeated_id(table)
        if own is None:
            said.append(f"{table.path.name}: no column has unique ids: the rows are numbered")
    free = [c for c in table.columns if c not in (own, items.label) and c not in items.columns]
    title = items.title or next((c for c in free if c.lower() in TITLE_NAMES), None)
    return replace(items, id=own, title=title, numbered=own is None)


def _with_columns(
    table: NamedTable, items: TypeSchema, ids: Sequence[Ids], wishes: Wishes, said: list[str]
) -> TypeSchema:
    for name in [
        items.id,
        items.title,
        items.label,
        *(n for n, c in items.columns.items() if c.file is None),
    ]:
        if name is not None:
            table.cells(name)
    label = wishes.label(items.name, table.columns) or items.label
    if items.label is not None and label != items.label:
        # what was written of the classes, and of the attributes, is of another label
        items = replace(items, classes=None, several=None, attributes=None)
    several = items.several
    if label is None and not wishes.labels:
        label = _usual_label(table, items, said)
    found: dict[str, ColumnSchema] = {}
    for name in table.columns:
        asked = wishes.kind(items.name, name)
        if asked is not None and name == label:
            several = asked in ("tags", "counts")
        elif asked is not None:
            found[name] = ColumnSchema(asked, why="as asked")
        elif name == label:
            continue
        elif name in items.columns:
            found[name] = items.columns[name]
        elif name == items.id:
            continue
        elif name == items.title:
            if find_kind(table.columns[name]).kind == "text":  # the titles of papers say what they are about
                found[name] = ColumnSchema("text", why="titles of several words")
                said.append(f"{table.path.name}: {name!r} has the titles, whose words are attributes, too")
        else:
            found[name] = _found_column(table, name, items, ids, said)
    found.update({name: column for name, column in items.columns.items() if column.file is not None})
    return replace(items, label=label, columns=found, several=several)


def _found_column(
    table: NamedTable, name: str, items: TypeSchema, ids: Sequence[Ids], said: list[str]
) -> ColumnSchema:
    cells = table.columns[name]
    own = [each for each in ids if each.type == items.name]
    others = [each for each in ids if each.type != items.name]
    key = key_of(cells, others) or key_of(cells, own, lenient=name.lower() in PARENTS)
    if key is not None:
        return ColumnSchema(KEY, of=key)
    found = find_kind(cells)
    if found.kind == SKIP:
        said.append(f"{table.path.name}: column {name!r} was left out: {found.why}")
    return ColumnSchema(found.kind, why=found.why)


def _usual_label(table: NamedTable, items: TypeSchema, said: list[str]) -> str | None:
    name = next(
        (c for c in table.columns if c.lower() in LABEL_NAMES and c not in (items.id, items.title)), None
    )
    if name is None or name in items.columns:
        return None
    if find_kind(table.columns[name]).kind not in ("category", "yes/no") and not _few_numbers(table, name):
        return None
    said.append(f"{table.path.name}: {name!r} was taken as the label")
    return name


def _few_numbers(table: NamedTable, name: str) -> bool:
    """Classes that are numbered; more numbers are a quantity."""
    cells = table.columns[name]
    return not cells.is_list and find_kind(cells).kind == "number" and 2 <= cells.known.sum() <= 20


def _names(table: str, column: str) -> list[str]:
    return [column, f"{table}.{column}"]
