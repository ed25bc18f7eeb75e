"""SCAN: nodes with labels, attributes without; links between nodes, and who has which attribute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch import nn

from coembed.distributed.exchange import sum_of_all
from coembed.distributed.partition import Partition
from coembed.distributed.shares import Share
from coembed.kernels import SparseMatrix
from coembed.model.inference import DenseInference, GraphInference, Propagation
from coembed.model.relation_term import ModelledRelation
from coembed.model.svae import SVAE, EntityType, Objective
from coembed.model.views_inference import ViewsInference
from coembed.network import Network
from coembed.network.matrices import column_squares, root_mean_square, unit_rows
from coembed.progress import Tell
from coembed.settings import Likelihood, Settings
from coembed.views import (
    AttributeViews,
    Basis,
    NodeViews,
    attribute_views,
    find_basis,
    training_views,
)

NODE, ATTRIBUTE = "node", "attribute"
LINKS, ATTRIBUTES = "links", "attributes"
LONG_TO_LOOK_AT = 65_536
"""Nodes from which on making the views is worth a word on how far it is."""

Builder = Callable[[int, int], nn.Module]


def likelihood_of(matrix: sp.csr_array, likelihood: Likelihood) -> Literal["bernoulli", "gaussian"]:
    """What `auto` stands for: values are explained where presence says little, or where some are negative.

    Examples
    --------
    >>> likelihood_of(sp.csr_array(np.eye(3)), "auto"), likelihood_of(sp.csr_array(-np.eye(3)), "auto")
    ('bernoulli', 'gaussian')
    """
    if likelihood != "auto":
        return likelihood
    if not matrix.nnz:
        return "bernoulli"
    mostly_there = 2 * matrix.nnz > matrix.shape[0] * matrix.shape[1]
    values_tell = matrix.data.min() < 0 or (mostly_there and np.ptp(matrix.data) > 0)
    return "gaussian" if values_tell else "bernoulli"


def as_modelled(
    matrix: sp.csr_array, likelihood: Likelihood, rows: Partition | None = None
) -> tuple[sp.csr_array, float]:
    """The matrix that the model reads and explains, and the unit in which its values are measured.

    Bernoulli: presence, as the paper takes it, counts and tf-idf included. Gaussian: the values, in units of
    the root mean square of those stored, so that codes have the size of their prior. `rows` says how all rows
    are dealt out, if these are one process's.
    """
    if likelihood_of(matrix, likelihood) == "bernoulli":
        presence = sp.csr_array(
            (np.ones_like(matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape
        )
        return presence, 1.0
    unit = root_mean_square(matrix)
    if rows is not None:
        squares, count = sum_of_all(np.array([unit**2 * matrix.nnz, matrix.nnz]), rows)
        unit = float(np.sqrt(squares / count)) if count else 1.0
    return sp.csr_array(
        (matrix.data / np.float32(unit), matrix.indices, matrix.indptr), shape=matrix.shape
    ), unit


class Seen(NamedTuple):
    """The views of a network's nodes and attributes, and the basis that they were made with."""

    basis: Basis
    nodes: NodeViews
    attributes: AttributeViews


def look(network: Network, settings: Settings, steps: Tell | None = None) -> Seen:
    """The views of a training network; of a large one `steps` is told how far it is."""
    links, _ = as_modelled(network.links, settings.links)
    attributes, _ = as_modelled(network.attributes, settings.attributes)
    tell = steps if steps is not None and network.n_nodes > LONG_TO_LOOK_AT else None
    basis = find_basis(links, attributes, settings.rank, settings.seed, tell)
    nodes = training_views(links, attributes, basis, settings.neighbours, steps=tell)
    return Seen(basis, nodes, attribute_views(attributes.T.tocsr(), nodes))


def scan(
    network: Network | Share,
    settings: Settings,
    device: torch.device | str = "cpu",
    seen: Seen | None = None,
    opinion: np.ndarray | None = None,
) -> SVAE:
    """The SCAN of a network. Links, attributes or labels may be missing: what is left is still a model.

    `opinion` holds probabilities of classes to imitate where a label is unknown, as much as `jury` says.

    Of a network that is dealt out to processes, each calls this with its share, and that of what is seen.
    """
    if settings.encoder == "views" and seen is None:
        if isinstance(network, Share):
            raise ValueError("a share of a network does not tell its views; give them")
        seen = look(network, settings)
    share = network if isinstance(network, Share) else Share.of(network)
    nodes, items = share.nodes, share.items
    dtype = getattr(torch, settings.precision)
    links, _ = as_modelled(share.links, settings.links, nodes)
    attributes, _ = as_modelled(share.attributes, settings.attributes, nodes)
    if settings.encoder == "views" and seen is not None:
        builders = _views_inference(seen, settings, device, dtype, nodes, items)
    else:
        builders = _paper_inference(links, attributes, settings, device, dtype, nodes, items)
    evidence: dict[str, np.ndarray | None] = {NODE: None, ATTRIBUTE: None}
    if settings.biases:
        owners = sum_of_all(np.bincount(attributes.indices, minlength=items.total), nodes)
        evidence[NODE] = np.log1p(np.stack([np.diff(links.indptr), np.diff(attributes.indptr)], axis=1))
        evidence[ATTRIBUTE] = np.log1p(owners)[items.own.start : items.own.stop, None]

    n_links, n_entries = sum_of_all(np.array([links.nnz, attributes.nnz]), nodes)
    types = [
        EntityType(
            NODE, nodes.total, builders[NODE], share.n_classes, share.labels, rows=nodes, opinion=opinion
        )
    ]
    relations = []
    if n_links or not n_entries:
        relations.append(
            ModelledRelation(
                LINKS,
                NODE,
                NODE,
                links,
                likelihood_of(links, settings.links),
                settings.beta,
                evidence[NODE],
                evidence[NODE],
            )
        )
    if items.total:
        types.append(EntityType(ATTRIBUTE, items.total, builders[ATTRIBUTE], rows=items))
        if n_entries:
            relations.append(
                ModelledRelation(
                    ATTRIBUTES,
                    NODE,
                    ATTRIBUTE,
                    attributes,
                    likelihood_of(attributes, settings.attributes),
                    1 - settings.beta,
                    evidence[NODE],
                    evidence[ATTRIBUTE],
                )
            )
    goal = Objective(**{field.name: getattr(settings, field.name) for field in fields(Objective)})
    return SVAE(types, relations, settings.dim, goal, device, dtype)


def _paper_inference(
    links: sp.csr_array,
    attributes: sp.csr_array,
    settings: Settings,
    device: torch.device | str,
    dtype: torch.dtype,
    nodes: Partition,
    items: Partition,
) -> dict[str, Builder]:
    """Propagation over the links for nodes, two dense layers for attributes."""
    adjacency = SparseMatrix(links, symmetric=True, rows=nodes, columns=nodes, device=device, dtype=dtype)
    has = SparseMatrix(attributes, rows=nodes, columns=items, device=device, dtype=dtype)
    node_scale = unit_rows([links, attributes]) if settings.node_inputs == "unit" else None
    attribute_scale = None
    if settings.attribute_inputs == "unit":
        squares = sum_of_all(column_squares(attributes), nodes)[items.own.start : items.own.stop]
        attribute_scale = (1 / np.sqrt(np.maximum(squares, 1e-12))).astype(np.float32)
    degrees = torch.as_tensor(abs(links).sum(axis=1), device=device, dtype=dtype)

    def tensor(scale: np.ndarray | None) -> torch.Tensor | None:
        return None if scale is None else torch.as_tensor(scale, device=device, dtype=dtype)

    def node_inference(latent: int, n_classes: int) -> nn.Module:
        return GraphInference(
            [adjacency, has],
            Propagation(adjacency, degrees),
            settings.hidden,
            latent,
            n_classes,
            dropout=settings.dropout,
            row_scale=tensor(node_scale),
            encoder_dropout=settings.encoder_dropout,
            rows=nodes,
        )

    def attribute_inference(latent: int, n_classes: int) -> nn.Module:
        return DenseInference(
            [has.T],
            settings.hidden,
            latent,
            n_classes,
            row_scale=tensor(attribute_scale),
            encoder_dropout=settings.encoder_dropout,
            rows=items,
        )

    return {NODE: node_inference, ATTRIBUTE: attribute_inference}


def _views_inference(
    seen: Seen,
    settings: Settings,
    device: torch.device | str,
    dtype: torch.dtype,
    nodes: Partition,
    items: Partition,
) -> dict[str, Builder]:
    """A branch for every view, of nodes and of attributes."""

    def build(seen: NodeViews | AttributeViews, rows: Partition, columns: dict[str, Partition]) -> Builder:
        return lambda latent, n_classes: ViewsInference(
            seen.all,
            seen.evidence,
            settings.hidden,
            latent,
            n_classes,
            dropout=settings.dropout,
            encoder_dropout=settings.encoder_dropout,
            input_dropout=settings.input_dropout,
            device=device,
            dtype=dtype,
            rows=rows,
            columns=columns,
            by_columns=("owners",) if rows.processes > 1 else (),
        )

    return {
        NODE: build(seen.nodes, nodes, {"words": items}),
        ATTRIBUTE: build(seen.attributes, items, {"owners": nodes}),
    }
