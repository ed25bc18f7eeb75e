"""Planetoid's files ``ind.NAME.allx``, ``.ally``, ``.tx``, ``.ty``, ``.graph``, ``.test.index``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network.network import UNKNOWN, Network
from coembed.network.readers.matlab import one_hot_labels
from coembed.network.readers.plain_pickle import read_pickle
from coembed.untrusted import check_count, check_unpacked, reading

_FILE = re.compile(r"ind\.(?P<name>.+)\.(x|y|tx|ty|allx|ally|graph|test\.index)")


def planetoid_name(path: Path) -> str | None:
    """NAME of a file called ``ind.NAME.graph`` and the like.

    Examples
    --------
    >>> planetoid_name(Path("data/ind.cora.test.index")), planetoid_name(Path("cora.npz"))
    ('cora', None)
    """
    match = _FILE.fullmatch(path.name)
    return match["name"] if match else None


def read_planetoid(folder: Path, name: str) -> Network:
    """Read one network of a folder.

    The rows of ``tx`` and ``ty`` belong to the nodes that ``test.index`` lists, in that order. A number that
    it leaves out (Citeseer has fifteen) is a node without attributes and label. ``x`` and ``y`` are the first
    rows of ``allx`` and ``ally`` and not needed.
    """

    def part(ending: str) -> Path:
        return folder / f"ind.{name}.{ending}"

    features = [_matrix(part(ending)) for ending in ("allx", "tx")]
    classes = [_matrix(part(ending)) for ending in ("ally", "ty")]
    places = [np.arange(features[0].shape[0]), _test_index(part("test.index"))]
    for ending, matrix, place in (("ally", classes[0], 0), ("tx", features[1], 1), ("ty", classes[1], 1)):
        rows, expected = matrix.shape[0], len(places[place])
        if rows != expected:
            raise InputError(f"{part(ending)}: {rows} rows for {expected} nodes; fetch the files again")
    for first, second, ending in ((*features, "tx"), (*classes, "ty")):
        if first.shape[1] != second.shape[1]:
            raise InputError(
                f"{part(ending)}: {second.shape[1]} columns, but {first.shape[1]} in its counterpart; "
                "fetch the files again"
            )
    if np.isin(places[1], places[0]).any():
        raise InputError(f"{part('test.index')} lists rows of allx; fetch the files again")

    source, target = _graph(part("graph"))
    n_nodes = 1 + int(max(array.max(initial=-1) for array in (*places, source, target)))
    if n_nodes > 1000 + 10 * (len(places[0]) + len(places[1])):  # no room is made for a stray number
        raise InputError(f"{part('graph')}: node {n_nodes - 1} is far beyond the rest; fetch it again")
    for matrix, ending in ((features[0], "allx"), (classes[0], "ally")):
        check_count(part(ending), "columns", matrix.shape[1], matrix.nnz)
    order = np.concatenate(places)
    labels = np.full(n_nodes, UNKNOWN)
    labels[order] = np.concatenate(
        [
            one_hot_labels(matrix, str(part(ending)))
            for matrix, ending in zip(classes, ("ally", "ty"), strict=True)
        ]
    )
    stacked = sp.coo_array(sp.vstack(features))
    attributes = sp.csr_array(
        (stacked.data, (order[stacked.row], stacked.col)), shape=(n_nodes, features[0].shape[1])
    )
    links = sp.csr_array((np.ones(len(source), dtype=np.float32), (source, target)), shape=(n_nodes, n_nodes))
    links.sum_duplicates()
    repeated = len(source) - links.nnz
    links.data[:] = 1
    said = [f"{repeated} repeated link(s) were counted once"] if repeated else []
    class_names = [f"class{k}" for k in range(classes[0].shape[1])]
    return Network.build(links, attributes, labels, class_names=class_names, name=name, notices=said)


def _matrix(path: Path) -> sp.csr_array:
    value = read_pickle(path)
    if not ((sp.issparse(value) or isinstance(value, np.ndarray)) and value.ndim == 2):
        raise InputError(f"{path} does not hold a matrix; fetch it again")
    return sp.csr_array(value)


def _test_index(path: Path) -> np.ndarray:
    if not path.exists():
        raise InputError(f"{path} does not exist; put it beside the others")
    with reading(path, "a list of nodes"):
        words = path.read_text(encoding="utf-8", errors="replace").split()
    for number, word in enumerate(words, start=1):
        if not (word.isascii() and word.isdecimal()) or len(word) > 12:
            raise InputError(f"{path}, line {number}: expected the number of a node, found {word[:40]!r}")
    index = np.array(words, dtype=np.int64)
    if len(np.unique(index)) != len(index):
        raise InputError(f"{path} lists a node twice; fetch it again")
    return index


def _graph(path: Path) -> tuple[np.ndarray, np.ndarray]:
    graph: Any = read_pickle(path)
    if not isinstance(graph, dict) or not all(isinstance(near, list) for near in graph.values()):
        raise InputError(f"{path} does not hold a dictionary of lists; fetch it again")
    degrees = np.fromiter(map(len, graph.values()), dtype=np.int64, count=len(graph))
    # a pickle may refer to one list many times: a few bytes then are many links
    check_unpacked(path, 8 * int(degrees.sum()))
    source = np.repeat(_whole_numbers(path, graph.keys()), degrees)
    target = _whole_numbers(path, chain.from_iterable(graph.values()))
    if min(source.min(initial=0), target.min(initial=0)) < 0:
        raise InputError(f"{path} lists a negative node; fetch it again")
    return source, target


def _whole_numbers(path: Path, listed: Iterable[Any]) -> np.ndarray:
    """As int64; fractions are not cut off, as NumPy would."""
    numbers = list(listed)
    if not all(type(number) is int for number in numbers):
        raise InputError(f"{path} lists nodes that are not whole numbers; fetch it again")
    try:
        return np.array(numbers, dtype=np.int64)
    except OverflowError:
        raise InputError(f"{path} lists a node beyond all numbers; fetch it again") from None
