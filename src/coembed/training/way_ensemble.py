"""Boosted trees that tell which way the links of a directed relation go, beside the space."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from coembed.fitted import Fitted
from coembed.fitted.trees import readable, view_features
from coembed.fitted.way_models import WayModel, pair_features, views_that_read
from coembed.network import Relation
from coembed.network.pairs import entries
from coembed.training.cell_ensemble import MOST_ITEMS
from coembed.training.tree_growing import boosted_trees

FEWEST, MOST = 100, 4_000
"""Links that trees are grown from."""
COORDINATES = 16
TREES = 100


def with_way_models(fitted: Fitted) -> Fitted:
    """The result with trees for every directed relation that has links enough.

    They read what is told of an item without its links of that relation, but for how many go to it: of items
    whose links are in question little else is known.
    """
    fits = dict(fitted.relations)
    for name, relation in fitted.network.relations.items():
        if relation.directed and len(fitted.network.items(relation.source)) <= MOST_ITEMS:
            fits[name] = replace(fits[name], ways=_way_model(fitted, relation))
    return replace(fitted, relations=fits)


def _way_model(fitted: Fitted, relation: Relation) -> WayModel | None:
    rng = np.random.default_rng([int(fitted.settings["seed"]), relation.values.nnz])
    pairs = entries(relation.values)
    back = np.asarray(relation.values[pairs[:, 1], pairs[:, 0]]).reshape(-1) != 0
    pairs = rng.permutation(pairs[~back])[:MOST]
    placing, views = fitted.placing, fitted.trained.views[relation.source]
    assert placing is not None
    assert placing.lens is not None
    names, widths = readable(views, COORDINATES)
    seeing = views_that_read(placing.lens, relation.source, relation.name)
    kept = [(name, width) for name, width in zip(names, widths, strict=True) if name not in seeing]
    if len(pairs) < FEWEST or not kept:
        return None
    names, widths = (tuple(each) for each in zip(*kept, strict=True))
    table = view_features(views, names, widths, np.arange(len(views.evidence)))
    both = np.concatenate([pairs, pairs[:, ::-1]])
    wanted = np.repeat([1.0, -1.0], len(pairs))[:, None]
    trees = boosted_trees(pair_features(table, relation.values, both, both), wanted, TREES, rng)
    model = WayModel(names, widths, trees, np.ones(2))
    own, told = fitted.direction(relation.name, pairs), model.told(views, relation.values, pairs)
    sizes = [float(np.sqrt(np.mean(each**2))) or 1.0 for each in (own, told)]
    return replace(model, units=np.array(sizes))
