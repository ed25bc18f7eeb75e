"""The preset without gradients: the same questions of any schema, and mathematics that is what it says."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from general_network import general_network

from coembed import demo_network
from coembed.fitted import Fitted, load, save
from coembed.metrics import auc
from coembed.network import Network, split_labels, split_pairs
from coembed.settings import preset_settings
from coembed.training import fit
from coembed.training.closed_form_relations import cheapest
from coembed.training.closed_form_result import attribute_codes, degree_normalised
from coembed.training.closed_form_space import _filling
from coembed.training.label_views import spread, spread_all, walk_within
from coembed.training.ridge_model import ridge_model
from coembed.views import TypeViews
from coembed.views.decomposition import leading_eigenvectors


@pytest.fixture(scope="module")
def network() -> Network:
    return demo_network()


@pytest.fixture(scope="module")
def fitted(network: Network) -> Fitted:
    split = split_labels(network, labels=0.1, seed=0)
    return fit(split.visible(network), preset_settings("fast"))


@pytest.fixture(scope="module")
def general() -> Fitted:
    return fit(general_network(), preset_settings("fast", space_dim=32))


def test_classes_without_an_epoch(network: Network, fitted: Fitted) -> None:
    test = split_labels(network, labels=0.1, seed=0).test
    told = fitted.probabilities[test]
    right = told.argmax(axis=1) == network.labels[test]
    assert right.mean() > 0.92
    # as sure as right
    assert abs(told.max(axis=1).mean() - right.mean()) < 0.06
    assert fitted.preset == "fast"
    assert "loss" not in fitted.history


def test_hidden_pairs_are_found(network: Network) -> None:
    split = split_pairs(network, "attributes", validation=0.0, test=0.1, seed=1)
    fitted = fit(split.visible(network), preset_settings("fast"))
    pairs = split.test, split.test_negatives
    assert auc(*(fitted.score("attributes", each) for each in pairs)) > 0.88
    directions = fitted.codes("node").mean, fitted.codes("attribute").mean
    cosines = [np.einsum("nd,nd->n", directions[0][a[:, 0]], directions[1][a[:, 1]]) for a in pairs]
    assert auc(*cosines) > 0.84


def test_directions_have_length_one(fitted: Fitted) -> None:
    for name in fitted.network.types:
        lengths = np.linalg.norm(fitted.codes(name).mean, axis=1)
        assert np.allclose(lengths[lengths > 0], 1, atol=1e-5)


def test_who_has_more_entries_is_known_better(fitted: Fitted) -> None:
    entries = sum(np.diff(fitted.network.relation(name).values.indptr) for name in ("links", "attributes"))
    spread = fitted.types["node"].std.mean(axis=1)
    assert np.corrcoef(np.log1p(entries), np.log(spread))[0, 1] < -0.5


def test_saved_equals_loaded_and_asks_everything(fitted: Fitted, tmp_path) -> None:
    again = load(save(fitted, tmp_path / "model"))
    for ask in (
        lambda f: f.profile("Denmark.n.01"),
        lambda f: f.complete("Denmark.n.01"),
        lambda f: f.complete("Denmark.n.01", "links"),
        lambda f: f.similar("river"),
        lambda f: f.nodes_about("fish"),
    ):
        assert ask(again) == ask(fitted)
    assert np.array_equal(again.predict(), fitted.predict())


def test_newcomers_stand_where_their_like_do(network: Network, fitted: Fitted) -> None:
    """Known items, placed as if they were new."""
    rows = np.arange(0, network.n_nodes, 10)
    entries = {name: fitted.network.relation(name).values[rows] for name in ("links", "attributes")}
    placed = fitted.place("node", entries)
    assert (placed.probabilities.argmax(axis=1) == network.labels[rows]).mean() > 0.9
    assert np.einsum("nd,nd->n", placed.codes.mean, fitted.codes("node").mean[rows]).mean() > 0.5


def test_any_schema(general: Fitted, tmp_path) -> None:
    source = general.network
    assert (
        general.predict("person") == source.items("person").labels.classes[general.labels_of("person")]
    ).mean() > 0.7
    income = general.cells("income", np.arange(119))
    known = source.relation("income").values.tocoo()
    told = income[known.coords[0]]
    assert np.corrcoef(told, known.data)[0, 1] > 0.5
    towns = general.cells("town", np.arange(5))
    assert np.allclose(towns.sum(axis=1), 1, atol=0.1)  # trees beside the model are not held to one
    again = load(save(general, tmp_path / "general"))
    item = source.items("person").ids[0]
    assert again.nearest(item, "film", 3) == general.nearest(item, "film", 3)
    assert [match.name for match in again.complete(item, "saw", 3)]


def test_same_seed_same_result(network: Network) -> None:
    one, other = (fit(network, preset_settings("fast", seed=3)) for _ in range(2))
    assert np.array_equal(one.codes("node").mean, other.codes("node").mean)
    assert np.array_equal(one.probabilities, other.probabilities)


def test_leading_eigenvectors_are_those_of_the_whole() -> None:
    rng = np.random.default_rng(0)
    across = rng.random((40, 30)) < 0.2
    block = degree_normalised(sp.csr_array(across.astype(np.float32))).toarray()
    whole = np.block([[np.zeros((40, 40)), block], [block.T, np.zeros((30, 30))]])
    values, vectors = leading_eigenvectors(sp.csr_array(whole.astype(np.float32)), 4, seed=0)
    exact = np.linalg.eigvalsh(whole)[::-1][:4]
    assert np.allclose(values, exact, atol=0.01)
    assert np.allclose(whole @ vectors, vectors * values, atol=0.05)


def test_attributes_are_regressions_on_codes(network: Network) -> None:
    codes = np.random.default_rng(0).normal(size=(network.n_nodes, 6)).astype(np.float32)
    found, variances = attribute_codes(network, "node", codes, 6)
    wanted = degree_normalised(network.relation("attributes").values).toarray()
    pull = 1e-2 * np.trace(codes.T @ codes) / 6 * np.eye(6)
    expected = np.linalg.solve(codes.T @ codes + pull, codes.T @ wanted).T
    assert np.allclose(found, expected, atol=1e-5)
    owners = np.bincount(network.relation("attributes").values.indices, minlength=len(found))
    # each owner says as much as the prior does
    by_owners = variances * (1 + owners[:, None])
    assert np.allclose(by_owners, by_owners[0])


def test_ridge_is_the_minimum_of_its_cost() -> None:
    rng = np.random.default_rng(1)
    views = TypeViews({}, {"a": rng.normal(size=(80, 3)), "b": rng.normal(size=(80, 2))}, rng.random((80, 1)))
    wanted = rng.normal(size=(80, 2))
    model = ridge_model(views, wanted)
    rest = wanted - model.of(views)
    assert abs(rest.mean(axis=0)).max() < 1e-3  # a constant is free
    assert np.square(rest).sum() < np.square(wanted - wanted.mean(axis=0)).sum()


def test_weights_cost_least() -> None:
    rng = np.random.default_rng(2)
    features = np.column_stack([rng.normal(size=400), np.ones(400)])
    values = (rng.random(400) < 1 / (1 + np.exp(-2 * features[:, 0] + 1))).astype(float)
    weights = cheapest(features, values, "bernoulli")
    assert abs(weights - [2, -1]).max() < 0.5
    line = cheapest(features, features @ [3.0, 1.0], "gaussian")
    assert np.allclose(line, [3, 1], atol=0.05)


def test_filling_makes_all_as_long_as_the_longest() -> None:
    rows = np.random.default_rng(3).normal(size=(20, 6)).astype(np.float32)
    filled = np.hstack([rows, _filling(rows, 6)])
    assert np.allclose(np.linalg.norm(filled, axis=1), np.linalg.norm(rows, axis=1).max(), rtol=1e-5)


def test_spreading_together_is_spreading_apart(network: Network) -> None:
    walk, labels = walk_within(network, "node"), network.labels
    fewer = np.where(np.arange(len(labels)) % 3 == 0, -1, labels)
    together = spread_all(walk, [labels, fewer], network.n_classes)
    for found, each in zip(together, (labels, fewer), strict=True):
        assert np.allclose(found, spread(walk, each, network.n_classes), atol=1e-6)
