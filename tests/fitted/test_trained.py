"""What training leaves is what the result reads: the contract between the two, on a real fit."""

import numpy as np
import pytest
import scipy.sparse as sp

from coembed.fitted import load, save
from coembed.network.network import Network
from coembed.settings import preset_settings
from coembed.training import fit

from .conftest import random_network
from .test_placing import inferred


@pytest.fixture(params=["bernoulli", "unit rows", "gaussian", "unlabelled", "links only"])
def trained(request, rng):
    gaussian = request.param == "gaussian"
    network = random_network(
        rng,
        attributes=0 if request.param == "links only" else 15,
        classes=0 if request.param in ("unlabelled", "links only") else 3,
        weighted=gaussian,
    )
    likelihood = "gaussian" if gaussian else "bernoulli"
    changes = {"links": likelihood, "attributes": likelihood, "epochs": 8, "dim": 6, "hidden": 7}
    rows = "unit" if request.param in ("unit rows", "gaussian") else "raw"
    changes |= {"node_inputs": rows, "attribute_inputs": rows}
    return fit(network, preset_settings("paper", **changes))


def test_numpy_inference_gives_what_torch_left(trained):
    nodes, probabilities, words = inferred(trained)
    np.testing.assert_allclose(nodes.mean, trained.node_mean, atol=1e-5)
    np.testing.assert_allclose(nodes.std, trained.node_std, rtol=1e-4)
    if trained.network.n_classes:
        np.testing.assert_allclose(probabilities, trained.probabilities, atol=1e-5)
    np.testing.assert_allclose(words.mean, trained.attribute_mean, atol=1e-5)
    np.testing.assert_allclose(words.std, trained.attribute_std, rtol=1e-4)


def test_a_trained_model_places_a_twin_on_its_original_after_a_round_trip(trained, tmp_path):
    network = trained.network
    a = network.links.toarray()
    grown = Network.build(
        np.vstack([np.hstack([a, a[:, [11]]]), np.append(a[11], 0)]),
        sp.vstack([network.attributes, network.attributes[[11]]]),
        node_names=[*network.node_names, "twin"],
        attribute_names=network.attribute_names,
    )
    placed = load(save(trained, tmp_path)).embed(grown).result
    np.testing.assert_allclose(placed.node_mean[40], trained.node_mean[11], atol=1e-5)
    np.testing.assert_allclose(placed.node_std[40], trained.node_std[11], rtol=1e-4)
