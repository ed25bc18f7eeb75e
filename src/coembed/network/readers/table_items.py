"""One table of items to a type: ids, titles, labels, and the attributes that its columns make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network.columns import KINDS, Cells, Coding, code_column
from coembed.network.items import Items, Labels
from coembed.network.names import NameArray, Names
from coembed.network.readers.keys import Ids
from coembed.network.readers.label_column import has_several, read_labels
from coembed.network.readers.named_table import NamedTable
from coembed.network.readers.table_schema import ColumnSchema, TypeSchema, kind_of
from coembed.network.relations import Relation

PACKED = 100_000
"""From so many ids on they are kept as bytes."""


@dataclass(frozen=True, eq=False)
class ItemTable:
    """A table whose rows are the items of a type, each once."""

    table: NamedTable
    items: Items
    ids: Ids
    schema: TypeSchema


def read_items(table: NamedTable, schema: TypeSchema, said: list[str]) -> ItemTable:
    """Ids, titles and labels of a table of items."""
    if schema.id is None:
        texts = pa.array(np.arange(1, table.n_rows + 1)).cast(pa.large_string())
    else:
        table = _each_once(table, schema.id, said)
        texts = table.cells(schema.id).texts.combine_chunks()
    texts = texts if isinstance(texts, pa.Array) else pa.concat_arrays(texts.chunks)
    items = Items.build(
        schema.name,
        _name_array(texts),
        None if schema.title is None else _titles(table.cells(schema.title), texts),
        None if schema.label is None else _labels(table, schema, said),
        schema.id,
    )
    return ItemTable(table, items, Ids(schema.name, schema.id, texts), schema)


def _each_once(table: NamedTable, column: str, said: list[str]) -> NamedTable:
    """The table without rows that are there twice; two that differ in more than their id are an error."""
    cells = table.cells(column)
    if not cells.filled.all():
        row = int(np.flatnonzero(~cells.filled[cells.codes])[0])
        raise InputError(f"{table.place(row)}: the {column} is empty; give every row its own")
    if len(cells.distinct) == len(cells):
        return table
    firsts = np.unique(cells.codes, return_index=True)[1]
    later = np.setdiff1d(np.arange(len(cells)), firsts)
    before = firsts[cells.codes[later]]
    hint = "; if the rows are links, call the columns source and target" if len(table.columns) == 2 else ""
    for name, other in table.columns.items():
        differ = _differ(other, later, before)
        if differ.any():
            row, first = int(later[differ][0]), int(before[differ][0])
            raise InputError(
                f"{table.place(row)}: {column} {cells.texts[row].as_py()[:40]!r} is that of "
                f"{table.place(first)}, but {name!r} differs; "
                f"keep one of the two rows, or give each its own {column}{hint}"
            )
    said.append(f"{table.path.name}: {len(later)} row(s) are there twice and count once")
    return table.take(pa.array(np.sort(firsts)))


def _differ(cells: Cells, some: np.ndarray, others: np.ndarray) -> np.ndarray:
    if cells.is_list or cells.is_nested:
        left, right = (cells.array.take(pa.array(rows)).to_pylist() for rows in (some, others))
        return np.array([a != b for a, b in zip(left, right, strict=True)])
    return cells.codes[some] != cells.codes[others]


def _name_array(texts: pa.Array) -> NameArray:
    return Names.from_arrow(texts) if len(texts) >= PACKED else texts.to_numpy(zero_copy_only=False)


def _titles(cells: Cells, ids: pa.Array) -> NameArray:
    """Titles; where there is none the id."""
    texts = cells.texts.combine_chunks()
    texts = texts if isinstance(texts, pa.Array) else pa.concat_arrays(texts.chunks)
    return _name_array(pc.if_else(pc.equal(texts, ""), ids, texts))


FEW_CLASSES = 10
"""So many classes may have a label each, as in a table to try things with."""


def _labels(table: NamedTable, schema: TypeSchema, said: list[str]) -> Labels:
    cells = table.cells(schema.label or "")
    where = f"{table.path}: the label column {cells.name!r}"
    several = schema.several
    if several is None:
        several = schema.classes is None and has_several(cells)
        if several:
            said.append(
                f"{table.path.name}: {cells.name!r} has several classes in a cell: each is yes or no "
                f"(--as {cells.name}=category: a cell is one class)"
            )
    labels = read_labels(cells, where, several, schema.classes)
    known = int(np.count_nonzero(labels.is_known))
    if not several and schema.classes is None and labels.n_classes > max(FEW_CLASSES, known / 2):
        said.append(
            f"{table.path.name}: {cells.name!r} has {labels.n_classes:,} classes for {known:,} labels, too "
            "few to learn each; what a number or a text should be needs no label: complete and impute tell it"
        )
    return labels


def code_columns(
    owner: ItemTable, tables: dict[str, NamedTable], said: list[str]
) -> tuple[Items | None, list[Relation]]:
    """The attribute type of a table and its columns as relations, named by the column."""
    listed = _listed_attributes(owner.schema, tables)
    coded: list[tuple[Coding, sp.csr_array]] = []
    for name, column in owner.schema.columns.items():
        if kind_of(column) is None:
            continue
        known = None if listed is None else listed.get(name, [])
        for coding, matrix in _code(owner, name, column, tables, known):
            said += [
                f"{owner.table.path.name}: column {coding.column.name!r}: {each}" for each in coding.notices
            ]
            if coding.titles:
                coded.append((coding, matrix))
    if not coded and listed is None:
        return None, []
    type = owner.schema.attribute_type or f"{owner.items.name}.attributes"
    if listed is None:
        ids = _unique([id for coding, _ in coded for id in coding.ids])
        titles = [title for coding, _ in coded for title in coding.titles]
        starts = np.cumsum([0, *(len(coding.titles) for coding, _ in coded)])
    else:
        table = tables[owner.schema.attributes or ""]
        ids, titles = (table.cells(name).texts.to_pylist() for name in ("id", "title"))
        of = table.cells("column").texts.to_pylist()
        starts = np.array([of.index(coding.column.name) for coding, _ in coded])
    relations = []
    for (coding, matrix), start in zip(coded, starts, strict=False):
        placed = replace(coding.column, start=int(start), stop=int(start) + len(coding.titles))
        kind = KINDS[placed.kind]
        said_of = owner.schema.columns.get(placed.name) or ColumnSchema(placed.kind)
        wide = sp.csr_array(
            (matrix.data, matrix.indices + int(start), matrix.indptr), shape=(matrix.shape[0], len(ids))
        )
        relations.append(
            Relation.build(
                said_of.relation or placed.name,
                owner.items.name,
                type,
                wide,
                said_of.likelihood or kind.likelihood,
                said_of.absent or kind.absent,  # type: ignore[arg-type]
                column=placed,
            )
        )
    return Items.build(type, ids, _objects(titles)), relations


def _code(
    owner: ItemTable,
    name: str,
    column: ColumnSchema,
    tables: dict[str, NamedTable],
    known: list[str] | None,
) -> list[tuple[Coding, sp.csr_array]]:
    kind = kind_of(column)
    assert kind is not None
    if column.file is not None:
        return [long_column(owner, name, column, tables[column.file], known)]
    cells = owner.table.cells(name)
    given = _given_way(column)
    try:
        if known is None and not given:
            return code_column(cells, kind, column.parts)
        if known is None or "center" in given:
            coding = (
                Coding.make(name, kind, [name], **given) if "center" in given else KINDS[kind].learn(cells)
            )
        else:
            coding = Coding.make(name, kind, known)
        return [(coding, KINDS[kind].values(cells, coding))]
    except InputError as error:
        raise InputError(f"{owner.table.path}: {error}") from None


def _given_way(column: ColumnSchema) -> dict[str, Any]:
    way = {key: getattr(column, key) for key in ("center", "scale", "log", "whole")}
    return {key: value for key, value in way.items() if value is not None}


def long_column(
    owner: ItemTable, name: str, column: ColumnSchema, table: NamedTable, known: list[str] | None
) -> tuple[Coding, sp.csr_array]:
    """A table of item, value and perhaps number, as the tags of items."""
    if len(table.columns) < 2:
        raise InputError(f"{table.path}: one column found; give the item and its value")
    item, value, *number = table.columns.values()
    rows = owner.ids.positions(item.distinct)[item.codes]
    weights = np.ones(len(rows)) if not number else row_numbers(table, number[0])
    titles = sorted(value.distinct.filter(pa.array(value.filled)).to_pylist()) if known is None else known
    places = pc.index_in(value.distinct, pa.array(titles, pa.large_string())).fill_null(-1)
    columns = places.to_numpy(zero_copy_only=False)[value.codes]
    there = (rows >= 0) & (columns >= 0)
    said = []
    if not there.all():
        lost = int(np.flatnonzero(~there)[0])
        said.append(
            f"{int((~there).sum())} row(s) of {table.path.name} name no {owner.items.name} that is there, "
            f"such as {item.texts[lost].as_py()[:40]!r}, and were left out"
        )
    shape = (len(owner.items), len(titles))
    matrix = sp.csr_array((weights[there].astype(np.float32), (rows[there], columns[there])), shape=shape)
    matrix.sum_duplicates()
    if not number:
        matrix.data[:] = 1
    return Coding.make(name, kind_of(column) or "tags", titles, said, **_given_way(column)), matrix


def row_numbers(table: NamedTable, cells: Cells) -> np.ndarray:
    """A column in which every row must have a finite number."""
    from coembed.network.columns.numbers import parse_numbers

    numbers = parse_numbers(cells)
    bad = ~np.isfinite(numbers)
    if bad.any():
        row = int(np.argmax(bad))
        said = cells.texts[row].as_py()[:40]
        raise InputError(
            f"{table.place(row)}: the {cells.name} {said!r} is not a number; give one such as 1 or 0.5"
        )
    return numbers


def _listed_attributes(schema: TypeSchema, tables: dict[str, NamedTable]) -> dict[str, list[str]] | None:
    """The titles of the attributes of each column, where a table lists them."""
    if schema.attributes is None:
        return None
    table = tables[schema.attributes]
    found: dict[str, list[str]] = {}
    titles, columns = (table.cells(name).texts.to_pylist() for name in ("title", "column"))
    before = None
    for row, (title, column) in enumerate(zip(titles, columns, strict=True)):
        if column in found and column != before:
            raise InputError(f"{table.place(row)}: the attributes of {column!r} must stand together")
        found.setdefault(column, []).append(title)
        before = column
    return found


def _unique(ids: Sequence[str]) -> list[str]:
    """Ids of which a second one gets a number.

    Examples
    --------
    >>> _unique(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    taken: dict[str, int] = {}
    found = []
    for each in ids:
        name = each
        while name in taken:
            taken[each] += 1
            name = f"{each} ({taken[each]})"
        taken[name] = 1
        found.append(name)
    return found


def _objects(texts: Sequence[str]) -> np.ndarray:
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array
