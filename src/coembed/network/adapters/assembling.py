"""A network from parts that other libraries keep apart: ids, columns, a matrix of features, links, labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network.items import Items, Labels
from coembed.network.names import NameArray
from coembed.network.network import ATTRIBUTES, LINKS, NODE, Network
from coembed.network.readers.table_folder import from_tables
from coembed.network.readers.table_schema import Schema, TypeSchema
from coembed.network.relations import Column, Relation


@dataclass(frozen=True, eq=False)
class TypeParts:
    """One type of items.

    Attributes
    ----------
    columns
        Cells by column, one for each item; their kinds are found.
    features, feature_names
        A matrix with a row an item and an attribute a column, zeros absent.
    labels
        Classes that are known already; else a column may be chosen.
    """

    name: str
    ids: NameArray
    columns: Mapping[str, Any] = field(default_factory=dict)
    features: Any = None
    feature_names: NameArray | None = None
    labels: Labels | None = None


@dataclass(frozen=True, eq=False)
class Links:
    """A relation of two types as a sparse matrix."""

    name: str
    source: str
    target: str
    matrix: Any
    directed: bool = False


def assemble(
    types: Sequence[TypeParts],
    links: Sequence[Links],
    name: str,
    labels: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    notices: Sequence[str] = (),
) -> Network:
    """The network of the parts; a plain one where nothing more is said."""
    said = list(notices)
    if _is_plain(types, links) and not labels:
        (own,), matrix = types, links[0].matrix if links else sp.csr_array((len(types[0].ids),) * 2)
        given = own.labels
        return Network.build(
            matrix,
            own.features,
            None if given is None else given.values,
            node_names=own.ids,
            attribute_names=own.feature_names,
            class_names=None if given is None else given.classes,
            name=name,
            notices=said,
        )
    found = [_owned(each, labels, kinds, said) for each in types]
    items = [each for owned, _ in found for each in owned]
    items.sort(key=lambda each: each.labels is None)  # stable: the labelled type is the main one
    relations = [
        Relation.build(
            each.name, each.source, each.target, each.matrix, directed=each.directed, notice=said.append
        )
        for each in links
    ]
    relations += [each for _, columns in found for each in columns]
    if labels and not any(each.labels is not None for each in items):
        raise InputError(f"there is no column {labels[0]!r} to take labels from")
    return Network.of(items, _told_apart(relations), name, said)


def _is_plain(types: Sequence[TypeParts], links: Sequence[Links]) -> bool:
    one = len(types) == 1 and types[0].name == NODE and not types[0].columns
    several = one and types[0].labels is not None and types[0].labels.several
    return (
        one
        and not several
        and [each.name for each in links] in ([], [LINKS])
        and not any(e.directed for e in links)
    )


def _owned(
    parts: TypeParts, labels: Sequence[str], kinds: Mapping[str, str] | None, said: list[str]
) -> tuple[list[Items], list[Relation]]:
    """A type, its attributes, and its columns."""
    items = Items.build(parts.name, parts.ids, labels=parts.labels)
    columns: list[Relation] = []
    attributes: Items | None = None
    if parts.columns:
        own = [each for each in labels if each.rpartition(".")[0] in ("", parts.name)]
        own = [each for each in own if each.rpartition(".")[2] in parts.columns]
        known = {
            name: kind for name, kind in (kinds or {}).items() if name.rpartition(".")[2] in parts.columns
        }
        network = _of_columns(parts, own, known)
        said += network.notices
        attribute_type = network.attribute_type(parts.name)
        if own or parts.labels is None:
            items = network.items(parts.name)
        attributes = None if attribute_type is None else network.items(attribute_type)
        columns = network.columns(parts.name)
    if parts.features is not None:
        attributes, columns = _with_features(parts, attributes, columns)
    return [items, *([] if attributes is None else [attributes])], columns


def _of_columns(parts: TypeParts, labels: Sequence[str], kinds: Mapping[str, str]) -> Network:
    id = next(name for name in ("id", "_id", "__id__") if name not in parts.columns)
    ids = pa.array([str(each) for each in parts.ids], pa.large_string())
    table = pa.table({id: ids, **{name: column_of(values) for name, values in parts.columns.items()}})
    schema = Schema({parts.name: TypeSchema(parts.name, parts.name, id=id)})
    return from_tables({parts.name: table}, labels, kinds, schema, parts.name)


def _with_features(
    parts: TypeParts, attributes: Items | None, columns: list[Relation]
) -> tuple[Items, list[Relation]]:
    """The columns, and behind them a matrix of features as one more."""
    name = ATTRIBUTES
    while any(each.name == name for each in columns):
        name += "'"
    matrix = sp.csr_array(parts.features)
    names = (
        [f"feature{i}" for i in range(matrix.shape[1])]
        if parts.feature_names is None
        else parts.feature_names
    )
    ids = [str(each) for each in names]
    first, titles = 0, None
    if attributes is not None:
        first = len(attributes)
        ids = [*(str(each) for each in attributes.ids), *(f"{name}={each}" for each in ids)]
        titles = [*(attributes.title(i) for i in range(first)), *(str(each) for each in names)]
    target = f"{parts.name}.attributes" if attributes is None else attributes.name
    together = Items.build(target, ids, titles)
    wide = len(ids)
    moved = sp.csr_array((matrix.data, matrix.indices + first, matrix.indptr), shape=(matrix.shape[0], wide))
    kind = "tags" if np.all(matrix.data == 1) else "counts"
    own = Relation.build(name, parts.name, target, moved, column=Column(name, kind, first, wide))  # type: ignore[arg-type]
    return together, [*(_widened(each, wide) for each in columns), own]


def _widened(relation: Relation, width: int) -> Relation:
    values = relation.values
    shape = values.shape[0], width
    return replace(relation, values=sp.csr_array((values.data, values.indices, values.indptr), shape=shape))


def _told_apart(relations: Sequence[Relation]) -> list[Relation]:
    """Relations of one name get their source's before it."""
    names = [each.name for each in relations]
    found: list[Relation] = []
    for each in relations:
        name = each.name if names.count(each.name) == 1 else f"{each.source}.{each.name}"
        while any(other.name == name for other in found):
            name += "'"
        found.append(replace(each, name=name))
    return found


def column_of(values: Any) -> pa.Array:
    """Cells of any kind; what pyarrow has no one type for becomes text.

    Examples
    --------
    >>> column_of([1, None, 2.5]).type, column_of([1, "two", None]).to_pylist()
    (DataType(double), ['1', 'two', None])
    """
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return pa.array([None if each is None else str(each) for each in values], pa.large_string())


def named_once(ids: Sequence[Any], what: str) -> list[str]:
    """Ids as texts, which must differ as the things themselves do."""
    texts = [str(each) for each in ids]
    if len(set(texts)) < len(texts):
        twice = next(text for i, text in enumerate(texts) if text in set(texts[:i]))
        raise InputError(f"two {what} are called {twice!r} as text; give each its own name")
    return texts
