"""Two items side by side: how alike, classes, cells, what both have and what only one has."""

from __future__ import annotations

from typing import Any

import numpy as np

from coembed.explorer.asking import Explorer, TypeFacts
from coembed.explorer.cards import cells_of, reference
from coembed.network.ways import Way

SHOWN = 40
"""Items of each list."""


def compare(
    explorer: Explorer, id: str, type: str | None, other: str, other_type: str | None
) -> dict[str, Any]:
    """Two items, of one type or of two."""
    near, far = explorer.type_of(id, type), explorer.type_of(other, other_type)
    row, column = explorer.at(id, near), explorer.at(other, far)
    ends = [(near, row), (far, column)]
    ways = explorer.ways(near) if near == far else []
    return {
        "items": [_named(explorer.types[name], at) for name, at in ends],
        "cosine": _cosine(explorer, ends),
        "classes": _classes(explorer, ends),
        "cells": _cells(explorer, ends),
        "relations": [_shared(explorer, way, row, column) for way in ways],
        "linked": _linked(explorer, ends),
    }


def _named(facts: TypeFacts, row: int) -> dict[str, Any]:
    return {**reference(facts, row), "label": facts.label(row)}


def _cosine(explorer: Explorer, ends: list[tuple[str, int]]) -> float:
    a, b = (explorer.fitted.codes_at(type, np.array([row])).mean[0].astype(np.float64) for type, row in ends)
    return float(a @ b / max(np.linalg.norm(a) * np.linalg.norm(b), 1e-12))


def _classes(explorer: Explorer, ends: list[tuple[str, int]]) -> list[dict[str, Any]]:
    """Class probabilities of both, those first that either may be; nothing where the types differ."""
    (near, row), (far, other) = ends
    facts = explorer.types[near]
    if near != far or not facts.class_names:
        return []
    both = facts.probabilities[[row, other]]
    order = np.argsort(-both.max(axis=0), kind="stable")
    return [{"label": facts.class_names[k], "probabilities": both[:, k].tolist()} for k in order[:8]]


def _cells(explorer: Explorer, ends: list[tuple[str, int]]) -> list[dict[str, Any]]:
    if ends[0][0] != ends[1][0]:
        return []
    pairs = zip(*(cells_of(explorer, type, row) for type, row in ends), strict=True)
    return [
        {"column": a["column"], "known": [a["known"], b["known"]], "expected": [a["expected"], b["expected"]]}
        for a, b in pairs
    ]


def _shared(explorer: Explorer, way: Way, row: int, other: int) -> dict[str, Any]:
    """What both are joined to by a way, and what only one is; the rarest first, as they tell most."""
    a, b = (explorer.entries(way, each)[0] for each in (row, other))
    facts = explorer.types[way.other]

    def told(rows: np.ndarray) -> dict[str, Any]:
        ordered = rows[np.argsort(facts.weights[rows], kind="stable")]
        items = [_named(facts, int(i)) for i in ordered[:SHOWN]]
        return {"total": len(rows), "items": items}

    return {
        "relation": way.relation,
        "backwards": not way.forwards,
        "other": way.other,
        "both": told(np.intersect1d(a, b)),
        "first": told(np.setdiff1d(a, b)),
        "second": told(np.setdiff1d(b, a)),
    }


def _linked(explorer: Explorer, ends: list[tuple[str, int]]) -> list[dict[str, Any]]:
    """Every relation that could join the two: whether it does, and how likely that is."""
    (near, row), (far, other) = ends
    found = []
    for relation in explorer.network.entity_relations:
        if (relation.source, relation.target) == (near, far):
            pair = np.array([[row, other]])
        elif (relation.source, relation.target) == (far, near):
            pair = np.array([[other, row]])
        else:
            continue
        if row == other and near == far:
            continue
        scores, std = explorer.fitted.answer(relation.name, pair)
        entry = {"relation": relation.name, "known": bool(relation.values[pair[0, 0], pair[0, 1]] != 0)}
        found.append({**entry, "score": float(scores[0]), "std": float(std[0])})
    return found
