"""SCAN: nodes with labels, attributes without; links between nodes, and who has which attribute."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import scipy.sparse as sp
import torch
from torch import nn

from coembed.kernels import SparseMatrix
from coembed.model.inference import DenseInference, GraphInference, Propagation
from coembed.model.relation import Relation
from coembed.model.svae import SVAE, EntityType, Objective
from coembed.network import Network
from coembed.network.rows import root_mean_square, unit_rows
from coembed.settings import Likelihood, Settings

NODE, ATTRIBUTE = "node", "attribute"
LINKS, ATTRIBUTES = "links", "attributes"


def as_modelled(matrix: sp.csr_array, likelihood: Likelihood) -> tuple[sp.csr_array, float]:
    """The matrix that the model reads and explains, and the unit in which its values are measured.

    Bernoulli: presence, as the paper takes it, counts and tf-idf included. Gaussian: the values, in units of
    the root mean square of those stored, so that codes have the size of their prior.
    """
    if likelihood == "bernoulli":
        presence = sp.csr_array(
            (np.ones_like(matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape
        )
        return presence, 1.0
    unit = root_mean_square(matrix)
    return sp.csr_array(
        (matrix.data / np.float32(unit), matrix.indices, matrix.indptr), shape=matrix.shape
    ), unit


def scan(network: Network, settings: Settings, device: torch.device | str = "cpu") -> SVAE:
    """The SCAN of a network. Links, attributes or labels may be missing: what is left is still a model."""
    dtype = getattr(torch, settings.precision)
    links, _ = as_modelled(network.links, settings.links)
    attributes, _ = as_modelled(network.attributes, settings.attributes)
    adjacency = SparseMatrix(links, symmetric=True, device=device, dtype=dtype)
    has = SparseMatrix(attributes, device=device, dtype=dtype)
    owners = SparseMatrix(attributes.T.tocsr(), device=device, dtype=dtype)
    node_scale = unit_rows([links, attributes]) if settings.node_inputs == "unit" else None
    attribute_scale = unit_rows([attributes.T.tocsr()]) if settings.attribute_inputs == "unit" else None
    degrees = torch.as_tensor(abs(links).sum(axis=1), device=device, dtype=dtype)

    def tensor(scale: np.ndarray | None) -> torch.Tensor | None:
        return None if scale is None else torch.as_tensor(scale, device=device, dtype=dtype)

    def node_inference(latent: int, n_classes: int) -> nn.Module:
        graph = Propagation(adjacency, degrees)
        return GraphInference(
            [adjacency, has],
            graph,
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

    types = [EntityType(NODE, network.n_nodes, node_inference, network.n_classes, network.labels)]
    relations = []
    if links.nnz or not attributes.nnz:
        relations.append(Relation(LINKS, NODE, NODE, links, settings.links, settings.beta))
    if network.n_attributes:
        types.append(EntityType(ATTRIBUTE, network.n_attributes, attribute_inference))
        if attributes.nnz:
            relations.append(
                Relation(ATTRIBUTES, NODE, ATTRIBUTE, attributes, settings.attributes, 1 - settings.beta)
            )
    goal = Objective(**{field.name: getattr(settings, field.name) for field in fields(Objective)})
    return SVAE(types, relations, settings.dim, goal, device, dtype)
