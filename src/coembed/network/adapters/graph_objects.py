"""Graphs of NetworkX and igraph, and files that NetworkX reads: nodes with columns, one relation of links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from coembed.errors import InputError, one_line
from coembed.network.adapters.assembling import Links, TypeParts, assemble, column_of, named_once
from coembed.network.network import LINKS, NODE, Network

WEIGHTS = ("weight", "value", "strength", "count")
GRAPH_FILES = {".graphml": "read_graphml", ".gexf": "read_gexf", ".gml": "read_gml"}


def from_networkx(
    graph: Any,
    labels: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    *,
    weight: str | None = None,
    split: str | None = None,
) -> Network:
    """The network of a NetworkX graph, directed or not, with parallel links or without.

    Node attributes are columns, whose kinds are found. Of the attributes of links `weight` (by default one
    called so) has their values, and `split` makes a relation of each of its values; others are said and not
    used.

    Examples
    --------
    >>> import networkx
    >>> network = from_networkx(networkx.karate_club_graph(), labels=["club"])
    >>> len(network.main), network.relation("links").n_entries, network.main.labels.classes.tolist()
    (34, 78, ['Mr. Hi', 'Officer'])
    """
    nodes = list(graph.nodes)
    places = {node: i for i, node in enumerate(nodes)}
    edges = list(graph.edges(data=True))
    ends = np.array([[places[u], places[v]] for u, v, _ in edges], dtype=np.int64).reshape(-1, 2)
    return _network(
        named_once(nodes, "nodes"),
        _columns([graph.nodes[node] for node in nodes]),
        ends,
        _columns([data for _, _, data in edges]),
        bool(graph.is_directed()),
        str(graph.graph.get("name") or "network"),
        (labels, kinds, weight, split),
    )


def from_igraph(
    graph: Any,
    labels: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    *,
    weight: str | None = None,
    split: str | None = None,
) -> Network:
    """The same of an igraph graph; the vertex attribute ``name``, if it tells them apart, has the ids."""
    columns = {name: graph.vs[name] for name in graph.vs.attributes()}
    ids: Sequence[Any] = range(graph.vcount())
    named = columns.get("name")
    if named is not None and len({str(each) for each in named}) == len(named):
        ids = columns.pop("name")
    ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    linked = {name: column_of(graph.es[name]) for name in graph.es.attributes()}
    name = str(graph["name"]) if "name" in graph.attributes() else "network"
    cells = {key: column_of(values) for key, values in columns.items()}
    asked = (labels, kinds, weight, split)
    return _network(named_once(ids, "vertices"), cells, ends, linked, bool(graph.is_directed()), name, asked)


def read_graph_file(
    path: Path, labels: Sequence[str] = (), kinds: Mapping[str, str] | None = None
) -> Network:
    """A GraphML, GEXF or GML file, read by NetworkX."""
    import networkx

    try:
        graph = getattr(networkx, GRAPH_FILES[path.suffix.lower()])(path)
    except Exception as error:  # whatever its parsers meet in a broken file
        ending = path.suffix.lower().lstrip(".")
        raise InputError(
            f"{path} is not a whole {ending} file ({one_line(error, 120)}); write it again"
        ) from None
    if not len(graph):
        raise InputError(f"{path} has no nodes; give at least one")
    graph.graph["name"] = path.name.split(".")[0]
    return from_networkx(graph, labels, kinds)


def _network(
    ids: list[str],
    columns: Mapping[str, pa.Array],
    ends: np.ndarray,
    linked: Mapping[str, pa.Array],
    directed: bool,
    name: str,
    asked: tuple[Sequence[str], Mapping[str, str] | None, str | None, str | None],
) -> Network:
    labels, kinds, weight, split = asked
    said: list[str] = []
    for given in (weight, split):
        if given is not None and given not in linked:
            raise InputError(f"links have no attribute {given!r}; they have {', '.join(linked) or 'none'}")
    weight = weight or next((each for each in WEIGHTS if each in linked and _numbers(linked[each])), None)
    unused = [each for each in linked if each not in (weight, split)]
    if unused:
        said.append(
            f"attributes of links not used: {', '.join(unused)}; split=NAME makes a relation of each value"
        )
    values = np.ones(len(ends)) if weight is None else linked[weight].to_numpy(zero_copy_only=False)
    if not np.isfinite(np.asarray(values, dtype=np.float64)).all():
        said.append(f"links without a {weight} count 1")
        values = np.where(np.isfinite(np.asarray(values, dtype=np.float64)), values, 1.0)
    groups = {LINKS: np.ones(len(ends), dtype=bool)}
    if split is not None:
        kind = np.array([str(each) for each in linked[split].to_pylist()], dtype=object)
        groups = {f"{LINKS}.{each}": kind == each for each in dict.fromkeys(kind)}
    links = [
        Links(each, NODE, NODE, _matrix(ends[rows], values[rows], len(ids), directed, said, weight), directed)
        for each, rows in groups.items()
    ]
    own = TypeParts(NODE, ids, columns)
    return assemble([own], links, name, labels, kinds, said)


def _matrix(
    ends: np.ndarray, values: np.ndarray, count: int, directed: bool, said: list[str], weight: str | None
) -> sp.csr_array:
    if not directed:
        ends = np.sort(ends, axis=1)
    matrix = sp.csr_array((values.astype(np.float32), (ends[:, 0], ends[:, 1])), shape=(count, count))
    matrix.sum_duplicates()
    if matrix.nnz < len(ends):
        done = "counted once" if weight is None else "added up"
        said.append(f"{len(ends) - matrix.nnz} parallel link(s) were {done}")
        matrix.data[:] = 1 if weight is None else matrix.data
    return matrix if directed else sp.csr_array(matrix + sp.triu(matrix, 1).T)


def _columns(records: Sequence[Mapping[Any, Any]]) -> dict[str, pa.Array]:
    """Records as columns, in the order in which their names first occur; what a record lacks is empty."""
    names = dict.fromkeys(key for record in records for key in record)
    return {str(name): column_of([record.get(name) for record in records]) for name in names}


def _numbers(column: pa.Array) -> bool:
    return pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
