"""Cells, directed relations, gains and counts: against the plainest dense computation, and by differences."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from general_network import general_network
from torch.autograd import gradcheck

from coembed.distributed.row_range import Rows
from coembed.kernels import HIDDEN_SHARE, Noise, hidden_cells
from coembed.model import Cells, ItemCodes, ModelledRelation, RelationTerm
from coembed.model.relation_term import COPIED
from coembed.model.scan import scan
from coembed.model.views_inference import View
from coembed.network import Items, Network, Relation
from coembed.settings import preset_settings
from coembed.training import fit
from coembed.views.cells import CellLayout

SIZE = 3


def codes(n_items, n_choices=1, seed=0):
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(n_items, n_choices, SIZE, generator=generator, dtype=torch.float64).requires_grad_()
    if n_choices == 1:
        return ItemCodes(values, None)
    weights = torch.rand(n_items, n_choices, generator=generator, dtype=torch.float64)
    return ItemCodes(values, (weights / weights.sum(dim=1, keepdim=True)).requires_grad_())


def cells_relation(likelihood, n=8, seed=0):
    """Two columns among five attributes, of which the targets 1, 2 (3, 4) are theirs; a third is missing."""
    rng = np.random.default_rng(seed)
    if likelihood == "categorical":
        targets, place = np.array([1, 2, 3, 4]), np.array([0, 0, 1, 1])
        rows = [(i, [0, 1][rng.integers(2)] + 2 * c) for i in range(n) for c in (0, 1) if rng.random() < 0.7]
        values = np.ones(len(rows))
    else:
        targets, place = np.array([1, 3]), np.array([0, 1])
        rows = [(i, c) for i in range(n) for c in (0, 1) if rng.random() < 0.7]
        values = rng.integers(0, 2, len(rows)) if likelihood == "bernoulli" else rng.normal(size=len(rows))
        values = values.astype(float)
        values[0] = 0.0  # a known zero is a cell, too
    matrix = sp.coo_array((values, tuple(np.array(rows).T)), shape=(n, len(targets))).tocsr()
    weight = np.array([0.3, 0.7])[place]
    cells = Cells("table", 2, place, weight)
    return ModelledRelation(
        "c", "one", "other", matrix.astype(np.float32), likelihood, cells=cells, targets=targets, pays=False
    )


def weights_of_cells(noise, n):
    """Of every cell what it counts: most of all if it is hidden from the inputs."""
    hidden = hidden_cells(noise, "table", Rows.all(n), 2, torch.empty(0, dtype=torch.float64))
    return torch.where(hidden, (1 - COPIED) / HIDDEN_SHARE, COPIED / (1 - HIDDEN_SHARE)).double()


def dense_cells(relation, term, left, right, noise):
    """Sum over the known cells of weight x cost, from all scores."""
    total = torch.zeros((), dtype=torch.float64)
    there = right.values[torch.as_tensor(relation.targets), 0]
    choices = left.weights if left.weights is not None else torch.ones(left.values.shape[:2])
    scores = torch.einsum("ikc,jc->ikj", left.values, there) + term.cell_bias
    counts = weights_of_cells(noise, len(left.values))
    entries = relation.matrix.tocoo()
    place, weight = relation.cells.place, relation.cells.weight
    for column in np.unique(place):
        group = np.flatnonzero(place == column)
        known = [
            (i, j, float(v))
            for i, j, v in zip(entries.row, entries.col, entries.data, strict=True)
            if j in group
        ]
        squares = torch.zeros((), dtype=torch.float64)
        for i, j, v in known:
            for k in range(scores.shape[1]):
                s, share = scores[i, k], choices[i, k] * counts[i, column]
                if relation.likelihood == "categorical":
                    total = total + share * weight[j] * (torch.logsumexp(s[torch.as_tensor(group)], 0) - s[j])
                elif relation.likelihood == "bernoulli":
                    total = total + share * weight[j] * (F.softplus(s[j]) - v * s[j])
                else:
                    squares = squares + share * (v - s[j]) ** 2
        if relation.likelihood == "gaussian":
            together = sum(counts[i, column] for i, _, _ in known)
            cost = 0.5 * (torch.log(squares / together) + 1)
            total = total + float(weight[group[0]]) * len(known) * cost
    return total


@pytest.mark.parametrize("likelihood", ["bernoulli", "gaussian", "categorical"])
@pytest.mark.parametrize("n_choices", [1, 2])
@pytest.mark.parametrize("step", [0, 1])
def test_cells_cost_what_the_dense_computation_says(likelihood, n_choices, step):
    relation = cells_relation(likelihood)
    term = RelationTerm(relation, dtype=torch.float64).double()
    with torch.no_grad():
        term.cell_bias.normal_(generator=torch.Generator().manual_seed(1))
    left, right = codes(8, n_choices), codes(5, 1, seed=1)
    found = term(left, right, Noise(0, step))
    expected = dense_cells(relation, term, left, right, Noise(0, step))
    assert float(found.detach()) == pytest.approx(float(expected.detach()), abs=1e-6)


@pytest.mark.parametrize("likelihood", ["bernoulli", "gaussian", "categorical"])
def test_gradients_of_cells_by_finite_differences(likelihood):
    term = RelationTerm(cells_relation(likelihood, n=5), dtype=torch.float64).double()
    left, right = codes(5), codes(5, seed=1)
    assert gradcheck(
        lambda a, b: term(ItemCodes(a, None), ItemCodes(b, None), Noise(0)), (left.values, right.values)
    )


def test_a_cell_that_counts_is_one_that_the_inputs_do_not_show():
    """Who hides and who asks agree, whatever part of the rows each has."""
    like = torch.empty(0)
    whole = hidden_cells(Noise(3, 5).of("a type").of("a view"), "table", Rows.all(50), 4, like)
    part = hidden_cells(Noise(3, 5), "table", Rows(20, 30, 50), 4, like)
    assert torch.equal(part, whole[20:30])
    assert 0.1 < float(whole.double().mean()) < 0.3
    features = np.ones((50, 4), dtype=np.float32)
    view = View(features, 1, False, 0.5, "cpu", torch.float32, table="table", place=np.arange(4))
    with torch.no_grad():
        view.weight.fill_(1.0)
    shown = view.before_tanh(0, *view.first_layer(Noise(3, 5)), Noise(3, 5))[:, 0] / view.scale
    torch.testing.assert_close(shown, (~whole).sum(dim=1).float())


@pytest.mark.parametrize("type", ["person", "film"])  # with links of its own, and without
def test_the_inputs_of_paper_do_not_show_the_cells_that_count(type):
    network = general_network()
    model = scan(network, preset_settings("paper"))
    key = f"t{list(network.types).index(type)}"
    inference, noise = model.inference[key], Noise(3, 5)
    cells = inference.inputs.matrices[inference.names.index("cells")]
    place = CellLayout.of(network.columns(type)).place
    hidden = hidden_cells(noise, type, Rows.all(len(cells)), place.max() + 1, cells)[:, place]
    before = inference(noise.of(key)).output
    cells += 100.0 * hidden
    torch.testing.assert_close(inference(noise.of(key)).output, before)
    assert not torch.allclose(inference(None).output, before)
    cells += 100.0 * ~hidden
    assert not torch.allclose(inference(noise.of(key)).output, before)


def directed(n=7, seed=3, likelihood="bernoulli"):
    rng = np.random.default_rng(seed)
    matrix = ((rng.random((n, n)) < 0.3) * rng.integers(1, 4, (n, n))).astype(np.float32)
    np.fill_diagonal(matrix, 0)
    return ModelledRelation("d", "one", "one", sp.csr_array(matrix), likelihood, directed=True)


def turned(term):
    with torch.no_grad():
        for weight in (term.direction.turn, term.direction.lean, term.direction.gains):
            weight.normal_(generator=torch.Generator().manual_seed(5))
    return term.double()


@pytest.mark.parametrize("likelihood", ["bernoulli", "poisson"])
@pytest.mark.parametrize("balance", [False, True])
def test_a_directed_relation_is_scored_one_way_and_without_itself(likelihood, balance):
    relation = directed(likelihood=likelihood)
    term = turned(
        RelationTerm(relation, size=SIZE, all_pairs="exact", block=3, balance=balance, dtype=torch.float64)
    )
    items = codes(7)
    c, g = items.values[:, 0], term.direction
    lean = c @ g.lean
    matrix = torch.diag(g.gains) + g.turn - g.turn.T
    scores = c @ matrix @ c.T + lean[:, None] - lean
    target = torch.as_tensor(relation.matrix.toarray(), dtype=torch.float64)
    counted = 1 - torch.eye(7, dtype=torch.float64)
    if likelihood == "poisson":
        cost = scores.exp() - target * scores
        expected = (counted * cost).sum() / 42
    else:
        ones = float((target != 0).sum())
        zeros = 42 - ones
        positive, norm = (zeros / ones, 42 / (2 * zeros)) if balance else (1.0, 1.0)
        present = (target != 0).double()
        cost = positive * present * F.softplus(-scores) + (1 - present) * F.softplus(scores)
        expected = norm * (counted * cost).sum() / 42
    # and which way each stored pair goes
    there = torch.nonzero(target)
    ways = (scores - scores.T)[there[:, 0], there[:, 1]]
    expected = expected + F.softplus(-ways).mean()
    assert float(term(items, items, Noise(0)).detach()) == pytest.approx(float(expected.detach()), rel=1e-9)


@pytest.mark.parametrize("likelihood", ["bernoulli", "poisson"])
def test_gradients_of_a_directed_relation(likelihood):
    term = turned(
        RelationTerm(directed(5, likelihood=likelihood), size=SIZE, all_pairs="exact", dtype=torch.float64)
    )
    items = codes(5)
    parameters = (items.values, term.direction.turn, term.direction.lean, term.direction.gains)
    assert gradcheck(
        lambda values, *_: term(ItemCodes(values, None), ItemCodes(values, None), Noise(0)), parameters
    )


def test_at_the_start_a_direction_changes_nothing():
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((6, 6)) < 0.4, 1)
    matrix = sp.csr_array((upper + upper.T).astype(np.float32))
    plain = RelationTerm(ModelledRelation("r", "one", "one", matrix), all_pairs="exact", dtype=torch.float64)
    gained = RelationTerm(
        ModelledRelation("r", "one", "one", matrix, gained=True),
        size=SIZE,
        all_pairs="exact",
        dtype=torch.float64,
    ).double()
    items = codes(6)
    assert float(plain(items, items, Noise(0)).detach()) == pytest.approx(
        float(gained(items, items, Noise(0)).detach()), rel=1e-12
    )


def test_words_among_cells_are_explained_for_their_own_targets_only():
    rng = np.random.default_rng(1)
    matrix = sp.csr_array((rng.random((6, 3)) < 0.5).astype(np.float32))
    some = RelationTerm(
        ModelledRelation("w", "one", "other", matrix, targets=np.array([0, 2, 4])),
        all_pairs="exact",
        dtype=torch.float64,
    )
    alone = RelationTerm(
        ModelledRelation("w", "one", "other", matrix), all_pairs="exact", dtype=torch.float64
    )
    left, right = codes(6), codes(5, seed=1)
    own = ItemCodes(right.values[[0, 2, 4]], None)
    assert float(some(left, right, Noise(0)).detach()) == pytest.approx(
        float(alone(left, own, Noise(0)).detach()), rel=1e-12
    )


def test_mean_of_sampled_counts_is_the_exact_one():
    relation = directed(12, likelihood="poisson")
    exact = turned(RelationTerm(relation, size=SIZE, all_pairs="exact", dtype=torch.float64))
    sampled = turned(RelationTerm(relation, size=SIZE, all_pairs="sampled", block=3, dtype=torch.float64))
    items = ItemCodes(0.3 * codes(12).values.detach(), None)
    draws = [float(sampled(items, items, Noise(0, step)).detach()) for step in range(2000)]
    wanted = float(exact(items, items, Noise(0)).detach())
    assert abs(np.mean(draws) - wanted) < 3 * np.std(draws) / np.sqrt(len(draws))


@pytest.mark.parametrize("likelihood", ["bernoulli", "gaussian", "poisson"])
@pytest.mark.parametrize("count", [None, 1])
def test_where_absent_is_unknown_only_what_is_stored_counts(likelihood, count):
    rng = np.random.default_rng(2)
    rows, columns = (each[:count] for each in np.nonzero(rng.random((6, 4)) < 0.5))
    values = rng.integers(0, 2, len(rows)).astype(np.float32)  # known zeros among them
    matrix = sp.coo_array((values, (rows, columns)), shape=(6, 4)).tocsr()
    given = ModelledRelation("o", "one", "other", matrix, likelihood, observed=True)
    term = RelationTerm(given, dtype=torch.float64).double()
    left, right = codes(6), codes(4, seed=1)
    scores = (left.values[:, 0] @ right.values[:, 0].T)[rows, columns]
    stored = torch.as_tensor(values, dtype=torch.float64)
    if likelihood == "bernoulli":
        expected = F.binary_cross_entropy_with_logits(scores, stored)
    elif likelihood == "poisson":
        expected = (scores.exp() - stored * scores).mean()
    else:
        variance = (stored - term.log_gain.exp() * scores).square().mean()
        expected = 0.5 * (variance.log() + 1 + np.log(2 * np.pi))
    assert float(term(left, right, Noise(0)).detach()) == pytest.approx(float(expected.detach()), rel=1e-6)


def test_ratings_of_which_most_are_unknown_are_told():
    rng = np.random.default_rng(0)
    people, films = rng.normal(size=(60, 2)), rng.normal(size=(40, 2))
    ratings = 3 + people @ films.T
    shown, asked = rng.random((60, 40)) < 0.5, rng.random((60, 40)) < 0.2
    rows, columns = np.nonzero(shown & ~asked)
    matrix = sp.coo_array((ratings[rows, columns], (rows, columns)), shape=(60, 40)).tocsr()
    network = Network.of(
        [Items.build("person", 60), Items.build("film", 40)],
        [Relation.build("rated", "person", "film", matrix, absent="unknown")],
    )
    fitted = fit(network, preset_settings("best", dim=8, kl_weight=1.0))
    pairs = np.argwhere(asked)
    told = fitted.score("rated", pairs)
    assert np.corrcoef(told, ratings[asked])[0, 1] > 0.8
