"""A fitted result as a tree of plain values and a table of arrays, and back: what a model is made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from coembed.errors import InputError
from coembed.fitted.cell_models import CellModel
from coembed.fitted.conformal import ClassDoubt, ClassScale
from coembed.fitted.fitted import Fitted
from coembed.fitted.layers import Layer, LinearLayers, LinearModel, RowLayers, ViewsLayers
from coembed.fitted.packed_texts import pack_texts, unpack_texts
from coembed.fitted.pair_doubt import PairDoubt
from coembed.fitted.placing import Placing
from coembed.fitted.score_blend import Blend
from coembed.fitted.space import ItemVectors, RelationFit, TypeSpace
from coembed.fitted.trees import Trees
from coembed.fitted.way_models import WayModel
from coembed.network.items import Items, Labels
from coembed.network.names import Names
from coembed.network.network import Network
from coembed.network.relations import Column, Relation
from coembed.records import fits, pack, plain, unpack
from coembed.settings import current_names
from coembed.views import Lens, Neighbours, Reading, TypeLens
from coembed.views.basis import PositionBasis, WordBasis
from coembed.views.cells import CellLayout
from coembed.views.lens import Step

LISTED_NAMES = 100_000
"""Names of a type up to which they are decoded at once; more are when looked at."""
CLASSES = (
    TypeSpace,
    RelationFit,
    Blend,
    ItemVectors,
    CellModel,
    ClassDoubt,
    ClassScale,
    PairDoubt,
    WayModel,
    Trees,
    Placing,
    Layer,
    ViewsLayers,
    LinearLayers,
    LinearModel,
    RowLayers,
    Lens,
    TypeLens,
    Step,
    Reading,
    Neighbours,
    WordBasis,
    PositionBasis,
    CellLayout,
    Column,
    Relation,
)

_PARTS: dict[str, Any] = {
    "labels": dict[str, np.ndarray],
    "network": tuple[Relation, ...],
    "types": dict[str, TypeSpace],
    "relations": dict[str, RelationFit],
    "placing": Placing | None,
}


def to_record(fitted: Fitted) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Plain values, and arrays that these name by their keys."""
    network = fitted.network
    texts: dict[str, np.ndarray] = {}

    def keep(names: Any) -> str | None:
        if names is None:
            return None
        key = f"n{len(texts) // 2}"
        texts[f"{key}.bytes"], texts[f"{key}.offsets"] = pack_texts(names)
        return key

    types = [
        {
            "name": name,
            "ids": keep(items.ids),
            "titles": keep(items.titles),
            "classes": None if items.labels is None else keep(items.labels.classes),
            "column": None if items.labels is None else items.labels.column,
            "id_column": items.id_column,
        }
        for name, items in network.types.items()
    ]
    labels = {name: items.labels.values for name, items in network.types.items() if items.labels is not None}
    tree, arrays = pack(
        {
            "labels": labels,
            "network": list(network.relations.values()),
            "types": fitted.types,
            "relations": fitted.relations,
            "placing": fitted.placing,
        }
    )
    record = {
        "name": network.name,
        "notices": list(network.notices),
        "preset": fitted.preset,
        "origin": fitted.origin,
        "settings": plain(fitted.settings),
        "types": types,
        "history": plain(fitted.history),
        "rest": tree,
    }
    return record, arrays | {name: np.ascontiguousarray(array) for name, array in texts.items()}


def to_fitted(record: dict[str, Any], arrays: dict[str, np.ndarray]) -> Fitted:
    """The result that they are of; refused if its parts do not fit together."""
    rest = unpack(record["rest"], arrays, CLASSES)
    for part, hint in _PARTS.items():
        if not fits(rest[part], hint):
            raise InputError(f"its part {part!r} is not that of a model")
    types = []
    for said in record["types"]:
        name = str(said["name"])
        labels = None
        if said["classes"] is not None:
            values, classes = rest["labels"][name], _texts(arrays, said["classes"], listed=True)
            _check_labels(values, len(classes))
            labels = Labels(classes, values, str(said["column"]))
        titles = None if said["titles"] is None else _texts(arrays, said["titles"])
        id_column = said.get("id_column")  # which models of 0.1 and 0.2.0 do not have
        id_column = None if id_column is None else str(id_column)
        types.append(Items(name, _texts(arrays, said["ids"]), titles, labels, id_column))
    for relation in rest["network"]:
        if relation.values.dtype != np.float32:
            raise InputError(f"its {relation.name} are not float32")
    network = Network.of(types, rest["network"], str(record["name"]), [str(n) for n in record["notices"]])
    for name, items in network.types.items():
        observed = None if items.labels is None else items.labels.values
        for what, given in (("labels", observed), ("titles", items.titles)):
            if given is not None and len(given) != len(items):
                raise InputError(f"its {what} do not fit its items of type {name}")
    return Fitted(
        network=network,
        settings=current_names(record["settings"]),
        history=dict(record["history"]),
        preset=str(record["preset"]),
        types=rest["types"],
        relations=rest["relations"],
        placing=rest["placing"],
        origin=dict(record["origin"]),
    )


def _check_labels(values: np.ndarray, n_classes: int) -> None:
    several = values.ndim == 2
    if values.dtype != (np.int8 if several else np.int64) or values.ndim not in (1, 2):
        raise InputError("its labels are not whole numbers")
    most = 1 if several else n_classes - 1
    fits = not several or values.shape[1] == n_classes
    if not fits or (values.size and not (values.min() >= -1 and values.max() <= most)):
        raise InputError("its labels do not fit its classes")


def _texts(arrays: dict[str, np.ndarray], key: str, listed: bool = False) -> Any:
    octets, offsets = arrays[f"{key}.bytes"], arrays[f"{key}.offsets"]
    if listed or len(offsets) <= LISTED_NAMES:
        return unpack_texts(octets, offsets)
    return Names(octets, offsets)
