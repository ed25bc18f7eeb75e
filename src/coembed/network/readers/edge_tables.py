"""Tables of links, attributes and labels to a network: names become positions, all at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network.matrices import as_float32
from coembed.network.network import UNKNOWN, Network
from coembed.network.readers.delimited_text import head, read_text
from coembed.network.readers.sheet import Sheet, read_parquet
from coembed.network.readers.table_roles import (
    Entries,
    attributes_are_wide,
    edge_entries,
    label_columns,
    list_entries,
    wide_entries,
)

NO_NAMES = pa.chunked_array([], type=pa.large_string())


def read_tables(files: dict[str, Path], name: str) -> Network:
    """Read the tables given by role: ``edges`` and, where there are, ``attributes``, ``labels``, ``names``.

    A name that occurs only among the attributes or the labels is a node too, without links. The table of
    names (kind, name) fixes the order of nodes, attributes and classes, and lists those without an entry.
    """
    if "edges" not in files:
        given = ", ".join(str(path) for path in files.values())
        raise InputError(f"{given}: there is no table of links; add one called edges.csv (source, target)")
    said: list[str] = []
    sheets = {role: read_sheet(path) for role, path in files.items()}
    listed = listed_names(sheets.get("names"))

    edges = edge_entries(sheets["edges"], said)
    owned = Entries(NO_NAMES, NO_NAMES, None)
    columns = present = NO_NAMES  # of a wide table: its attributes and nodes, those without an entry too
    if "attributes" in sheets and attributes_are_wide(sheets["attributes"]):
        owned, columns = wide_entries(sheets["attributes"])
        present = sheets["attributes"].ids(0, "node")
    elif "attributes" in sheets:
        owned = list_entries(sheets["attributes"], said)
    label_nodes, label_texts = label_columns(sheets["labels"]) if "labels" in sheets else (NO_NAMES, NO_NAMES)

    node_names, (_, label_rows, _, left, source, target) = _positions(
        listed["node"], label_nodes, present, owned.left, edges.left, edges.right
    )
    attribute_names, (_, _, right) = _positions(listed["attribute"], columns, owned.right)
    n_nodes = len(node_names)
    if not n_nodes:
        raise nothing_in(files["edges"])
    links = _matrix(source, target, edges.values, (n_nodes, n_nodes), files["edges"], said)
    owner_shape = (n_nodes, len(attribute_names))
    attributes = _matrix(left, right, owned.values, owner_shape, files.get("attributes"), said)
    labels, class_names = read_labels(
        label_rows, label_texts, n_nodes, listed["class"], sheets.get("labels"), said
    )
    network = Network.build(
        _listed_once(links, said),
        attributes,
        labels,
        node_names=node_names,
        attribute_names=attribute_names,
        class_names=class_names,
        name=name,
        notices=said,
    )
    lonely = say_lonely(np.diff(network.links.indptr), lambda row: str(node_names[row]), files)
    return replace(network, notices=(*network.notices, *lonely))


def nothing_in(edges: Path) -> InputError:
    return InputError(f"{edges} holds no rows below its header; give at least one link (source, target)")


def say_lonely(degrees: np.ndarray, name_of: Callable[[int], str], files: dict[str, Path]) -> list[str]:
    """A notice on nodes without links, which a name spelt in two ways makes; none if they were listed."""
    elsewhere = [files[role].name for role in ("attributes", "labels") if role in files]
    lonely = np.flatnonzero(degrees == 0)
    if not len(lonely) or not elsewhere or "names" in files:
        return []
    return [
        f"{len(lonely)} node(s) have no link, such as {name_of(int(lonely[0]))!r}; if they should, "
        f"compare the names in {' and '.join(elsewhere)} with those in {files['edges'].name}"
    ]


def read_sheet(path: Path) -> Sheet:
    return read_parquet(path) if head(path, 4) == b"PAR1" else read_text(path)


def listed_names(sheet: Sheet | None) -> dict[str, pa.ChunkedArray]:
    if sheet is None:
        return dict.fromkeys(("node", "attribute", "class"), NO_NAMES)
    if len(sheet.columns) != 2:
        raise InputError(
            f"{sheet.path}: the table of names needs the columns kind and name; remove it if unsure"
        )
    kinds, names = sheet.text(0), sheet.text(1)
    strange = pc.invert(pc.is_in(kinds, pa.array(["node", "attribute", "class"], pa.large_string())))
    if pc.any(strange).as_py():
        row = pc.index(strange, True).as_py()
        raise InputError(
            f"{sheet.place(row)}: kind {kinds[row].as_py()!r} is not one of node, attribute, class"
        )
    return {kind: names.filter(pc.equal(kinds, kind)) for kind in ("node", "attribute", "class")}


def _positions(*columns: pa.ChunkedArray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Distinct names in order of first appearance, and each column as positions among them."""
    chunks = [chunk for column in columns for chunk in column.chunks]
    encoded = pa.chunked_array(chunks, type=pa.large_string()).dictionary_encode()
    if not encoded.num_chunks:
        return np.empty(0, dtype=object), [np.empty(0, dtype=np.int64) for _ in columns]
    names = encoded.chunk(encoded.num_chunks - 1).dictionary.to_numpy(zero_copy_only=False)
    codes = np.concatenate([chunk.indices.to_numpy(zero_copy_only=False) for chunk in encoded.chunks])
    ends = np.cumsum([len(column) for column in columns])
    return names, np.split(codes.astype(np.int64), ends[:-1])


def _matrix(
    rows: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray | None,
    shape: tuple[int, int],
    path: Path | None,
    said: list[str],
) -> sp.csr_array:
    file = path.name if path else "input"
    data = np.ones(len(rows), np.float32) if values is None else as_float32(values, file, said.append)
    matrix = sp.csr_array((data, (rows, columns)), shape=shape)
    matrix.sum_duplicates()
    repeated = len(rows) - matrix.nnz
    if repeated:
        what = "counted once" if values is None else "added up"
        said.append(f"{file}: {repeated} repeated row(s) were {what}")
    if values is None:
        matrix.data[:] = 1
    return matrix


def _listed_once(links: sp.csr_array, said: list[str]) -> sp.csr_array:
    """Links as people list them, every pair in one line: mirrored here; a mixture is left to the network."""
    mirrored = links.T.tocsr()
    if links.nnz == 0 or links.multiply(mirrored).nnz > np.count_nonzero(links.diagonal()):
        return links
    said.append("every link was listed in one direction and taken as undirected")
    return links + mirrored


def read_labels(
    nodes: np.ndarray,
    texts: pa.ChunkedArray,
    n_nodes: int,
    listed: pa.ChunkedArray,
    sheet: Sheet | None,
    said: list[str],
) -> tuple[np.ndarray, np.ndarray]:
    if sheet is None:
        names, _ = _positions(listed)
        return np.full(n_nodes, UNKNOWN), names
    names, (_, codes) = _positions(listed, texts)
    n_listed = len(listed.unique())
    unknown = np.array(
        [i >= n_listed and text.lower() in ("", "nan") for i, text in enumerate(names)], dtype=bool
    )
    integers = all(_is_integer(text) for text, gap in zip(names, unknown, strict=True) if not gap)
    if integers:  # -1 is how integer labels say unknown
        unknown |= np.array([i >= n_listed and text == "-1" for i, text in enumerate(names)], dtype=bool)
    known = ~unknown[codes]
    if not known.all():
        said.append(f"{sheet.path.name}: {int((~known).sum())} row(s) without a label were taken as unknown")

    classes = np.flatnonzero(~unknown)
    if not n_listed:
        classes = np.array(
            sorted(classes, key=lambda i: int(names[i]) if integers else names[i]), dtype=np.int64
        )
    position = np.full(len(names), UNKNOWN)
    position[classes] = np.arange(len(classes))

    rows = np.flatnonzero(known)
    labels = np.full(n_nodes, UNKNOWN)
    # backwards: the first label of a node stays, and what contradicts it is found where it stands
    labels[nodes[rows[::-1]]] = position[codes[rows[::-1]]]
    clash = rows[labels[nodes[rows]] != position[codes[rows]]]
    if len(clash):
        row = int(clash[0])
        node = sheet.ids(0, "node")[row].as_py()
        raise InputError(
            f"{sheet.place(row)}: node {node!r} has two labels, "
            f"{names[classes[labels[nodes[row]]]]!r} and here {texts[row].as_py()!r}; give each node one"
        )
    return labels, names[classes]


def _is_integer(text: str) -> bool:
    return text.removeprefix("-").isdecimal()
