"""A mapped network of any types: arrays are named by position (``t0``, ``r0``), never by names of users."""

from __future__ import annotations

import math
import re
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, get_args

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError, no_such
from coembed.likelihoods import LIKELIHOODS
from coembed.network.items import UNKNOWN, Items, Labels
from coembed.network.matrix_checks import Rules
from coembed.network.names import NameArray, Names
from coembed.network.network import Network
from coembed.network.readers.mapped_arrays import (
    RECORD,
    Check,
    check_checksums,
    check_texts,
    classes_of,
    count_of,
    index_type,
    open_array,
    open_matrix,
    save_array,
    text_of,
)
from coembed.network.relations import Absent, Column, ColumnKind, Relation

GENERAL = 2
"""Version of the format."""
_NUMBERS = {"start": int, "stop": int, "center": float, "scale": float, "log": bool, "whole": bool}


def save_types(network: Network, folder: Path) -> tuple[list[str], dict[str, Any]]:
    """Write all arrays; returns their names, and what else the record must say."""
    arrays: list[str] = []

    def keep(name: str, array: np.ndarray) -> None:
        save_array(folder, name, array)
        arrays.append(name)

    def keep_names(name: str, names: NameArray) -> None:
        packed = Names.of(names)
        keep(f"{name}.bytes", packed.octets)
        keep(f"{name}.offsets", packed.offsets)

    types, relations = [], []
    positions = {name: i for i, name in enumerate(network.types)}
    for i, items in enumerate(network.types.values()):
        keep_names(f"t{i}.ids", items.ids)
        if items.titles is not None:
            keep_names(f"t{i}.titles", items.titles)
        labels = items.labels
        if labels is not None:
            keep(f"t{i}.labels", labels.values.ravel())
        said: dict[str, Any] | None = None
        if labels is not None:
            said = {"column": labels.column, "classes": [str(c) for c in labels.classes]}
            said |= {"several": True} if labels.several else {}
        record = {"name": items.name, "count": len(items), "titles": items.titles is not None, "labels": said}
        types.append(record | ({} if items.id_column is None else {"id_column": items.id_column}))
    for i, relation in enumerate(network.relations.values()):
        matrix: sp.csr_array = relation.values
        index = index_type(matrix.nnz, matrix.shape[1])
        keep(f"r{i}.indptr", matrix.indptr.astype(index, copy=False))
        keep(f"r{i}.indices", matrix.indices.astype(index, copy=False))
        keep(f"r{i}.data", matrix.data)
        relations.append(
            {
                "name": relation.name,
                "source": positions[relation.source],
                "target": positions[relation.target],
                "likelihood": relation.likelihood,
                "absent": relation.absent,
                "directed": relation.directed,
                "column": None if relation.column is None else asdict(relation.column),
            }
        )
    notices = list(network.notices)
    return arrays, {"name": network.name, "notices": notices, "types": types, "relations": relations}


def open_types(place: Path, record: dict[str, Any], check: Check) -> Network:
    """Open what :func:`save_types` wrote; the arrays stay in the files."""
    for name in record["arrays"]:
        if not re.fullmatch(r"[tr]\d+\.[a-z.]+", name):
            raise InputError(f"{RECORD} names an array {name[:40]!r} that no such network has")
    arrays = {name: open_array(place, name, said) for name, said in record["arrays"].items()}
    types = [_items(arrays, i, said, check) for i, said in enumerate(record["types"])]
    relations = [_relation(arrays, i, said, types, check) for i, said in enumerate(record["relations"])]
    notices = [text_of(notice) for notice in record["notices"]]
    network = Network.of(types, relations, text_of(record["name"]), notices)
    if check == "full":
        check_checksums(arrays, record["arrays"])
    return network


def _items(arrays: dict[str, np.ndarray], i: int, said: dict[str, Any], check: Check) -> Items:
    name, count = text_of(said["name"]), count_of(said, "count")
    labels = None
    if said["labels"] is not None:
        classes, values = classes_of(said["labels"]["classes"]), arrays[f"t{i}.labels"]
        if said["labels"].get("several") is True:
            if len(values) != count * len(classes):
                raise InputError(f"labels of {name} are {len(values)}, not one for each item and class")
            values = values.reshape(count, len(classes))
        labels = Labels(classes, values, text_of(said["labels"]["column"]))
        _check_labels(labels, name, count, check)
    titles = _names(arrays, f"t{i}.titles", count, check) if said["titles"] else None
    id_column = text_of(said["id_column"]) if "id_column" in said else None
    return Items(name, _names(arrays, f"t{i}.ids", count, check), titles, labels, id_column)


def _check_labels(labels: Labels, name: str, count: int, check: Check) -> None:
    values = labels.values
    shape, kind = ((count, labels.n_classes), np.int8) if labels.several else ((count,), np.int64)
    if values.dtype != kind or values.shape != shape:
        raise InputError(
            f"labels must be int64, one for each of the {count} {name}, or int8, one for each class"
        )
    most = 1 if labels.several else labels.n_classes - 1
    if check != "sizes" and values.size and not (values.min() >= UNKNOWN and values.max() <= most):
        raise InputError(f"labels of {name} name more than the {labels.n_classes} classes")


def _names(arrays: dict[str, np.ndarray], key: str, count: int, check: Check) -> Names:
    names = Names(arrays[f"{key}.bytes"], arrays[f"{key}.offsets"])
    if len(names) != count:
        raise InputError(f"{key} holds {len(names)} names for {count}")
    check_texts(names, key, check, unique=key.endswith(".ids"))
    return names


def _relation(
    arrays: dict[str, np.ndarray], i: int, said: dict[str, Any], types: list[Items], check: Check
) -> Relation:
    ends = [count_of(said, end) for end in ("source", "target")]
    if max(ends) >= len(types):
        raise InputError(f"{RECORD} has a relation of type {max(ends)}, but there are {len(types)} types")
    source, target = types[ends[0]], types[ends[1]]
    absent: Absent = said["absent"]
    directed = said["directed"]
    if absent not in get_args(Absent) or not isinstance(directed, bool):
        raise InputError(
            f"{RECORD} does not say what an absent entry of relation {i} means, or its direction"
        )
    likelihood = text_of(said["likelihood"])
    if likelihood not in ("auto", *LIKELIHOODS):
        raise no_such("likelihood", likelihood, LIKELIHOODS)
    shape = (len(source), len(target))
    within = source is target
    rules = Rules(absent == "unknown", loops=not within, symmetric=within and not directed)
    return Relation(
        text_of(said["name"]),
        source.name,
        target.name,
        open_matrix(arrays, f"r{i}", shape, check, rules),
        likelihood,
        absent,
        directed,
        None if said["column"] is None else _column(said["column"], shape[1]),
    )


def _column(said: dict[str, Any], width: int) -> Column:
    said = {"day_first": None} | said  # which 0.2.0 did not write
    if set(said) != {each.name for each in fields(Column)} or said["kind"] not in get_args(ColumnKind):
        raise InputError(f"{RECORD} has a column of no known kind")
    for name, kind in _NUMBERS.items():
        if type(said[name]) is not kind and not (kind is float and type(said[name]) is int):
            raise InputError(f"{RECORD} has no {kind.__name__} for {name} of a column")
    if not (math.isfinite(said["center"]) and math.isfinite(said["scale"]) and said["scale"] > 0):
        raise InputError(f"{RECORD} has a column whose values have no finite unit")
    if said["day_first"] not in (None, True, False):
        raise InputError(f"{RECORD} has a column of dates whose day is neither first nor second")
    if not 0 <= said["start"] <= said["stop"] <= width:
        raise InputError(f"{RECORD} has a column that leaves the {width} attributes")
    return Column(**{**said, "name": text_of(said["name"])})
