"""A network becomes a fitted result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from coembed.errors import InputError
from coembed.model import SVAE
from coembed.model.gaussian import Gaussian
from coembed.model.inference import DenseInference, GraphInference
from coembed.model.scan import (
    ATTRIBUTE,
    ATTRIBUTES,
    LINKS,
    NODE,
    Seen,
    as_modelled,
    likelihood_of,
    look,
    scan,
)
from coembed.model.views import View, ViewsInference
from coembed.network import Network
from coembed.network.splits import fingerprint
from coembed.result import Fitted
from coembed.settings import Settings
from coembed.training.calibration import best_temperature, find_temperature, labels_to_spare
from coembed.training.checkpoint import Checkpoints
from coembed.training.holdout import Holdout, hold_out, validation_figures, without_labels_of
from coembed.training.loop import History, Progress, train
from coembed.training.weighing import with_companions
from coembed.views import GROUPS
from coembed.views.decomposition import affordable_hidden, affordable_rank


def fit(
    network: Network,
    settings: Settings,
    *,
    preset: str = "best",
    holdout: Holdout | None = None,
    progress: Progress | None = None,
    steps: Callable[[str], None] | None = None,
    checkpoints: Checkpoints | None = None,
) -> Fitted:
    """Fit SCAN to a network.

    Parameters
    ----------
    holdout
        What chooses the epoch. Its pairs must already be absent from the network; the labels of its nodes are
        hidden here. By default the shares `validation` and `validation_pairs` of the settings are kept aside.
    progress
        Called after every epoch with its number, the number of epochs, and the figures so far.
    steps
        Called with a few words before anything else that takes a while.
    checkpoints
        Where all that is needed to go on after a fall is kept, and whether to go on from what is there. The
        result is that of a fit without a fall.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> from coembed.settings import preset_settings
    >>> fitted = fit(demo_network(), preset_settings("paper", epochs=2))
    >>> fitted.node_mean.shape, fitted.attribute_mean.shape
    ((1476, 64), (626, 71))
    """
    device = choose_device(settings.device)
    settings = settings.change(
        links=likelihood_of(network.links, settings.links),
        attributes=likelihood_of(network.attributes, settings.attributes),
    )
    by_views = settings.encoder == "views"
    settings, notices = affordable(settings, network.n_nodes) if by_views else (settings, [])
    if checkpoints is not None:
        checkpoints.network, checkpoints.settings = fingerprint(network), settings.as_dict()
        checkpoints.check()
    visible, held = (network, holdout) if holdout is not None else hold_out(network, settings)
    visible = without_labels_of(visible, held.nodes)
    tell = steps or (lambda step: None)
    seen = None
    calibrated = settings.calibrate and by_views
    if by_views:
        tell("looking at attributes, links and nodes alike")
        seen = look(visible, settings, tell)
    spared = labels_to_spare(visible.labels, settings.seed) if calibrated else None
    torch.manual_seed(settings.seed)
    model = scan(without_labels_of(visible, spared), settings, device, seen)
    history = train(
        model,
        epochs=settings.epochs,
        learning_rate=settings.learning_rate,
        schedule=settings.schedule,
        weight_decay=settings.weight_decay,
        label_decay=settings.label_decay,
        seed=settings.seed,
        validate=partial(validation_figures, model, held, network.labels) if held else None,
        patience=settings.patience,
        progress=progress,
        checkpoints=checkpoints,
    )
    history.notices[:0] = notices
    if seen is not None and visible.n_classes and len(visible.labelled):
        history.notices.append(_trust(model))
    temperature = 1.0
    if calibrated and seen is not None and history.stopped != "interrupted":
        tell("learning how sure to be of classes")
        if spared is not None and len(spared):
            temperature = _temperature_by(model, visible, spared)
        else:
            temperature = find_temperature(seen.nodes, visible.labels, visible.n_classes, settings)
    fitted = fitted_result(model, visible, settings, history, preset, seen, temperature)
    del model, seen  # of a large network, gigabytes that what follows can use
    if settings.companions and by_views and history.stopped != "interrupted":
        tell("weighing the companions")
        fitted = with_companions(fitted, held)
    if holdout is not None:
        return fitted
    # pairs that were kept aside here are known all the same: nobody should be told that they are missing
    return replace(fitted, network=visible.with_matrices(network.links, network.attributes))


def affordable(settings: Settings, n_nodes: int) -> tuple[Settings, list[str]]:
    """The settings with a rank and hidden layers that very many nodes leave room for, and what to say of it.

    Examples
    --------
    >>> settings, notices = affordable(Settings(rank=256, hidden=64), 1_000_000)
    >>> notices
    ['1,000,000 nodes: rank 64 instead of 256, hidden 32 instead of 64, for memory and time']
    """
    fits = {
        "rank": affordable_rank(settings.rank, n_nodes),
        "hidden": affordable_hidden(settings.hidden, n_nodes),
    }
    asked = settings.as_dict()
    less = [f"{name} {value} instead of {asked[name]}" for name, value in fits.items() if value < asked[name]]
    notices = [f"{n_nodes:,} nodes: {', '.join(less)}, for memory and time"] if less else []
    return settings.change(**fits), notices


def _temperature_by(model: SVAE, network: Network, nodes: np.ndarray) -> float:
    """By the labels of nodes that the model has not learnt from."""
    with torch.no_grad():
        logits = model.evidence(NODE).label_logits
    assert logits is not None
    return best_temperature(logits[torch.as_tensor(nodes)].cpu(), torch.as_tensor(network.labels[nodes]))


def _trust(model: SVAE) -> str:
    """One line on what the classes were read from."""
    node = model.inference[NODE]
    assert isinstance(node, ViewsInference)
    with torch.no_grad():
        shares = node.label_shares()
    said = {group: sum(shares.get(view, 0.0) for view in views.split()) for group, views in GROUPS.items()}
    parts = [
        f"{100 * max(share, 0):.0f} % {group}" for group, share in sorted(said.items(), key=lambda s: -s[1])
    ]
    return "classes follow " + ", ".join(parts)


def choose_device(name: str) -> torch.device:
    """The device that a setting names; `auto` is the accelerator torch finds, else the processor."""
    if name == "auto":
        # sparse CSR products, which everything stands on, exist for these two
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"device {name!r} cannot be used here ({reason}); try device=auto") from None
    return device


def fitted_result(
    model: SVAE,
    network: Network,
    settings: Settings,
    history: History,
    preset: str,
    seen: Seen | None = None,
    temperature: float = 1.0,
) -> Fitted:
    """All that is asked of a model later, as arrays."""
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
    return Fitted(
        network=network,
        settings=settings.as_dict(),
        history=history.as_dict(),
        preset=preset,
        node_mean=_array(nodes.mean),
        node_std=_array(nodes.log_std.exp()),
        probabilities=np.zeros((network.n_nodes, 0), np.float32)
        if probabilities is None
        else _array(probabilities),
        label_shift=(
            _array(model.label_shift[NODE])
            if network.n_classes
            else np.zeros((0, 2 * settings.dim), dtype=np.float32)
        ),
        attribute_mean=_array(attributes.mean),
        attribute_std=_array(attributes.log_std.exp()),
        units=units,
        biases={name: _array(bias) for name, bias in _biases(model).items()},
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
        both = model.bias(relation)
        if both is not None:
            biases[f"{relation}.source"], biases[f"{relation}.target"] = (bias() for bias in both)
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
        weights |= {f"basis.{name}": torch.as_tensor(array) for name, array in seen.basis._asdict().items()}
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
        weights[f"{kind}.{name}.0"] = view.weight * view.scale
        weights[f"{kind}.{name}.bias"] = view.bias
        if view.label_weight is not None and view.label_bias is not None:
            weights[f"label.{name}.0"] = view.label_weight * view.scale
            weights[f"label.{name}.bias"] = view.label_bias
    if inference.label is not None:
        weights |= {"label.1": inference.label.weight.t(), "label.bias.1": inference.label.bias}
    return weights


def _paper_weights(model: SVAE) -> dict[str, Tensor]:
    node = model.inference[NODE]
    assert isinstance(node, GraphInference)
    hidden = node.second.shape[0]
    links, attributes = node.inputs.weights
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
            "attribute.0": attribute.inputs.weights[0],
            "attribute.bias.0": attribute.bias,
            "attribute.1": attribute.second.weight.t(),
            "attribute.bias.1": attribute.second.bias,
        }
    return weights


def _array(tensor: Tensor) -> np.ndarray:
    return np.ascontiguousarray(tensor.detach().cpu().numpy().astype(np.float32))
