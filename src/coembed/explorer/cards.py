"""The cards: all that a model says of one item, of whatever type."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from coembed.errors import no_such
from coembed.explorer.asking import Explorer, TypeFacts
from coembed.fitted.cell_texts import cell_texts, interval_text, known_text
from coembed.fitted.chances import score_name
from coembed.fitted.class_answers import named_sets, sets_of
from coembed.fitted.label_advice import Advice
from coembed.fitted.matches import Match
from coembed.fitted.reasons import Reasons, Why
from coembed.network.relations import Relation
from coembed.network.ways import Way

_WORDS = ((0.95, "nearly certain"), (0.8, "fairly sure"), (0.5, "leaning"), (0.0, "unsure"))

COVERAGES = (0.9, 0.95, 0.99)


def item_card(explorer: Explorer, id: str, type: str | None, k: int) -> dict[str, Any]:
    """An item: class, certainty, what it has, what it should have, what lies near it."""
    type = explorer.type_of(id, type)
    facts, row = explorer.types[type], explorer.at(id, type)
    attribute = facts.owner is not None
    return {
        **reference(facts, row),
        "owner": facts.owner,
        "column": _column(explorer, type, row) if attribute else None,
        "label": facts.known_label(row),
        "true_label": explorer.true_label(type, row),
        "probabilities": class_probabilities(facts, facts.probabilities[row]),
        "certainty": _certainty(facts, row),
        "sets": sets_of_classes(explorer, type, row),
        "cells": cells_of(explorer, type, row),
        "relations": [_walked(explorer, type, row, way, k) for way in card_ways(explorer, type, row)],
        "nearest": {
            to: plain(explorer.fitted.nearest(row, to, k, type=type, positions=True))
            for to, others in explorer.types.items()
            if len(others)
        },
        "numbers": _numbers(explorer, type, row) if attribute else None,
        "classes": _class_shares(explorer, type, row) if attribute else [],
        "place": place(explorer, type, row),
    }


def reference(facts: TypeFacts, row: int) -> dict[str, Any]:
    """How an item is named in every answer."""
    return {"id": str(facts.ids[row]), "type": facts.name, "title": str(facts.titles[row])}


def listed(facts: TypeFacts, row: int) -> dict[str, Any]:
    """A line of a list of items."""
    labelled = bool(facts.class_names)
    return {
        **reference(facts, row),
        "label": facts.label(row),
        "observed": bool(facts.observed[row]) if labelled else None,
        "probability": float(facts.probability[row]) if labelled else None,
        "weight": int(facts.weights[row]),
    }


def card_ways(explorer: Explorer, type: str, row: int) -> list[Way]:
    """The ways out of an item; of an attribute that to the items which have it."""
    column = explorer.column_of(type, row)
    return explorer.ways(type) if column is None else [Way(column.name, False, column.source)]


def _walked(explorer: Explorer, type: str, row: int, way: Way, k: int) -> dict[str, Any]:
    """What an item has by a way, and what it should have; of an attribute only the former."""
    suggested: list[Match] = []
    if explorer.types[type].owner is None and len(explorer.types[way.other]):
        suggested = explorer.fitted.complete(
            row, way.relation, k, type=type, positions=True, backwards=not way.forwards
        )
    return {
        "relation": way.relation,
        "other": way.other,
        "backwards": not way.forwards,
        "directed": explorer.network.relation(way.relation).directed,
        "score": score_name(explorer.fitted, way.relation),
        "has": page_of(explorer, row, way, 0, k),
        "suggested": plain(suggested),
    }


def cells_of(explorer: Explorer, type: str, row: int) -> list[dict[str, Any]]:
    """The columns of an item that have one cell each: what is known, and what is expected."""
    found = []
    for relation in explorer.network.columns(type):
        if relation.column is not None and relation.column.has_cells:
            expected = explorer.fitted.complete(row, relation.name, 5, type=type, positions=True)
            found.append(cell_dict(relation, expected, _known(explorer, relation, row)))
    return found


def cell_dict(relation: Relation, expected: list[Match], known: str | None) -> dict[str, Any]:
    """A cell in words: a number with its spread, the likeliest value with its probability."""
    column = relation.column
    assert column is not None
    text = spread = between = None
    if column.numeric and expected:
        text, spread = cell_texts(column, expected[0].score, expected[0].std)
        if expected[0].low is not None:
            between = interval_text(column, expected[0].low, expected[0].high)
    elif column.kind == "yes/no" and expected:
        text = "yes" if expected[0].score >= 0.5 else "no"
    elif expected:
        text = expected[0].title
    return {
        "column": column.name,
        "relation": relation.name,
        "kind": column.kind,
        "known": known,
        "expected": text,
        "spread": spread,
        "interval": between,
        "values": [] if column.numeric else plain(expected),
    }


def _known(explorer: Explorer, relation: Relation, row: int) -> str | None:
    column = relation.column
    assert column is not None
    return known_text(relation, row, explorer.types[relation.target].values(column))


def _column(explorer: Explorer, type: str, row: int) -> dict[str, Any] | None:
    relation = explorer.column_of(type, row)
    if relation is None or relation.column is None:
        return None
    return {"name": relation.column.name, "kind": relation.column.kind, "relation": relation.name}


def neighbours(
    explorer: Explorer,
    id: str,
    type: str | None,
    relation: str | None,
    backwards: bool,
    offset: int,
    limit: int,
) -> dict[str, Any]:
    """A page of what the network joins to an item by a relation; by default its first."""
    type = explorer.type_of(id, type)
    row = explorer.at(id, type)
    way = _chosen_way(explorer, type, row, relation, backwards)
    if way is None:
        return {"total": 0, "offset": offset, "items": []}
    return page_of(explorer, row, way, offset, limit)


def _chosen_way(explorer: Explorer, type: str, row: int, relation: str | None, backwards: bool) -> Way | None:
    ways = card_ways(explorer, type, row)
    if relation is None:
        joining = [way for way in ways if explorer.network.relation(way.relation).column is None]
        return next(iter([*joining, *ways]), None)
    joined = explorer.network.relation(relation)
    if type == joined.source and not (backwards and joined.source == joined.target):
        return Way(relation, True, joined.target)
    if type != joined.target:
        raise no_such(f"relation of {type}", relation, [each.relation for each in ways])
    return Way(relation, False, joined.source)


def page_of(explorer: Explorer, row: int, way: Way, offset: int, limit: int) -> dict[str, Any]:
    """A page of entries: the best linked items, the rarest attributes, the largest numbers first."""
    items, values = explorer.entries(way, row)
    facts, column = explorer.types[way.other], explorer.network.relation(way.relation).column
    weight = facts.weights[items] if facts.owner is not None else -facts.weights[items]
    numeric = column is not None and column.numeric
    if column is not None and numeric:
        values = column.held(values)
        weight = -values  # of a number the largest first
    order = np.argsort(weight, kind="stable")[offset : offset + limit]
    return {
        "total": len(items),
        "offset": offset,
        "items": [
            {
                **reference(facts, int(items[i])),
                "label": facts.label(int(items[i])),
                "value": float(values[i]),
                "text": cell_texts(column, values[i], 0.0)[0] if column is not None and numeric else None,
            }
            for i in order
        ],
    }


def place(explorer: Explorer, type: str, row: int) -> dict[str, Any]:
    """Where an item is on the map, and how far its uncertainty carries it."""
    places, codes = explorer.layout.places[type], explorer.fitted.codes_at(type, np.array([row]))
    covariance = explorer.plane.spreads(codes, type, places[[row]])[0]
    return {"x": float(places[row, 0]), "y": float(places[row, 1]), "covariance": rounded(covariance)}


def why(
    explorer: Explorer,
    id: str,
    type: str | None,
    relation: str | None,
    targets: list[str] | None,
    k: int,
    *,
    label: str | None = None,
    backwards: bool = False,
) -> dict[str, Any]:
    """What speaks for a class of an item, and for some items at the far end of a relation.

    Without targets (None) for the likeliest one.
    """
    type = explorer.type_of(id, type)
    reasons = Reasons(explorer.fitted, explorer.at(id, type), type, positions=True)
    told = reasons.label(k, label) if explorer.types[type].class_names or label is not None else None
    found = [] if targets == [] else reasons.explain(relation, targets, k, backwards=backwards)
    return {
        **reference(explorer.types[type], explorer.at(id, type)),
        "label": None if told is None else _why(told),
        "targets": [_why(each) for each in found],
    }


def spread(explorer: Explorer, items: dict[str, list[int]]) -> dict[str, Any]:
    """Covariances on the map of many items, given by type and by their positions in the map's columns."""
    found = {}
    for type, rows in items.items():
        facts, places = explorer.facts(type), explorer.layout.places[type]
        inside = np.array([row for row in rows if 0 <= row < len(facts)], dtype=np.int64)
        covariances = explorer.plane.spreads(explorer.fitted.codes_at(type, inside), type, places[inside])
        found[type] = [
            {"position": int(row), "covariance": rounded(covariance)}
            for row, covariance in zip(inside, covariances, strict=True)
        ]
    return {"items": found}


def in_words(probability: float) -> str:
    """How sure a probability is, for people.

    Examples
    --------
    >>> in_words(0.97), in_words(0.4)
    ('nearly certain', 'unsure')
    """
    return next(words for least, words in _WORDS if probability >= least)


def sets_of_classes(explorer: Explorer, type: str, row: int) -> list[dict[str, Any]]:
    """Which classes it may have, for some coverages; nothing where none can be promised."""
    space, labels = explorer.fitted.types[type], explorer.types[type].items.labels
    if space.doubt is None or labels is None or labels.several:
        return []
    at = np.array([row])
    named = partial(named_sets, labels.classes, explorer.fitted.predict_proba(type)[at])
    return [
        {"coverage": each, "classes": list(named(sets_of(explorer.fitted, type, each, at))[0])}
        for each in COVERAGES
    ]


def class_probabilities(facts: TypeFacts, row: np.ndarray) -> list[dict[str, Any]]:
    """Classes with their probabilities, the likeliest first."""
    names = facts.class_names
    return [{"label": names[k], "probability": float(row[k])} for k in np.argsort(-row, kind="stable")]


def _certainty(facts: TypeFacts, row: int) -> dict[str, Any]:
    """Of the class in words and against all items of the type; of the place against all."""
    sharper = float((facts.blur > facts.blur[row]).mean())
    if not facts.class_names:
        return {"words": None, "surer_than": None, "sharper_than": sharper}
    probability = float(facts.probabilities[row].max())
    surer = float(np.searchsorted(facts.sureness, probability) / len(facts.sureness))
    return {"words": in_words(probability), "surer_than": surer, "sharper_than": sharper}


def _numbers(explorer: Explorer, type: str, row: int) -> dict[str, Any] | None:
    """Of a column of numbers or dates: how its known cells are spread."""
    relation = explorer.column_of(type, row)
    column = None if relation is None else relation.column
    if relation is None or column is None or not column.numeric:
        return None
    _, values = explorer.entries(Way(relation.name, False, relation.source), row)
    if not len(values):
        return None
    cells = np.sort(column.cell(values.astype(np.float64)))
    told = (cell_texts(column, cell, 0.0)[0] for cell in np.quantile(cells, (0, 0.25, 0.5, 0.75, 1)))
    edges = np.linspace(cells[0], cells[-1], 21) if cells[-1] > cells[0] else cells[[0, -1]]
    counts = np.histogram(cells, edges)[0] if len(edges) > 2 else [len(cells)]
    texts = [cell_texts(column, edge, 0.0)[0] for edge in edges]
    return {
        "known": len(cells),
        "missing": len(explorer.types[relation.source]) - len(cells),
        **dict(zip(("lowest", "quarter", "middle", "three_quarters", "highest"), told, strict=True)),
        "bins": [
            {"from": texts[i], "to": texts[i + 1], "count": int(count)} for i, count in enumerate(counts)
        ],
    }


def _class_shares(explorer: Explorer, type: str, row: int) -> list[dict[str, Any]]:
    """How the owners of an attribute, and how all items of their type, are shared among the classes."""
    owner, relation = explorer.types[explorer.types[type].owner or ""], explorer.column_of(type, row)
    count = len(owner.class_names)
    if not count or relation is None or (relation.column is not None and relation.column.numeric):
        return []
    items, values = explorer.entries(Way(relation.name, False, relation.source), row)
    having = items[values != 0]
    everywhere = np.bincount(owner.classes, minlength=count) / len(owner)
    shares = np.bincount(owner.classes[having], minlength=count) / max(len(having), 1)
    return [
        {"label": owner.class_names[k], "share": float(shares[k]), "everywhere": float(everywhere[k])}
        for k in np.argsort(-shares, kind="stable")
    ]


def _why(found: Why) -> dict[str, Any]:
    told = {name: value for name, value in found.as_dict().items() if name not in ("item", "type")}
    reasons = [{"id": each.pop("name"), "type": each.pop("kind"), **each} for each in told["reasons"]]
    return {**told, "reasons": reasons, "owners": found.owners[:5], "owners_total": len(found.owners)}


def match_dict(match: Match) -> dict[str, Any]:
    """A line of an answer as the API gives it."""
    found = match.as_dict()
    del found["kind"]
    return {"id": found.pop("name"), **found}


def advice_dict(facts: TypeFacts, advice: Advice) -> dict[str, Any]:
    told = {key: value for key, value in advice.as_dict().items() if key not in ("name", "title")}
    return {"id": advice.name, "type": facts.name, "title": advice.title, **told}


def plain(matches: list[Match]) -> list[dict[str, Any]]:
    return [match_dict(match) for match in matches]


def rounded(covariance: np.ndarray) -> list[list[float]]:
    return [[round(float(value), 5) for value in row] for row in covariance]
