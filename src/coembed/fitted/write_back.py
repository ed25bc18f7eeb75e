"""What a model has found, written into the objects that its network came from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from coembed.errors import InputError
from coembed.fitted.class_answers import class_texts
from coembed.fitted.frame_export import spreads
from coembed.network.adapters.frames import roots

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted

KEY = "coembed"


def write_to(fitted: Fitted, thing: Any) -> Any:
    """See :meth:`Fitted.write_to`."""
    packages = roots(thing)
    if "anndata" in packages:
        return _to_anndata(fitted, thing)
    if "networkx" in packages:
        found = _of(fitted, fitted.main, thing.nodes)
        for name, values in found.items():
            for node, value in zip(thing.nodes, _plain(values), strict=True):
                thing.nodes[node][name] = value
        return thing
    if "igraph" in packages:
        named = "name" in thing.vs.attributes()
        for name, values in _of(
            fitted, fitted.main, thing.vs["name"] if named else range(thing.vcount())
        ).items():
            thing.vs[name] = _plain(values)
        return thing
    if "torch_geometric" in packages:
        return _to_geometric(fitted, thing)
    raise InputError(
        f"nothing is written to a {type(thing).__name__}; give AnnData, a graph of NetworkX or igraph, Data "
        "or HeteroData, or take to_frame()"
    )


def _of(fitted: Fitted, type: str, ids: Iterable[Any]) -> dict[str, np.ndarray]:
    """What is found of items by their ids, in their order: codes, spread, class and its probability."""
    items = fitted.network.items(type)
    rows = np.array([items.position(each) for each in ids], dtype=np.int64)
    found = {KEY: fitted.codes(type).mean[rows], f"{KEY}_spread": spreads(fitted, type)[rows]}
    classes = class_texts(fitted, type, rows)
    if classes is not None:
        found[f"{KEY}_class"] = np.array(classes, dtype=object)
        found[f"{KEY}_probability"] = fitted.predict_proba(type)[rows].max(axis=1).astype(np.float64)
    return found


def _plain(values: np.ndarray) -> list[Any]:
    return [each.tolist() for each in values] if values.ndim == 2 else values.tolist()


def _to_anndata(fitted: Fitted, adata: Any) -> Any:
    """Cells into `obsm` and `obs`, genes into `varm`: those that were attributes; others have no place."""
    for name, values in _of(fitted, fitted.main, adata.obs_names).items():
        if values.ndim == 2:
            adata.obsm[f"X_{name}"] = values
        else:
            adata.obs[name] = values
    type = fitted.network.attribute_type(fitted.main)
    if type is not None:
        items, codes = fitted.network.items(type), fitted.codes(type).mean
        rows = np.array([_gene(items, each) for each in adata.var_names], dtype=np.int64)
        adata.varm[f"X_{KEY}"] = np.where((rows >= 0)[:, None], codes[rows], np.nan).astype(codes.dtype)
    return adata


def _gene(items: Any, name: str) -> int:
    found = items.find(f"attributes={name}")
    found = items.find(name) if found is None else found
    return -1 if found is None else int(found)


def _to_geometric(fitted: Fitted, data: Any) -> Any:
    """Codes and probabilities as tensors of each type; classes by number, as `y` has them."""
    import torch

    types = (
        {str(each): data[each] for each in data.node_types}
        if hasattr(data, "node_types")
        else {fitted.main: data}
    )
    for type, store in types.items():
        given = getattr(store, "node_id", None)
        ids = range(store.num_nodes) if given is None else given
        items = fitted.network.items(type)
        rows = np.array([items.position(each) for each in ids], dtype=np.int64)
        store[KEY] = torch.as_tensor(fitted.codes(type).mean[rows])
        store[f"{KEY}_spread"] = torch.as_tensor(spreads(fitted, type)[rows])
        probabilities = fitted.probabilities_of(type)
        if probabilities is not None and probabilities.shape[1]:
            store[f"{KEY}_probability"] = torch.as_tensor(probabilities[rows])
            store[f"{KEY}_class"] = torch.as_tensor(probabilities[rows].argmax(axis=1))
    return data
