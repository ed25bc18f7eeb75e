"""A network becomes a fitted result."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from torch import Tensor

from coembed.errors import InputError
from coembed.model import SVAE
from coembed.model.gaussian import Gaussian
from coembed.model.inference import DenseInference, GraphInference
from coembed.model.scan import ATTRIBUTE, ATTRIBUTES, LINKS, NODE, as_modelled, scan
from coembed.network import Network
from coembed.result import Fitted
from coembed.settings import Settings
from coembed.training.holdout import Holdout, hold_out, validation_figures, without_labels_of
from coembed.training.loop import History, Progress, train


def fit(
    network: Network,
    settings: Settings,
    *,
    preset: str = "paper",
    holdout: Holdout | None = None,
    progress: Progress | None = None,
) -> Fitted:
    """Fit SCAN to a network.

    Parameters
    ----------
    holdout
        What chooses the epoch. Its pairs must already be absent from the network; the labels of its nodes are
        hidden here. By default the shares `validation` and `validation_pairs` of the settings are kept aside.
    progress
        Called after every epoch with its number, the number of epochs, and the figures so far.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> from coembed.settings import preset_settings
    >>> fitted = fit(demo_network(), preset_settings("paper", epochs=2))
    >>> fitted.node_mean.shape, fitted.attribute_mean.shape
    ((1476, 64), (626, 71))
    """
    device = choose_device(settings.device)
    torch.manual_seed(settings.seed)
    seen, held = (network, holdout) if holdout is not None else hold_out(network, settings)
    seen = without_labels_of(seen, held.nodes)
    model = scan(seen, settings, device)
    history = train(
        model,
        epochs=settings.epochs,
        learning_rate=settings.learning_rate,
        schedule=settings.schedule,
        weight_decay=settings.weight_decay,
        seed=settings.seed,
        validate=partial(validation_figures, model, held, network.labels) if held else None,
        patience=settings.patience,
        progress=progress,
    )
    return fitted_result(model, seen, settings, history, preset)


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


def fitted_result(model: SVAE, network: Network, settings: Settings, history: History, preset: str) -> Fitted:
    """All that is asked of a model later, as arrays."""
    model.eval()
    with torch.no_grad():
        evidence = model.evidence(NODE)
        logits = evidence.label_logits
        probabilities = None if logits is None else logits.softmax(dim=-1)
        nodes = model.posterior(NODE, evidence, probabilities)
        attributes = _attributes(model)
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
        weights={name: _array(weight) for name, weight in _weights(model).items()},
    )


def _attributes(model: SVAE) -> Gaussian:
    if ATTRIBUTE in model.types:
        return model.posterior(ATTRIBUTE, model.evidence(ATTRIBUTE), None)
    nothing = torch.zeros(0, model.code_size)
    return Gaussian(nothing, nothing)


def _weights(model: SVAE) -> dict[str, Tensor]:
    """The inference networks by the names under which the result keeps them."""
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
