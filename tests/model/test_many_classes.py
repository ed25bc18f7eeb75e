"""Of many classes the label enters the codes through a learnt table: by differences, saved, placed again."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from coembed.fitted import load, save
from coembed.fitted.gaussians import Gaussians, with_labels
from coembed.kernels import Noise
from coembed.model.inference import DenseInference
from coembed.model.modelled_relation import ModelledRelation
from coembed.model.scan import MOST_LABEL_COORDINATES, scan
from coembed.model.svae import SVAE, EntityType, Objective
from coembed.network import Network
from coembed.settings import preset_settings
from coembed.training import fit


def small_model(labels="gumbel"):
    """Seven classes in a block of three coordinates, between two common ones and none behind."""
    links = np.triu(np.random.default_rng(0).random((8, 8)) < 0.4, 1)
    inputs = torch.as_tensor(np.random.default_rng(1).normal(size=(8, 3)))
    torch.manual_seed(0)
    people = EntityType(
        "people",
        8,
        lambda latent, classes: DenseInference([inputs], 4, latent, classes),
        7,
        np.array([0, 6, 3, -1, -1, -1, -1, -1]),
        most_label_coordinates=3,
    )
    friends = ModelledRelation(
        "friends", "people", "people", sp.csr_array((links + links.T).astype(np.float32))
    )
    goal = Objective(all_pairs="exact", labels=labels)
    return SVAE([people], [friends], 2, goal, dtype=torch.float64)


@pytest.mark.parametrize("labels", ["gumbel", "exact"])
def test_gradients_of_the_table_by_finite_differences(labels):
    model = small_model(labels)
    table = model.label_tables["people"]
    assert table.shape == (7, 3)
    assert model.code_size == 2 + 3
    model(Noise(0)).total.backward()
    for where in range(0, table.numel(), 4):
        flat, step, ends = table.data.view(-1), 1e-6, []
        original = float(flat[where])
        for sign in (1, -1):
            flat[where] = original + sign * step
            ends.append(float(model(Noise(0)).total.detach()))
        flat[where] = original
        numeric = (ends[0] - ends[1]) / (2 * step)
        assert numeric == pytest.approx(float(table.grad.view(-1)[where]), rel=1e-4, abs=1e-8)


def test_an_observed_label_is_its_row_of_the_table():
    model = small_model()
    codes, _ = model.mean_codes("people")
    torch.testing.assert_close(codes[:3, 2:], model.label_tables["people"].detach()[[0, 6, 3]])


def test_the_variance_of_a_label_is_that_of_the_rows_it_may_be():
    rng = np.random.default_rng(0)
    table, chances = rng.normal(size=(5, 2)), rng.dirichlet(np.ones(5), size=1)
    z = Gaussians(np.zeros((1, 1)), np.ones((1, 1)))
    codes = with_labels(z, chances, np.zeros((5, 2)), np.array([-1]), table=table)
    rows = table[rng.choice(5, size=200_000, p=chances[0])]
    np.testing.assert_allclose(codes.mean[0, 1:], rows.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(codes.std[0, 1:], rows.std(axis=0), atol=0.02)


def network_of(classes, each=3, seed=0):
    """Items of a class share words and links."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(classes), each)
    words = rng.random((len(y), 60)) < np.where((rng.random((classes, 60)) < 0.1)[y], 0.6, 0.02)
    links = sp.csr_array(np.kron(np.eye(classes), np.ones((each, each)) - np.eye(each)))
    known = np.where(np.arange(len(y)) % each == 0, -1, y)
    return Network.build(links, words.astype(np.float32), known)


def test_the_paper_has_a_coordinate_a_class_and_so_have_few_classes():
    wide = network_of(MOST_LABEL_COORDINATES + 1)
    assert not scan(wide, preset_settings("paper")).label_tables
    assert not scan(network_of(MOST_LABEL_COORDINATES), preset_settings("best")).label_tables
    assert scan(wide, preset_settings("best")).code_size == 64 + MOST_LABEL_COORDINATES


@pytest.mark.parametrize("classes", [100, 500])
def test_many_classes_are_fitted_saved_and_placed(classes, tmp_path):
    network = network_of(classes)
    settings = preset_settings(
        "best", epochs=3, label_ensemble=0.0, calibrate=False, pair_scores=False, space_dim=0
    )
    fitted = fit(network, settings)
    assert fitted.latent_dim == 64 + MOST_LABEL_COORDINATES
    assert fitted.probabilities.shape == (len(network.main), classes)
    loaded = load(save(fitted, tmp_path / "model"))
    np.testing.assert_array_equal(loaded.latents().mean, fitted.latents().mean)
    np.testing.assert_array_equal(loaded.latents().std, fitted.latents().std)
    # an unlabelled item, by its own rows, is where it was
    item = 0
    links, words = (network.relation(name).values[[item]] for name in ("links", "attributes"))
    placed = loaded.place("node", {"links": links, "attributes": words})
    own, there = placed.latents.mean[0], fitted.latents().mean[item]
    assert own @ there > 0.9 * np.linalg.norm(own) * np.linalg.norm(there)
    given = loaded.place("node", {"links": links, "attributes": words}, np.array([3]))
    table = fitted.types["node"].label_table
    np.testing.assert_allclose(given.latents.mean[0, 64:], table[3], rtol=1e-6)
