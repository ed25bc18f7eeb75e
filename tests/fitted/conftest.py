"""A fitted result of random weights, its arrays computed densely from the formulas: an oracle for fold-in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

from coembed.fitted import Fitted
from coembed.fitted.format1 import plain_fitted
from coembed.network.network import Network
from coembed.settings import preset_settings

UNITS = {"links": 1.7, "attributes": 0.4}


def random_network(rng: np.random.Generator, nodes=40, attributes=15, classes=3, weighted=False) -> Network:
    upper = np.triu(rng.random((nodes, nodes)) < 0.12, 1)
    owned = rng.random((nodes, attributes)) < 0.25
    weights = rng.uniform(0.5, 3, upper.shape) if weighted else np.ones(upper.shape)
    values = rng.uniform(0.5, 3, owned.shape) if weighted else np.ones(owned.shape)
    links = upper * weights
    return Network.build(
        links + links.T,
        owned * values,
        np.where(rng.random(nodes) < 0.4, rng.integers(0, classes, nodes), -1) if classes else None,
        node_names=[f"n{i}" for i in range(nodes)],
        attribute_names=[f"word{a}" for a in range(attributes)],
        class_names=[f"class {k}" for k in range(classes)],
        name="random",
    )


def random_fitted(
    rng: np.random.Generator, network: Network, dim=5, hidden=6, likelihood="bernoulli"
) -> Fitted:
    n, m, k = network.n_nodes, network.n_attributes, network.n_classes

    def normal(*shape):
        return (rng.standard_normal(shape) * 0.6).astype(np.float32)

    weights = {
        "node.links.0": normal(n, hidden),
        "node.attributes.0": normal(m, hidden),
        "node.1": normal(hidden, 2 * dim),
        "label.links.0": normal(n, hidden),
        "label.attributes.0": normal(m, hidden),
        "label.bias.0": normal(hidden),
        "label.1": normal(hidden, k),
        "label.bias.1": normal(k),
        "attribute.0": normal(n, hidden),
        "attribute.bias.0": normal(hidden),
        "attribute.1": normal(hidden, 2 * (dim + k)),
        "attribute.bias.1": normal(2 * (dim + k)),
    }
    label_shift = normal(k, 2 * dim)

    a, x = network.links.toarray().astype(float), network.attributes.toarray().astype(float)
    if likelihood == "bernoulli":
        a, x = (a > 0).astype(float), (x > 0).astype(float)
    else:
        a, x = a / np.sqrt((a[a != 0] ** 2).mean()), x / np.sqrt((x[x != 0] ** 2).mean())
    loops = a + np.eye(n)
    half = np.diag(loops.sum(1) ** -0.5)
    smooth = half @ loops @ half
    base = smooth @ np.tanh(smooth @ (a @ weights["node.links.0"] + x @ weights["node.attributes.0"]))
    inner = np.tanh(
        a @ weights["label.links.0"] + x @ weights["label.attributes.0"] + weights["label.bias.0"]
    )
    probabilities = (
        softmax(inner @ weights["label.1"] + weights["label.bias.1"], axis=1) if k else np.zeros((n, 0))
    )
    nodes = base @ weights["node.1"] + probabilities @ label_shift
    owners = x.T / np.sqrt(np.maximum((x**2).sum(axis=0), 1e-12))[:, None]
    attributes = np.tanh(owners @ weights["attribute.0"] + weights["attribute.bias.0"])
    attributes = attributes @ weights["attribute.1"] + weights["attribute.bias.1"]

    return plain_fitted(
        network=network,
        settings=preset_settings(
            "paper", dim=dim, hidden=hidden, links=likelihood, attributes=likelihood
        ).as_dict(),
        history={"loss": [2.0, 1.5, 1.25], "stopped": "finished"},
        preset="paper",
        node_mean=nodes[:, :dim].astype(np.float32),
        node_std=np.exp(np.clip(nodes[:, dim:], -10, 3)).astype(np.float32),
        probabilities=probabilities.astype(np.float32),
        label_shift=label_shift,
        attribute_mean=attributes[:, : dim + k].astype(np.float32),
        attribute_std=np.exp(np.clip(attributes[:, dim + k :], -10, 3)).astype(np.float32),
        units={} if likelihood == "bernoulli" else UNITS,
        weights=weights,
    )


def with_space(fitted: Fitted, type: str, **arrays: np.ndarray) -> Fitted:
    """The result with other Gaussians of a type."""
    return replace(fitted, types={**fitted.types, type: replace(fitted.types[type], **arrays)})


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.fixture(params=["bernoulli", "gaussian"])
def any_fitted(request, rng) -> Fitted:
    network = random_network(rng, weighted=request.param == "gaussian")
    return random_fitted(rng, network, likelihood=request.param)


@pytest.fixture
def fitted(rng) -> Fitted:
    return random_fitted(rng, random_network(rng))


@pytest.fixture
def unlabelled(rng) -> Fitted:
    return random_fitted(rng, random_network(rng, classes=0))


@pytest.fixture
def bare(rng) -> Fitted:
    """Links only."""
    return random_fitted(rng, random_network(rng, attributes=0, classes=0))
