"""The mathematics: the semi-supervised variational auto-encoder for heterogeneous data, and SCAN.

Knows nothing of files and epochs.
"""

from coembed.model.feature_term import Features
from coembed.model.inference import DenseInference, Evidence, GraphInference, Inputs
from coembed.model.item_codes import ItemCodes
from coembed.model.labels import LabelVariable
from coembed.model.latent import Gaussian
from coembed.model.modelled_relation import Cells, ModelledRelation
from coembed.model.relation_term import RelationTerm
from coembed.model.scan import scan
from coembed.model.svae import SVAE, EntityType, Loss, Objective

__all__ = [
    "SVAE",
    "Cells",
    "DenseInference",
    "EntityType",
    "Evidence",
    "Features",
    "Gaussian",
    "GraphInference",
    "Inputs",
    "ItemCodes",
    "LabelVariable",
    "Loss",
    "ModelledRelation",
    "Objective",
    "RelationTerm",
    "scan",
]
