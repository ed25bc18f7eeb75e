"""Whether the parts of a fitted result fit one another: asked when one is saved, and when one is loaded.

A model comes from a stranger as a network does. What passes here can be asked any question: shapes fit,
numbers are finite, positions stay inside, so that no answer reads beside an array.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from coembed.errors import InputError
from coembed.fitted.layers import ViewsLayers
from coembed.likelihoods import LIKELIHOODS
from coembed.network.matrix_checks import Rules, check_entries
from coembed.records import pack

if TYPE_CHECKING:
    from coembed.fitted.cell_models import CellModel
    from coembed.fitted.conformal import ClassDoubt
    from coembed.fitted.fitted import Fitted
    from coembed.fitted.placing import Placing
    from coembed.fitted.score_blend import Blend
    from coembed.fitted.space import RelationFit
    from coembed.fitted.trees import Trees
    from coembed.network.relations import Relation

LARGEST = 1e9
"""Of codes: their products are finite then."""
MOST_DEPTH = 64
"""Steps through a tree that are taken on trust."""


def check_sound(fitted: Fitted, values: bool = True) -> None:
    """Raise an :class:`InputError` if anything does not fit; without `values` no large array is read."""
    _check_types(fitted)
    for name, relation in fitted.network.relations.items():
        if name not in fitted.relations:
            raise InputError(f"it has learnt nothing of relation {name!r}")
        _check_relation(fitted, relation, fitted.relations[name], values)
    if fitted.placing is not None:
        _check_placing(fitted, fitted.placing)
    if values:
        parts = {"types": fitted.types, "relations": fitted.relations, "placing": fitted.placing}
        for array in pack(parts)[1].values():
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise InputError("it holds NaN or infinity")
        for name, space in fitted.types.items():
            if max(abs(space.mean).max(initial=0), space.std.max(initial=0)) > LARGEST:
                raise InputError(f"its codes of {name} are beyond what any fit leaves")
            if space.std.min(initial=0) < 0:
                raise InputError(f"its deviations of {name} are negative")


def _check_types(fitted: Fitted) -> None:
    for name in fitted.types:
        items, space = fitted.network.items(name), fitted.types[name]
        classes = items.n_classes
        _check_shape(f"means of {name}", space.mean, (len(items), None))
        dim = space.mean.shape[1]
        _check_shape(f"deviations of {name}", space.std, (len(items), dim))
        if (space.probabilities is None) != (space.label_shift is None):
            raise InputError(f"it has half of what is known of the classes of {name}")
        _check_shape(f"probabilities of {name}", space.probabilities, (len(items), classes))
        _check_shape(f"label shifts of {name}", space.label_shift, (classes, 2 * dim))
        _check_shape(f"directions of {name}", space.direction, (len(items), fitted.code_dim))
        if (space.direction is None) != (fitted.types[fitted.main].direction is None):
            raise InputError(f"it has directions of some types, but not of {name}")
        _check_shape(f"table of labels of {name}", space.label_table, (classes, None))
        if not 0 <= space.block <= dim:
            raise InputError(f"its labels of {name} are put outside of the codes")
        if space.doubt is not None:
            _check_class_doubt(name, space.doubt, (len(items), classes))


def _check_class_doubt(name: str, doubt: ClassDoubt, shape: tuple[int, int]) -> None:
    _check_shape(f"p-values of {name}", doubt.p_values, shape)
    _check_shape(f"strangeness of {name}", doubt.known, (None,))
    for array in doubt.scale:
        _check_shape(f"scale of strangeness of {name}", array, shape[1:])
    if not (doubt.scale.spread > 0).all():
        raise InputError(f"its strangeness of {name} divides by zero")


def _check_relation(fitted: Fitted, relation: Relation, fit: RelationFit, values: bool) -> None:
    _check_column(relation)
    rows = relation.values.shape[0]
    size, name, span = fitted.latent_dim, relation.name, len(fitted.span(relation))
    if fit.likelihood not in LIKELIHOODS:
        raise InputError(f"it has no known likelihood of {name}")
    _check_shape(f"biases of {name}", fit.source_bias, (rows,))
    _check_shape(f"biases of {name}", fit.target_bias, (span,))
    _check_shape(f"evidence of {name}", fit.source_evidence, (None,))
    _check_shape(f"evidence of {name}", fit.target_evidence, (None,))
    _check_shape(f"turn of {name}", fit.turn, (size, size))
    _check_shape(f"lean of {name}", fit.lean, (size,))
    if fit.vectors is not None:
        _check_shape(f"vectors of {name}", fit.vectors.vectors, (span, None))
        _check_shape(f"vectors of {name}", fit.vectors.strength, (fit.vectors.vectors.shape[1],))
    for blend in fit.blends.values():
        _check_blend(name, blend)
    if fit.by_codes and "codes" not in fit.blends:
        raise InputError(f"it does not say what a cosine is worth in {name}")
    if not np.isfinite(list(fit.shifts.values())).all():
        raise InputError(f"its shifts of {name} are no numbers")
    if fit.cells is not None:
        _check_cell_model(name, fit.cells, span)
    if fit.ways is not None:
        ends = _check_views(name, fit.ways.views, fit.ways.widths)
        _check_trees(name, fit.ways.trees, 3 * ends + 3, 1)
        _check_shape(f"units of {name}", fit.ways.units, (2,))
        if not fit.ways.units.all():
            raise InputError(f"its ways of {name} divide by zero")
    _check_shape(f"errors of {name}", fit.errors, (None,))
    if fit.doubt is not None:
        _check_shape(f"hidden pairs of {name}", fit.doubt.present, (None,))
        _check_shape(f"absent pairs of {name}", fit.doubt.absent, (None,))
        if not 0 <= fit.doubt.prevalence <= 1:
            raise InputError(f"its prevalence of {name} is no share")
    if fit.log_scale is not None and fit.log_scale.shape not in ((1,), (span,)):
        raise InputError(f"its errors of {name} do not fit the column")
    if values:
        within = relation.source == relation.target
        rules = Rules(
            relation.absent == "unknown", loops=not within, symmetric=within and not relation.directed
        )
        check_entries(relation.values, name, rules)


def _check_column(relation: Relation) -> None:
    column = relation.column
    if column is None:
        return
    if not 0 <= column.start <= column.stop <= relation.values.shape[1]:
        raise InputError(f"its column {column.name!r} leaves the attributes")
    if not (math.isfinite(column.center) and math.isfinite(column.scale) and column.scale > 0):
        raise InputError(f"its column {column.name!r} has no finite unit")


def _check_blend(name: str, blend: Blend) -> None:
    _check_shape(f"blend of {name}", blend.first, (None, None))
    features, hidden = blend.first.shape
    shapes = ((features,), (features,), (features, hidden), (hidden,), (hidden,), (1,))
    for array, shape in zip(blend, shapes, strict=True):
        _check_shape(f"blend of {name}", array, shape)
    if not blend.std.all():
        raise InputError(f"its blend of {name} divides by zero")


def _check_cell_model(name: str, model: CellModel, span: int) -> None:
    features = _check_views(name, model.views, model.widths)
    _check_shape(f"linear model of {name}", model.weight, (features, span))
    _check_shape(f"linear model of {name}", model.bias, (span,))
    _check_shape(f"shares of {name}", model.shares, (3,))
    if model.trees is not None:
        _check_trees(name, model.trees, features, span)


def _check_views(name: str, views: Sequence[str], widths: Sequence[int]) -> int:
    """How many features views give that a model reads."""
    if len(views) != len(widths) or min(widths, default=0) < 0:
        raise InputError(f"its models of {name} read views that do not fit")
    return sum(widths)


def _check_trees(name: str, trees: Trees, features: int, outputs: int) -> None:
    nodes = len(trees.feature)
    _check_shape(f"trees of {name}", trees.value, (nodes, outputs))
    _check_shape(f"trees of {name}", trees.threshold, (nodes,))
    for array, shape, most in (
        (trees.roots, (None,), nodes),
        (trees.feature, (nodes,), features),
        (trees.children, (nodes, 2), nodes),
    ):
        _check_shape(f"trees of {name}", array, shape, kinds="iu")
        if array.size and not (array.min() >= 0 and array.max() < most):
            raise InputError(f"its trees of {name} lead outside")
    if not 0 <= trees.depth <= MOST_DEPTH:
        raise InputError(f"its trees of {name} are {trees.depth} deep")


def _check_placing(fitted: Fitted, placing: Placing) -> None:
    for name in fitted.network.relations:
        if name not in placing.readings:
            raise InputError(f"it does not say how the values of {name} are read")
    for name, alike in placing.alike.items():
        count = len(fitted.network.items(name))
        if alike is None:
            continue
        if alike.rows.dtype.kind not in "iu" or alike.rows.ndim != 2:
            raise InputError(f"its items alike of {name} are not positions")
        _check_shape(f"items alike of {name}", alike.rows, (count, None), kinds="iu")
        _check_shape(f"items alike of {name}", alike.cosines, alike.rows.shape)
        # they become the positions of a sparse matrix, which SciPy trusts
        if alike.rows.size and not (alike.rows.min() >= 0 and alike.rows.max() < count):
            raise InputError(f"its items alike of {name} are not positions of items")
    for name, space in fitted.types.items():
        if space.direction is not None and name not in placing.steering:
            raise InputError(f"it does not say where newcomers of {name} point")
        for turn in placing.steering.get(name, {}).values():
            _check_shape(f"steering of {name}", turn, (fitted.code_dim, fitted.code_dim))
    for name, mass in placing.mass.items():
        items = fitted.network.items(name)
        _check_shape(f"class shares of {name}", mass, (len(items), None))
    for name, layers in placing.layers.items():
        fitted.network.items(name)
        if isinstance(layers, ViewsLayers):
            outputs = layers.last.weight.shape[-1:]
            for array in (layers.last.bias, layers.evidence):
                if array.shape[-1:] != outputs:
                    raise InputError(f"its inference network of {name} has layers that do not fit")


def _check_shape(what: str, array: np.ndarray | None, shape: Sequence[int | None], kinds: str = "f") -> None:
    """Numbers of some kind in a shape, in which None may be any size; what is not there fits."""
    if array is None:
        return
    fits = array.ndim == len(shape) and all(
        expected in (None, size) for size, expected in zip(array.shape, shape, strict=True)
    )
    if array.dtype.kind not in kinds or not fits:
        said = " x ".join("any" if size is None else str(size) for size in shape)
        raise InputError(f"its {what} are {array.dtype} of shape {array.shape}, not numbers of shape {said}")
