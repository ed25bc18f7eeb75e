"""AnnData, and .h5ad files: cells with genes as attributes, columns of `obs`, and a graph of cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError, no_such, one_line
from coembed.network.adapters.assembling import Links, TypeParts, assemble, named_once
from coembed.network.network import LINKS, NODE, Network

GRAPHS = ("connectivities", "spatial_connectivities")
"""Graphs of `obsp` that are taken if none is named."""


def from_anndata(
    adata: Any,
    labels: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    *,
    layer: str | None = None,
    graph: str | None = None,
    neighbours: int = 0,
) -> Network:
    """The network of an AnnData object.

    Parameters
    ----------
    labels
        The column of `obs` that holds classes, of which empty ones are unknown; the others are columns.
    layer
        Where the values of genes are: a layer, ``raw``, or by default `X`.
    graph
        The matrix of `obsp` that joins cells; by default ``connectivities``, if it is there.
    neighbours
        If there is no graph, join each cell to so many that are nearest by ``X_pca``, or by their genes.
    """
    source = adata.raw if layer == "raw" else adata
    if source is None:
        raise InputError("this AnnData has no raw; leave the layer out, or name one")
    if layer in (None, "raw"):
        values = source.X
    elif layer in adata.layers:
        values = adata.layers[layer]
    else:
        raise no_such("layer", layer, adata.layers.keys())
    matrix, said = _links(adata, values, graph, neighbours)
    columns = {str(name): adata.obs[name] for name in adata.obs.columns}
    parts = TypeParts(
        NODE,
        named_once(list(adata.obs_names), "cells"),
        {name: _plain(column) for name, column in columns.items()},
        None if values is None else sp.csr_array(values),
        named_once(list(source.var_names), "genes") if values is not None else None,
    )
    links = [] if matrix is None else [Links(LINKS, NODE, NODE, matrix)]
    return assemble([parts], links, "anndata", labels, kinds, said)


def read_h5ad(path: Path, labels: Sequence[str] = (), kinds: Mapping[str, str] | None = None) -> Network:
    """A file of AnnData."""
    try:
        import anndata
    except ModuleNotFoundError:
        raise InputError(f"{path} is a file of AnnData; install it: pip install anndata") from None
    try:
        adata = anndata.read_h5ad(path)
    except Exception as error:  # whatever HDF5 meets in a broken file
        raise InputError(
            f"{path} is not a whole .h5ad file ({one_line(error, 120)}); write it again"
        ) from None
    return from_anndata(adata, labels, kinds)


def _links(
    adata: Any, values: Any, graph: str | None, neighbours: int
) -> tuple[sp.csr_array | None, list[str]]:
    if graph is not None and graph not in adata.obsp:
        raise no_such("graph of obsp", graph, adata.obsp.keys())
    graph = graph or next((each for each in GRAPHS if each in adata.obsp), None)
    if graph is not None:
        matrix = sp.csr_array(adata.obsp[graph])
        return sp.csr_array(matrix.maximum(matrix.T)), [f"links are {graph} of obsp"]
    if neighbours < 1:
        return None, ["there is no graph of cells in obsp; neighbours=15 makes one"]
    from sklearn.neighbors import kneighbors_graph

    near = adata.obsm["X_pca"] if "X_pca" in adata.obsm else np.log1p(values)
    found = sp.csr_array(kneighbors_graph(near, neighbours))
    by = "X_pca" if "X_pca" in adata.obsm else "their genes"
    return sp.csr_array(found.maximum(found.T)), [f"each cell was joined to the {neighbours} nearest by {by}"]


def _plain(column: Any) -> Any:
    """A column of pandas as pyarrow reads it: categories as their texts."""
    import pyarrow as pa

    array = pa.array(column)
    return array.cast(array.type.value_type) if pa.types.is_dictionary(array.type) else array
