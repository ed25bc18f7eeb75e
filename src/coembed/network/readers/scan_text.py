"""SCAN's own text format: ``NAME.edge``, ``NAME.node``, ``NAME.label``.

Numbered nodes and attributes from 0, a line a pair; ``#Nodes`` and ``#Edges`` or ``#Attributes`` on top;
one class a line in the order of the nodes, usually from 1. Self-loops, pairs listed once or twice, either
kind of line end and a third column (a year) occur.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network.network import UNKNOWN, Network
from coembed.network.readers.delimited_text import head, read_text
from coembed.network.readers.sheet import Sheet
from coembed.untrusted import check_count

ENDINGS = {".edge": "edge", ".node": "node", ".label": "label"}
_SECOND = {"edge": "#edges", "node": "#attributes"}


def is_scan_text(path: Path) -> bool:
    """Whether a file is one of the three, by its ending or its first line."""
    return path.suffix.lower() in ENDINGS or head(path, 64).removeprefix(b"\xef\xbb\xbf").startswith(
        b"#Nodes"
    )


def siblings(path: Path) -> list[Path]:
    """The files of the same network beside one of them, itself included."""
    if path.suffix.lower() not in ENDINGS:
        return [path]
    return sorted(p for p in path.parent.glob("*.*") if p.suffix.lower() in ENDINGS and p.stem == path.stem)


def read_scan_text(paths: list[Path]) -> Network:
    """Read a set of files in SCAN's format; only the one of edges must be there."""
    files: dict[str, Path] = {}
    for path in paths:
        part = ENDINGS.get(path.suffix.lower()) or _part_by_content(path)
        if part in files:
            raise InputError(f"{path} and {files[part]} are both .{part} files; give one network at a time")
        files[part] = path
    if "edge" not in files:
        raise InputError(f"{paths[0]}: there is no .edge file with it; put it beside")
    said: list[str] = []
    edges, (n_nodes, _) = _pairs(files["edge"], "edge", said)
    owned, (n_owners, n_attributes) = np.empty((0, 2), dtype=np.int64), (0, 0)
    if "node" in files:
        owned, (n_owners, n_attributes) = _pairs(files["node"], "node", said)
    n_nodes = max(n_nodes, n_owners)
    labels, class_names = (None, None)
    if "label" in files:
        labels, class_names = _labels(files["label"])
        if len(labels) != n_nodes:
            raise InputError(
                f"{files['label']}: {len(labels)} labels for {n_nodes} nodes; give one line for every node"
            )
    return Network.build(
        _presence(edges, (n_nodes, n_nodes)),
        _presence(owned, (n_nodes, n_attributes)),
        labels,
        class_names=class_names,
        name=files["edge"].stem,
        notices=said,
    )


def _part_by_content(path: Path) -> str:
    counts = _counts(path)
    return next((part for part, mark in _SECOND.items() if mark in counts), "label")


def _counts(path: Path) -> dict[str, int]:
    """The lines ``#Nodes 2708`` on top."""
    counts = {}
    for number, line in enumerate(
        head(path, 4096).decode("utf-8-sig", errors="replace").splitlines(), start=1
    ):
        if not line.startswith("#"):
            break
        words = line.split()
        if len(words) != 2 or not words[1].isdecimal() or len(words[1]) > 15:
            raise InputError(
                f"{path}, line {number}: expected a count such as '#Nodes 2708', found {line[:40]!r}"
            )
        counts[words[0].lower()] = int(words[1])
    return counts


def _pairs(path: Path, part: str, said: list[str]) -> tuple[np.ndarray, tuple[int, int]]:
    """The pairs of a file, and how many nodes and (in a .node file) attributes it is about."""
    counts = _counts(path)
    n_nodes = counts.get("#nodes")
    limits = [n_nodes, n_nodes if part == "edge" else counts.get("#attributes")]
    if counts.get(_SECOND[part]) == 0 and _ends_with_counts(path):
        check_count(path, "nodes", n_nodes or 0, 0)
        return np.empty((0, 2), dtype=np.int64), (n_nodes or 0, 0)
    sheet = read_text(path, has_header=False, skipped=len(counts))
    if len(sheet.columns) < 2:
        raise InputError(f"{sheet.place(0)}: expected two numbers, found one column")
    if len(sheet.columns) > 2:
        said.append(f"{path.name}: columns after the second were not used")
    pairs = np.column_stack([_positions(sheet, i, limits[i], part) for i in (0, 1)])
    listed = counts.get("#edges", len(pairs))
    if part == "edge" and len(pairs) not in (listed, 2 * listed):
        said.append(f"{path.name}: announces {listed} edges, lists {len(pairs)}")
    sizes = [limit if limit is not None else int(pairs[:, i].max()) + 1 for i, limit in enumerate(limits)]
    check_count(path, "items", max(sizes), len(pairs))
    return pairs, (max(sizes), max(sizes)) if part == "edge" else (sizes[0], sizes[1])


def _ends_with_counts(path: Path) -> bool:
    return not any(line.strip() for line in head(path, 4096).splitlines() if not line.startswith(b"#"))


def _positions(sheet: Sheet, column: int, limit: int | None, part: str) -> np.ndarray:
    what = "attribute" if part == "node" and column == 1 else "node"
    values = sheet.numbers(column, f"number of the {what}")
    bad = (values != np.floor(values)) | (values < 0) | (values >= (2**62 if limit is None else limit))
    if bad.any():
        row = int(np.argmax(bad))
        allowed = "0 or more" if limit is None else f"0 to {limit - 1}"
        raise InputError(
            f"{sheet.place(row)}: {what} {values[row]:g} is out of range; the file is about {what}s {allowed}"
        )
    return values.astype(np.int64)


def _labels(path: Path) -> tuple[np.ndarray, list[str]]:
    sheet = read_text(path, has_header=False, skipped=0)
    if len(sheet.columns) != 1:
        raise InputError(f"{sheet.place(0)}: expected one class, found {len(sheet.columns)} columns")
    return whole_labels(sheet.numbers(0, "class"), sheet.place)


def whole_labels(values: np.ndarray, place: object = None) -> tuple[np.ndarray, list[str]]:
    """Labels numbered anyhow to positions from 0, named by their numbers; negative ones are unknown.

    Examples
    --------
    >>> whole_labels(np.array([1, 3, -1, 1]))
    (array([ 0,  1, -1,  0]), ['1', '3'])
    """
    # from 2**53 on a float stands for several whole numbers
    bad = (values != np.floor(values)) | ~(np.abs(values) < 2**53)
    if bad.any():
        row = int(np.argmax(bad))
        where = place(row) if callable(place) else f"label {row + 1}"
        raise InputError(
            f"{where}: class {values[row]:g} is not a whole number below 2^53; number the classes from 1"
        )
    values = values.astype(np.int64)
    classes = np.unique(values[values >= 0])
    labels = np.where(values >= 0, np.searchsorted(classes, values), UNKNOWN)
    return labels, [str(c) for c in classes]


def _presence(pairs: np.ndarray, shape: tuple[int, int]) -> sp.csr_array:
    matrix = sp.csr_array((np.ones(len(pairs), dtype=np.float32), (pairs[:, 0], pairs[:, 1])), shape=shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix
