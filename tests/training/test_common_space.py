"""The space of all types: taught as it should be, answered from alone, and the same for newcomers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from coembed.evaluation.evaluation import run_trial
from coembed.evaluation.profiling import mixing
from coembed.fitted import load, save
from coembed.fitted.common_placing import mean_direction, steering_of
from coembed.network import Network, demo_network
from coembed.settings import preset_settings
from coembed.training import fit
from coembed.training.common_space import Rivalry, _Adam, surprise, taught_directions
from coembed.training.space_targets import Stack, neighbours_wanted, speaking_for


@pytest.fixture(scope="module")
def demo():
    return fit(demo_network(), preset_settings("best", epochs=15))


def two_blocks(count=40, seed=0):
    """Two groups of nodes, each with words of its own."""
    rng = np.random.default_rng(seed)
    group = np.repeat([0, 1], count // 2)
    words = (rng.random((count, 20)) < np.where(group[:, None] == np.repeat([0, 1], 10), 0.5, 0.02)) * 1.0
    links = np.triu((rng.random((count, count)) < np.where(group[:, None] == group, 0.3, 0.01)) * 1.0, 1)
    return Network.build(links + links.T, attributes=words), group


def torch_surprise(vectors, log_temperature, rivalry, rows, among, wanted):
    """The cost written down plainly, for autograd."""
    unit = torch.nn.functional.normalize(vectors, dim=1)
    scores = log_temperature.exp() * (unit[rows] @ unit[among].T)
    types, weights = torch.as_tensor(rivalry.types), torch.as_tensor(rivalry.log_weights)
    scores = scores + weights[types[rows]][:, None] * (types[rows][:, None] == types[among])
    scores = scores.masked_fill(torch.as_tensor(rows[:, None] == among), -torch.inf)
    shares = torch.as_tensor(wanted[rows][:, among].toarray())
    logs = torch.log_softmax(scores, dim=1)
    return -(shares * torch.where(shares > 0, logs, 0.0)).sum() / shares.sum()


@pytest.mark.parametrize("among", [np.arange(9), np.array([0, 1, 3, 4, 7, 8])])
def test_the_cost_and_its_slopes_are_those_of_autograd(among):
    rng = np.random.default_rng(0)
    wanted = rng.random((9, 9)) * (rng.random((9, 9)) < 0.6) * (1 - np.eye(9))
    wanted = sp.csr_array(wanted / wanted.sum(axis=1, keepdims=True))
    vectors, rows, rivalry = rng.normal(size=(9, 3)), np.array([1, 5, 6]), Rivalry.of([6, 3])
    found = surprise(vectors, 3.0, rivalry, rows, among, wanted)
    free = torch.tensor(vectors, requires_grad=True)
    log_temperature = torch.tensor(np.log(3.0), requires_grad=True)
    cost = torch_surprise(free, log_temperature, rivalry, rows, among, wanted)
    cost.backward()
    assert found.cost == pytest.approx(float(cost.detach()), rel=1e-9)
    np.testing.assert_allclose(found.vectors, free.grad.numpy(), atol=1e-12)
    np.testing.assert_allclose(found.log_temperature[0], log_temperature.grad, atol=1e-12)


def test_steps_are_those_of_adam():
    rng = np.random.default_rng(1)
    start, slopes = rng.normal(size=(4, 2)), rng.normal(size=(5, 4, 2))
    values, free = start.copy(), torch.nn.Parameter(torch.tensor(start))
    ours, theirs = _Adam(values, 0.05), torch.optim.Adam([free], lr=0.05, betas=(0.9, 0.99))
    for slope in slopes:
        ours.step(slope, 1.0)
        free.grad = torch.tensor(slope)
        theirs.step()
    np.testing.assert_allclose(values, free.detach().numpy(), atol=1e-12)


def test_items_of_ones_own_type_weigh_a_share_of_the_others_together():
    weights = np.exp(Rivalry.of([1000, 10]).log_weights)
    np.testing.assert_allclose(weights, [0.03 * 10 / 1000, 1.0], rtol=1e-5)
    np.testing.assert_allclose(Rivalry.of([50]).log_weights, [0.0])


def test_what_is_wanted_comes_near():
    wanted = sp.csr_array(np.kron(np.eye(4), np.ones((10, 10)) - np.eye(10)) / 9)
    found = taught_directions(wanted.astype(np.float32), [20, 20], dim=8, most=60)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-5)
    near = np.argsort(-(found @ found.T - 2 * np.eye(40)), axis=1)[:, :9]
    assert (near // 10 == np.arange(40)[:, None] // 10).mean() > 0.95
    np.testing.assert_array_equal(found, taught_directions(wanted.astype(np.float32), [20, 20], 8, most=60))


def test_rows_of_what_is_wanted_sum_to_one_and_hold_what_is_known(demo):
    network = demo.network
    stack = Stack({name: np.arange(len(items)) for name, items in network.types.items()})
    wanted = neighbours_wanted(demo, stack, lambda step: None)
    sums = np.asarray(wanted.sum(axis=1)).ravel()
    assert np.allclose(sums[sums > 0], 1, atol=1e-4)
    words = network.relation("attributes").values
    assert (wanted[: words.shape[0], words.shape[0] :].toarray()[words.toarray() > 0] > 0).all()
    assert wanted.diagonal().sum() == 0


def test_what_is_below_the_middle_speaks_for_nothing():
    from coembed.network.relations import Column, Relation

    column = Column("age", "number", 0, 1, center=40.0, scale=10.0)
    values = sp.csr_array(np.array([[1.0], [-1.0]], dtype=np.float32))
    relation = Relation.build("age", "people", "values", values, column=column)
    np.testing.assert_array_equal(speaking_for(relation).toarray(), [[1.0], [0.0]])


def test_nodes_and_their_words_stand_together_and_types_mix():
    network, group = two_blocks()
    fitted = fit(network, preset_settings("best", epochs=10, pair_scores=False))
    nodes, words = fitted.codes("node").mean, fitted.codes("attribute").mean
    assert nodes.shape[1] == fitted.code_dim != fitted.latent_dim
    near = np.argsort(-(nodes @ words.T), axis=1)[:, :5]
    assert (near // 10 == group[:, None]).mean() > 0.9
    assert mixing(nodes, words) > 0.5


def test_saved_is_loaded_and_placed_again_is_where_it_was(demo, tmp_path):
    again = load(save(demo, tmp_path / "m"))
    for name in demo.network.types:
        np.testing.assert_array_equal(again.codes(name).mean, demo.codes(name).mean)
        np.testing.assert_array_equal(again.codes(name).std, demo.codes(name).std)
    words, links = (demo.network.relation(name).values[:50] for name in ("attributes", "links"))
    placed = again.place("node", {"attributes": words, "links": links})
    cosines = placed.codes.mean @ demo.codes("node").mean.T
    nearer = (cosines > cosines[np.arange(50), np.arange(50)][:, None]).sum(axis=1)
    assert np.median(nearer) <= 5  # of 1,476


def test_a_turn_that_is_there_is_found():
    """Nodes that point where their words point, turned by a quarter: that is what placing must learn."""
    rng = np.random.default_rng(0)
    network = Network.build(np.zeros((200, 200)), attributes=(rng.random((200, 30)) < 0.2) * 1.0)
    words = rng.normal(size=(30, 4)).astype(np.float32)
    words /= np.linalg.norm(words, axis=1, keepdims=True)
    turn = np.kron(np.eye(2), [[0, 1], [-1, 0]]).astype(np.float32)
    nodes = mean_direction(network.relation("attributes").values, words) @ turn
    parts = {"node": nodes, "attribute": words}
    taken = {"node": np.arange(200), "attribute": np.arange(30)}
    found = steering_of(network, taken, parts)["node"]["attributes>"]
    np.testing.assert_allclose(found, turn, atol=0.01)


def test_hidden_words_are_found_by_cosine_alone():
    outcome = run_trial(demo_network(), "profiling", "scan", seed=0, changes=["epochs=20"])
    figures = outcome.figures
    assert figures["recall_at_10"] > 0.8 * figures["answered_recall_at_10"] > 0.3
    assert figures["mixing"] > 0.5
    assert figures["precision_at_10"] > 0.6
    svd = run_trial(demo_network(), "profiling", "svd", seed=0).figures
    assert svd["recall_at_10"] < figures["recall_at_10"]
