"""Views of a node: fixed features made from its attributes, its links, and the nodes that are like it.

numpy and scipy only: what was learnt on these views must also read those of new nodes, without torch.
"""

from coembed.views.attribute_views import AttributeViews, attribute_views
from coembed.views.basis import Basis, find_basis
from coembed.views.nearest_neighbours import Neighbours, nearest_rows
from coembed.views.node_views import GROUPS, VOTERS, NodeViews, new_views, training_views

__all__ = [
    "GROUPS",
    "VOTERS",
    "AttributeViews",
    "Basis",
    "Neighbours",
    "NodeViews",
    "attribute_views",
    "find_basis",
    "nearest_rows",
    "new_views",
    "training_views",
]
