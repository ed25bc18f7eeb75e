"""SCAN of any network: types of items, some with labels; relations between them, and their columns.

The instance of the paper is a network of nodes with labels and attributes without, of links between nodes
and of who has which attribute. Links, attributes or labels may be missing: what is left is still a model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields

import numpy as np
import scipy.sparse as sp
import torch
from torch import nn

from coembed.distributed.exchange import sum_of_all
from coembed.distributed.shares import Share
from coembed.kernels import SparseMatrix
from coembed.model.inference import CellMask, DenseInference, GraphInference, Matrix, Propagation
from coembed.model.schema import Keys, alone, modelled_relations
from coembed.model.svae import SVAE, EntityType, Objective
from coembed.model.views_inference import ViewsInference
from coembed.network import Network
from coembed.network.matrices import column_squares
from coembed.progress import Tell
from coembed.settings import Settings
from coembed.views import Reading, Seen, TypeViews, look, readings
from coembed.views.cells import CellLayout

Builder = Callable[[int, int], nn.Module]
MOST_LABEL_COORDINATES = 64
"""How wide the block of a label is at most where items are seen in views; that of the paper has no bound."""


def read_as(network: Network, settings: Settings) -> dict[str, Reading]:
    """How the relations of a network are read under some settings."""
    return readings(network, settings.links, settings.attributes)


def look_at(network: Network, settings: Settings, steps: Tell | None = None) -> Seen:
    """The views of a network under some settings."""
    found = read_as(network, settings)
    quick = settings.fitting == "closed-form"
    return look(network, found, settings.rank, settings.neighbours, settings.seed, steps, quick)


def scan(
    network: Network | Share,
    settings: Settings,
    device: torch.device | str = "cpu",
    seen: Seen | None = None,
    opinions: Mapping[str, np.ndarray] | None = None,
    reading: Mapping[str, Reading] | None = None,
) -> SVAE:
    """The SCAN of a network.

    Parameters
    ----------
    seen
        The views of all items, if the settings read views; made here if they are not given.
    opinions
        By type, probabilities of classes to imitate where a label is unknown, weighed by `label_ensemble`.
    reading
        How relations are read, if that is known already. Of a network that is dealt out to processes, each
        calls this with its share, and all with the same views, opinions and readings.
    """
    share = network if isinstance(network, Share) else Share.of(network)
    network = share.network
    dtype = getattr(torch, settings.precision)
    keys = Keys.of(network)
    found = dict(reading) if reading is not None else read_as(network, settings)
    if settings.encoder == "views":
        seen = seen if seen is not None else look_at(network, settings)
        builders = {
            name: _views_inference(share, name, seen.types[name], settings, device, dtype)
            for name in network.types
        }
    else:
        builders = _paper_inference(share, found, settings, device, dtype)
    types = [
        EntityType(
            keys.types[name],
            len(items),
            builders[name],
            items.n_classes,
            share.labels(name) if items.n_classes else None,
            rows=share.partitions[name],
            opinion=share.rows(name, (opinions or {}).get(name)),
            alone=alone(network, name, settings),
            most_label_coordinates=MOST_LABEL_COORDINATES if settings.encoder == "views" else 0,
        )
        for name, items in network.types.items()
        if len(items)
    ]
    goal = Objective(**{field.name: getattr(settings, field.name) for field in fields(Objective)})
    return SVAE(types, modelled_relations(share, found, settings), settings.dim, goal, device, dtype)


def _views_inference(
    share: Share,
    type: str,
    views: TypeViews,
    settings: Settings,
    device: torch.device | str,
    dtype: torch.dtype,
) -> Builder:
    """A branch for every view."""
    own, rows = share.views(type, views), share.partitions[type]
    return lambda latent, n_classes: ViewsInference(
        own.all,
        own.evidence,
        settings.hidden,
        latent,
        n_classes,
        dropout=settings.dropout,
        encoder_dropout=settings.encoder_dropout,
        input_dropout=settings.input_dropout,
        device=device,
        dtype=dtype,
        rows=rows,
        columns={name: share.partitions[other] for name, other in views.columns.items()},
        by_columns=("owners",) if rows.processes > 1 else (),
        table=type,
        place=views.place,
    )


def _paper_inference(
    share: Share,
    readings: Mapping[str, Reading],
    settings: Settings,
    device: torch.device | str,
    dtype: torch.dtype,
) -> dict[str, Builder]:
    """Propagation over the links within a type, two dense layers for a type without."""
    network = share.network

    def sparse(matrix: sp.csr_array, source: str, target: str, symmetric: bool = False) -> SparseMatrix:
        rows, columns = share.partitions[source], share.partitions[target]
        return SparseMatrix(
            matrix, symmetric=symmetric, rows=rows, columns=columns, device=device, dtype=dtype
        )

    inputs: dict[str, list[Matrix]] = {name: [] for name in network.types}
    names: dict[str, list[str]] = {name: [] for name in network.types}
    squares: dict[str, list[np.ndarray]] = {name: [] for name in network.types}
    links: dict[str, tuple[SparseMatrix, np.ndarray]] = {}

    def add(type: str, name: str, matrix: Matrix, squared: np.ndarray) -> None:
        names[type].append(name)
        inputs[type].append(matrix)
        squares[type].append(squared)

    def own_part(type: str, per_item: np.ndarray, added_by: str) -> np.ndarray:
        own = share.partitions[type].own
        return sum_of_all(per_item, share.partitions[added_by])[own.start : own.stop]

    for name in network.types:
        within = [each for each in network.entity_relations if each.source == each.target == name]
        if within:
            union = _union(share, [each.name for each in within], readings)
            matrix = sparse(union, name, name, symmetric=True)
            links[name] = matrix, np.asarray(abs(union).sum(axis=1))
            add(name, "links", matrix, _row_squares(union))
    for relation in network.entity_relations:
        if relation.source != relation.target:
            values = readings[relation.name].target(share.matrix(relation.name))
            matrix = sparse(values, relation.source, relation.target)
            add(relation.source, f"{relation.name}>", matrix, _row_squares(values))
            there = own_part(relation.target, column_squares(values), relation.source)
            add(relation.target, f"{relation.name}<", matrix.T, there)
    for name in network.entity_types:
        if not network.joining(name) and not network.columns(name):  # a type of nothing is still read
            ones = torch.ones(share.partitions[name].own.size, 1, device=device, dtype=dtype)
            add(name, "nothing", ones, np.ones(len(ones)))
        _add_columns(share, name, readings, device, dtype, sparse, add, own_part)

    def scale(type: str, kind: str) -> torch.Tensor | None:
        if kind != "unit":
            return None
        lengths = 1 / np.sqrt(np.maximum(sum(squares[type]), 1e-12))
        return torch.as_tensor(lengths.astype(np.float32), device=device, dtype=dtype)

    def build(type: str) -> Builder:
        of_attributes = network.owner_type(type) is not None
        row_scale = scale(type, settings.attribute_inputs if of_attributes else settings.node_inputs)
        rows = share.partitions[type]
        layout = CellLayout.of(network.columns(type))
        masks = {}
        if layout is not None:
            place = torch.as_tensor(layout.place, device=device)
            masks[names[type].index("cells")] = CellMask(type, place)
        dropouts = (0.0 if of_attributes else settings.dropout), settings.encoder_dropout

        def inference(latent: int, n_classes: int) -> nn.Module:
            if type in links:
                matrix, sums = links[type]
                degrees = torch.as_tensor(sums, device=device, dtype=dtype)
                return GraphInference(
                    inputs[type],
                    Propagation(matrix, degrees),
                    settings.hidden,
                    latent,
                    n_classes,
                    dropout=dropouts[0],
                    row_scale=row_scale,
                    encoder_dropout=dropouts[1],
                    rows=rows,
                    names=names[type],
                    cells=masks,
                )
            return DenseInference(
                inputs[type],
                settings.hidden,
                latent,
                n_classes,
                dropout=dropouts[0],
                row_scale=row_scale,
                encoder_dropout=dropouts[1],
                rows=rows,
                names=names[type],
                cells=masks,
            )

        return inference

    return {name: build(name) for name in network.types}


def _add_columns(
    share: Share,
    type: str,
    readings: Mapping[str, Reading],
    device: torch.device | str,
    dtype: torch.dtype,
    sparse: Callable[..., SparseMatrix],
    add: Callable[..., None],
    own_part: Callable[..., np.ndarray],
) -> None:
    """The words of a type, to it and to its attributes; its cells."""
    network = share.network
    columns = network.columns(type)
    if not columns:
        return
    attributes = columns[0].target
    words = [each.name for each in columns if each.column is not None and not each.column.has_cells]
    if words:
        parts = [readings[name].target(share.matrix(name)) for name in words]
        matrix = sp.csr_array(sum(parts[1:], parts[0]))
        has = sparse(matrix, type, attributes)
        add(type, "words", has, _row_squares(matrix))
        add(attributes, "owners", has.T, own_part(attributes, column_squares(matrix), type))
    layout = CellLayout.of(columns)
    if layout is not None:
        rows = {f"{name}>": share.matrix(name) for name in layout.relations}
        features = layout.features(rows)
        add(type, "cells", torch.as_tensor(features, device=device, dtype=dtype), (features**2).sum(axis=1))
        values = sp.csr_array(sum(list(rows.values())[1:], next(iter(rows.values()))))
        known = sparse(values, type, attributes)
        add(attributes, "values", known.T, own_part(attributes, column_squares(values), type))


def _union(share: Share, names: list[str], readings: Mapping[str, Reading]) -> sp.csr_array:
    """All links within a type, both ways of each; own rows."""
    if len(names) == 1 and share.network.relation(names[0]).pairing.undirected:
        return readings[names[0]].target(share.matrix(names[0]))
    # a directed relation is read from both ends, whoever has them
    whole = [readings[name].target(share.network.relation(name).values) for name in names]
    both = [
        part if share.network.relation(n).pairing.undirected else part + part.T
        for n, part in zip(names, whole, strict=True)
    ]
    own = share.partitions[share.network.relation(names[0]).source].own
    return sp.csr_array(sum(both[1:], both[0]))[own.start : own.stop]


def _row_squares(matrix: sp.csr_array) -> np.ndarray:
    return np.asarray(matrix.power(2).sum(axis=1))
