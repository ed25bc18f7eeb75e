"""Placing unseen items with the trained inference networks, in numpy alone.

A new item only reads from the known ones, whose hidden values, views and degrees stay those of the training
network: so nothing known moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, softmax

from coembed.errors import InputError, one_line
from coembed.fitted.gaussians import Gaussians, from_log_std, with_observed
from coembed.fitted.layers import Layers, RowLayers
from coembed.network.matrices import unit_rows
from coembed.network.network import Network
from coembed.views import (
    Lens,
    Neighbours,
    Reading,
    Touch,
    TypeViews,
    attribute_views,
    bare_lens,
    touching,
    training_views,
    views_of,
)
from coembed.views.basis import averaging
from coembed.views.lens import link_rows, word_rows

if TYPE_CHECKING:
    from coembed.fitted.learnt import Learnt


@dataclass(frozen=True, eq=False)
class Placing:
    """All that a fit writes for items that it has not seen.

    Attributes
    ----------
    readings
        How the values of each relation are read.
    layers
        The inference networks, by type.
    lens
        What views are made with; None if the networks read rows.
    alike
        The training items nearest to each training item, by type.
    mass
        What newcomers are shown of the classes of known items, by type.
    steering
        By type and way, what turns the mean direction of what an item touches into its own.
    """

    readings: dict[str, Reading]
    layers: dict[str, Layers]
    lens: Lens | None = None
    alike: dict[str, Neighbours | None] = field(default_factory=dict)
    mass: dict[str, np.ndarray] = field(default_factory=dict)
    steering: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)


class TrainedRows(NamedTuple):
    """The layers at the training items: the first product, the hidden values, and the diagonal of D^-1/2."""

    first: np.ndarray
    hidden: np.ndarray
    scale: np.ndarray


class Trained(NamedTuple):
    """What new items lean on: the views of the training items, or their layers."""

    views: dict[str, TypeViews]
    rows: dict[str, TrainedRows]


Reach = Mapping[str, Mapping[str, Touch]]


def infer(
    fitted: Learnt, reach: Reach, views: Mapping[str, TypeViews] | None = None
) -> dict[str, tuple[Gaussians, np.ndarray | None]]:
    """Gaussians of z and label probabilities of items that touch the training network as `reach` says."""
    with _told_of_misfits(fitted):
        return _infer(fitted, placing_of(fitted), reach, new_views(fitted, reach) if views is None else views)


def new_views(fitted: Learnt, reach: Reach) -> dict[str, TypeViews]:
    """The views of items that touch the training network as `reach` says; none if the networks read rows."""
    placing = placing_of(fitted)
    if placing.lens is None:
        return {}
    with _told_of_misfits(fitted):
        return {
            name: _with_shares(each, placing.mass.get(name))
            for name, each in views_of(placing.lens, reach, fitted.trained.views).items()
        }


def _infer(
    fitted: Learnt, placing: Placing, reach: Reach, views: Mapping[str, TypeViews]
) -> dict[str, tuple[Gaussians, np.ndarray | None]]:
    found = {}
    for type, touch in reach.items():
        layers = placing.layers[type]
        if not isinstance(layers, RowLayers):
            outputs, logits = layers.outputs(views[type]), layers.label_logits(views[type])
        else:
            outputs, logits = _by_rows(fitted, type, layers, touch)
        space, probabilities = fitted.types[type], None
        if logits is not None:
            probabilities = expit(logits) if fitted.has_several(type) else softmax(logits, axis=1)
        if probabilities is not None and space.strength:
            probabilities = _leaning(fitted, type, touch, probabilities)
        if probabilities is not None and space.label_shift is not None:
            outputs = outputs + probabilities @ space.label_shift
        found[type] = from_log_std(outputs), probabilities
    return found


def infer_attributes(fitted: Learnt, type: str, owners: sp.csr_array) -> Gaussians:
    """Gaussians of attributes from the training items that have them, one row an attribute."""
    if not owners.shape[0]:
        empty = np.empty((0, fitted.latent_dim), dtype=np.float32)
        return Gaussians(empty, empty)
    layers = placing_of(fitted).layers.get(type)
    if layers is None:
        raise InputError(
            f"the model of {fitted.network.name} was fitted without attributes; it cannot place any"
        )
    with _told_of_misfits(fitted):
        if not isinstance(layers, RowLayers):
            owner = fitted.network.owner_type(type)
            return from_log_std(layers.outputs(attribute_views(owners, fitted.trained.views[owner or ""])))
        scale = _row_scale(fitted, "attribute_inputs", [owners])
        hidden = np.tanh(scale * (owners @ layers.first["owners"]) + layers.bias)
        return from_log_std(hidden @ layers.last + layers.last_bias)


@contextmanager
def _told_of_misfits(fitted: Learnt) -> Iterator[None]:
    """Layers of a forged model need not fit its network; what they read is known only when it is made."""
    try:
        yield
    except InputError:
        raise
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise InputError(
            f"the inference networks of the model of {fitted.network.name} do not fit its network "
            f"({one_line(error, 120)}); train it anew"
        ) from None


def trained_layers(fitted: Learnt) -> Trained:
    """The layers or the views at the training items, from the stored network and weights."""
    placing, network = placing_of(fitted), fitted.network
    if placing.lens is not None:
        views = training_views(network, placing.lens, placing.alike)
        for name, mass in placing.mass.items():
            views[name] = replace(views[name], dense={**views[name].dense, "labels": mass})
        return Trained(views, {})
    rows = {}
    for type, layers in placing.layers.items():
        if isinstance(layers, RowLayers) and layers.propagates:
            touch = touching(network, type, lambda each: reading_of(fitted, each.name, each.values))
            known = {
                name: Touch(part.known if part.known is not None else part.new, None)
                for name, part in touch.items()
            }
            first = _first(fitted, type, layers.first, known)
            links = link_rows(bare_lens(network, type), known).known
            assert links is not None
            scale = _inverse_root_degree(links)
            scaled = scale * first
            rows[type] = TrainedRows(first, np.tanh(scale * (links @ scaled + scaled)), scale)
    return Trained({}, rows)


def reading_of(fitted: Learnt, relation: str, matrix: sp.csr_array) -> sp.csr_array:
    """The values of a relation as the inference networks read them."""
    placing = placing_of(fitted)
    joined = fitted.network.relation(relation)
    if joined.absent == "unknown" and joined.column is not None:
        return matrix
    reading = placing.readings[relation]
    return reading.inputs(matrix) if placing.lens is not None else reading.target(matrix)


def entry_counts(network: Network, type: str, rows: Mapping[str, sp.csr_array], count: int) -> np.ndarray:
    """How many entries items have in each relation that gives a bias, one column each."""
    found = []
    for relation in network.relations.values():
        if relation.column is not None and relation.column.has_cells:
            continue
        if relation.source == type:
            found.append(np.diff(rows[f"{relation.name}>"].indptr))
        if relation.target == type and not relation.pairing.undirected:
            found.append(np.diff(rows[f"{relation.name}<"].indptr))
    return np.stack(found, axis=1) if found else np.zeros((count, 0))


def _with_shares(views: TypeViews, mass: np.ndarray | None) -> TypeViews:
    """To whom no labels spread, those that all have: as it was in training."""
    spread = views.dense.get("spread")
    if mass is None or spread is None:
        return views
    nowhere = np.flatnonzero(spread.sum(axis=1) == 0)
    filled = spread.copy()
    filled[nowhere] = mass.mean(axis=0)
    return replace(views, dense={**views.dense, "spread": filled})


def _leaning(fitted: Learnt, type: str, touch: Mapping[str, Touch], probabilities: np.ndarray) -> np.ndarray:
    """Class probabilities of newcomers that lean towards those of the known items they are linked to."""
    space, labels = fitted.types[type], fitted.labels_of(type)
    links = link_rows(bare_lens(fitted.network, type), touch).known
    if links is None or space.probabilities is None:
        return probabilities
    there = with_observed(space.probabilities, labels)
    linked = np.diff(links.indptr) > 0
    found = probabilities.copy()
    mean = averaging(abs(links)) @ there
    found[linked] += space.strength * (mean[linked] - found[linked])
    return found


def _by_rows(
    fitted: Learnt, type: str, layers: RowLayers, touch: Mapping[str, Touch]
) -> tuple[np.ndarray, np.ndarray | None]:
    first = _first(fitted, type, layers.first, touch)
    if layers.propagates:
        trained = fitted.trained.rows[type]
        links = link_rows(bare_lens(fitted.network, type), touch)
        known, fellows = links.known, links.new
        assert known is not None
        everything = known if fellows is None else sp.csr_array(sp.hstack([known, fellows]))
        scale = _inverse_root_degree(everything)

        def propagate(at_known: np.ndarray, here: np.ndarray) -> np.ndarray:
            scaled = scale * here
            moved = known @ (trained.scale * at_known) + scaled
            return scale * (moved if fellows is None else moved + fellows @ scaled)

        hidden = np.tanh(propagate(trained.first, first))
        outputs = propagate(trained.hidden, hidden) @ layers.last
    else:
        outputs = np.tanh(first + layers.bias) @ layers.last + layers.last_bias
    if layers.label is None or layers.label_first is None:
        return outputs, None
    inner = _first(fitted, type, layers.label_first, touch)
    return outputs, layers.label.of(np.tanh(inner + layers.label_bias))


def _first(
    fitted: Learnt, type: str, weights: Mapping[str, np.ndarray], touch: Mapping[str, Touch]
) -> np.ndarray:
    """The first product: what items touch among the known, times weights."""
    rows = _rows_read(fitted.network, type, touch)
    read = [rows[name] for name in weights]
    total = sum(part @ weight for part, weight in zip(read, weights.values(), strict=True))
    return _row_scale(fitted, "node_inputs", [sp.csr_array(part) for part in read]) * total


def _rows_read(
    network: Network, type: str, touch: Mapping[str, Touch]
) -> dict[str, sp.csr_array | np.ndarray]:
    lens = bare_lens(network, type)
    known = {name: part.known for name, part in touch.items() if part.known is not None}
    found: dict[str, sp.csr_array | np.ndarray] = dict(known)
    if lens.links:
        found["links"] = link_rows(lens, touch).known
    if lens.word_columns:
        found["words"] = word_rows(lens, touch)
    if lens.cells is not None:
        found["cells"] = lens.cells.features(known)
    return found


def _row_scale(fitted: Learnt, setting: str, matrices: list[sp.csr_array]) -> np.ndarray:
    """One factor a row of what an inference network reads, which its setting may want at length one."""
    if fitted.settings.get(setting) == "unit":
        return unit_rows(matrices)[:, None]
    return np.ones((matrices[0].shape[0], 1), dtype=np.float32)


def _inverse_root_degree(links: sp.csr_array) -> np.ndarray:
    degrees: np.ndarray = abs(links).sum(axis=1)
    return ((degrees + 1) ** -0.5).astype(np.float32)[:, None]


def placing_of(fitted: Learnt) -> Placing:
    if fitted.placing is None:
        raise InputError(
            f"the model of {fitted.network.name} has no inference networks, so it cannot place new items; "
            "use the model that was trained"
        )
    return fitted.placing
