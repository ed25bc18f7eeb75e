"""SCAN: nodes with labels, attributes without; links between nodes, and who has which attribute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch import nn

from coembed.kernels import SparseMatrix
from coembed.model.inference import DenseInference, GraphInference, Propagation
from coembed.model.relation import Relation
from coembed.model.svae import SVAE, EntityType, Objective
from coembed.model.views import ViewsInference
from coembed.network import Network
from coembed.network.rows import root_mean_square, unit_rows
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


def as_modelled(matrix: sp.csr_array, likelihood: Likelihood) -> tuple[sp.csr_array, float]:
    """The matrix that the model reads and explains, and the unit in which its values are measured.

    Bernoulli: presence, as the paper takes it, counts and tf-idf included. Gaussian: the values, in units of
    the root mean square of those stored, so that codes have the size of their prior.
    """
    if likelihood_of(matrix, likelihood) == "bernoulli":
        presence = sp.csr_array(
            (np.ones_like(matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape
        )
        return presence, 1.0
    unit = root_mean_square(matrix)
    return sp.csr_array(
        (matrix.data / np.float32(unit), matrix.indices, matrix.indptr), shape=matrix.shape
    ), unit


class Seen(NamedTuple):
    """The views of a network's nodes and attributes, and the basis that they were made with."""

    basis: Basis
    nodes: NodeViews
    attributes: AttributeViews


def look(network: Network, settings: Settings) -> Seen:
    """The views of a training network."""
    links, _ = as_modelled(network.links, settings.links)
    attributes, _ = as_modelled(network.attributes, settings.attributes)
    basis = find_basis(links, attributes, settings.rank, settings.seed)
    nodes = training_views(links, attributes, basis, settings.neighbours)
    return Seen(basis, nodes, attribute_views(attributes.T.tocsr(), nodes))


def scan(
    network: Network, settings: Settings, device: torch.device | str = "cpu", seen: Seen | None = None
) -> SVAE:
    """The SCAN of a network. Links, attributes or labels may be missing: what is left is still a model."""
    if settings.encoder == "views" and seen is None:
        seen = look(network, settings)
    dtype = getattr(torch, settings.precision)
    links, _ = as_modelled(network.links, settings.links)
    attributes, _ = as_modelled(network.attributes, settings.attributes)
    if settings.encoder == "views" and seen is not None:
        builders = _views_inference(seen, settings, device, dtype)
    else:
        builders = _paper_inference(links, attributes, settings, device, dtype)
    evidence: dict[str, np.ndarray | None] = {NODE: None, ATTRIBUTE: None}
    if settings.biases:
        counts = np.diff(attributes.indptr), np.bincount(attributes.indices, minlength=attributes.shape[1])
        evidence[NODE] = np.log1p(np.stack([np.diff(links.indptr), counts[0]], axis=1))
        evidence[ATTRIBUTE] = np.log1p(counts[1])[:, None]

    types = [EntityType(NODE, network.n_nodes, builders[NODE], network.n_classes, network.labels)]
    relations = []
    if links.nnz or not attributes.nnz:
        relations.append(
            Relation(
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
    if network.n_attributes:
        types.append(EntityType(ATTRIBUTE, network.n_attributes, builders[ATTRIBUTE]))
        if attributes.nnz:
            relations.append(
                Relation(
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
) -> dict[str, Builder]:
    """Propagation over the links for nodes, two dense layers for attributes."""
    adjacency = SparseMatrix(links, symmetric=True, device=device, dtype=dtype)
    has = SparseMatrix(attributes, device=device, dtype=dtype)
    owners = SparseMatrix(attributes.T.tocsr(), device=device, dtype=dtype)
    node_scale = unit_rows([links, attributes]) if settings.node_inputs == "unit" else None
    attribute_scale = unit_rows([attributes.T.tocsr()]) if settings.attribute_inputs == "unit" else None
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
        )

    def attribute_inference(latent: int, n_classes: int) -> nn.Module:
        return DenseInference(
            [owners],
            settings.hidden,
            latent,
            n_classes,
            row_scale=tensor(attribute_scale),
            encoder_dropout=settings.encoder_dropout,
        )

    return {NODE: node_inference, ATTRIBUTE: attribute_inference}


def _views_inference(
    seen: Seen, settings: Settings, device: torch.device | str, dtype: torch.dtype
) -> dict[str, Builder]:
    """A branch for every view, of nodes and of attributes."""

    def build(seen: NodeViews | AttributeViews) -> Builder:
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
        )

    return {NODE: build(seen.nodes), ATTRIBUTE: build(seen.attributes)}
