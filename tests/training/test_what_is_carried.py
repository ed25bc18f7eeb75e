"""From the trained model to the result, from the settings to the loss: what must not get lost on the way."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import torch
from people_network import people_network
from scipy.special import softmax

from coembed.fitted.gaussians import from_log_std
from coembed.fitted.layers import ViewsLayers
from coembed.kernels import Noise
from coembed.model.schema import Keys
from coembed.model.views_inference import ViewsInference
from coembed.network import Network, demo_network
from coembed.settings import preset_settings
from coembed.training import extraction, fit, label_ensemble
from coembed.training.label_ensemble import call_ensemble
from coembed.training.label_views import label_views
from coembed.training.loop import _groups
from coembed.views import look
from coembed.views.reach import readings

FITTING = sys.modules["coembed.training.fit"]  # its name in the package is that of the function
SMALL = {"epochs": 3, "dim": 6, "hidden": 8, "rank": 6}


def caught(monkeypatch: pytest.MonkeyPatch, network: Network, **changes) -> tuple[dict, object]:
    """What a fit handed over at its end, and its result."""
    seen: dict = {}
    real = FITTING.fitted_result

    def recorded(model, network, settings, history, preset, prepared, temperatures):
        seen.update(model=model, network=network, prepared=prepared, temperatures=temperatures)
        return real(model, network, settings, history, preset, prepared, temperatures)

    monkeypatch.setattr(FITTING, "fitted_result", recorded)
    return seen, fit(network, preset_settings("best", **(SMALL | changes)))


def test_the_layers_that_are_kept_say_what_the_model_said(monkeypatch):
    """Of every type, by its views: means and deviations, evidence in place and centred, classes as sure."""
    seen, fitted = caught(monkeypatch, people_network())
    keys, model = Keys.of(seen["network"]), seen["model"]
    by_views = 0
    for name, layers in fitted.placing.layers.items():
        if not isinstance(layers, ViewsLayers):
            continue
        views = seen["prepared"].seen.types.get(name)
        if views is None:
            continue
        by_views += 1
        with torch.no_grad():
            evidence = model.evidence(keys.types[name])
        np.testing.assert_allclose(layers.outputs(views), evidence.output.numpy(), rtol=1e-4, atol=1e-4)
        assert np.abs(layers.center).max() > 0.1, "nothing to be centred"
        if evidence.label_logits is not None:
            sure = evidence.label_logits.numpy() / seen["temperatures"][name].temperature
            np.testing.assert_allclose(
                softmax(layers.label_logits(views), axis=1), softmax(sure, axis=1), atol=1e-4
            )
    assert by_views == 4


@pytest.mark.parametrize("temperature", [0.5, 1.0, 4.0])
def test_a_temperature_is_carried_to_newcomers(monkeypatch, temperature):
    """Whoever is placed later is told as surely as those who were there."""
    seen, _ = caught(monkeypatch, people_network())
    key = Keys.of(seen["network"]).types["person"]
    inference, views = seen["model"].inference[key], seen["prepared"].seen.types["person"]
    assert isinstance(inference, ViewsInference)
    layers = extraction._views_layers(inference, extraction.Calibration(temperature))
    with torch.no_grad():
        logits = seen["model"].evidence(key).label_logits.numpy()
    told, wanted = layers.label_logits(views), logits / temperature
    np.testing.assert_allclose(softmax(told, axis=1), softmax(wanted, axis=1), atol=1e-4)


def test_spared_labels_are_not_learnt_from(monkeypatch):
    network = demo_network()
    monkeypatch.setattr(label_ensemble, "MANY", 100)
    monkeypatch.setattr(label_ensemble, "ASIDE", 40)
    shown, real = [], FITTING.scan

    def recorded(share, *rest):
        shown.append(share.network.labels.copy())
        return real(share, *rest)

    monkeypatch.setattr(FITTING, "scan", recorded)
    seen, _ = caught(monkeypatch, network)
    spared = seen["prepared"].spared["node"]
    assert len(spared) == 40
    assert (seen["network"].labels[spared] >= 0).all()
    assert (shown[0][spared] == -1).all()
    others = np.setdiff1d(seen["network"].labelled, spared)
    assert (shown[0][others] == seen["network"].labels[others]).all()


def test_the_opinion_of_the_ensemble_is_as_sure_as_it_is_right():
    """Members that learn by heart are sure of everything; what they say together is not."""
    rng = np.random.default_rng(0)
    classes = rng.integers(2, size=600)
    words = rng.random((600, 30)) < np.where(classes[:, None] == np.arange(30) % 2, 0.36, 0.30)
    labels = np.where(np.arange(600) % 2 == 0, classes, -1)
    network = Network.build(np.zeros((600, 600)), words, labels)
    bold = preset_settings(
        "best", epochs=100, dim=4, hidden=16, dropout=0.0, input_dropout=0.0, label_decay=0.0
    )
    views = look(network, readings(network), 16, 5).types["node"]
    found = call_ensemble(network, views, label_views(network), "node", bold)
    unknown = labels < 0
    sure = found.opinion[unknown].max(axis=1).mean()
    right = np.mean(found.opinion[unknown].argmax(axis=1) == classes[unknown])
    assert abs(sure - right) < 0.1, (sure, right)


def test_each_decay_reaches_its_weights(monkeypatch):
    decays = []

    class Recorded(torch.optim.Adam):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            decays.append([group["weight_decay"] for group in self.param_groups])

    monkeypatch.setattr(torch.optim, "Adam", Recorded)
    seen, _ = caught(monkeypatch, people_network(), label_decay=0.37, weight_decay=0.01)
    assert [0.01, 0.37] in decays  # of the loop: the others, and those of labels
    assert [0.37] in decays  # of the discriminators of the ensemble
    assert [0.01] not in decays
    model = seen["model"]
    others, own = _groups(model, weight_decay=0.01, label_decay=0.3)
    assert (others["weight_decay"], own["weight_decay"]) == (0.01, 0.3)
    names = {id(weight): name for name, weight in model.named_parameters()}
    of_labels = {names[id(weight)] for weight in own["params"]}
    assert of_labels
    assert all("label" in name for name in of_labels)
    assert {names[id(w)] for w in others["params"]} == set(names.values()) - of_labels
    # never less than what all weights have
    assert _groups(model, weight_decay=0.5, label_decay=0.1)[1]["weight_decay"] == 0.5


def test_of_many_classes_the_weights_decay_less(monkeypatch):
    """In the members and in the model; what is told of each of several classes by itself stays as it is."""
    decays = []

    class Recorded(torch.optim.Adam):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            decays.append([group["weight_decay"] for group in self.param_groups])

    monkeypatch.setattr(torch.optim, "Adam", Recorded)
    labels = np.where(np.arange(200) % 2, np.arange(200) % 40, -1)
    network = Network.build(np.eye(200)[np.arange(200) // 2 * 2], labels=labels)
    fit(network, preset_settings("best", epochs=1, dim=4, hidden=4, rank=8, space_dim=0, label_decay=0.4))
    assert sorted({each for group in decays for each in group}) == [0.0, pytest.approx(0.4 / 16)]


def test_decoding_a_label_does_not_make_the_classifier_surer(monkeypatch):
    """Its gradient reaches the code and the decoder, and not what the code is conditioned on."""
    seen, _ = caught(monkeypatch, people_network(), label_decoding=0.5)
    model = seen["model"]
    key = Keys.of(seen["network"]).types["person"]
    evidence = model.evidence(key)
    assert evidence.label_logits is not None
    logits = evidence.label_logits
    for method in ("gumbel", "exact"):
        chosen = model.labels[key].choices(logits, method, 0.5, Noise(0).at(1))
        assert any(part is not None and part.requires_grad for part in chosen)
        cost = model._label_decoding(
            key, evidence, chosen, torch.zeros(len(logits), 1, model.latent_size(key))
        )
        _check_decoding(cost, logits, evidence.output)


def _check_decoding(cost, logits, output):
    (by_logits,) = torch.autograd.grad(cost, [logits], retain_graph=True, allow_unused=True)
    assert by_logits is None or not by_logits.abs().any()
    (by_output,) = torch.autograd.grad(cost, [output], retain_graph=True)
    assert by_output.abs().any()


def test_codes_of_the_result_are_those_of_the_model(monkeypatch):
    seen, fitted = caught(monkeypatch, people_network())
    name = next(iter(fitted.types))
    key = Keys.of(seen["network"]).types[name]
    with torch.no_grad():
        evidence = seen["model"].evidence(key)
    space = fitted.types[name]
    outputs = evidence.output.numpy()
    if space.probabilities is not None:
        outputs = outputs + space.probabilities @ space.label_shift
    expected = from_log_std(outputs)
    np.testing.assert_allclose(space.mean, expected.mean, atol=1e-4)
    np.testing.assert_allclose(space.std, expected.std, rtol=1e-3)
