"""Closed-form scores: rows = pairs, the item model is exact at full rank, a blend finds what it can."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from coembed.fitted.pair_scores import RIDGES, item_vectors, pair_scores
from coembed.fitted.placing import Placing
from coembed.fitted.score_blend import weigh
from coembed.network import Network
from coembed.views import nearest_rows

from .conftest import random_fitted


@pytest.fixture
def network():
    rng = np.random.default_rng(3)
    links = np.triu(rng.random((40, 40)) < 0.12, 1)
    return Network.build(links + links.T, (rng.random((40, 25)) < 0.2).astype(float))


@pytest.fixture
def scores(network):
    fitted = random_fitted(np.random.default_rng(1), network)
    alike = nearest_rows(sp.csr_array(network.attributes / 3), k=10)
    fitted = replace(
        fitted,
        placing=Placing({}, {}, alike={"node": alike}),
        relations={
            name: replace(fit, vectors=item_vectors(network.relation(name).values))
            for name, fit in fitted.relations.items()
        },
    )
    return {name: pair_scores(fitted, name) for name in ("links", "attributes")}


@pytest.mark.parametrize("kind", ["links", "attributes"])
def test_pairs_and_rows_are_the_same_scores(scores, kind):
    items = 40 if kind == "links" else 25
    pairs = np.stack(np.meshgrid(np.arange(40), np.arange(items), indexing="ij"), axis=-1).reshape(-1, 2)
    shuffled = np.random.default_rng(0).permutation(len(pairs))
    for score in scores[kind]:
        rows = score.rows(np.arange(40))
        np.testing.assert_allclose(
            score.pairs(pairs[shuffled]), rows.ravel()[shuffled], atol=2e-3, err_msg=score.name
        )


@pytest.mark.parametrize("kind", ["links", "attributes"])
def test_one_row_is_scored_as_among_many(scores, kind):
    for score in scores[kind]:
        rows = score.rows(np.arange(40))
        for item in (0, 7, 39):
            np.testing.assert_allclose(score.rows(np.array([item]))[0], rows[item], atol=2e-3)
            pairs = np.column_stack([np.full(9, item), score.first + np.arange(9)])
            np.testing.assert_allclose(score.pairs(pairs), rows[item, :9], atol=2e-3, err_msg=score.name)


def test_links_are_scored_alike_from_both_ends(scores):
    for score in scores["links"]:
        rows = score.rows(np.arange(40))
        np.testing.assert_allclose(rows, rows.T, atol=2e-3, err_msg=score.name)


def test_item_model_is_ridge_regression_of_every_item_on_the_others(network, scores):
    x = (network.attributes.toarray() > 0).astype(float)
    found = {score.name: score for score in scores["attributes"]}
    for ridge in RIDGES:
        exact = np.zeros_like(x)
        for item in range(x.shape[1]):
            others = np.delete(np.arange(x.shape[1]), item)
            z = x[:, others]
            exact[:, item] = z @ np.linalg.solve(z.T @ z + ridge * np.eye(len(others)), z.T @ x[:, item])
        absent = x == 0  # where a node has the item, the low rank still sees it
        given = found[f"item model {ridge:g}"].rows(np.arange(40))
        np.testing.assert_allclose((given * np.abs(given))[absent], exact[absent], atol=1e-4)


def test_votes_are_shares_of_the_nodes_alike(network, scores):
    votes = np.exp(scores["attributes"][0].rows(np.arange(40))) - 1e-3
    assert votes.min() > -1e-5
    assert votes.max() < 1 + 1e-5


def test_blend_reads_features_together_and_one_by_one_alike():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(6, 5, 3)).astype(np.float32)
    blend = weigh(rng.normal(0.5, 1, (300, 3)), rng.normal(-0.5, 1, (300, 3)))
    one_by_one = blend.logits_of([features[..., i] for i in range(3)])
    np.testing.assert_allclose(blend.logits(features), one_by_one, atol=1e-4)


def test_blend_finds_what_no_feature_shows_alone():
    rng = np.random.default_rng(0)
    near = rng.normal(0, 0.5, (800, 2))
    far = rng.normal(0, 1, (800, 2))
    far *= 2 / np.linalg.norm(far, axis=1, keepdims=True)
    blend = weigh(near, far)
    assert np.mean(blend.logits(near) > 0) > 0.9
    assert np.mean(blend.logits(far) < 0) > 0.9


def test_too_few_pairs_are_not_weighed():
    assert weigh(np.ones((3, 2)), np.zeros((3, 2))) is None


def test_a_shared_neighbour_of_many_links_says_less(network, scores):
    """Adamic and Adar: each common neighbour counts one over the logarithm of its links."""
    links = network.links.toarray() > 0
    weight = 1 / np.log(np.maximum(links.sum(axis=0), 2))
    (shared,) = (each for each in scores["links"] if each.name == "shared links")
    found = np.exp(shared.rows(np.arange(40))) - 1e-3
    np.testing.assert_allclose(found, (links * weight) @ links.T, atol=1e-4)
