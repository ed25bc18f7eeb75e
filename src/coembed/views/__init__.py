"""Views of items: fixed features made from their words, cells and relations, and from the items like them.

numpy and scipy only: what was learnt on these views must also read those of new items, without torch.
"""

from coembed.views.lens import Lens, TypeLens, bare_lens, find_lens
from coembed.views.nearest_neighbours import Neighbours, nearest_rows
from coembed.views.reach import Reading, Touch, readings, touching
from coembed.views.type_views import (
    VOTERS,
    Seen,
    TypeViews,
    attribute_views,
    look,
    owners_of,
    training_views,
    views_of,
)

__all__ = [
    "VOTERS",
    "Lens",
    "Neighbours",
    "Reading",
    "Seen",
    "Touch",
    "TypeLens",
    "TypeViews",
    "attribute_views",
    "bare_lens",
    "find_lens",
    "look",
    "nearest_rows",
    "owners_of",
    "readings",
    "touching",
    "training_views",
    "views_of",
]
