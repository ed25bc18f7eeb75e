"""The co-embedding without gradients: codes, variances, biases and classes, all solved for.

Codes are the leading eigenvectors of all relations at once, each entry divided by the roots of the degrees of
both ends: u_i u_j is then the best product of so few coordinates. With them the relations are linear-Gaussian
in the codes of either end,

    x_ij = <u_i, u_j> sqrt(d_i d_j) + e,    e ~ N(0, s^2),    u_i ~ N(0, t^2),

and the posterior of a coordinate, the others given, has the precision 1/t^2 + d_i sum_j d_j u_j^2 / s^2: who
has more entries is known better. Attributes are regressions on the codes of those that they are known of,
classes those of the label ensemble, which a linear model of the views imitates at every item; that model also
places newcomers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
import scipy.sparse as sp
from scipy.special import expit, log_softmax, logit, softmax

from coembed.fitted import Fitted
from coembed.fitted.gaussians import LOG_STD_RANGE
from coembed.fitted.layers import Layers, LinearLayers, LinearModel
from coembed.fitted.placing import Placing
from coembed.fitted.space import TypeSpace
from coembed.network import Network
from coembed.network.matrices import presence
from coembed.network.relations import Relation
from coembed.training.closed_form_relations import CodeBlocks, relation_fits
from coembed.training.label_ensemble import HALF
from coembed.training.label_views import smoothed, walk_within
from coembed.training.prepared import Prepared
from coembed.training.ridge_model import ridge_model
from coembed.version import __version__
from coembed.views.decomposition import leading_eigenvectors

LEAST_SHARE = 1e-3
"""Below which no class is thought by the ensemble, when it is imitated: a logarithm needs some bound."""
RIDGE = 1e-2
"""Pull of an attribute's code towards zero, in mean squares of a coordinate."""
LOOKED_AT = 20_000
"""Stored entries that tell how far the codes are from them."""
CLOSED_FORM = "solved for in closed form"


def closed_form_result(prepared: Prepared, preset: str, notices: Sequence[str] = ()) -> Fitted:
    """All that is asked of a model later, solved for; the counterpart of training and extraction."""
    network, settings, seen = prepared.network, prepared.settings, prepared.seen
    assert seen is not None
    blocks = CodeBlocks.of(network, settings.dim)
    z, variances = eigen_codes(network, prepared, settings.dim, settings.seed)
    classes = {name: _classes(prepared, name) for name in network.labelled_types}
    codes = {}
    for name in network.entity_types:
        told = classes[name].probabilities if name in classes else None
        codes[name] = blocks.joined(name, z[name], blocks.label_part(network, name, told))
    for name in network.entity_types:
        attributes = network.attribute_type(name)
        if attributes is not None:
            weights, errors = attribute_codes(network, name, codes[name], blocks.size)
            codes[attributes], variances[attributes] = weights, errors
    types: dict[str, TypeSpace] = {}
    layers: dict[str, Layers] = {}
    for name in network.types:
        mean = blocks.without_label(name, codes[name])
        std = np.sqrt(variances[name])
        if std.shape != mean.shape:  # of the labels of other types nothing is known but that they are not
            beside = np.zeros((len(mean), mean.shape[1] - std.shape[1]))
            std = np.hstack([std, beside])
        std = np.clip(std, *np.exp(LOG_STD_RANGE)).astype(np.float32)
        own = classes.get(name)
        types[name] = TypeSpace(
            mean,
            std,
            None if own is None else own.probabilities,
            None if own is None else np.zeros((own.probabilities.shape[1], 2 * mean.shape[1]), np.float32),
            blocks.starts[name],
            prepared.strengths.get(name, 0.0),
            blocks.tables.get(name),
            prepared.thresholds.get(name),
            doubt=prepared.doubts.get(name),
        )
        if len(mean):
            gaussian = ridge_model(seen.types[name], np.hstack([mean, np.log(std)]))
            layers[name] = LinearLayers(gaussian, None if own is None else own.model)
    history = {
        "validated_at": [],
        "best_epoch": 0,
        "stopped": CLOSED_FORM,
        "notices": [*prepared.notices, *notices],
        "out_of_fold": {name: dict(figures) for name, figures in prepared.out_of_fold.items()},
    }
    versions = {"coembed": __version__, "numpy": np.__version__, "scipy": scipy.__version__}
    return Fitted(
        network=network,
        settings=settings.as_dict(),
        history=history,
        preset=preset,
        types=types,
        relations=relation_fits(network, prepared.readings, codes, blocks, settings.seed),
        placing=Placing(
            dict(prepared.readings),
            layers,
            seen.lens,
            {name: seen.types[name].alike for name in seen.lens.types},
            dict(prepared.mass),
        ),
        origin={**versions, "data": prepared.fingerprint},
    )


def eigen_codes(
    network: Network, prepared: Prepared, dim: int, seed: int
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Codes and posterior variances of all items by all relations at once, by type."""
    sizes = [len(items) for items in network.types.values()]
    starts = dict(zip(network.types, np.cumsum([0, *sizes[:-1]]), strict=True))
    total = sum(sizes)
    joint = sp.csr_array((total, total), dtype=np.float32)
    for relation in network.relations.values():
        matrix = prepared.readings[relation.name].target(relation.values)
        scaled = degree_normalised(matrix).tocoo()
        rows, columns = scaled.coords
        moved = rows + starts[relation.source], columns + starts[relation.target]
        block = sp.csr_array((scaled.data, moved), shape=(total, total))
        joint = joint + (block if relation.pairing.undirected else (block + block.T) / 2)
    values, vectors = leading_eigenvectors(joint, min(dim, total), seed)
    found = np.zeros((total, dim), dtype=np.float32)
    found[:, : len(values)] = vectors * np.sqrt(np.maximum(values, 0))
    precision = _precision(joint, found, seed)
    length = np.sqrt(np.mean(np.square(found).sum(axis=1))) or 1.0
    parts = {
        name: slice(start, start + size) for (name, start), size in zip(starts.items(), sizes, strict=True)
    }
    return (
        {name: found[part] / length for name, part in parts.items()},
        {name: 1 / precision[part] / length**2 for name, part in parts.items()},
    )


def _precision(joint: sp.csr_array, codes: np.ndarray, seed: int) -> np.ndarray:
    """Of every coordinate of every item, the others given: that of the prior, and of the entries it has."""
    has = np.diff(joint.indptr)
    prior = 1 / np.maximum(np.mean(codes**2, axis=0), 1e-12)
    if not joint.nnz:
        return np.broadcast_to(prior, codes.shape)
    some = np.sort(np.random.default_rng([seed, 43]).integers(0, joint.nnz, LOOKED_AT))
    rows, columns = np.searchsorted(joint.indptr, some, side="right") - 1, joint.indices[some]
    told = np.einsum("nd,nd->n", codes[rows], codes[columns])
    # entries were divided by about these, and so were their errors
    noise = np.mean((joint.data[some] - told) ** 2 * has[rows] * has[columns])
    return prior + has[:, None] * (presence(joint) @ (has[:, None] * codes**2)) / max(noise, 1e-6)


def degree_normalised(matrix: sp.csr_array) -> sp.csr_array:
    """Entries divided by the roots of what both ends have, and the mean end has: D^-1/2 X D^-1/2."""
    squares = matrix.copy()
    squares.data = np.square(squares.data)
    near, far = (np.asarray(squares.sum(axis=axis)).ravel() for axis in (1, 0))
    scales = [1 / np.sqrt(np.maximum(each + each.mean(), 1e-9)) for each in (near, far)]
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    data = matrix.data * scales[0][rows] * scales[1][matrix.indices]
    return sp.csr_array((data.astype(np.float32), matrix.indices, matrix.indptr), shape=matrix.shape)


def attribute_codes(
    network: Network, owner: str, codes: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray]:
    """Every attribute as a regression on the codes of those that it is known of, and its variances."""
    attributes = network.attribute_type(owner)
    assert attributes is not None
    count = len(network.items(attributes))
    weights, variances = np.zeros((count, size), np.float32), np.ones((count, size), np.float32)
    gram = codes.T @ codes
    pull = RIDGE * max(np.trace(gram) / size, 1e-9) * np.eye(size)
    inverse = np.linalg.inv(gram + pull)
    for relation in network.columns(owner):
        column = relation.column
        assert column is not None
        span = slice(column.start, column.stop)
        if column.has_cells:
            weights[span], variances[span] = _cell_codes(relation, codes, pull)
            continue
        wanted = degree_normalised(presence(sp.csr_array(relation.values[:, span])))
        weights[span] = (wanted.T @ codes) @ inverse
        # of the attribute's owners, who are as many as it has entries
        owners = np.maximum(np.diff(sp.csc_array(wanted).indptr), 1)
        scatter = np.mean(weights[span] ** 2)
        shape = np.diag(inverse) / max(np.mean(np.diag(inverse)), 1e-12)
        variances[span] = scatter * shape / (1 + owners[:, None])
    return weights, variances


def _cell_codes(relation: Relation, codes: np.ndarray, pull: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same of a column with cells, from the items whose cell is known.

    Of a value that is there or not, the logit to first order around how often it is, (E[x] - p) / p (1 - p),
    or, of one of several, its logarithm, (E[x] - p) / p.
    """
    column = relation.column
    assert column is not None
    cells = sp.csr_array(relation.values[:, column.start : column.stop])
    rows = np.flatnonzero(np.diff(cells.indptr))
    here, values = codes[rows], cells[rows].toarray()
    mean = values.mean(axis=0) if len(rows) else np.zeros(values.shape[1])
    inverse = np.linalg.inv(here.T @ here + pull)
    weights = inverse @ (here.T @ (values - mean))
    errors = np.mean((values - mean - here @ weights) ** 2, axis=0) if len(rows) else np.ones(len(mean))
    scale = np.ones(len(mean))
    if not column.numeric:
        shares = np.clip(mean, 0.02, 0.98)
        scale = 1 / shares if column.kind == "category" else 1 / (shares * (1 - shares))
    return (weights * scale).T, np.outer(errors * scale**2, np.diag(inverse))


@dataclass(frozen=True, eq=False)
class _Classes:
    """Probabilities of all items of a type, and the model of its views that tells those of newcomers."""

    probabilities: np.ndarray
    model: LinearModel


def _classes(prepared: Prepared, type: str) -> _Classes:
    """What the ensemble thinks, and a linear model of the views that imitates it at every item.

    The model sees every item and is wrong elsewhere than the ensemble: the answer lies between both.
    """
    network, seen = prepared.network, prepared.seen
    known = network.items(type).labels
    assert known is not None
    assert seen is not None
    opinion = prepared.opinions.get(type)
    if opinion is None:
        opinion = _shares(known.values, known.n_classes)
    labelled = np.flatnonzero(known.values >= 0) if known.values.ndim == 1 else np.empty(0, np.int64)
    imitated = np.clip(opinion, LEAST_SHARE, 1 - LEAST_SHARE if known.several else None)
    if len(labelled):
        imitated[labelled] = LEAST_SHARE
        imitated[labelled, known.values[labelled]] = 1
    wanted = logit(imitated) if known.several else np.log(imitated)
    model = ridge_model(seen.types[type], wanted)
    logits = model.of(seen.types[type])
    own = expit(logits) if known.several else softmax(logits, axis=1)
    strength = prepared.strengths.get(type, 0.0)
    own = smoothed(walk_within(network, type), own, known.values, strength) if strength else own
    share = prepared.shares.get(type, HALF)
    if known.several:
        mixed = expit((1 - share) * logit(_inside(own)) + share * logit(_inside(opinion)))
    else:
        mixed = np.exp(
            log_softmax((1 - share) * np.log(_inside(own)) + share * np.log(_inside(opinion)), axis=1)
        )
    return _Classes(mixed.astype(np.float32), model)


def _inside(shares: np.ndarray) -> np.ndarray:
    return np.clip(shares, 1e-6, 1 - 1e-6)


def _shares(labels: np.ndarray, n_classes: int) -> np.ndarray:
    """How common each class is: all that can be said where nothing is told."""
    if labels.ndim == 2:
        yes, seen = (labels == 1).sum(axis=0) + 0.5, (labels >= 0).sum(axis=0) + 1
        return np.tile((yes / seen).astype(np.float32), (len(labels), 1))
    counts = np.bincount(labels[labels >= 0], minlength=n_classes) + 1.0
    return np.tile((counts / counts.sum()).astype(np.float32), (len(labels), 1))
