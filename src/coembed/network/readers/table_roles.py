"""Which file holds what, and which column of it is what."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coembed.errors import InputError
from coembed.network.readers.delimited_text import ATTRIBUTE_TITLES, LABEL_TITLES, NUMBER_TITLES
from coembed.network.readers.sheet import Sheet

ROLES = ("edges", "attributes", "labels", "names")
_WORDS = {
    "edges": "edges edge links link edgelist relations graph adjacency",
    "attributes": "attributes attribute attrs attr features feature content",
    "labels": "labels label classes class groups categories",
    "names": "names",
}
_ROLE_OF = {word: role for role, words in _WORDS.items() for word in words.split()}


def role_of_name(path: Path) -> str | None:
    """What a file is for, by its name: ``edges.csv``, ``cora_labels.tsv.gz``, ``wiki.features.txt``.

    Examples
    --------
    >>> role_of_name(Path("cora-edges.csv.gz")), role_of_name(Path("friends.csv"))
    ('edges', None)
    """
    words = re.split(r"[^a-z]+", path.name.lower())
    found = [_ROLE_OF[word] for word in words if word in _ROLE_OF]
    return found[-1] if found else None


def assign_roles(paths: list[Path]) -> dict[str, Path]:
    """Give each file its role, by name; files with other names take the free roles in order."""
    roles: dict[str, Path] = {}
    nameless = []
    for path in paths:
        role = role_of_name(path)
        if role is None:
            nameless.append(path)
        elif role in roles:
            raise InputError(f"{path} and {roles[role]} both look like {role}; give one of them")
        else:
            roles[role] = path
    for path in nameless:
        free = [role for role in ROLES[:3] if role not in roles]
        if not free:
            raise InputError(
                f"{path}: there are edges, attributes and labels already; give at most three tables"
            )
        roles[free[0]] = path
    return roles


@dataclass(frozen=True, eq=False)
class Entries:
    """Left end, right end and value of every row of a list; without values all count 1."""

    left: pa.ChunkedArray
    right: pa.ChunkedArray
    values: np.ndarray | None


def edge_entries(sheet: Sheet, said: list[str]) -> Entries:
    """The rows of a list of links: two nodes and perhaps a weight."""
    if len(sheet.columns) < 2:
        raise InputError(
            f"{sheet.place(0)}: a link needs two nodes, found one column; give source and target"
        )
    return Entries(sheet.ids(0, "node"), sheet.ids(1, "node"), _value_column(sheet, "weight", said))


def attributes_are_wide(sheet: Sheet) -> bool:
    """Whether each attribute has a column of its own, or each row is one (node, attribute, value).

    A second column called attribute, word, tag, ... or a third one of three called value makes a list; so do
    two columns unless the second holds numbers under a title, and up to three columns without titles.
    """
    width = len(sheet.columns)
    if sheet.header is None:
        return width > 3
    if width > 1 and sheet.header[1] in ATTRIBUTE_TITLES:
        return False
    if width == 2:
        return sheet.is_numeric(1)
    return not (width == 3 and sheet.header[2] in NUMBER_TITLES)


def list_entries(sheet: Sheet, said: list[str]) -> Entries:
    """The rows of a list of attributes: a node, an attribute and perhaps a value."""
    if len(sheet.columns) < 2:
        raise InputError(f"{sheet.place(0)}: one column found; give node, attribute and, if you like, value")
    return Entries(sheet.ids(0, "node"), sheet.ids(1, "attribute"), _value_column(sheet, "value", said))


def wide_entries(sheet: Sheet) -> tuple[Entries, pa.ChunkedArray]:
    """The filled cells of a wide table, and the names of its attributes.

    A column of numbers is an attribute; of any other column each distinct cell is, called ``column=cell``.
    """
    nodes = sheet.ids(0, "node")
    titles = sheet.titles or tuple(f"attribute{i - 1}" for i in range(len(sheet.columns)))
    owners, rights, values, names = [], [], [np.empty(0)], []
    for column in range(1, len(sheet.columns)):
        title = titles[column].strip() or f"attribute{column - 1}"
        found = sheet.numbers_or_gaps(column, f"value of {title!r}")
        if found is not None:
            numbers, _ = found
            rows = np.flatnonzero(numbers)
            names.append(title)
            rights.append(pa.repeat(pa.scalar(title, pa.large_string()), len(rows)))
            values.append(numbers[rows])
        else:
            cells = sheet.text(column).combine_chunks()
            rows = np.flatnonzero(np.asarray(pc.not_equal(cells, ""), dtype=bool))
            categories = pc.binary_join_element_wise(
                pa.scalar(title, pa.large_string()), cells.take(rows), pa.scalar("=", pa.large_string())
            )
            names.extend(categories.unique().to_pylist())
            rights.append(categories)
            values.append(np.ones(len(rows)))
        owners.append(rows)
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{sheet.path}: two columns are called {twice!r}; give each attribute its own name")
    entries = Entries(
        nodes.take(np.concatenate(owners)) if owners else nodes.slice(0, 0),
        pa.chunked_array(rights, type=pa.large_string()),
        np.concatenate(values),
    )
    return entries, pa.chunked_array([pa.array(names, type=pa.large_string())])


def label_columns(sheet: Sheet) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """Nodes and the texts of their labels, empty where unknown."""
    if len(sheet.columns) < 2:
        raise InputError(f"{sheet.place(0)}: one column found; give the node and its label")
    column = 1
    if sheet.header is not None:
        column = next((i for i, title in enumerate(sheet.header) if i and title in LABEL_TITLES), 1)
    elif len(sheet.columns) > 2:
        raise InputError(
            f"{sheet.place(0)}: {len(sheet.columns)} columns found; give the node and its label only"
        )
    return sheet.ids(0, "node"), sheet.text(column)


def _value_column(sheet: Sheet, what: str, said: list[str]) -> np.ndarray | None:
    width = len(sheet.columns)
    if width == 2:
        return None
    if sheet.header is None:
        if width > 3:
            raise InputError(
                f"{sheet.place(0)}: {width} columns found; give two names and at most one {what}"
            )
        return sheet.numbers(2, what)
    column = next((i for i, title in enumerate(sheet.header) if i > 1 and title in NUMBER_TITLES), None)
    assert sheet.titles is not None
    left_out = [title for i, title in enumerate(sheet.titles) if i > 1 and i != column]
    if left_out:
        said.append(f"{sheet.path.name}: column(s) {', '.join(left_out)} were not used")
    return None if column is None else sheet.numbers(column, what)
