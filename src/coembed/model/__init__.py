"""The mathematics: the semi-supervised variational auto-encoder for heterogeneous data, and SCAN.

Knows nothing of files and epochs.
"""

from coembed.model.gaussian import Gaussian
from coembed.model.inference import DenseInference, Evidence, GraphInference, Inputs
from coembed.model.labels import LabelVariable
from coembed.model.relation_term import Codes, Relation, RelationTerm
from coembed.model.scan import scan
from coembed.model.svae import SVAE, EntityType, Features, Loss, Objective

__all__ = [
    "SVAE",
    "Codes",
    "DenseInference",
    "EntityType",
    "Evidence",
    "Features",
    "Gaussian",
    "GraphInference",
    "Inputs",
    "LabelVariable",
    "Loss",
    "Objective",
    "Relation",
    "RelationTerm",
    "scan",
]
