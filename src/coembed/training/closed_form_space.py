"""The common space in closed form: in every relation an item has a part of length one.

Between two types, with X the entries of a relation and V its leading right singular vectors, what speaks for
an entry is linear in XV: what an item has itself, shrunk as the item model shrinks it, what the items alike
have, S X V, and its links, P X V. The source of a relation points where their weighed sum does, the target
along its row of V; the few weights are found on the entries that were kept aside. A product ranks as it
should, but a cosine divides by lengths, and what many have is long: targets are filled up to one length in
coordinates that no source has, along their own directions, so that their cosines among themselves keep their
sense. Within a type, the part is that of the leading eigenvectors of links and items alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp

from coembed.fitted import Fitted
from coembed.fitted.moments import unit_length
from coembed.network.matrices import presence
from coembed.network.relations import Relation
from coembed.network.ways import links_within
from coembed.training.closed_form_relations import cheapest
from coembed.training.holdout import Holdout
from coembed.training.label_views import normalised
from coembed.training.space_choice import KeptAside
from coembed.views.basis import averaging
from coembed.views.decomposition import leading_eigenvectors, leading_vectors

FILLED = 0.12
"""Share of a relation's coordinates that fill up."""
ACROSS = 4.0
"""How much more coordinates two different types have than one with itself: answers are chosen across."""
COMMON = (0.25, 0.1)
"""Powers of how many have a target, by which its row may be divided; that which finds most is taken."""
RIDGE = 300.0
PAIRS = 3000
"""Entries that were kept aside, and as many absent pairs, that tell a handful of weights."""


@dataclass(frozen=True, eq=False)
class _Part:
    """What a relation gives of its ends: unit rows."""

    source: str
    target: str
    here: np.ndarray
    there: np.ndarray


def closed_form_directions(
    fitted: Fitted, holdout: Holdout, kept: Mapping[str, KeptAside], dim: int
) -> dict[str, np.ndarray]:
    """Unit vectors of all items, by type: the parts of all relations side by side."""
    network, seed = fitted.network, int(fitted.settings.get("seed", 0))
    joined = [each for each in network.relations.values() if each.values.nnz and not _is_cells(each)]
    tables = [name for name in network.entity_types if any(map(_is_cells, network.columns(name)))]
    sizes = [np.sqrt(each.values.nnz) * (1.0 if each.pairing.same else ACROSS) for each in joined]
    sizes += [
        ACROSS * np.sqrt(sum(c.values.nnz for c in network.columns(name) if _is_cells(c))) for name in tables
    ]
    widths = [max(int(dim * size / sum(sizes)), 1) for size in sizes]
    parts = []
    for relation, width in zip(joined, widths, strict=False):
        if relation.pairing.same:
            parts.append(_within(fitted, relation, width, seed))
        else:
            parts.append(_across(fitted, relation, width, holdout, kept, seed))
    for name, width in zip(tables, widths[len(joined) :], strict=True):
        parts.append(_cells(fitted, name, width, seed))
    found = {name: np.zeros((len(items), dim), np.float32) for name, items in network.types.items()}
    start = 0
    for part in parts:
        columns = slice(start, start + part.here.shape[1])
        start = columns.stop
        found[part.source][:, columns] = part.here
        if part.target != part.source:
            found[part.target][:, columns] += part.there
    return {name: unit_length(rows).astype(np.float32) for name, rows in found.items()}


def _is_cells(relation: Relation) -> bool:
    return relation.column is not None and relation.column.has_cells


def _across(
    fitted: Fitted,
    relation: Relation,
    width: int,
    holdout: Holdout,
    kept: Mapping[str, KeptAside],
    seed: int,
) -> _Part:
    owned, known = presence(relation.values), fitted.relations[relation.name].vectors
    room = int(FILLED * width)
    first, last = 0, owned.shape[1]
    if relation.column is not None:
        first, last = relation.column.start, relation.column.stop
    if known is None:
        known = leading_vectors(sp.csr_array(owned[:, first:last]), width - room, seed)  # type: ignore[assignment]
    vectors, strength = (each[..., : width - room] for each in known)  # type: ignore[union-attr]
    owners = np.bincount(owned.indices, minlength=owned.shape[1])[first:last]
    own = sp.csr_array(owned[:, first:last]) @ vectors
    ways = {"own": own, "shrunk": own * (strength**2 / (strength**2 + RIDGE))}
    ways |= {name: walk @ own for name, walk in _walks(fitted, relation.source).items()}
    ways = {name: unit_length(rows) for name, rows in ways.items()}
    asked, best = kept.get(relation.name), -1.0
    for power in COMMON if asked is not None else COMMON[:1]:
        divided = vectors / ((owners + 1.0) ** power)[:, None].astype(np.float32)
        weighed = _weights(ways, divided, np.log1p(owners), holdout, relation.name, first)
        for weights in (weighed, {"own": 1.0}) if asked is not None else (weighed,):
            whole = unit_length(np.add.reduce([weight * ways[name] for name, weight in weights.items()]))
            score = partial(_products, whole, divided)
            found = 0.0 if asked is None else asked.recall(score)
            if found > best:
                best, here, there = found, whole, divided
    wide = np.zeros((owned.shape[1], width), np.float32)
    there = there / max(float(np.linalg.norm(there, axis=1).max(initial=0.0)), 1e-12)
    wide[first:last, : there.shape[1]] = there
    wide[first:last, width - room :] = _filling(there, room)
    nothing = np.zeros((len(here), width - here.shape[1]), np.float32)
    return _Part(relation.source, relation.target, np.hstack([here, nothing]), wide)


def _walks(fitted: Fitted, type: str) -> dict[str, sp.csr_array]:
    """Means over the items alike and over the links of a type."""
    found = {}
    alike = None if fitted.placing is None else fitted.placing.alike.get(type)
    links = links_within(fitted.network, type)
    if alike is not None:
        found["alike"] = averaging(alike.graph(len(fitted.network.items(type))))
    if links is not None and links.nnz:
        found["links"] = averaging(presence(links))
    return found


def _weights(
    ways: Mapping[str, np.ndarray],
    there: np.ndarray,
    counts: np.ndarray,
    holdout: Holdout,
    relation: str,
    first: int,
) -> dict[str, float]:
    """What each way counts, by entries that were kept aside; without any, those with most to say alike."""
    usual = {"own": 0.0, "shrunk": 1.0, "alike": 1.0, "links": 0.5}
    if relation not in holdout.pairs:
        return {name: usual[name] for name in ways}
    present, absent = (pairs[:PAIRS] - np.array([0, first]) for pairs in holdout.pairs[relation])
    pairs = np.concatenate([present, absent])
    told = [np.einsum("nd,nd->n", rows[pairs[:, 0]], there[pairs[:, 1]]) for rows in ways.values()]
    features = np.stack([*told, counts[pairs[:, 1]], np.ones(len(pairs))], axis=1)
    truth = np.repeat([1.0, 0.0], [len(present), len(absent)])
    found = np.maximum(cheapest(features, truth, "bernoulli")[: len(ways)], 0)
    if not found.any():
        return {name: usual[name] for name in ways}
    return dict(zip(ways, (found / found.max()).tolist(), strict=True))


def _filling(rows: np.ndarray, width: int) -> np.ndarray:
    """What makes rows as long as the longest, along the leading coordinates of their own directions."""
    lengths, units = np.linalg.norm(rows, axis=1), unit_length(rows)
    turn = np.linalg.eigh(units.T @ units)[1][:, ::-1][:, :width]
    missing = np.sqrt(np.maximum(lengths.max(initial=0.0) ** 2 - lengths**2, 0))
    found = np.zeros((len(rows), width), np.float32)
    found[:, : turn.shape[1]] = unit_length(units @ turn) * missing[:, None]
    return found


def _within(fitted: Fitted, relation: Relation, width: int, seed: int) -> _Part:
    """Leading eigenvectors of who is linked, and of who is alike."""
    links = presence(relation.values)
    both = links if relation.pairing.undirected else sp.csr_array((links + links.T) / 2)
    alike = None if fitted.placing is None else fitted.placing.alike.get(relation.source)
    if alike is not None:
        near = averaging(alike.graph(links.shape[0])) * np.float32(links.nnz / max(links.shape[0], 1))
        both = sp.csr_array(both + (near + near.T) / 2)
    values, vectors = leading_eigenvectors(
        normalised(both), min(width, len(fitted.network.items(relation.source))), seed
    )
    here = np.zeros((links.shape[0], width), np.float32)
    here[:, : len(values)] = unit_length(vectors * np.maximum(values, 0))
    return _Part(relation.source, relation.target, here, here)


def _cells(fitted: Fitted, type: str, width: int, seed: int) -> _Part:
    """All cells of a table together: numbers with their signs, yes and no as opposites."""
    columns = [each for each in fitted.network.columns(type) if _is_cells(each)]
    shape = columns[0].values.shape
    total = sp.csr_array(shape, dtype=np.float32)
    for each in columns:
        values = each.values.copy()
        if each.column is not None and each.column.kind == "yes/no":
            values.data = 2 * values.data - 1
        total = total + values
    total = sp.csr_array(total)
    vectors, _ = leading_vectors(total, width, seed)
    here, there = (np.zeros((count, width), np.float32) for count in shape)
    here[:, : vectors.shape[1]] = unit_length(total @ vectors)
    there[:, : vectors.shape[1]] = unit_length(vectors)
    return _Part(type, columns[0].target, here, there)


def _products(here: np.ndarray, there: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return np.asarray(here[rows] @ there.T)
