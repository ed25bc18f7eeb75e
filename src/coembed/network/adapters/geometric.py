"""`Data` and `HeteroData` of PyTorch Geometric: `x` as attributes, `y` as classes where a mask shows them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network.adapters.assembling import Links, TypeParts, assemble
from coembed.network.items import UNKNOWN, Labels
from coembed.network.network import LINKS, NODE, Network

MASK = "train_mask"


def from_geometric(data: Any, *, mask: str | None = MASK, name: str = "network") -> Network:
    """The network of `Data` or `HeteroData`.

    Nodes are called by their numbers (``0``, ``1``, ...), or as a list ``node_id`` has them; ``x`` is a
    matrix of attributes; ``y`` has the classes, of which those that `mask` covers are taken (all, if there is
    no such mask, or with ``mask=None``; negative ones are unknown); ``edge_weight``, or ``edge_attr`` of one
    column, has the values of links, which have no direction if every one is there both ways.
    """
    if hasattr(data, "node_types"):
        types = [_type(data[each], str(each), mask) for each in data.node_types]
        sizes = {each.name: len(each.ids) for each in types}
        names = [str(relation) for _, relation, _ in data.edge_types]
        links = []
        for source, relation, target in data.edge_types:
            called = str(relation) if names.count(str(relation)) == 1 else f"{source}.{relation}.{target}"
            links.append(_links(data[source, relation, target], called, str(source), str(target), sizes))
        return assemble(types, links, name)
    own = _type(data, NODE, mask)
    given = getattr(data, "edge_index", None)
    links = [] if given is None else [_links(data, LINKS, NODE, NODE, {NODE: len(own.ids)})]
    return assemble([own], links, name)


def _type(store: Any, name: str, mask: str | None) -> TypeParts:
    count = store.num_nodes
    if count is None:
        raise InputError(f"{name} has neither x nor num_nodes; say how many there are")
    ids = getattr(store, "node_id", None)
    ids = [str(each) for each in (range(count) if ids is None else ids)]
    x = getattr(store, "x", None)
    return TypeParts(
        name,
        ids,
        features=None if x is None else _matrix(x),
        feature_names=None if x is None else _names(store, name, x.shape[1]),
        labels=_labels(store, name, mask, int(count)),
    )


def _names(store: Any, name: str, width: int) -> list[str]:
    given = getattr(store, "feature_names", None)
    return (
        [f"{name}.x{i}" if name != NODE else f"x{i}" for i in range(width)] if given is None else list(given)
    )


def _matrix(x: Any) -> sp.csr_array:
    if x.layout.__str__() != "torch.strided":
        x = x.to_dense()
    return sp.csr_array(x.detach().cpu().numpy())


def _labels(store: Any, name: str, mask: str | None, count: int) -> Labels | None:
    y = getattr(store, "y", None)
    if y is None:
        return None
    values = y.detach().cpu().numpy()
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim == 2:
        seen = np.where(np.isnan(values.astype(np.float64)), UNKNOWN, values).astype(np.int64)
    elif values.shape == (count,):
        if values.dtype.kind == "f" and np.any(values[np.isfinite(values)] % 1):
            raise InputError(f"y of {name} holds numbers that are no classes; give whole numbers")
        seen = np.where(np.isfinite(values), values, UNKNOWN).astype(np.int64)
    else:
        raise InputError(f"y of {name} has shape {values.shape}; give one class a node")
    shown = None if mask is None else getattr(store, mask, None)
    width = values.shape[1] if values.ndim == 2 else int(seen.max(initial=-1)) + 1
    classes = getattr(store, "class_names", None)
    classes = [str(k) for k in range(width)] if classes is None else [str(each) for each in classes]
    if shown is not None:
        shown = shown.detach().cpu().numpy().astype(bool)
        shown = shown.any(axis=1) if shown.ndim == 2 else shown
        seen = np.where(shown[:, None] if seen.ndim == 2 else shown, seen, UNKNOWN)
    if seen.ndim == 2:
        return Labels.of_several(seen, classes)
    return Labels.build(np.where(seen < 0, UNKNOWN, seen), classes)


def _links(store: Any, name: str, source: str, target: str, sizes: dict[str, int]) -> Links:
    index = getattr(store, "edge_index", None)
    if index is None:
        raise InputError(f"relation {name} has no edge_index; give one")
    rows, columns = index.detach().cpu().numpy()
    values = getattr(store, "edge_weight", None)
    if values is None:
        given = getattr(store, "edge_attr", None)
        values = given if given is not None and (given.ndim == 1 or given.shape[1] == 1) else None
    data = np.ones(len(rows)) if values is None else values.detach().cpu().numpy().reshape(-1)
    shape = sizes[source], sizes[target]
    matrix = sp.csr_array((data.astype(np.float32), (rows, columns)), shape=shape)
    matrix.sum_duplicates()
    if values is None:
        matrix.data[:] = 1
    directed = source == target and bool((matrix != matrix.T).nnz)
    return Links(name, source, target, matrix, directed)
