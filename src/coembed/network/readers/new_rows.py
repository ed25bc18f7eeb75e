"""New rows of a table whose columns are known: what they hold, as the network of a model has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from coembed.errors import InputError, NoSuch, no_such
from coembed.network.columns import Cells
from coembed.network.items import UNKNOWN, Items
from coembed.network.known_columns import cells_of, code_known, moved_columns
from coembed.network.network import Network
from coembed.network.readers.delimited_text import NUMBER_TITLES
from coembed.network.readers.keys import FOUND_NAMED, TITLE_NAMES, Ids, id_column, nearly_unique, repeated_id
from coembed.network.readers.label_column import read_labels
from coembed.network.readers.named_table import NamedTable
from coembed.network.readers.table_folder import key_matrix
from coembed.network.readers.table_items import ItemTable, long_column, read_items, row_numbers
from coembed.network.readers.table_schema import ColumnSchema, TypeSchema
from coembed.network.relations import Relation
from coembed.network.ways import ways_of


class UnknownColumns(NoSuch):
    """A table has none of the columns that the network knows."""


@dataclass(frozen=True, eq=False)
class NewRows:
    """Rows of one type, some of them perhaps of items that the network has.

    Attributes
    ----------
    items
        Their ids and titles.
    known
        Of each the position of the item of that id in the network, or -1.
    rows
        What they hold, by the names of the ways: rows x items of the network.
    among
        Links among themselves, by the names of the ways: rows x rows.
    labels
        The classes that the table gives them, ``UNKNOWN`` where it gives none.
    table, id, index
        As it was given, its column of ids (None: the rows are numbered, and known to nobody), and of each of
        its rows which item it is: rows that are there twice are one.
    """

    type: str
    items: Items
    known: np.ndarray
    rows: dict[str, sp.csr_array]
    among: dict[str, sp.csr_array]
    labels: np.ndarray
    table: NamedTable
    id: str | None
    index: np.ndarray
    notices: tuple[str, ...] = ()

    @property
    def touched(self) -> np.ndarray:
        """How many entries each row has in all."""
        return sum((self.links(way) for way in self.rows), np.zeros(len(self.items), dtype=np.int64))

    def links(self, way: str) -> np.ndarray:
        """How many entries each row has by a way."""
        parts = [matrix for matrix in (self.rows.get(way), self.among.get(way)) if matrix is not None]
        return sum((np.diff(part.indptr) for part in parts), np.zeros(len(self.items), dtype=np.int64))


def read_new_rows(
    network: Network, tables: Sequence[NamedTable], type: str | None = None, id: str | None = None
) -> NewRows:
    """A table of new rows, and perhaps tables of relations that they are part of, told by their names.

    Parameters
    ----------
    type
        Of the rows; by default the type that is called as the table, or that has most of its columns.
    id
        The column of ids; by default found among the columns that are nothing else.
    """
    table, *others = tables
    said: list[str] = []
    type = _type_of(network, table) if type is None else network.items(type).name
    if network.owner_type(type) is not None:
        raise InputError(f"{type} are attributes of {network.owner_type(type)}: give rows of those")
    owner, extra = _items_of(network, table, type, id, [each.name for each in others], said)
    known = np.full(len(owner.items), -1)
    index = np.arange(table.n_rows)
    if owner.schema.id is not None:
        known = Ids(type, None, _texts(network, type)).positions(owner.ids.texts)
        index = owner.ids.positions(_as_texts(table.cells(owner.schema.id)))
    gathered = _Gathered(network, type, owner, known)
    _read_columns(network, type, owner, gathered, said)
    for each in others:
        _read_beside(network, type, each, owner, gathered, said)
    if extra:
        said.append(f"{table.path.name}: column(s) {_listed(extra)} are unknown to the model and not used")
    labels = _labels(network, type, owner.table, said)
    rows, among = gathered.matrices()
    own = owner.schema.id
    return NewRows(type, owner.items, known, rows, among, labels, table, own, index, tuple(said))


class _Gathered:
    """Entries of the new rows, way by way, with known items and with one another."""

    def __init__(self, network: Network, type: str, owner: ItemTable, known: np.ndarray) -> None:
        self.network, self.type, self.n_rows = network, type, len(owner.items)
        self.own = owner.ids
        self.n_known = len(network.items(type))
        self.new = np.flatnonzero(known < 0)
        self.found: dict[str, list[sp.csr_array]] = {}

    def every(self, type: str) -> Ids:
        """The ids of a type; of that of the rows those that are new behind them."""
        texts = _texts(self.network, type)
        if type == self.type:
            texts = pa.concat_arrays([texts, self.own.texts.cast(texts.type).take(pa.array(self.new))])
        return Ids(type, None, texts)

    def add(self, way: str, matrix: sp.csr_array) -> None:
        self.found.setdefault(way, []).append(matrix)

    def add_links(self, relation: Relation, ends: Sequence[pa.Array], weights: np.ndarray | None) -> int:
        """Pairs of ids; returns how many of them join no new row to an item that is known or new."""
        types = relation.source, relation.target
        every = [self.every(type) for type in types]
        places = [ids.positions(texts) for ids, texts in zip(every, ends, strict=True)]
        apart = np.asarray(pc.not_equal(*ends), dtype=bool) | (relation.source != relation.target)
        used = np.zeros(len(apart), dtype=bool)
        for here, there, mark in ((0, 1, ">"), (1, 0, "<")):
            if types[here] != self.type:
                continue
            mine = self.own.positions(ends[here])
            good = (mine >= 0) & (places[there] >= 0) & apart
            values = np.ones(int(good.sum()), np.float32) if weights is None else weights[good]
            shape = (self.n_rows, len(every[there].texts))
            matrix = sp.coo_array((values, (mine[good], places[there][good])), shape=shape).tocsr()
            if weights is None:
                matrix.data[:] = 1  # a link that is listed twice
            self.add(f"{relation.name}{'>' if relation.pairing.undirected else mark}", matrix)
            used |= good
        return int((~used).sum())

    def matrices(self) -> tuple[dict[str, sp.csr_array], dict[str, sp.csr_array]]:
        """What was gathered, of known items and of one another apart."""
        rows, among = {}, {}
        for way, parts in self.found.items():
            # an undirected link may be listed from both of its ends
            matrix = reduce(lambda one, other: sp.csr_array(one.maximum(other)), parts)
            joined = self.network.relation(way[:-1])
            if joined.column is None and joined.pairing.same:
                known, new = matrix[:, : self.n_known], matrix[:, self.n_known :]
                rows[way] = sp.csr_array(known)
                among[way] = _among(sp.csr_array(new), self.new)
            else:
                rows[way] = matrix
        return rows, {way: matrix for way, matrix in among.items() if matrix.nnz}


def _among(matrix: sp.csr_array, new: np.ndarray) -> sp.csr_array:
    """Columns counted among the new, counted among all rows."""
    return sp.csr_array((matrix.data, new[matrix.indices], matrix.indptr), (matrix.shape[0], matrix.shape[0]))


def _type_of(network: Network, table: NamedTable) -> str:
    if table.name in network.types and network.owner_type(table.name) is None:
        return table.name
    shared = {name: len(_known_columns(network, name) & set(table.columns)) for name in network.entity_types}
    best = max(shared, key=lambda name: shared[name])
    if not shared[best]:
        listed = [name for name in network.entity_types if _known_ids(network, name, table) is not None]
        if len(listed) == 1:  # ids alone, of items that are known
            return listed[0]
        main = network.main.name
        known = _listed(sorted(_known_columns(network, main)))
        raise UnknownColumns(f"{table.path}: the model knows none of its columns; of {main} it knows {known}")
    return best


def _known_columns(network: Network, type: str) -> set[str]:
    """What columns of a table may be called that the network has something of."""
    labels = network.items(type).labels
    keys = {each.name.removeprefix(f"{type}.") for each in network.joining(type) if each.source == type}
    return (
        set(_columns(network, type))
        | keys
        | ({labels.column} if labels is not None and labels.n_classes else set())
    )


def _columns(network: Network, type: str) -> list[str]:
    """The columns of a type's table; parts of a date are no columns of their own."""
    named = {each.column.name: each.column.kind for each in network.columns(type) if each.column is not None}
    return [name for name in named if named.get(name.rpartition(".")[0]) != "date"]


def _items_of(
    network: Network,
    table: NamedTable,
    type: str,
    id: str | None,
    beside: Sequence[str],
    said: list[str],
) -> tuple[ItemTable, list[str]]:
    """Ids and titles of the rows, and the columns that are left over."""
    known = _known_columns(network, type)
    if id is not None:
        table.cells(id)
    free = {name: cells for name, cells in table.columns.items() if name not in known}
    named = NamedTable(table.path, type, free, table.place)
    trained = network.items(type).id_column
    own = id if id is not None or trained not in free else trained
    own = own or id_column(named) or repeated_id(named) or _known_ids(network, type, named)
    title = next((name for name in free if name.lower() in TITLE_NAMES and name != own), None)
    if own is None:
        repeating = nearly_unique(named)
        said.append(
            f"{table.path.name}: no column has unique ids: the rows are numbered"
            + (f" ({repeating!r} repeats some; if these are ids: --id)" if repeating else "")
        )
    missing = [name for name in _columns(network, type) if name not in table.columns and name not in beside]
    if missing:
        said.append(f"{table.path.name}: there is no column {_listed(missing)}: its cells count as empty")
    owner = read_items(table, TypeSchema(type, table.path.name, own, title, numbered=own is None), said)
    return owner, [name for name in free if name not in (own, title)]


def _known_ids(network: Network, type: str, table: NamedTable) -> str | None:
    """A column of ids that the network has, some of them several times: for the reader to refuse or join."""
    ids = Ids(type, None, _texts(network, type))
    shares = {
        name: ids.share(cells.distinct)
        for name, cells in table.columns.items()
        if not (cells.is_list or cells.is_nested or ids.integers)
    }
    best = max(shares, key=lambda name: shares[name], default=None)
    return best if best is not None and shares[best] >= FOUND_NAMED else None


def _read_columns(
    network: Network, type: str, owner: ItemTable, gathered: _Gathered, said: list[str]
) -> None:
    table = owner.table
    titles = attribute_titles(network, type)
    for relation in network.columns(type):
        cells = cells_of(relation, table.columns)
        if cells is None:
            continue
        try:
            matrix, strange = code_known(relation, titles, cells)
        except InputError as error:
            raise InputError(f"{table.path}: {error}") from None
        said += [f"{table.path.name}: column {cells.name!r}: {each}" for each in strange]
        gathered.add(f"{relation.name}>", matrix)
    for relation in network.joining(type):
        name = relation.name.removeprefix(f"{type}.")
        if relation.source != type or name not in table.columns:
            continue
        matrix, lost = key_matrix(table.cells(name), gathered.every(relation.target))
        if lost is not None:
            said.append(
                f"{table.path.name}: {lost[0]:,} key(s) in {name!r}, such as {lost[1][:40]!r}, are no id of "
                f"{relation.target} and were left out"
            )
        gathered.add(f"{relation.name}>", matrix)


def _read_beside(
    network: Network,
    type: str,
    table: NamedTable,
    owner: ItemTable,
    gathered: _Gathered,
    said: list[str],
) -> None:
    """A table of links or of tags, which is called as the relation or the column."""
    relations = {way.relation: network.relation(way.relation) for way in ways_of(network, type)}
    relation = relations.get(table.name)
    if relation is None:
        relation = next((c for c in network.columns(type) if c.column and c.column.name == table.name), None)
        if relation is None or relation.column is None or relation.column.has_cells:
            raise no_such(f"relation of {type} for the table", table.name, relations)
        column = relation.column
        listed = attribute_titles(network, type)[column.start : column.stop]
        coding, matrix = long_column(owner, column.name, ColumnSchema(column.kind), table, listed)
        said += [f"{table.path.name}: {each}" for each in coding.notices]
        gathered.add(f"{relation.name}>", moved_columns(matrix, column.start, relation.values.shape[1]))
        return
    if len(table.columns) < 2:
        raise InputError(f"{table.path}: one column found; give the two ends of each link")
    first, second, *rest = table.columns.values()
    ends = [_as_texts(cells) for cells in (first, second)]
    kinds = [gathered.every(end) for end in (relation.source, relation.target)]
    if relation.source != relation.target and sum(
        kind.share(texts.unique()) for kind, texts in zip(kinds, reversed(ends), strict=True)
    ) > sum(kind.share(texts.unique()) for kind, texts in zip(kinds, ends, strict=True)):
        ends.reverse()
    weight = next((cells for cells in rest if cells.name.lower() in NUMBER_TITLES), None)
    weights = None if weight is None else row_numbers(table, weight).astype(np.float32)
    lost = gathered.add_links(relation, ends, weights)
    if lost:
        said.append(f"{table.path.name}: {lost:,} row(s) join no new row to a known item, and were left out")


def _labels(network: Network, type: str, table: NamedTable, said: list[str]) -> np.ndarray:
    """The classes that the table itself gives."""
    labels = network.items(type).labels
    if labels is None or not labels.n_classes:
        return np.full(table.n_rows, UNKNOWN)
    nothing = np.full((table.n_rows, *labels.values.shape[1:]), UNKNOWN, dtype=labels.values.dtype)
    if labels.column not in table.columns:
        return nothing
    given = read_labels(table.cells(labels.column), str(table.path), labels.several)
    at = {str(name): k for k, name in enumerate(labels.classes)}
    places = np.array([at.get(str(name), UNKNOWN) for name in given.classes], dtype=np.int64)
    strange = np.flatnonzero(places == UNKNOWN)
    if len(strange):
        count = int(given.sizes[strange].sum())
        said.append(
            f"{table.path.name}: the model does not know the class of {count:,} row(s), such as "
            f"{str(given.classes[strange[0]])[:40]!r}"
        )
    if not labels.several:
        return np.append(places, UNKNOWN)[given.values]
    seen = given.is_known
    nothing[seen] = 0  # what a row does not name it has not
    known = places != UNKNOWN
    nothing[np.ix_(seen, places[known])] = given.values[np.ix_(seen, known)]
    return nothing


def attribute_titles(network: Network, type: str) -> list[str]:
    """What the attributes of a type are called."""
    attributes = network.attribute_type(type)
    if attributes is None:
        return []
    items = network.items(attributes)
    return [items.title(place) for place in range(len(items))]


def _texts(network: Network, type: str) -> pa.Array:
    return pa.array([str(each) for each in network.items(type).ids], pa.large_string())


def _as_texts(cells: Cells) -> pa.Array:
    texts = cells.texts.combine_chunks()
    return texts if isinstance(texts, pa.Array) else pa.concat_arrays(texts.chunks)


def _listed(names: Sequence[str], most: int = 6) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more
