"""What is kept of a trained model: arrays by the names under which the result keeps them."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from coembed.distributed.exchange import collected
from coembed.distributed.partition import Partition, held_by
from coembed.fitted import Fitted
from coembed.model import SVAE
from coembed.model.gaussian import Gaussian
from coembed.model.inference import DenseInference, GraphInference
from coembed.model.scan import ATTRIBUTE, ATTRIBUTES, LINKS, NODE, Seen, as_modelled
from coembed.model.views_inference import View, ViewsInference
from coembed.network import Network
from coembed.settings import Settings
from coembed.training.loop import History


def fitted_result(
    model: SVAE,
    network: Network,
    settings: Settings,
    history: History,
    preset: str,
    seen: Seen | None = None,
    temperature: float = 1.0,
) -> Fitted | None:
    """All that is asked of a model later, as arrays; where it is dealt out, the first process gets them."""
    rows = model.types[NODE].partition
    items = model.types[ATTRIBUTE].partition if ATTRIBUTE in model.types else None
    with torch.no_grad():
        evidence = model.evidence(NODE)
        logits = evidence.label_logits
        probabilities = None if logits is None else (logits / temperature).softmax(dim=-1)
        nodes = model.posterior(NODE, evidence, probabilities)
        attributes = _attributes(model)
    weights = {name: _array(weight) for name, weight in _weights(model, seen).items()}
    for name in ("label.1", "label.bias.1"):
        if name in weights:
            weights[name] /= temperature
    if seen is not None:
        weights |= {f"alike.{name}": array for name, array in seen.nodes.alike._asdict().items()}
    units = {
        LINKS: as_modelled(network.links, settings.links)[1] * model.gain(LINKS),
        ATTRIBUTES: as_modelled(network.attributes, settings.attributes)[1] * model.gain(ATTRIBUTES),
    }
    node_mean, node_std = _array(nodes.mean, rows), _array(nodes.log_std.exp(), rows)
    attribute_mean = _array(attributes.mean, items)
    attribute_std = _array(attributes.log_std.exp(), items)
    told = np.zeros((rows.total, 0), np.float32) if probabilities is None else _array(probabilities, rows)
    biases = {name: _array(bias) for name, bias in _biases(model).items()}
    if rows.rank:
        return None
    return Fitted(
        network=network,
        settings=settings.as_dict(),
        history=history.as_dict(),
        preset=preset,
        node_mean=node_mean,
        node_std=node_std,
        probabilities=told,
        label_shift=(
            _array(model.label_shift[NODE])
            if network.n_classes
            else np.zeros((0, 2 * settings.dim), dtype=np.float32)
        ),
        attribute_mean=attribute_mean,
        attribute_std=attribute_std,
        units=units,
        biases=biases,
        weights=weights,
    )


def _attributes(model: SVAE) -> Gaussian:
    if ATTRIBUTE in model.types:
        return model.posterior(ATTRIBUTE, model.evidence(ATTRIBUTE), None)
    nothing = torch.zeros(0, model.code_size)
    return Gaussian(nothing, nothing)


def _biases(model: SVAE) -> dict[str, Tensor]:
    """Of both ends of every relation that has some."""
    biases: dict[str, Tensor] = {}
    for relation in (LINKS, ATTRIBUTES):
        ends = NODE, NODE if relation == LINKS else ATTRIBUTE
        for place, bias, kind in zip(("source", "target"), model.bias(relation) or (), ends, strict=False):
            biases[f"{relation}.{place}"] = collected(bias(), model.types[kind].partition)
    return biases


def _weights(model: SVAE, seen: Seen | None) -> dict[str, Tensor]:
    """The inference networks by the names under which the result keeps them."""
    weights: dict[str, Tensor] = {}
    for relation in (LINKS, ATTRIBUTES):
        for end, bias in zip(("source", "target"), model.bias(relation) or (), strict=False):
            # in place of the mean of the evidence, what it takes away
            constant = bias.constant - (bias.weight * bias.evidence.new_tensor(bias.center)).sum()
            weights[f"bias.{relation}.{end}"] = torch.cat([bias.weight, constant[None]])
    node = model.inference[NODE]
    if isinstance(node, ViewsInference) and seen is not None:
        weights |= _branches(NODE, node)
        weights |= {f"basis.{name}": torch.tensor(array) for name, array in seen.basis._asdict().items()}
        if ATTRIBUTE in model.types:
            attribute = model.inference[ATTRIBUTE]
            assert isinstance(attribute, ViewsInference)
            weights |= _branches(ATTRIBUTE, attribute)
        return weights
    return weights | _paper_weights(model)


def _branches(kind: str, inference: ViewsInference) -> dict[str, Tensor]:
    weights = {
        f"{kind}.1": inference.second.weight.t(),
        f"{kind}.bias.1": inference.second.bias,
        f"{kind}.evidence": inference.by_evidence,
        f"{kind}.center": torch.as_tensor(inference.center),
    }
    for name, view in inference.views.items():
        assert isinstance(view, View)
        # of the views as they are, which the model reads scaled
        weights[f"{kind}.{name}.0"] = _all_rows(view.weight) * view.scale
        weights[f"{kind}.{name}.bias"] = view.bias
        if view.label_weight is not None and view.label_bias is not None:
            weights[f"label.{name}.0"] = _all_rows(view.label_weight) * view.scale
            weights[f"label.{name}.bias"] = view.label_bias
    if inference.label is not None:
        weights |= {"label.1": inference.label.weight.t(), "label.bias.1": inference.label.bias}
    return weights


def _paper_weights(model: SVAE) -> dict[str, Tensor]:
    node = model.inference[NODE]
    assert isinstance(node, GraphInference)
    hidden = node.second.shape[0]
    links, attributes = (_all_rows(weight) for weight in node.inputs.weights)
    weights = {
        "node.links.0": links[:, :hidden],
        "node.attributes.0": attributes[:, :hidden],
        "node.1": node.second,
    }
    if node.label is not None:
        weights |= {
            "label.links.0": links[:, hidden:],
            "label.attributes.0": attributes[:, hidden:],
            "label.bias.0": node.label.bias,
            "label.1": node.label.second.weight.t(),
            "label.bias.1": node.label.second.bias,
        }
    if ATTRIBUTE in model.types:
        attribute = model.inference[ATTRIBUTE]
        assert isinstance(attribute, DenseInference)
        weights |= {
            "attribute.0": _all_rows(attribute.inputs.weights[0]),
            "attribute.bias.0": attribute.bias,
            "attribute.1": attribute.second.weight.t(),
            "attribute.bias.1": attribute.second.bias,
        }
    return weights


def _all_rows(weight: Tensor) -> Tensor:
    """A weight, all of it, in the first process, if it is dealt out."""
    return collected(weight.detach(), held_by(weight))


def _array(tensor: Tensor, rows: Partition | None = None) -> np.ndarray:
    whole = collected(tensor.detach(), rows)
    return np.ascontiguousarray(whole.cpu().numpy().astype(np.float32))
