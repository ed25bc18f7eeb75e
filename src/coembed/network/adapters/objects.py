"""Any object of another library to a network, by what its classes are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network.adapters.frames import is_frame, roots
from coembed.network.network import Network
from coembed.network.readers.table_folder import from_tables
from coembed.network.readers.table_schema import Schema

TABLE = "items"
"""What a table without a name is called."""
KNOWN = (
    "a path, a data frame or several by name, a graph of NetworkX or igraph, Data or HeteroData of PyTorch "
    "Geometric, AnnData, a matrix, or a Network"
)


def adapt(
    thing: Any,
    labels: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    schema: Schema | str | PathLike | None = None,
) -> Network:
    """The network that an object of another library is."""
    if isinstance(thing, Network):
        return thing
    if isinstance(thing, Mapping):
        tables = {str(name): each for name, each in thing.items()}
        if not tables or not all(is_frame(each) or isinstance(each, Mapping) for each in tables.values()):
            tables = {TABLE: thing}  # columns by name
        return from_tables(tables, labels, kinds, schema)  # type: ignore[arg-type]
    if is_frame(thing) and "anndata" not in roots(thing):
        return from_tables({TABLE: thing}, labels, kinds, schema)  # type: ignore[arg-type]
    if schema is not None:
        raise InputError("a schema says what tables are; leave it out for other things than tables")
    if isinstance(thing, np.ndarray) or sp.issparse(thing):
        from coembed.network.adapters.arrays import from_array

        if labels or kinds:
            raise InputError("an array has no names of columns; give a data frame, or Network.build(...)")
        return from_array(thing)
    packages = roots(thing)
    if "networkx" in packages:
        from coembed.network.adapters.graph_objects import from_networkx

        return from_networkx(thing, labels, kinds)
    if "igraph" in packages:
        from coembed.network.adapters.graph_objects import from_igraph

        return from_igraph(thing, labels, kinds)
    if "torch_geometric" in packages:
        from coembed.network.adapters.geometric import from_geometric

        if labels or kinds:
            raise InputError("classes of Data and HeteroData are their y; leave labels and kinds out")
        return from_geometric(thing)
    if "anndata" in packages:
        from coembed.network.adapters.annotated_data import from_anndata

        return from_anndata(thing, labels, kinds)
    raise InputError(f"a {type(thing).__module__}.{type(thing).__name__} is no network; give {KNOWN}")
