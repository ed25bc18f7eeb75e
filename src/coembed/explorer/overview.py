"""The model as a whole: classes and colours, the map, the training, the quality, the data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from coembed.explorer.asking import Explorer
from coembed.fitted.matches import ItemKind
from coembed.maps.palette import class_mark
from coembed.network.description import summary
from coembed.network.network import UNKNOWN
from coembed.progress import LOSS_PARTS
from coembed.version import __version__


def health(explorer: Explorer) -> dict[str, Any]:
    network = explorer.network
    return {
        "status": "ok",
        "version": __version__,
        "model": network.name,
        "nodes": network.n_nodes,
        "attributes": network.n_attributes,
        "classes": network.n_classes,
    }


def model(explorer: Explorer) -> dict[str, Any]:
    """What the page must know before it draws."""
    network, fitted = explorer.network, explorer.fitted
    sizes = np.bincount(explorer.classes[explorer.classes != UNKNOWN], minlength=network.n_classes)
    known = np.bincount(network.labels[explorer.observed], minlength=network.n_classes)
    return {
        **health(explorer),
        "preset": fitted.preset,
        "dim": fitted.dim,
        "code_dim": fitted.code_dim,
        "method": explorer.layout.method,
        "links": network.n_links,
        "labelled": int(explorer.observed.sum()),
        "can_embed": explorer.can_embed,
        "judged": explorer.quality is not None,
        "scores": {
            relation: "value" if fitted.gaussian(relation) else "probability"  # type: ignore[arg-type]
            for relation in ("links", "attributes")
        },
        "class_list": [
            {
                "label": str(name),
                "colour": class_mark(k)[0],
                "mark": class_mark(k)[1],
                "nodes": int(sizes[k]),
                "observed": int(known[k]),
            }
            for k, name in enumerate(network.class_names)
        ],
        "examples": _examples(explorer),
    }


def map_columns(explorer: Explorer) -> dict[str, Any]:
    """Places, classes and names of everything, column by column."""
    network, layout = explorer.network, explorer.layout
    return {
        "method": layout.method,
        "class_names": [str(name) for name in network.class_names],
        "nodes": {
            "id": explorer.names("node").tolist(),
            "x": _rounded(layout.nodes[:, 0], 3),
            "y": _rounded(layout.nodes[:, 1], 3),
            "label": explorer.classes.tolist(),
            "observed": explorer.observed.astype(int).tolist(),
            "probability": _rounded(_probability(explorer), 3),
            "degree": explorer.degrees.tolist(),
        },
        "attributes": {
            "id": explorer.names("attribute").tolist(),
            "x": _rounded(layout.attributes[:, 0], 3),
            "y": _rounded(layout.attributes[:, 1], 3),
            "owners": explorer.owners.tolist(),
        },
    }


def map_arrow(explorer: Explorer) -> bytes:
    """The same as a stream of Arrow: a row an item, nodes first."""
    import pyarrow as pa

    network, layout = explorer.network, explorer.layout
    nodes, attributes = network.n_nodes, network.n_attributes
    labels = [explorer.label(i) for i in range(nodes)] if network.n_classes else [None] * nodes
    names = np.concatenate([explorer.names("node"), explorer.names("attribute")])
    table = pa.table(
        {
            "kind": pa.array(["node"] * nodes + ["attribute"] * attributes).dictionary_encode(),
            "id": pa.array([str(name).encode("utf-8", "replace").decode() for name in names], pa.string()),
            "x": pa.array(np.concatenate([layout.nodes[:, 0], layout.attributes[:, 0]])),
            "y": pa.array(np.concatenate([layout.nodes[:, 1], layout.attributes[:, 1]])),
            "label": pa.array([*labels, *[None] * attributes], pa.string()).dictionary_encode(),
            "observed": pa.array([*explorer.observed.tolist(), *[None] * attributes], pa.bool_()),
            "probability": pa.array([*_probability(explorer).tolist(), *[None] * attributes], pa.float32()),
            "weight": pa.array(np.concatenate([explorer.degrees, explorer.owners]).astype(np.int64)),
        }
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def search(explorer: Explorer, query: str, limit: int, offset: int) -> dict[str, Any]:
    """Nodes and attributes whose names fit what was typed."""
    nodes = explorer.network.n_nodes
    items = []
    for hit in explorer.index.find(query, limit, offset):
        is_node = hit.position < nodes
        position = hit.position if is_node else hit.position - nodes
        kind: ItemKind = "node" if is_node else "attribute"
        items.append(
            {
                "id": str(explorer.names(kind)[position]),
                "kind": kind,
                "label": explorer.label(position) if is_node else None,
                "weight": int((explorer.degrees if is_node else explorer.owners)[position]),
                "score": round(hit.score, 3),
            }
        )
    return {"query": query, "offset": offset, "items": items}


def items(explorer: Explorer, kind: ItemKind, label: str | None, offset: int, limit: int) -> dict[str, Any]:
    """A page of all items of a kind, or of the nodes of a class, in the order of the network."""
    network = explorer.network
    chosen = np.arange(len(explorer.names(kind)))
    if label is not None:
        at = np.flatnonzero(network.class_names == label)
        chosen = np.flatnonzero(explorer.classes == at[0]) if len(at) and kind == "node" else chosen[:0]
    page = chosen[offset : offset + limit]
    if kind == "node":
        probability = _probability(explorer)
        listed = [
            {
                "id": str(explorer.names("node")[i]),
                "kind": kind,
                "label": explorer.label(int(i)),
                "observed": bool(explorer.observed[i]),
                "probability": float(probability[i]),
                "weight": int(explorer.degrees[i]),
            }
            for i in page
        ]
    else:
        listed = [
            {
                "id": str(explorer.names("attribute")[i]),
                "kind": kind,
                "label": None,
                "observed": None,
                "probability": None,
                "weight": int(explorer.owners[i]),
            }
            for i in page
        ]
    return {"total": len(chosen), "offset": offset, "items": listed}


def training(explorer: Explorer) -> dict[str, Any]:
    """The curves of the fit: loss and its parts, validation figures at the epochs they were taken."""
    history, fitted = explorer.fitted.history, explorer.fitted
    series = {name: values for name, values in history.items() if isinstance(values, list)}
    at = [int(epoch) for epoch in series.pop("validated_at", [])]
    notices = [str(notice) for notice in series.pop("notices", [])]
    curves = {name: [_finite(value) for value in values] for name, values in series.items()}
    return {
        "epochs": len(curves.get("loss", [])),
        "best_epoch": history.get("best_epoch"),
        "stopped": history.get("stopped"),
        "notices": notices,
        "loss": {name: curves[name] for name in ("loss", *LOSS_PARTS) if name in curves},
        "validation": {
            name.removeprefix("validation "): values
            for name, values in curves.items()
            if name.startswith("validation ") and len(values) == len(at)
        },
        "validated_at": at,
        "settings": {name: _plain(value) for name, value in fitted.settings.items()},
    }


def quality(explorer: Explorer) -> dict[str, Any]:
    """Figures, reliability and confusion on hidden labels; nothing without the truth."""
    judged = explorer.quality
    if judged is None:
        return {
            "judged": 0,
            "figures": {},
            "class_names": [],
            "confusion": [],
            "reliability": [],
            "mistakes": [],
        }
    names = [str(name) for name in explorer.network.class_names]
    node_names = explorer.names("node")
    return {
        "judged": len(judged.nodes),
        "figures": judged.figures,
        "class_names": names,
        "confusion": judged.confusion.tolist(),
        "reliability": [
            {"probability": float(p), "right": float(right), "nodes": int(count)}
            for p, right, count in judged.reliability
        ],
        "mistakes": [
            {
                "id": str(node_names[judged.nodes[i]]),
                "predicted": names[judged.predicted[i]],
                "true": names[judged.truth[i]],
                "probability": float(judged.probability[i]),
            }
            for i in judged.mistakes()
        ],
    }


def data(explorer: Explorer) -> dict[str, Any]:
    """Statistics of the network that was fitted."""
    network = explorer.network
    common = np.argsort(-explorer.owners, kind="stable")[:20]
    linked = np.argsort(-explorer.degrees, kind="stable")[:20]
    return {
        "summary": summary(network),
        "degrees": _histogram(explorer.degrees),
        "attributes_per_node": _histogram(np.diff(network.attributes.indptr)),
        "owners_per_attribute": _histogram(explorer.owners),
        "common_attributes": [
            {"id": str(explorer.names("attribute")[i]), "count": int(explorer.owners[i])} for i in common
        ],
        "linked_nodes": [
            {"id": str(explorer.names("node")[i]), "count": int(explorer.degrees[i])} for i in linked
        ],
    }


def _examples(explorer: Explorer, most: int = 6) -> list[dict[str, str]]:
    """Some items to begin with: the best linked node of the largest classes, the commonest attributes."""
    network = explorer.network
    nodes: list[int] = []
    if network.n_classes:
        sizes = np.bincount(explorer.classes, minlength=network.n_classes)
        sure = _probability(explorer) > 0.9  # a wrong guess would be a poor beginning
        for k in np.argsort(-sizes, kind="stable")[:most]:
            members = np.flatnonzero((explorer.classes == k) & sure)
            if len(members):
                nodes.append(int(members[explorer.degrees[members].argmax()]))
    else:
        nodes = [int(i) for i in np.argsort(-explorer.degrees, kind="stable")[:most]]
    attributes = np.argsort(-explorer.owners, kind="stable")[:most]
    return [
        *({"id": str(explorer.names("node")[i]), "kind": "node"} for i in nodes),
        *({"id": str(explorer.names("attribute")[i]), "kind": "attribute"} for i in attributes),
    ]


def _probability(explorer: Explorer) -> np.ndarray:
    """Probability of the class of every node: one where it is observed."""
    if not explorer.network.n_classes:
        return np.ones(explorer.network.n_nodes)
    own = np.take_along_axis(explorer.fitted.probabilities, explorer.classes[:, None], axis=1)[:, 0]
    return np.where(explorer.observed, 1.0, own)


def _histogram(counts: np.ndarray, most: int = 24) -> list[dict[str, int]]:
    """Counts in bins of equal width, each from (inclusive) and to (inclusive)."""
    if not len(counts):
        return []
    width = max(1, math.ceil((int(counts.max()) + 1) / most))
    sizes = np.bincount(counts // width)
    return [
        {"from": b * width, "to": (b + 1) * width - 1, "count": int(size)} for b, size in enumerate(sizes)
    ]


def _rounded(values: np.ndarray, digits: int) -> list[float]:
    return np.round(values.astype(np.float64), digits).tolist()


def _finite(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else None


def _plain(value: Any) -> Any:
    return value if isinstance(value, (str, bool, int, float, type(None))) else str(value)
