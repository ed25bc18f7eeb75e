"""Models as version 0.1 wrote them: arrays by names that stand for their place; read, never written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.fitted.fitted import Fitted
from coembed.fitted.layers import Layer, Layers, RowLayers, ViewsLayers
from coembed.fitted.packed_texts import unpack_texts
from coembed.fitted.placing import Placing
from coembed.fitted.score_blend import Blend
from coembed.fitted.space import ItemVectors, RelationFit, TypeSpace
from coembed.network.names import NameArray, Names
from coembed.network.network import ATTRIBUTE, ATTRIBUTES, LINKS, NODE, Network
from coembed.settings import current_names
from coembed.untrusted import checked_csr
from coembed.views import Lens, Neighbours, Reading
from coembed.views.basis import PositionBasis, WordBasis
from coembed.views.lens import Step, bare_lens
from coembed.views.reach import reading

LISTED_NAMES = 100_000
"""Names of a kind up to which they are decoded at once; more are when looked at."""


def fitted_of_format1(record: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Fitted:
    """A model of version 0.1 from its record and its arrays."""
    network = _network(record, arrays)
    own = {
        name: _numbers(arrays, name) for name in ("node_mean", "node_std", "attribute_mean", "attribute_std")
    }
    weights, biases, scores = (_group(arrays, name) for name in ("weights", "biases", "companions"))
    return plain_fitted(
        network,
        current_names(record["settings"]),
        dict(record["history"]),
        str(record["preset"]),
        probabilities=_numbers(arrays, "probabilities"),
        label_shift=_numbers(arrays, "label_shift"),
        units={key: float(value) for key, value in record["units"].items()},
        weights=weights,
        biases=biases,
        companions=scores,
        **own,
    )


def plain_fitted(
    network: Network,
    settings: dict[str, Any],
    history: dict[str, Any],
    preset: str,
    node_mean: np.ndarray,
    node_std: np.ndarray,
    probabilities: np.ndarray,
    label_shift: np.ndarray,
    attribute_mean: np.ndarray,
    attribute_std: np.ndarray,
    units: Mapping[str, float] | None = None,
    biases: Mapping[str, np.ndarray] | None = None,
    companions: Mapping[str, np.ndarray] | None = None,
    weights: Mapping[str, np.ndarray] | None = None,
) -> Fitted:
    """The result of a plain network, from the arrays that version 0.1 kept by name."""
    known = bool(network.n_classes)
    types = {
        NODE: TypeSpace(
            node_mean,
            node_std,
            probabilities if known else None,
            label_shift if known else None,
            node_mean.shape[1],
        ),
        ATTRIBUTE: TypeSpace(attribute_mean, attribute_std),
    }
    units, biases, companions, weights = units or {}, biases or {}, companions or {}, weights or {}
    likelihoods = {name: str(settings.get(name, "bernoulli")) for name in (LINKS, ATTRIBUTES)}
    readings = {name: reading(network.relation(name), likelihood) for name, likelihood in likelihoods.items()}
    relations = {
        name: RelationFit(
            readings[name].likelihood,
            float(units.get(name, 1.0)),
            biases.get(f"{name}.source"),
            biases.get(f"{name}.target"),
            weights.get(f"bias.{name}.source"),
            weights.get(f"bias.{name}.target"),
            blends=_blends(companions, name),
            vectors=_vectors(companions, name),
        )
        for name in (LINKS, ATTRIBUTES)
    }
    placing = _placing(network, settings, readings, weights) if "node.1" in weights else None
    return Fitted(network, settings, history, preset, types, relations, placing)


def _blends(arrays: Mapping[str, np.ndarray], relation: str) -> dict[str, Blend]:
    found = {}
    for name in ("likely", "lift"):
        if f"{relation}.{name}.mean" in arrays:
            found[name] = Blend(*(arrays[f"{relation}.{name}.{each}"] for each in Blend._fields))
    return found


def _vectors(arrays: Mapping[str, np.ndarray], relation: str) -> ItemVectors | None:
    if f"{relation}.vectors" not in arrays:
        return None
    return ItemVectors(arrays[f"{relation}.vectors"], arrays[f"{relation}.strength"])


def _placing(
    network: Network,
    settings: Mapping[str, Any],
    readings: dict[str, Reading],
    weights: Mapping[str, np.ndarray],
) -> Placing:
    layers: dict[str, Layers] = {}
    if "alike.rows" not in weights:
        layers[NODE] = _node_rows(weights)
        if "attribute.1" in weights:
            layers[ATTRIBUTE] = RowLayers(
                {"owners": weights["attribute.0"]},
                weights["attribute.1"],
                weights["attribute.bias.0"],
                weights["attribute.bias.1"],
            )
        return Placing(readings, layers)
    for kind in (NODE, ATTRIBUTE):
        if f"{kind}.1" in weights:
            layers[kind] = _views_layers(kind, weights)
    lens = _lens(network, readings, int(settings["neighbours"]), weights)
    alike = Neighbours(weights["alike.rows"], weights["alike.cosines"])
    return Placing(readings, layers, lens, {NODE: alike})


def _node_rows(weights: Mapping[str, np.ndarray]) -> RowLayers:
    names = {"links": "links", "words": "attributes"}
    labelled = _labelled(weights)
    return RowLayers(
        {name: weights[f"node.{old}.0"] for name, old in names.items()},
        weights["node.1"],
        label_first={name: weights[f"label.{old}.0"] for name, old in names.items()} if labelled else None,
        label_bias=weights.get("label.bias.0"),
        label=Layer(weights["label.1"], weights["label.bias.1"]) if labelled else None,
    )


def _labelled(weights: Mapping[str, np.ndarray]) -> bool:
    return "label.1" in weights and weights["label.1"].shape[1] > 0


def _views_layers(kind: str, weights: Mapping[str, np.ndarray]) -> ViewsLayers:
    def branches(of: str, names: list[str]) -> dict[str, Layer]:
        return {name: Layer(weights[f"{of}.{name}.0"], weights[f"{of}.{name}.bias"]) for name in names}

    first = [
        name[len(kind) + 1 : -2] for name in weights if name.startswith(f"{kind}.") and name.endswith(".0")
    ]
    ordered = [name for name in _ORDER[kind] if name in first]
    labelled = kind == NODE and _labelled(weights)
    return ViewsLayers(
        branches(kind, ordered),
        Layer(weights[f"{kind}.1"], weights[f"{kind}.bias.1"]),
        weights[f"{kind}.evidence"],
        weights[f"{kind}.center"],
        branches("label", ordered) if labelled else {},
        Layer(weights["label.1"], weights["label.bias.1"]) if labelled else None,
    )


_ORDER = {
    NODE: ("words", "own", "linked", "linked2", "linked3", "alike", "alike_linked", "position", "evidence"),
    ATTRIBUTE: ("owners", "owners_own", "owners_linked"),
}


def _lens(
    network: Network, readings: dict[str, Reading], neighbours: int, weights: Mapping[str, np.ndarray]
) -> Lens:
    from dataclasses import replace

    bare = bare_lens(network, NODE)
    words = WordBasis(weights["basis.rarity"], weights["basis.attributes"])
    steps: tuple[Step, ...] = ()
    if words.vectors.shape[1]:
        steps = (
            Step("linked", "links", "own", NODE),
            Step("linked2", "links", "linked", NODE),
            Step("linked3", "links", "linked2", NODE),
            Step("alike", "alike", "own", NODE, about="items alike"),
            Step("alike_linked", "alike", "linked", NODE, about="items alike"),
        )
    position = PositionBasis(weights["basis.links"], weights["basis.degrees"])
    return Lens(readings, neighbours, {NODE: replace(bare, words=words, position=position, steps=steps)})


def _network(record: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Network:
    names = {name: _texts(arrays, name) for name in ("node_names", "attribute_names", "class_names")}
    nodes, attributes, classes = (len(each) for each in names.values())
    labels = arrays["network.labels"]
    if (
        labels.shape != (nodes,)
        or labels.dtype != np.int64
        or (len(labels) and not labels.min() >= -1)
        or (len(labels) and labels.max() >= classes)
    ):
        raise InputError("its labels do not fit its nodes and classes")
    return Network.plain(
        links=_matrix(arrays, "links", (nodes, nodes)),
        attributes=_matrix(arrays, "attributes", (nodes, attributes)),
        labels=labels,
        name=str(record["network"]["name"]),
        notices=tuple(str(notice) for notice in record["network"].get("notices", [])),
        **names,
    )


def _texts(arrays: Mapping[str, np.ndarray], name: str) -> NameArray:
    octets, offsets = arrays[f"network.{name}.bytes"], arrays[f"network.{name}.offsets"]
    if name == "class_names" or len(offsets) <= LISTED_NAMES:
        return unpack_texts(octets, offsets)
    return Names(octets, offsets)


def _group(arrays: Mapping[str, np.ndarray], group: str) -> dict[str, np.ndarray]:
    start = f"{group}."
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


def _matrix(arrays: Mapping[str, np.ndarray], name: str, shape: tuple[int, int]) -> sp.csr_array:
    data, indices, indptr = (arrays[f"network.{name}.{piece}"] for piece in ("data", "indices", "indptr"))
    matrix = checked_csr(data, indices, indptr, shape)
    if data.dtype != np.float32:
        raise InputError(f"its {name} are not float32")
    return matrix


def _numbers(arrays: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    array = arrays[name]
    if array.dtype.kind != "f" or array.ndim != 2:
        raise InputError(f"{name} is not a matrix of floats")
    return array
