"""The model as a whole: classes and colours, the map, the training, the quality, the data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

from coembed.explorer.asking import Explorer, TypeFacts
from coembed.explorer.cards import listed, reference
from coembed.fitted.chances import score_name
from coembed.maps.palette import COLOURS, MARKS, class_mark
from coembed.maps.regions import landscape
from coembed.network.description import summary
from coembed.network.items import UNKNOWN
from coembed.progress import LOSS_PARTS
from coembed.version import __version__

NAMED = 40
"""Values of a field that have a colour of their own."""


def health(explorer: Explorer) -> dict[str, Any]:
    network, main = explorer.network, explorer.main
    attributes = network.attribute_type(main.name)
    return {
        "status": "ok",
        "version": __version__,
        "model": network.name,
        "nodes": len(main),
        "attributes": 0 if attributes is None else len(explorer.types[attributes]),
        "classes": len(explorer.coloured.class_names),
    }


def types(explorer: Explorer) -> dict[str, Any]:
    """The types of items and how they are joined: what can be asked for."""
    network = explorer.network
    return {
        "main": explorer.main.name,
        "types": [_type(explorer, facts) for facts in explorer.types.values()],
        "relations": [
            {
                "name": each.name,
                "source": each.source,
                "target": each.target,
                "directed": each.directed,
                "entries": each.n_entries,
                "score": score_name(explorer.fitted, each.name),
                "column": None if each.column is None else each.column.name,
                "kind": None if each.column is None else each.column.kind,
                "span": None if each.column is None else [each.column.start, each.column.stop],
            }
            for each in network.relations.values()
        ],
    }


def _type(explorer: Explorer, facts: TypeFacts) -> dict[str, Any]:
    colour, mark = _type_mark(explorer, facts)
    return {
        "name": facts.name,
        "items": len(facts),
        "owner": facts.owner,
        "classes": facts.class_names,
        "labelled": int(facts.observed.sum()) if facts.class_names else 0,
        "colour": colour,
        "mark": mark,
    }


def _type_mark(explorer: Explorer, facts: TypeFacts) -> tuple[str | None, str]:
    """Attributes are crosses, one type has the colours of its classes, others a colour of their own."""
    if facts.owner is not None:
        return None, "cross"
    if facts is explorer.coloured:
        return (None if facts.class_names else COLOURS[0]), "circle"
    entities = [name for name in explorer.network.entity_types if name != explorer.coloured.name]
    place = entities.index(facts.name)
    return COLOURS[-1 - place % len(COLOURS)], MARKS[1 + place % (len(MARKS) - 1)]


def model(explorer: Explorer) -> dict[str, Any]:
    """What the page must know before it draws."""
    network, fitted, coloured = explorer.network, explorer.fitted, explorer.coloured
    count = len(coloured.class_names)
    sizes = np.bincount(coloured.classes[coloured.classes != UNKNOWN], minlength=count)
    known = np.bincount(coloured.classes[coloured.observed], minlength=count)
    return {
        **health(explorer),
        **types(explorer),
        "plain": network.is_plain,
        "coloured": coloured.name,
        "preset": fitted.preset,
        "dim": fitted.dim,
        "code_dim": fitted.code_dim,
        "method": explorer.layout.method,
        "mixing": explorer.mixing,
        "links": sum(each.n_entries for each in network.entity_relations),
        "labelled": int(coloured.observed.sum()),
        "can_embed": explorer.can_embed,
        "judged": explorer.quality is not None,
        "scores": {name: score_name(explorer.fitted, name) for name in network.relations},
        "class_list": [
            {
                "label": name,
                "colour": class_mark(k)[0],
                "mark": class_mark(k)[1],
                "nodes": int(sizes[k]),
                "observed": int(known[k]),
            }
            for k, name in enumerate(coloured.class_names)
        ],
        "palette": [dict(zip(("colour", "mark"), class_mark(k), strict=True)) for k in range(NAMED)],
        "link": explorer.shown.link,
        "shown": list(explorer.shown.fields),
        "examples": _examples(explorer),
    }


def map_columns(explorer: Explorer) -> dict[str, Any]:
    """Places, classes and names of everything, by type, column by column."""
    return {
        "method": explorer.layout.method,
        "types": [_map_of(explorer, facts) for facts in explorer.types.values()],
    }


def _map_of(explorer: Explorer, facts: TypeFacts) -> dict[str, Any]:
    places, labelled = explorer.layout.places[facts.name], bool(facts.class_names)
    return {
        "type": facts.name,
        "class_names": facts.class_names,
        "id": facts.ids.tolist(),
        "title": None if facts.titles is facts.ids else facts.titles.tolist(),
        "x": _rounded(places[:, 0], 3),
        "y": _rounded(places[:, 1], 3),
        "label": facts.classes.tolist() if labelled else None,
        "observed": facts.observed.astype(int).tolist() if labelled else None,
        "probability": _rounded(facts.probability, 3) if labelled else None,
        "weight": facts.weights.tolist(),
    }


def regions(explorer: Explorer) -> dict[str, Any]:
    """Where items crowd, and what each crowd is about."""
    found = landscape(explorer.fitted, explorer.layout)
    return {
        "box": list(found.box),
        "density": [_rounded(row, 3) for row in found.density],
        "regions": [{**asdict(each), "names": list(each.names)} for each in found.regions],
    }


def map_arrow(explorer: Explorer) -> bytes:
    """The same as a stream of Arrow: a row an item, type after type."""
    import pyarrow as pa

    every = list(explorer.types.values())

    def column(take: Callable[[TypeFacts], list[Any]], type: pa.DataType) -> pa.Array:
        return pa.array([value for facts in every for value in take(facts)], type)

    def labelled(take: Callable[[TypeFacts], list[Any]]) -> Callable[[TypeFacts], list[Any]]:
        return lambda facts: take(facts) if facts.class_names else [None] * len(facts)

    def text(names: np.ndarray) -> list[str]:
        return [str(name).encode("utf-8", "replace").decode() for name in names]

    places = explorer.layout.places
    table = pa.table(
        {
            "type": column(lambda facts: [facts.name] * len(facts), pa.string()).dictionary_encode(),
            "id": column(lambda facts: text(facts.ids), pa.string()),
            "title": column(lambda facts: text(facts.titles), pa.string()),
            "x": column(lambda facts: places[facts.name][:, 0].tolist(), pa.float32()),
            "y": column(lambda facts: places[facts.name][:, 1].tolist(), pa.float32()),
            "label": column(
                labelled(lambda facts: [facts.label(i) for i in range(len(facts))]), pa.string()
            ).dictionary_encode(),
            "observed": column(labelled(lambda facts: facts.observed.tolist()), pa.bool_()),
            "probability": column(labelled(lambda facts: facts.probability.tolist()), pa.float32()),
            "weight": column(lambda facts: facts.weights.tolist(), pa.int64()),
        }
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def search(explorer: Explorer, query: str, type: str | None, limit: int, offset: int) -> dict[str, Any]:
    """Items of all types, or of one, whose names fit what was typed."""
    found, items = explorer.find(query, type), []
    for hit in found[offset : offset + limit]:
        facts = explorer.types[hit.type]
        items.append(
            {
                **reference(facts, hit.row),
                "label": facts.label(hit.row),
                "weight": int(facts.weights[hit.row]),
                "score": round(hit.score, 3),
            }
        )
    return {"query": query, "total": len(found), "offset": offset, "items": items}


def items(explorer: Explorer, type: str | None, label: str | None, offset: int, limit: int) -> dict[str, Any]:
    """A page of all items of a type, or of those of a class, in the order of the network."""
    facts = explorer.facts(type or explorer.main.name)
    chosen = np.arange(len(facts))
    if label is not None:
        chosen = np.flatnonzero(facts.classes == explorer.class_at(label, facts.name))
    page = [listed(facts, int(i)) for i in chosen[offset : offset + limit]]
    return {"total": len(chosen), "offset": offset, "items": page}


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
        "truth": [line for told in history.get("truth", {}).values() for line in told["lines"]],
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
            "type": explorer.coloured.name,
            "figures": {},
            "class_names": [],
            "confusion": [],
            "reliability": [],
            "mistakes": [],
        }
    facts = explorer.types[judged.type]
    names = facts.class_names
    return {
        "judged": len(judged.nodes),
        "type": judged.type,
        "figures": judged.figures,
        "class_names": names,
        "confusion": judged.confusion.tolist(),
        "reliability": [
            {"probability": float(p), "right": float(right), "nodes": int(count)}
            for p, right, count in judged.reliability
        ],
        "mistakes": [
            {
                **reference(facts, int(judged.nodes[i])),
                "predicted": names[judged.predicted[i]],
                "true": names[judged.truth[i]],
                "probability": float(judged.probability[i]),
            }
            for i in judged.mistakes()
        ],
    }


def data(explorer: Explorer) -> dict[str, Any]:
    """Statistics of the network that was fitted."""
    network, main = explorer.network, explorer.main
    attributes = network.attribute_type(main.name)
    words = [each for each in explorer.ways(main.name) if each.other == attributes]
    owned = np.zeros(len(main), dtype=np.int64)
    for way in words:
        owned += np.diff(explorer.matrix(way).indptr)
    return {
        "summary": summary(network),
        "degrees": _histogram(main.weights),
        "attributes_per_node": _histogram(owned) if words else [],
        "owners_per_attribute": [] if attributes is None else _histogram(explorer.types[attributes].weights),
        "common_attributes": [] if attributes is None else _weightiest(explorer.types[attributes]),
        "linked_nodes": _weightiest(main),
    }


def _weightiest(facts: TypeFacts, most: int = 20) -> list[dict[str, Any]]:
    order = np.argsort(-facts.weights, kind="stable")[:most]
    return [{**reference(facts, int(i)), "count": int(facts.weights[i])} for i in order]


def _examples(explorer: Explorer, most: int = 6) -> list[dict[str, Any]]:
    """Some items to begin with: the best linked of the largest classes, the commonest attributes."""
    found = []
    for facts in explorer.types.values():
        rows = [int(i) for i in np.argsort(-facts.weights, kind="stable")[:most]]
        if facts.class_names:
            rows = []
            sizes = np.bincount(facts.classes, minlength=len(facts.class_names))
            sure = facts.probability > 0.9  # a wrong guess would be a poor beginning
            for k in np.argsort(-sizes, kind="stable")[:most]:
                members = np.flatnonzero((facts.classes == k) & sure)
                if len(members):
                    rows.append(int(members[facts.weights[members].argmax()]))
        found += [reference(facts, row) for row in rows]
    return found


def _histogram(counts: np.ndarray, most: int = 24) -> list[dict[str, int]]:
    """Counts in bins, each from (inclusive) and to (inclusive): of equal width, or, where the first of those
    would hold more than half, each twice as wide as the one before.

    Examples
    --------
    >>> [(each["from"], each["to"], each["count"]) for each in _histogram(np.array([0, 1, 1, 2, 3, 900]))][:4]
    [(0, 0, 1), (1, 1, 2), (2, 3, 2), (4, 7, 0)]
    """
    if not len(counts):
        return []
    width = max(1, math.ceil((int(counts.max()) + 1) / most))
    if width > 1 and (counts < width).mean() > 0.5:
        places = np.frexp(counts.astype(np.float64))[1]  # 0, 1, 2 to 3, 4 to 7, ...
        return [
            {"from": 2 ** (b - 1) if b else 0, "to": 2**b - 1, "count": int(size)}
            for b, size in enumerate(np.bincount(places))
        ]
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
