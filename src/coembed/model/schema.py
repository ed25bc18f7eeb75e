"""From a network to what the model explains: relations with weights, readings, and who pays.

Entity relations share beta, columns the rest, each in proportion to the root of its known cells. The columns
of words of a type (tags, counts, texts) are one relation, those with cells one for each likelihood. What it
costs to have a posterior is paid for each entity relation, and once for the words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from coembed.distributed.exchange import sum_of_all
from coembed.distributed.shares import Share
from coembed.model.modelled_relation import Cells, ModelledRelation
from coembed.network import Network, Relation
from coembed.settings import Settings
from coembed.views import Reading

LEAST_ATTRIBUTES = 2560
"""A type without words pays for its posteriors as if it had so many attributes at least.

With a tenth of it the codes of a table of 6,000 rows and eight numbers fall to zero, and nothing is told.
"""
RESERVED = ("kl", "label", "classification", "label decoding", "loss")


@dataclass(frozen=True)
class Keys:
    """Names for parameters and noise that no name of a user can spoil; a plain network keeps its own."""

    types: Mapping[str, str]
    relations: Mapping[str, str]

    @classmethod
    def of(cls, network: Network) -> Keys:
        """By place: ``t0``, ``r0``."""
        if network.is_plain:
            return cls({name: name for name in network.types}, {name: name for name in network.relations})
        return cls(
            {name: f"t{place}" for place, name in enumerate(network.types)},
            {name: f"r{place}" for place, name in enumerate(network.relations)},
        )


def modelled_relations(
    share: Share, readings: Mapping[str, Reading], settings: Settings
) -> list[ModelledRelation]:
    """All relations of a share of a network, as the model explains them."""
    network = share.network
    evidence = bias_evidence(share) if settings.biases else {}
    entity, columns = (
        network.entity_relations,
        [r for r in network.relations.values() if r.column is not None],
    )
    found = [
        _entity_relation(share, relation, readings[relation.name], weight, evidence)
        for relation, weight in zip(entity, _weights(share, entity, settings.beta), strict=True)
    ]
    weights = dict(
        zip((each.name for each in columns), _weights(share, columns, 1 - settings.beta), strict=True)
    )
    for name in network.entity_types:
        found += _words(share, name, readings, weights, evidence)
        found += _cells(share, name, readings, weights)
    if not any(_entries(share, each) for each in network.relations.values()):
        return found[:1]  # a network of nothing is still a model of its first relation
    return [each for each in found if sum_of_all(each.matrix.nnz, share.partitions[_type(share, each)])]


def _type(share: Share, relation: ModelledRelation) -> str:
    keys = Keys.of(share.network)
    return next(name for name, key in keys.types.items() if key == relation.source)


def alone(network: Network, type: str, settings: Settings) -> float:
    """What a type pays for its posteriors where no relation makes it pay."""
    attributes = network.attribute_type(type)
    owner = network.owner_type(type)
    others = len(network.items(attributes)) if attributes else len(network.items(owner)) if owner else 0
    return (1 - settings.beta) / (max(len(network.items(type)), 1) * max(others, LEAST_ATTRIBUTES))


def bias_evidence(share: Share) -> dict[str, np.ndarray]:
    """By type, the logarithms of how many entries its own items have in each relation that gives a bias."""
    network = share.network
    counts: dict[str, list[np.ndarray]] = {name: [] for name in network.types}
    for relation in network.relations.values():
        if relation.column is not None and relation.column.has_cells:
            continue
        matrix, source, target = share.matrix(relation.name), relation.source, relation.target
        counts[source].append(np.diff(matrix.indptr))
        if not relation.pairing.undirected:
            own = share.partitions[target].own
            there = np.bincount(matrix.indices, minlength=own.total)
            counts[target].append(sum_of_all(there, share.partitions[source])[own.start : own.stop])
    found = {}
    for name, each in counts.items():
        if network.owner_type(name) is not None and len(each) > 1:
            each = [np.sum(each, axis=0)]  # an attribute is of one column
        if each:
            found[name] = np.log1p(np.stack(each, axis=1))
    return found


def _entries(share: Share, relation: Relation) -> float:
    """Stored entries of a relation, of all processes."""
    return float(sum_of_all(share.matrix(relation.name).nnz, share.partitions[relation.source]))


def _weights(share: Share, relations: list[Relation], together: float) -> list[float]:
    roots = [_entries(share, relation) ** 0.5 for relation in relations]
    return [together * root / sum(roots) if sum(roots) else together for root in roots]


def _entity_relation(
    share: Share,
    relation: Relation,
    reading: Reading,
    weight: float,
    evidence: Mapping[str, np.ndarray],
) -> ModelledRelation:
    network, keys = share.network, Keys.of(share.network)
    ends = {relation.source, relation.target}
    fellows = [each for each in network.entity_relations if {each.source, each.target} == ends]
    return ModelledRelation(
        keys.relations[relation.name],
        keys.types[relation.source],
        keys.types[relation.target],
        reading.target(share.matrix(relation.name)),
        reading.likelihood,
        weight,
        evidence.get(relation.source),
        evidence.get(relation.target),
        observed=relation.absent == "unknown",
        gained=len(fellows) > 1,
        directed=relation.directed,
        title=_title(relation.name),
    )


def _words(
    share: Share,
    type: str,
    readings: Mapping[str, Reading],
    weights: Mapping[str, float],
    evidence: Mapping[str, np.ndarray],
) -> list[ModelledRelation]:
    """The columns of words of a type, one relation for each likelihood among them."""
    network, keys = share.network, Keys.of(share.network)
    by_likelihood: dict[str, list[Relation]] = {}
    for relation in network.columns(type):
        if relation.column is not None and not relation.column.has_cells:
            by_likelihood.setdefault(readings[relation.name].likelihood, []).append(relation)
    found = []
    for likelihood, columns in by_likelihood.items():
        attributes = columns[0].target
        matrices = [readings[each.name].target(share.matrix(each.name)) for each in columns]
        targets = np.concatenate(
            [np.arange(each.column.start, each.column.stop) for each in columns if each.column]
        )
        targets = np.sort(targets)
        every = len(targets) == len(network.items(attributes))
        matrix = sp.csr_array(sum(matrices[1:], matrices[0]))
        found.append(
            ModelledRelation(
                keys.relations[columns[0].name],
                keys.types[type],
                keys.types[attributes],
                matrix if every else sp.csr_array(matrix[:, targets]),
                likelihood,
                sum(weights[each.name] for each in columns),
                evidence.get(type),
                evidence.get(attributes),
                targets=None if every else targets,
                title=_title(columns[0].name) if len(columns) == 1 else f"words of {type}",
            )
        )
    return found


def _cells(
    share: Share, type: str, readings: Mapping[str, Reading], weights: Mapping[str, float]
) -> list[ModelledRelation]:
    """The columns with cells of a type, one relation for each likelihood among them."""
    network, keys = share.network, Keys.of(share.network)
    columns = [each for each in network.columns(type) if each.column is not None and each.column.has_cells]
    found = []
    for likelihood in dict.fromkeys(readings[each.name].likelihood for each in columns):
        chosen = [
            (place, each)
            for place, each in enumerate(columns)
            if readings[each.name].likelihood == likelihood
        ]
        targets, places, weight, matrices = [], [], [], []
        for place, relation in chosen:
            assert relation.column is not None
            span = np.arange(relation.column.start, relation.column.stop)
            known = max(_entries(share, relation), 1)
            targets.append(span)
            places.append(np.full(len(span), place))
            weight.append(np.full(len(span), weights[relation.name] / known))
            matrices.append(share.matrix(relation.name)[:, relation.column.start : relation.column.stop])
        cells = Cells(type, len(columns), np.concatenate(places), np.concatenate(weight))
        found.append(
            ModelledRelation(
                f"{keys.relations[chosen[0][1].name]} cells",
                keys.types[type],
                keys.types[chosen[0][1].target],
                sp.csr_array(sp.hstack(matrices)),
                likelihood,
                cells=cells,
                targets=np.concatenate(targets),
                pays=False,
                title=f"{likelihood} cells of {type}",
            )
        )
    return found


def _title(name: str) -> str:
    return f"relation {name}" if name in RESERVED else name
