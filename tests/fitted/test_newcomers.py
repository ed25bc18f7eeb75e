"""Newcomers are placed as a whole network of them would be, and answer as its result does."""

from __future__ import annotations

import numpy as np
import pytest

from coembed.fitted.common_placing import touched_by
from coembed.fitted.newcomers import place_newcomers
from coembed.fitted.placing import entry_counts
from coembed.fitted.space import bias_of_new
from coembed.network.network import Network
from coembed.settings import preset_settings
from coembed.training import fit

from .conftest import random_network


@pytest.fixture(params=["graph", "views", "gaussian", "views without classes"])
def model(request, rng, any_fitted):
    if request.param in ("graph", "gaussian"):
        return any_fitted
    network = random_network(rng, classes=0 if "without" in request.param else 3)
    return fit(network, preset_settings("best", epochs=6, dim=6, hidden=7))


def test_newcomers_answer_as_the_result_of_the_grown_network(model, rng):
    network = model.network
    linked = (rng.random((2, network.n_nodes)) < 0.1).astype(np.float32)
    owned = (rng.random((2, network.n_attributes)) < 0.3).astype(np.float32)
    old = network.links.toarray()
    grown = Network.build(
        np.block([[old, linked.T], [linked, np.zeros((2, 2))]]),
        np.vstack([network.attributes.toarray(), owned]),
        np.append(network.labels, [-1, -1]),
        node_names=[*network.node_names, "first", "second"],
        attribute_names=network.attribute_names,
        class_names=network.class_names,
    )
    result = model.embed(grown).result
    rows = {"links": grown.links[40:, :40].tocsr(), "attributes": grown.attributes[40:].tocsr()}
    placed = place_newcomers(model, "node", rows)
    np.testing.assert_allclose(placed.codes.mean, result.nodes.mean[40:], atol=1e-5)
    np.testing.assert_allclose(placed.codes.std, result.nodes.std[40:], rtol=1e-4, atol=1e-5)
    if network.n_classes:
        np.testing.assert_allclose(placed.probabilities, result.probabilities[40:], atol=1e-5)
    else:
        assert placed.probabilities is None
    columns = np.array([3, 1, 8])
    expected = result.score_rows(np.array([40, 41]), "attributes")[:, columns]
    np.testing.assert_allclose(placed.answer("attributes", columns)[0], expected, rtol=1e-4, atol=1e-5)
    for i, name in enumerate(("first", "second")):
        same_matches(placed.complete(i, "attributes", 4), result.complete_attributes(name, 4))
        same_matches(placed.nearest(i, "attribute", 4), result.profile(name, 4))
        # there the other newcomer is an answer, too
        others = [m for m in result.similar(name, 9, "node") if m.name not in ("first", "second")]
        same_matches(placed.nearest(i, k=6), others[:6])
        others = [m for m in result.suggest_links(name, 9) if m.name not in ("first", "second")]
        same_matches(placed.complete(i, "links", 6), others[:6])


def same_matches(found, expected):
    assert [(m.name, m.kind, m.known, m.label) for m in found] == [
        (m.name, m.kind, m.known, m.label) for m in expected
    ]
    np.testing.assert_allclose([m.score for m in found], [m.score for m in expected], rtol=1e-3)
    np.testing.assert_allclose([m.std for m in found], [m.std for m in expected], rtol=1e-3, atol=1e-5)


def test_few_and_many_newcomers_have_the_same_views(rng, monkeypatch):
    from coembed.views import type_views

    model = fit(random_network(rng), preset_settings("best", epochs=2, dim=4, hidden=4))
    rows = {"links": model.network.links[:5], "attributes": model.network.attributes[:5]}
    few = place_newcomers(model, "node", rows)
    monkeypatch.setattr(type_views, "FEW", 0)
    many = place_newcomers(model, "node", rows)
    np.testing.assert_allclose(few.codes.mean, many.codes.mean, atol=1e-5)


def test_the_bias_of_a_newcomer_grows_with_its_entries_from_a_constant():
    weights = np.array([2.0, -1.0, 0.5], dtype=np.float32)
    counts = np.array([[0, 0], [np.e - 1, 0], [0, np.e - 1]])
    np.testing.assert_allclose(bias_of_new(weights, counts), [0.5, 2.5, -0.5], rtol=1e-6)
    np.testing.assert_array_equal(bias_of_new(None, counts), [0, 0, 0])


def test_a_newcomer_with_the_entries_of_a_known_item_has_its_bias(general):
    """In every relation, at both of its ends."""
    network, tried = general.network, 0
    for relation, learnt in general.relations.items():
        joined = network.relation(relation)
        for type, weights, known in (
            (joined.source, learnt.source_evidence, learnt.source_bias),
            (joined.target, learnt.target_evidence, learnt.target_bias),
        ):
            if weights is None or network.owner_type(type) is not None:
                continue
            rows = {name: matrix for name, (_, matrix) in touched_by(network, type).items()}
            counts = entry_counts(network, type, rows, len(network.items(type)))
            np.testing.assert_allclose(bias_of_new(weights, counts), known, atol=1e-5)
            assert np.ptp(known) > 1e-3
            tried += 1
    assert tried > 3
