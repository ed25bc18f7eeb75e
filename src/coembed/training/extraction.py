"""From a trained model to the fitted result: all that is asked later, as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy
import torch
from torch import Tensor

from coembed.distributed.exchange import collected, gathered, total
from coembed.distributed.partition import Partition, held_by
from coembed.fitted import Fitted
from coembed.fitted.conformal import ClassDoubt
from coembed.fitted.layers import Layer, Layers, RowLayers, ViewsLayers
from coembed.fitted.placing import Placing
from coembed.fitted.space import RelationFit, TypeSpace
from coembed.model import SVAE
from coembed.model.inference import DenseInference, GraphInference
from coembed.model.item_codes import Bias
from coembed.model.relation_term import RelationTerm
from coembed.model.schema import Keys
from coembed.model.views_inference import View, ViewsInference
from coembed.network import Network
from coembed.settings import Settings
from coembed.training.class_doubt import split_conformal
from coembed.training.holdout import term_of, without_labels_of
from coembed.training.label_combination import LEAST, MOST_ASKED, best_temperature, sharpened
from coembed.training.label_ensemble import best_share
from coembed.training.label_views import smoothed, walk_within
from coembed.training.loop import History
from coembed.training.prepared import Prepared, Whole
from coembed.version import __version__
from coembed.views import Reading

SHARE_WORDS = {0.0: "the model", 0.5: "the model and the label ensemble", 1.0: "the label ensemble"}


class Calibration(NamedTuple):
    """What label logits are divided by, and what is added then: of one class an item a number and nothing,
    of several one for each class."""

    temperature: float | np.ndarray = 1.0
    shift: float | np.ndarray = 0.0

    def of(self, logits: Tensor) -> Tensor:
        if isinstance(self.temperature, float):
            return logits / self.temperature
        return logits / logits.new_tensor(self.temperature) + logits.new_tensor(self.shift)


def fitted_result(
    model: SVAE,
    network: Network,
    settings: Settings,
    history: History,
    preset: str,
    prepared: Prepared,
    calibrations: Mapping[str, Calibration] | None = None,
) -> Fitted | None:
    """All that is asked of a model later; where it is dealt out, the first process gets it."""
    keys, heat, readings, seen = Keys.of(network), calibrations or {}, prepared.readings, prepared.seen
    types = {}
    for name in network.types:
        types[name], said = _space(model, network, name, keys, heat.get(name, Calibration()), prepared)
        history.notices += [said] if said else []
    layers = {
        name: _layers(model, keys.types[name], heat.get(name, Calibration()))
        for name in network.types
        if keys.types[name] in model.types
    }
    relations = {name: _relation(model, network, name, readings[name]) for name in network.relations}
    if next(iter(model.types.values())).partition.rank:
        return None
    for name, space in types.items():
        types[name] = replace(space, doubt=_doubt(space, network, name, prepared))
    placing = Placing(
        dict(readings),
        layers,
        None if seen is None else seen.lens,
        {} if seen is None else {name: seen.types[name].alike for name in seen.lens.types},
        dict(prepared.mass),
    )
    versions = {"coembed": __version__, "torch": torch.__version__, "numpy": np.__version__}
    return Fitted(
        network=network,
        settings=settings.as_dict(),
        history=history.as_dict(),
        preset=preset,
        types=types,
        relations=relations,
        placing=placing,
        origin={**versions, "scipy": scipy.__version__, "data": prepared.fingerprint},
    )


def _space(
    model: SVAE, network: Network, name: str, keys: Keys, calibration: Calibration, prepared: Prepared
) -> tuple[TypeSpace, str]:
    """The items of a type, and what to say of how their classes are answered."""
    key, said = keys.types[name], ""
    if key not in model.types:
        nothing = np.zeros((0, model.code_size), np.float32)
        return TypeSpace(nothing, nothing), said
    rows = model.types[key].partition
    with torch.no_grad():
        evidence = model.evidence(key)
        probabilities = None
        if evidence.label_logits is not None:
            logits = _whole_logits(model, key, prepared.whole.get(name), evidence.label_logits, rows)
            own = model.labels[key].posterior(calibration.of(logits))
            probabilities = _leaning(own, network, name, rows, prepared)
            if name in prepared.opinions and prepared.settings.label_ensemble:
                share, said = _share(own, network, name, rows, prepared)
                opinion = own.new_tensor(np.array(prepared.opinions[name][rows.own.start : rows.own.stop]))
                probabilities = model.labels[key].between(probabilities, opinion, share)
        gaussian = model.posterior(key, evidence, probabilities)
    space = TypeSpace(
        _array(gaussian.mean, rows),
        _array(gaussian.log_std.exp(), rows),
        None if probabilities is None else _array(probabilities, rows),
        _array(model.label_shift[key]) if key in model.label_shift else None,
        model.block_start[key],
        prepared.strengths.get(name, 0.0),
        _array(model.label_tables[key]) if key in model.label_tables else None,
        prepared.thresholds.get(name),
    )
    return space, said


def _share(
    own: Tensor, network: Network, name: str, rows: Partition, prepared: Prepared
) -> tuple[float, str]:
    """Of the ensemble's opinion in the answer: as the spared labels say, where there are any."""
    spared, known = prepared.spared.get(name, np.empty(0, dtype=np.int64)), network.items(name).labels
    if not len(spared):
        return prepared.shares[name], ""
    assert known is not None
    unknown = without_labels_of(network, {name: spared})  # asked about as those whose label nobody knows
    leaning = _leaning(own, unknown, name, rows, prepared)
    told = gathered(leaning, rows).cpu().numpy()[spared]
    share = best_share(told, np.asarray(prepared.opinions[name])[spared], known.values[spared])
    of_type = "" if network.is_plain else f" of {name}"
    return share, f"classes{of_type} are answered by {SHARE_WORDS[share]}: best on {len(spared):,} labels"


def _doubt(space: TypeSpace, network: Network, name: str, prepared: Prepared) -> ClassDoubt | None:
    """What the ensemble cannot rule out; without one, what the spared labels cannot."""
    spared, known, told = prepared.spared.get(name), network.items(name).labels, prepared.doubts.get(name)
    nobody = spared is None or not len(spared) or space.probabilities is None
    if told is not None or nobody or known is None or known.several:
        return told
    assert spared is not None
    assert space.probabilities is not None
    return split_conformal(space.probabilities, known.values, spared)


def _whole_logits(model: SVAE, key: str, whole: Whole | None, logits: Tensor, rows: Partition) -> Tensor:
    """What the label's network says of items that are seen as a whole."""
    inference = model.inference[key]
    if whole is None or not isinstance(inference, ViewsInference):
        return logits
    layers = _views_layers(inference, Calibration())  # whole in the first process only
    everybody = logits.new_zeros((rows.total, logits.shape[1]))
    if rows.rank == 0:
        found = layers.label_logits(whole.views)
        assert found is not None
        everybody += logits.new_tensor(found)
    return total(everybody, rows)[rows.own.start : rows.own.stop]


def _leaning(own: Tensor, network: Network, name: str, rows: Partition, prepared: Prepared) -> Tensor:
    """Probabilities that lean towards those of the links, as far as the ensemble found that to help.

    A mean over links is less sure than what it is of: it is made as sure as the ensemble is, again.
    """
    strength = prepared.strengths.get(name, 0.0)
    if not strength:
        return own
    known = network.items(name).labels
    assert known is not None
    walk = prepared.whole[name].walk if name in prepared.whole else walk_within(network, name)
    everybody = gathered(own, rows).cpu().numpy()
    found = smoothed(walk, everybody, known.values, strength)
    opinion, asked = prepared.opinions.get(name), np.flatnonzero(~known.is_known)[:MOST_ASKED]
    if opinion is not None and not known.several and len(asked):
        logs = torch.as_tensor(np.log(np.maximum(found[asked], LEAST)))
        found = sharpened(found, best_temperature(logs, torch.as_tensor(np.array(opinion[asked]))))
    return own.new_tensor(found[rows.own.start : rows.own.stop])


def _relation(model: SVAE, network: Network, name: str, reading: Reading) -> RelationFit:
    relation = network.relation(name)
    term = term_of(model, network, relation)
    if term is None:
        return RelationFit(reading.likelihood, reading.unit)
    turn = lean = None
    if term.direction is not None:
        turn = _array(term.direction.matrix)
        lean = None if term.direction.lean is None else _array(term.direction.lean)
    gain = 1.0 if term.log_gain is None else float(term.log_gain.detach().exp())
    span = _span(term, relation.column)
    target = _bias(term.target_bias, term.target) if term.cell_bias is None else _array(term.cell_bias)
    return RelationFit(
        reading.likelihood,
        reading.unit * gain,
        _bias(term.source_bias, term.source),
        None if target is None else target[span],
        _evidence(term.source_bias),
        _evidence(term.target_bias),
        turn,
        lean,
        center=reading.center,
    )


def _span(term: RelationTerm, column: object) -> slice:
    """Where the attributes of one column are among all that a term explains."""
    start, stop = getattr(column, "start", None), getattr(column, "stop", None)
    if start is None or stop is None:
        return slice(None)
    if term.targets is not None:
        start, stop = np.searchsorted(term.targets, start), np.searchsorted(term.targets, stop)
    return slice(int(start), int(stop))


def _bias(bias: Bias | None, rows: Partition) -> np.ndarray | None:
    return None if bias is None else _array(collected(bias().detach(), rows))


def _evidence(bias: Bias | None) -> np.ndarray | None:
    """Weights of the evidence, and a constant: in place of its mean, what it takes away."""
    if bias is None:
        return None
    constant = bias.constant - (bias.weight * bias.evidence.new_tensor(bias.center)).sum()
    return _array(torch.cat([bias.weight, constant[None]]))


def _layers(model: SVAE, key: str, calibration: Calibration) -> Layers:
    inference = model.inference[key]
    if isinstance(inference, ViewsInference):
        return _views_layers(inference, calibration)
    if isinstance(inference, GraphInference):
        return _graph_layers(inference, calibration)
    assert isinstance(inference, DenseInference)
    return _dense_layers(inference, calibration)


def _views_layers(inference: ViewsInference, calibration: Calibration) -> ViewsLayers:
    first, label_first = {}, {}
    for name, view in inference.views.items():
        assert isinstance(view, View)
        # of the views as they are, which the model reads scaled
        first[name] = Layer(_all_rows(view.weight) * np.float32(view.scale), _array(view.bias))
        if view.label_weight is not None and view.label_bias is not None:
            weight = _all_rows(view.label_weight) * np.float32(view.scale)
            label_first[name] = Layer(weight, _array(view.label_bias))
    return ViewsLayers(
        first,
        Layer(_array(inference.second.weight.t()), _array(inference.second.bias)),
        _array(inference.by_evidence),
        np.asarray(inference.center, dtype=np.float32),
        label_first,
        _head(inference.label, calibration),
    )


def _graph_layers(inference: GraphInference, calibration: Calibration) -> RowLayers:
    hidden = inference.second.shape[0]
    every = dict(zip(inference.names, map(_all_rows, inference.inputs.weights), strict=True))
    label = inference.label
    return RowLayers(
        {name: weight[:, :hidden] for name, weight in every.items()},
        _array(inference.second),
        label_first=None if label is None else {name: weight[:, hidden:] for name, weight in every.items()},
        label_bias=None if label is None else _array(label.bias),
        label=None if label is None else _head(label.second, calibration),
    )


def _dense_layers(inference: DenseInference, calibration: Calibration) -> RowLayers:
    hidden = len(inference.bias)
    every = dict(zip(inference.names, map(_all_rows, inference.inputs.weights), strict=True))
    label = inference.label
    return RowLayers(
        {name: weight[:, :hidden] for name, weight in every.items()},
        _array(inference.second.weight.t()),
        _array(inference.bias),
        _array(inference.second.bias),
        None if label is None else {name: weight[:, hidden:] for name, weight in every.items()},
        None if label is None else _array(label.bias),
        None if label is None else _head(label.second, calibration),
    )


def _head(layer: torch.nn.Linear | None, calibration: Calibration) -> Layer | None:
    if layer is None:
        return None
    weight, bias = _array(layer.weight.t()), _array(layer.bias)
    heat = np.asarray(calibration.temperature, dtype=np.float32)
    return Layer(weight / heat, bias / heat + np.asarray(calibration.shift, dtype=np.float32))


def _all_rows(weight: Tensor) -> np.ndarray:
    """A weight, all of it, in the first process, if it is dealt out."""
    return _array(collected(weight.detach(), held_by(weight)))


def _array(tensor: Tensor, rows: Partition | None = None) -> np.ndarray:
    whole = collected(tensor.detach(), rows)
    return np.ascontiguousarray(whole.cpu().numpy().astype(np.float32))
