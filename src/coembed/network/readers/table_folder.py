"""Tables of any kind to a network: items with columns, relations between them, a few labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network.columns import Cells
from coembed.network.columns.tags import cell_groups, split_cells
from coembed.network.items import Items
from coembed.network.leaks import telling_columns
from coembed.network.network import Network
from coembed.network.readers.keys import Ids, tag_keys
from coembed.network.readers.named_table import NamedTable, named_table, read_named_table
from coembed.network.readers.table_finding import Wishes, find_schema
from coembed.network.readers.table_items import ItemTable, code_columns, read_items, row_numbers
from coembed.network.readers.table_schema import KEY, RelationSchema, Schema, read_schema
from coembed.network.relations import Relation

MOST_SPLITS = 100


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables of a network by file name, what they are, and what there was to say so far."""

    name: str
    tables: dict[str, NamedTable]
    schema: Schema
    said: tuple[str, ...]


def open_tables(
    paths: Sequence[Path],
    name: str,
    labels: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    schema: Schema | str | Path | None = None,
) -> Tables:
    """Read tables and find out what they are.

    Parameters
    ----------
    labels, kinds
        Columns that hold labels, and kinds that columns have, by ``column`` or ``table.column``.
    schema
        What is known of the tables, or the file that says it; then only the tables that it names are read.
    """
    said: list[str] = []
    given = read_schema(Path(schema)) if isinstance(schema, (str, Path)) else schema
    if given is not None:
        paths = _files_of(given, paths, said)
    tables: dict[str, NamedTable] = {}
    for path in paths:
        table = read_named_table(path, said)
        twin = next((each for each in tables.values() if each.name == table.name), None)
        if twin is not None and given is None:
            raise InputError(f"{twin.path} and {path} have the same name; give each table its own")
        tables[path.name] = table
    found = find_schema(list(tables.values()), Wishes(labels, kinds), said, given)
    return Tables(found.name or name, tables, found, tuple(said))


def from_tables(
    tables: Mapping[str, Any],
    labels: Sequence[str] | str = (),
    kinds: Mapping[str, str] | None = None,
    schema: Schema | str | Path | None = None,
    name: str = "network",
) -> Network:
    """The network that tables in memory are, by name: data frames, or tables of pyarrow.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"id": ["ann", "bob"], "age": [31, 44]})
    >>> from_tables({"people": people, "calls": pa.table({"who": ["ann"], "whom": ["bob"]})})
    Network('network'): 2 people, 1 people.attributes
      calls: people to people, 1 entry
      age: people to people.attributes, 2 entries (number)
    """
    said: list[str] = []
    given = read_schema(Path(schema)) if isinstance(schema, (str, Path)) else schema
    found = {each: named_table(each, table) for each, table in tables.items()}
    for file in () if given is None else given.files:
        if file not in found:
            raise InputError(
                f"{given.place if given else name}: there is no table {file!r}; name those given"
            )
    wishes = Wishes([labels] if isinstance(labels, str) else labels, kinds)
    complete = find_schema(list(found.values()), wishes, said, given)
    return build_network(Tables(complete.name or name, found, complete, tuple(said)))


def build_network(found: Tables) -> Network:
    """From tables of which everything is known to a network."""
    said = list(found.said)
    owners = {
        name: read_items(found.tables[items.file], items, said) for name, items in found.schema.types.items()
    }
    types: list[Items] = [owner.items for owner in owners.values()]
    joined: list[tuple[str, Relation]] = []
    for schema in found.schema.relations.values():
        table = found.tables[schema.file]
        joined += [(schema.name, each) for each in _relations_of(table, schema, owners, said)]
    for owner in owners.values():
        joined += [(owner.items.name, each) for each in _keys_of(owner, owners, said)]
    for owner in owners.values():
        attributes, columns = code_columns(owner, found.tables, said)
        types += [] if attributes is None else [attributes]
        joined += [(owner.items.name, each) for each in columns]
    _say_labels(owners, said)
    network = Network.of(types, _named_apart(joined), found.name, said)
    return replace(network, notices=(*network.notices, *_say_leaks(network)))


def _files_of(schema: Schema, paths: Sequence[Path], said: list[str]) -> list[Path]:
    """The files that a schema names, among or beside the given ones."""
    by_name = {path.name: path for path in paths}
    found = []
    for file in schema.files:
        path = by_name.get(file) or (paths[0].parent / file if paths else Path(schema.place).parent / file)
        if not path.is_file():
            raise InputError(f"{schema.place}: there is no file {file!r}; put it there, or name another")
        found.append(path)
    left = [path.name for path in paths if path.name not in schema.files]
    if left:
        said.append(f"{', '.join(left)} not read: {Path(schema.place).name} does not name them")
    return found


def _relations_of(
    table: NamedTable, schema: RelationSchema, owners: Mapping[str, ItemTable], said: list[str]
) -> list[Relation]:
    """A table of pairs as a relation, or as one for each value of the column that splits it."""
    ends = [
        _positions(table, column, owners[type].ids, said)
        for column, type in ((schema.source, schema.source_type), (schema.target, schema.target_type))
    ]
    weights = None if schema.weight is None else row_numbers(table, table.cells(schema.weight))
    there = (ends[0] >= 0) & (ends[1] >= 0)
    if schema.split is None:
        return [_relation(schema, schema.name, ends, weights, there, owners, table, said)]
    split = table.cells(schema.split)
    if len(split.distinct) > MOST_SPLITS:
        raise InputError(
            f"{table.path}: {schema.split!r} has {len(split.distinct):,} values, too many for relations; "
            "split by another column"
        )
    return [
        _relation(
            schema,
            f"{schema.name}.{value}",
            ends,
            weights,
            there & (split.codes == code),
            owners,
            table,
            said,
        )
        for code, value in enumerate(split.distinct.to_pylist())
    ]


def _positions(table: NamedTable, column: str, ids: Ids, said: list[str]) -> np.ndarray:
    cells = table.cells(column)
    rows = ids.positions(cells.distinct)[cells.codes]
    lost = np.flatnonzero(rows < 0)
    if len(lost):
        said.append(
            f"{table.path.name}: {len(lost):,} row(s) were left out: their {column!r}, such as "
            f"{cells.texts[int(lost[0])].as_py()[:40]!r}, is no id of {ids.type}"
        )
    return rows


def _relation(
    schema: RelationSchema,
    name: str,
    ends: Sequence[np.ndarray],
    weights: np.ndarray | None,
    there: np.ndarray,
    owners: Mapping[str, ItemTable],
    table: NamedTable,
    said: list[str],
) -> Relation:
    source, target = owners[schema.source_type].items, owners[schema.target_type].items
    data = np.ones(int(there.sum())) if weights is None else weights[there]
    rows, columns = ends[0][there], ends[1][there]
    matrix = sp.csr_array((data.astype(np.float32), (rows, columns)), shape=(len(source), len(target)))
    matrix.sum_duplicates()
    repeated = len(rows) - matrix.nnz
    if repeated:
        what = "counted once" if weights is None else "added up"
        said.append(f"{table.path.name}: {repeated} repeated row(s) were {what}")
    if weights is None:
        matrix.data[:] = 1
    return _joining(name, source, target, matrix, schema.directed, said, schema.likelihood, schema.absent)


def _joining(
    name: str,
    source: Items,
    target: Items,
    matrix: sp.csr_array,
    directed: bool | None,
    said: list[str],
    likelihood: str = "auto",
    absent: str = "no",
) -> Relation:
    """A relation; of a type with itself it has a direction unless every pair is there both ways."""
    if source is target:
        mirrored = matrix.T.tocsr()
        if directed is None:
            directed = bool((matrix != mirrored).nnz) or not matrix.nnz
        elif not directed and matrix.multiply(mirrored).nnz <= np.count_nonzero(matrix.diagonal()):
            matrix = matrix + mirrored  # every pair once, as people list them
    return Relation.build(
        name,
        source.name,
        target.name,
        matrix,
        likelihood,
        absent,  # type: ignore[arg-type]
        bool(directed),
        notice=said.append,
    )


def _keys_of(owner: ItemTable, owners: Mapping[str, ItemTable], said: list[str]) -> list[Relation]:
    """The columns that hold ids, or lists of ids, of a type."""
    found = []
    for name, column in owner.schema.columns.items():
        if column.kind != KEY:
            continue
        if column.of is None or column.of not in owners:
            raise InputError(f"{owner.table.path}: {name!r} is a key of {column.of!r}, which is no type")
        target = owners[column.of]
        matrix, lost = key_matrix(owner.table.cells(name), target.ids)
        if lost is not None:
            count, sample = lost
            said.append(
                f"{owner.table.path.name}: {count:,} key(s) in {name!r}, such as {sample[:40]!r}, are no id "
                f"of {target.items.name} and were left out"
            )
        called = column.relation or name
        found.append(_joining(called, owner.items, target.items, matrix, column.directed, said))
    return found


def key_matrix(cells: Cells, ids: Ids) -> tuple[sp.csr_array, tuple[int, str] | None]:
    """Which ids each cell names, and how many names, with a sample, are none."""
    codes, groups = cell_groups(cells)
    whole = None if cells.is_list else ids.positions(groups)
    tags = None if whole is None else tag_keys(cells)
    if whole is not None and (tags is None or ids.share(groups) >= ids.share(tags)):
        owners, places, texts = np.arange(len(groups)), whole, groups
        filled = cells.filled
    else:
        texts, owners = split_cells(cells, ";")
        places = ids.positions(texts)
        filled = np.ones(len(texts), dtype=bool)
    good = places >= 0
    shape = (len(groups), len(ids.texts))
    matrix = sp.csr_array((np.ones(int(good.sum()), np.float32), (owners[good], places[good])), shape=shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1
    bad = ~good & filled
    sizes = np.bincount(codes, minlength=len(groups))
    lost = (int(sizes[owners[bad]].sum()), str(texts[int(np.argmax(bad))].as_py())) if bad.any() else None
    return sp.csr_array(matrix[codes]), lost


def _named_apart(joined: Sequence[tuple[str, Relation]]) -> list[Relation]:
    """A name that two columns have, or a column and a relation, is said with the table's."""
    counts = Counter(relation.name for _, relation in joined)  # a schema that names relations has none twice
    found: list[Relation] = []
    taken = {relation.name for table, relation in joined if relation.name == table}
    for table, relation in joined:
        name = relation.name
        if counts[name] > 1 and name != table:
            name = f"{table}.{name}"
            while name in taken:
                name += "'"
        taken.add(name)
        found.append(relation if name == relation.name else replace(relation, name=name))
    return found


def _say_leaks(network: Network) -> list[str]:
    return [
        f"{type}.{relation.column.name} alone tells the label of {share:.0%} of the rows; if it is known "
        f"only with the label, leave it out (--as {type}.{relation.column.name}=skip)"
        for type in network.labelled_types
        for relation, share in telling_columns(network, type)
        if relation.column is not None
    ]


def _say_labels(owners: Mapping[str, ItemTable], said: list[str]) -> None:
    """Which columns could be labels, as they are ordinary columns now: if there are none, or by name."""
    chosen = {owner.schema.label for owner in owners.values() if owner.schema.label is not None}
    for owner in owners.values():
        for name in sorted(chosen & set(owner.schema.columns)):
            said.append(f"{owner.items.name}.{name} was not chosen as a label: it is a column like any other")
    if chosen:
        return
    could = [
        f"{owner.items.name}.{name}"
        for owner in owners.values()
        for name, column in owner.schema.columns.items()
        if column.kind in ("category", "yes/no")
    ]
    if could:
        which = f"{could[0]}, which is a column now," if len(could) == 1 else f"a column such as {could[0]}"
        said.append(f"no labels were chosen: {which} could be (--label {could[0]})")
