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
from coembed.training import fit, space_targets, space_teaching
from coembed.training.space_targets import Stack, _listed, _proposals, neighbours_wanted, speaking_for
from coembed.training.space_teaching import Part, Teaching, taught_directions


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


def plain_cost(vectors, log_temperature, taught, part):
    """The cost written down plainly, for autograd: items weigh as many as they stand for."""
    unit = torch.nn.functional.normalize(vectors, dim=1)
    rows, among = np.concatenate(part.rows), np.concatenate([np.arange(9)[at] for at in part.blocks])
    each = torch.tensor(np.repeat(part.each, [len(np.arange(9)[at]) for at in part.blocks]))
    types = np.repeat(np.arange(2), taught.sizes)
    same = torch.as_tensor(types[rows][:, None] == types[among])
    scores = log_temperature.exp() * (unit[rows] @ unit[among].T) + each.log()
    scores = scores + torch.as_tensor(taught.own_weights[types[rows]])[:, None] * same
    scores = scores.masked_fill(torch.as_tensor(rows[:, None] == among), -torch.inf)
    shares = torch.as_tensor(taught.wanted[rows][:, among].toarray()) * each
    logs = torch.log_softmax(scores, dim=1)
    return -(shares * torch.where(shares > 0, logs, 0.0)).sum() / shares.sum()


@pytest.fixture
def teaching():
    rng = np.random.default_rng(0)
    wanted = rng.random((9, 9)) * (rng.random((9, 9)) < 0.6) * (1 - np.eye(9))
    wanted = sp.csr_array(wanted / wanted.sum(axis=1, keepdims=True))
    return Teaching(wanted, [6, 3], rng.normal(size=(9, 3)))


@pytest.mark.parametrize(
    "part",
    [
        Part([np.array([1, 5]), np.array([6])], [slice(0, 6), slice(6, 9)], [0, 1], [1.0, 1.0]),
        Part(
            [np.array([0, 3]), np.array([7])],
            [slice(0, 2), slice(3, 5), slice(7, 9)],
            [0, 0, 1],
            [1.5, 1.5, 1.5],
        ),
    ],
)
def test_the_cost_and_its_slopes_are_those_of_autograd(teaching, part):
    found = teaching.slopes(part)
    free = teaching.vectors.clone().requires_grad_()
    log_temperature = torch.tensor(teaching.log_temperature, dtype=torch.float64, requires_grad=True)
    cost = plain_cost(free, log_temperature, teaching, part)
    cost.backward()
    assert found.cost == pytest.approx(float(cost.detach()), rel=1e-9)
    for at, slope in zip(part.blocks, found.blocks, strict=True):
        np.testing.assert_allclose(slope, free.grad[at], atol=1e-12)
    np.testing.assert_allclose(found.log_temperature, log_temperature.grad, atol=1e-12)


def test_half_of_the_bits_point_the_same_way(teaching):
    part = teaching.drawn()
    exact = torch.cat(teaching.slopes(part).blocks)
    teaching.products = torch.bfloat16
    rough = torch.cat(teaching.slopes(part).blocks)
    assert torch.nn.functional.cosine_similarity(exact.ravel(), rough.ravel(), dim=0) > 0.99


def test_steps_are_those_of_adam(teaching):
    free = torch.nn.Parameter(teaching.vectors.clone())
    log_temperature = torch.nn.Parameter(torch.tensor(teaching.log_temperature, dtype=torch.float64))
    groups = [{"params": [free], "lr": 0.05}, {"params": [log_temperature], "lr": 0.02}]
    theirs = torch.optim.Adam(groups, betas=(0.9, 0.99))
    for _ in range(5):
        free.grad = torch.empty_like(free)  # so few items are all in the part
        state = teaching.rng.bit_generator.state
        part = teaching.drawn()
        teaching.rng.bit_generator.state = state
        found = teaching.slopes(part)
        for at, slope in zip(part.blocks, found.blocks, strict=True):
            free.grad[at] = slope
        log_temperature.grad = torch.tensor(found.log_temperature, dtype=torch.float64)
        theirs.step()
        teaching.step(1.0)
    np.testing.assert_allclose(teaching.vectors, free.detach(), atol=1e-12)
    assert teaching.log_temperature == pytest.approx(float(log_temperature.detach()), abs=1e-12)


def test_a_part_has_some_of_every_type_and_those_asked_are_in_it(monkeypatch):
    monkeypatch.setattr(space_teaching, "BLOCK", 10)
    monkeypatch.setattr(space_teaching, "CANDIDATES", 60)
    monkeypatch.setattr(space_teaching, "BATCH", 24)
    wanted = sp.random_array((140, 140), density=0.2, format="csr", rng=np.random.default_rng(3))
    part = Teaching(wanted, [100, 40], np.eye(140, 4)).drawn()
    inside = np.concatenate([np.arange(at.start, at.stop) for at in part.blocks])
    assert (inside < 100).sum() == 40
    assert (inside >= 100).sum() == 20
    assert part.each == [2.5] * 4 + [2.0] * 2
    assert np.isin(np.concatenate(part.rows), inside).all()
    assert [len(rows) for rows in part.rows] == [15, 9]  # with the roots of 100 and 40


def test_a_type_apart_sees_one_block_of_its_own_that_stands_for_all():
    wanted = np.zeros((60, 60))
    wanted[:20, 20:] = 1 / 40  # nothing within either type
    taught = Teaching(sp.csr_array(wanted), [20, 40], np.eye(60, 4))
    assert taught.apart == [True, True]
    taught.blocks = [[slice(0, 20)], [slice(20, 40), slice(40, 60)]]
    part = Part(
        [np.arange(3), np.arange(20, 24)], [slice(0, 20), slice(20, 40), slice(40, 60)], [0, 1, 1], [1.0] * 3
    )
    seen = taught.seen_by(part, np.array([0, 3, 7]))
    assert [[rows for rows, _ in seers] for seers in seen] == [
        [slice(0, 3), slice(3, 7)],
        [slice(0, 3), slice(3, 7)],
        [slice(0, 3)],
    ]
    assert seen[1][1][1] == pytest.approx(taught.own_weights[1] + np.log(2))
    taught.apart = [False, False]
    both = taught.seen_by(part, np.array([0, 3, 7]))
    assert [seers[1][1] for seers in both[1:]] == [pytest.approx(taught.own_weights[1])] * 2


@pytest.mark.parametrize(("able", "wanted"), [(True, torch.bfloat16), (False, torch.float32)])
def test_half_of_the_bits_only_where_the_processor_multiplies_them(able, wanted, monkeypatch):
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: able)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: False)
    assert space_teaching.products_in() == wanted


def test_a_torch_that_cannot_tell_multiplies_all_bits(monkeypatch):
    for name in space_teaching.HALF_OF_THE_BITS:
        monkeypatch.delattr(torch.cpu, name)
    assert space_teaching.products_in() == torch.float32


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


def test_teaching_costs_less_than_where_it_starts():
    rng = np.random.default_rng(0)
    wanted = rng.random((9, 9)) ** 6 * (1 - np.eye(9))
    wanted = sp.csr_array((wanted / wanted.sum(axis=1, keepdims=True)).astype(np.float32))
    taught = Teaching(wanted, [6, 3], rng.normal(size=(9, 3)).astype(np.float32))
    whole = Part([np.arange(6), np.arange(6, 9)], [slice(0, 6), slice(6, 9)], [0, 1], [1.0, 1.0])
    back = np.argsort(taught.order)

    def cost(found):
        vectors = torch.from_numpy(np.ascontiguousarray(found)[np.argsort(back)].astype(np.float64))
        return float(plain_cost(vectors, torch.tensor(np.log(5.0)), taught, whole))

    start, end = (taught_directions(wanted, [6, 3], 3, most=most) for most in (0, 60))
    assert cost(end) < cost(start) - 0.1


@pytest.fixture(scope="module")
def blended():
    """Links and words with weights of their scores."""
    network, _ = two_blocks()
    settings = preset_settings("best", epochs=2, dim=4, validation_pairs=0.2, label_ensemble=0.0, space_dim=0)
    found = fit(network, settings)
    assert found.relations["links"].blends
    return found


def test_nobody_is_proposed_to_themselves_or_what_they_have(blended):
    stack = Stack({name: np.arange(len(items)) for name, items in blended.network.types.items()})
    for relation in blended.network.relations.values():
        forwards, backwards = _proposals(blended, relation, stack, np.random.default_rng(0))
        dense = forwards.toarray()
        assert not dense[relation.values.toarray() != 0].any()
        if relation.pairing.same:
            assert not dense.diagonal().any()
        for proposed in (dense, backwards.toarray()):
            sums = proposed.sum(axis=1)
            assert np.allclose(sums[sums > 0], 1, atol=1e-4)
            assert (sums > 0).mean() > 0.9
            assert (proposed >= 0).all()


def test_what_takes_long_is_told(blended):
    stack = Stack({name: np.arange(len(items)) for name, items in blended.network.types.items()})
    said = []
    neighbours_wanted(blended, stack, said.append)
    assert said == [f"the common space: what {name} proposes" for name in blended.network.relations]


@pytest.mark.parametrize("columns", [4, 200])
def test_lists_hold_the_best_by_their_odds_and_a_quarter_of_all_others(columns, monkeypatch):
    monkeypatch.setattr(space_targets, "PROPOSED", 4)
    scores = np.random.default_rng(0).normal(size=(30, columns)).astype(np.float32)
    chosen, weights = _listed(scores, np.random.default_rng(1))
    best = np.sort(np.argsort(-scores, axis=1)[:, :4], axis=1)
    np.testing.assert_array_equal(np.sort(chosen[:, :4], axis=1), best)
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-5)
    odds = np.exp(space_targets.SHARPNESS * np.take_along_axis(scores, chosen[:, :4], axis=1))
    shares = odds / odds.sum(axis=1, keepdims=True)
    of_best = 1.0 if columns == 4 else 1 - space_targets.TAIL
    np.testing.assert_allclose(weights[:, :4], of_best * shares, rtol=1e-4)
    assert chosen.shape[1] == (4 if columns == 4 else 8)
