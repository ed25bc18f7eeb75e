"""Any network as a folder of tables: one a type, one a relation, and ``network.toml``, which tells them.

Columns become cells again where nothing is lost: numbers in their own unit, categories, yes/no and dates, and
tags with ``;`` between them. Words and counts, whose order is gone, get a table of their own (item, value,
count). A table of all attributes keeps their order and those that no item has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from coembed.errors import InputError
from coembed.files import replacing_folder
from coembed.network.columns import KINDS, MISSING
from coembed.network.columns.tags import SEPARATORS
from coembed.network.items import UNKNOWN, Items
from coembed.network.names import NameArray, Names, is_unicode
from coembed.network.network import Network
from coembed.network.readers.label_column import label_cells
from coembed.network.readers.table_schema import (
    SCHEMA_FILE,
    ColumnSchema,
    RelationSchema,
    Schema,
    TypeSchema,
    read_schema,
    write_schema,
)
from coembed.network.relations import Relation

Ending = Literal["csv", "parquet"]


def write_general(network: Network, path: Path, ending: Ending) -> None:
    """Write a network of any types; reading the folder gives the same one."""
    tables = _Tables(network, ending)
    tables.fill()
    with replacing_folder(path, _own_names(path)) as folder:
        for file, table in tables.found.items():
            if ending == "csv":
                pa_csv.write_csv(table, folder / file)
            else:
                pq.write_table(table, folder / file)
        text = f"# Written by coembed: what the tables beside are.\n{write_schema(tables.schema)}"
        (folder / SCHEMA_FILE).write_text(text, encoding="utf-8")


def _own_names(folder: Path) -> frozenset[str]:
    """Files that the schema of a folder names: those another network may replace."""
    try:
        return frozenset({SCHEMA_FILE, *read_schema(folder / SCHEMA_FILE).files})
    except InputError:
        return frozenset()


class _Tables:
    """The tables of a network by file name, and their schema."""

    def __init__(self, network: Network, ending: Ending) -> None:
        self.network, self.ending = network, ending
        self.found: dict[str, pa.Table] = {}
        self.schema = Schema({})
        self.taken: set[str] = set()

    def fill(self) -> None:
        network = self.network
        types = {name: self._type(network.types[name]) for name in network.entity_types}
        relations = {each.name: self._relation(each) for each in network.entity_relations}
        self.schema = Schema(types, relations, network.name)

    def _file(self, name: str) -> str:
        """A file name for any name: letters, digits and the like, each once in upper and lower case."""
        stem = re.sub(r"[^\w-]+", "_", name)[:60].strip("_") or "table"
        file, number = f"{stem}.{self.ending}", 1
        while file.lower() in self.taken:
            number += 1
            file = f"{stem}_{number}.{self.ending}"
        self.taken.add(file.lower())
        return file

    def _keep(self, name: str, columns: dict[str, Any]) -> str:
        file = self._file(name)
        self.found[file] = pa.table(columns)
        return file

    def _refuse(self, why: str) -> InputError:
        return InputError(f"{self.network.name}: {why}, which tables cannot hold; write it as .mapped")

    def _texts(self, names: NameArray, what: str) -> pa.Array:
        """Names as text; those that a table would change are refused."""
        strange = next((name for name in names if not is_unicode(name)), None)
        if strange is not None:
            raise self._refuse(f"{what} {strange[:40]!r} is not Unicode")
        texts = names.texts if isinstance(names, Names) else pa.array(list(names), pa.large_string())
        changed = pc.or_(pc.not_equal(pc.utf8_trim_whitespace(texts), texts), pc.equal(texts, ""))
        changed = pc.or_(changed, pc.match_substring_regex(texts, r"[\r\n]"))
        if pc.any(changed).as_py():
            sample = texts[pc.index(changed, True).as_py()].as_py()
            raise self._refuse(f"{what} {sample[:40]!r} is empty or has outer blanks or a line end")
        return texts

    def _type(self, items: Items) -> TypeSchema:
        ids = self._texts(items.ids, f"{items.name}")
        columns = self.network.columns(items.name)
        names = [each.column.name for each in columns if each.column is not None]
        if len(set(names)) != len(names):
            raise self._refuse(f"two columns of {items.name} have one name")
        wanted = [] if items.labels is None else [items.labels.column]
        own = _free("id", [*names, *wanted])
        titled = _free("title", [*names, *wanted, own])
        cells: dict[str, Any] = {own: ids}
        label = None
        if items.titles is not None:
            cells[titled] = self._texts(items.titles, "title")
        if items.labels is not None:
            label = _free(items.labels.column, [*names, own, titled])
            classes = self._texts(items.labels.classes, "class")
            if items.labels.several:
                cells[label] = label_cells(items.labels)
                if cells[label] is None:
                    raise self._refuse(f"a class of {items.name} has a mark that parts classes in its name")
            else:
                cells[label] = _chosen(classes, items.labels.values)
        schemas = {}
        for relation in sorted(columns, key=lambda each: each.column.start if each.column else 0):
            assert relation.column is not None
            schemas[relation.column.name] = self._column(relation, ids, cells)
        attributes = self._attributes(items.name, columns)
        return TypeSchema(
            items.name,
            self._keep(items.name, cells),
            own,
            None if items.titles is None else titled,
            label,
            schemas,
            attributes=attributes,
            attribute_type=_unless(self.network.attribute_type(items.name), f"{items.name}.attributes"),
            classes=None if items.labels is None else tuple(map(str, items.labels.classes)),
            several=True if items.labels is not None and items.labels.several else None,
        )

    def _attributes(self, owner: str, columns: Sequence[Relation]) -> str | None:
        """The table of all attributes of a type."""
        type = self.network.attribute_type(owner)
        if type is None:
            return None
        attributes = self.network.items(type)
        owners = {each.source for each in self.network.relations.values() if each.target == type}
        if attributes.labels is not None or owners != {owner} or any(each.target != type for each in columns):
            raise self._refuse(f"{type} is more than the attributes of {owner}")
        of = np.full(len(attributes), "", dtype=object)
        for each in columns:
            assert each.column is not None
            place = slice(each.column.start, each.column.stop)
            if (of[place] != "").any():
                raise self._refuse(f"columns of {owner} share attributes")
            of[place] = each.column.name
        ids = self._texts(attributes.ids, type)
        titles = ids if attributes.titles is None else self._texts(attributes.titles, "title")
        return self._keep(f"{owner}_attributes", {"id": ids, "title": titles, "column": pa.array(list(of))})

    def _column(self, relation: Relation, ids: pa.Array, cells: dict[str, Any]) -> ColumnSchema:
        column = relation.column
        assert column is not None
        kind = KINDS[column.kind]
        way = {}
        if column.numeric:
            way = {"center": column.center, "scale": column.scale, "log": column.log, "whole": column.whole}
        found = _as_cells(relation, self._titles(relation))
        file = None
        if found is None:
            file = self._keep(f"{relation.source}_{column.name}", self._entries(relation, ids))
        else:
            cells[column.name] = found
        return ColumnSchema(
            column.kind,
            file=file,
            parts=column.kind != "date",
            relation=_unless(relation.name, column.name),
            likelihood=_unless(relation.likelihood, kind.likelihood),
            absent=_unless(relation.absent, kind.absent),
            **way,  # type: ignore[arg-type]
        )

    def _titles(self, relation: Relation) -> list[str]:
        """What the attributes of a column are called within it."""
        column, attributes = relation.column, self.network.items(relation.target)
        assert column is not None
        return [attributes.title(i) for i in range(column.start, column.stop)]

    def _entries(self, relation: Relation, ids: pa.Array) -> dict[str, Any]:
        column, values = relation.column, relation.values
        assert column is not None
        titles = self._texts(self._titles(relation), "title")
        if len(titles.unique()) != len(titles):
            raise self._refuse(f"two attributes of {column.name} have one title")
        rows = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
        entries = {
            "item": ids.take(pa.array(rows)),
            "value": titles.take(pa.array(values.indices - column.start)),
        }
        return entries if (values.data == 1).all() else {**entries, "count": pa.array(values.data)}

    def _relation(self, relation: Relation) -> RelationSchema:
        ends = []
        for type in (relation.source, relation.target):
            if self.network.owner_type(type) is not None:
                raise self._refuse(f"relation {relation.name} joins attributes")
            ends.append(self._texts(self.network.items(type).ids, type))
        values = relation.values
        rows = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
        kept = rows < values.indices if relation.pairing.undirected else np.ones(len(rows), dtype=bool)
        cells = {
            "source": ends[0].take(pa.array(rows[kept])),
            "target": ends[1].take(pa.array(values.indices[kept])),
        }
        if relation.weighted:
            cells["weight"] = pa.array(values.data[kept])
        return RelationSchema(
            relation.name,
            self._keep(relation.name, cells),
            "source",
            "target",
            relation.source,
            relation.target,
            directed=relation.directed if relation.source == relation.target else None,
            weight="weight" if relation.weighted else None,
            likelihood=relation.likelihood,
            absent=relation.absent,
        )


def _as_cells(relation: Relation, titles: Sequence[str]) -> pa.Array | None:
    """A column as the cells of a table; None where these would not say it all."""
    column, values = relation.column, relation.values
    assert column is not None
    per_row = np.diff(values.indptr)
    if column.has_cells and per_row.max(initial=0) <= 1:
        there = per_row == 1
        places = np.zeros(len(per_row), dtype=np.int64)
        places[there] = values.indices - column.start
        data = np.zeros(len(per_row))
        data[there] = values.data
        if column.kind == "category":
            return _category_cells(places, there, data, titles)
        if column.stop - column.start != 1:
            return None
        if column.kind == "yes/no":
            fits = np.isin(values.data, (0, 1)).all()
            return pa.array(np.where(data > 0, "yes", "no"), mask=~there).fill_null("") if fits else None
        return _number_cells(relation, data, there)
    return _tag_cells(relation, titles) if column.kind == "tags" else None


def _category_cells(
    places: np.ndarray, there: np.ndarray, data: np.ndarray, titles: Sequence[str]
) -> pa.Array | None:
    if (data[there] != 1).any() or not _clean(titles) or any(title.lower() in MISSING for title in titles):
        return None
    return _chosen(pa.array(titles, pa.large_string()), np.where(there, places, UNKNOWN))


def _number_cells(relation: Relation, data: np.ndarray, there: np.ndarray) -> pa.Array:
    """Numbers with as many digits as their values need to come back, or dates."""
    column = relation.column
    assert column is not None
    numbers = column.cell(data)
    numbers = np.rint(numbers) if column.whole else numbers
    if column.kind == "date":
        if column.whole:
            days = numbers.astype(np.int64).astype("datetime64[D]")
            texts = np.datetime_as_string(days)
        else:
            texts = np.datetime_as_string(
                np.rint(numbers * 86_400e6).astype(np.int64).astype("datetime64[us]")
            )
        return pa.array(texts.astype(object), pa.large_string(), mask=~there).fill_null("")
    stored = data.astype(np.float32)
    for digits in (4, 6, 8, 10, 12, 17):
        texts = np.array([f"{number:.{digits}g}" for number in numbers], dtype=object)
        back = column.value(texts.astype(np.float64)).astype(np.float32)
        if np.array_equal(back[there], stored[there]):
            break
    return pa.array(texts, pa.large_string(), mask=~there).fill_null("")


def _tag_cells(relation: Relation, titles: Sequence[str]) -> pa.Array | None:
    column, values = relation.column, relation.values
    assert column is not None
    if (values.data != 1).any() or not _clean(titles):
        return None
    if any(separator in title for title in titles for separator in SEPARATORS):
        return None
    tags = pa.array(titles, pa.large_string()).take(pa.array(values.indices - column.start))
    lists = pa.ListArray.from_arrays(pa.array(values.indptr.astype(np.int32)), tags)
    return pc.binary_join(lists, pa.scalar(";", pa.large_string()))


def _clean(titles: Iterable[str]) -> bool:
    listed = list(titles)
    whole = all(title and title == title.strip() and not re.search(r"[\r\n]", title) for title in listed)
    return whole and len(set(listed)) == len(listed)


def _chosen(texts: pa.Array, places: np.ndarray) -> pa.Array:
    """The text at each place; nothing for a negative one."""
    return texts.take(pa.array(places, mask=places < 0)).fill_null("")


def _free(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _unless(value: str | None, usual: str) -> str | None:
    return None if value == usual else value
