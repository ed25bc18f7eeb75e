"""Small pieces of the model against what they stand for, written down plainly."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from people_network import people_network

from coembed.kernels import Noise, all_pairs
from coembed.model import scan
from coembed.model.feature_term import Features, FeatureTerm
from coembed.model.item_codes import Direction, ItemCodes
from coembed.model.labels import LabelVariable
from coembed.model.several_labels import SeveralLabels
from coembed.settings import preset_settings


def random_codes(rows: int, size: int, seed: int) -> ItemCodes:
    return ItemCodes(torch.randn(rows, 2, size, generator=torch.Generator().manual_seed(seed)), None)


@pytest.mark.parametrize("directed", [False, True])
def test_a_score_is_one_code_turned_times_the_other(directed: bool) -> None:
    """c_i' (diag g + S - S') c_j, and what each end leans to."""
    direction = Direction(3, directed)
    with torch.no_grad():
        for place, parameter in enumerate(direction.parameters()):
            parameter.copy_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(place)))
    left, right = random_codes(4, 3, 8), random_codes(5, 3, 9)
    here, there = (each.values for each in direction(left, right))
    wanted = torch.einsum("ikc,cd,jld->ikjl", left.values, direction.matrix, right.values)
    if directed:
        lean = direction.lean
        wanted = wanted + (left.values @ lean)[:, :, None, None] - (right.values @ lean)[None, None]
    torch.testing.assert_close(torch.einsum("ikc,jlc->ikjl", here, there), wanted)
    if directed:
        ends = [each.values for each in direction.ways(left, None)]
        back = direction(left, left)
        own = torch.einsum("ikc,jlc->ikjl", *(each.values for each in back))
        torch.testing.assert_close(torch.einsum("ikc,jlc->ikjl", *ends), own - own.permute(2, 3, 0, 1))


def test_real_features_cost_as_much_as_a_gaussian_says() -> None:
    matrix = np.array([[1.0, 2.0], [0.0, -1.0]])
    term = FeatureTerm(Features(matrix, hidden=3), 2, "cpu", torch.float64).double()
    with torch.no_grad():
        term.log_scale.copy_(torch.tensor([0.5, -0.3]))
    codes = torch.randn(2, 1, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    told = torch.distributions.Normal(term.decoder(codes)[:, 0], term.log_scale.exp())
    expected = -told.log_prob(torch.as_tensor(matrix)).sum()
    torch.testing.assert_close(term(ItemCodes(codes, None)), expected)


def test_an_opinion_weighs_as_much_as_trust_says_however_few_it_is_about() -> None:
    for unknown in (1, 2, 5):
        observed = np.array([0, 1, *[-1] * unknown])
        opinion = np.full((len(observed), 2), 0.5)
        label = LabelVariable(observed, 2, opinion=opinion, trust=0.3)
        assert float(label.targets[2:].sum()) == pytest.approx(0.3)
        assert float(label.targets[:2].sum()) == pytest.approx(1)


def test_several_classes_are_decoded_each_by_itself() -> None:
    labels = SeveralLabels(np.array([[1, 0, 1]], dtype=np.int8), 3)
    logits, values = torch.randn(4, 2, 3), torch.rand(4, 2, 3)
    q = logits.sigmoid()
    expected = -(values * q.log() + (1 - values) * (1 - q).log()).sum(dim=2)
    torch.testing.assert_close(labels.decoding_cost(logits, values), expected)


def test_beta_deals_out_the_weight_between_relations_and_columns() -> None:
    network, shares = people_network(), {}
    for beta in (0.3, 0.6):
        model = scan(network, preset_settings("paper", beta=beta, dim=2, hidden=2))
        weights = {
            term.relation.title or term.relation.name: term.relation.weight for term in model.relations
        }
        assert sum(weights[name] for name in ("follows", "saw")) == pytest.approx(beta)
        shares[beta] = weights
    for name in ("likes", "plot"):
        assert shares[0.3][name] / shares[0.6][name] == pytest.approx(0.7 / 0.4)


def test_a_relation_that_is_not_there_is_worth_one() -> None:
    model = scan(people_network(), preset_settings("paper", dim=2, hidden=2))
    assert model.gain("nowhere") == 1.0
    assert model.term("nowhere") is None
    for term in model.relations:
        expected = 1.0 if term.log_gain is None else float(term.log_gain.detach().exp())
        assert model.gain(term.relation.name) == pytest.approx(expected)


def test_what_is_told_of_a_loss_keeps_no_gradients() -> None:
    loss = scan(people_network(), preset_settings("paper", dim=2, hidden=2))(Noise(0))
    assert loss.total.requires_grad
    assert not any(part.requires_grad for part in loss.parts.values())


def test_each_known_cell_of_a_column_weighs_the_same() -> None:
    """All of them together as much as the column, which weighs as the root of how many there are."""
    network = people_network()
    model = scan(network, preset_settings("paper", dim=2, hidden=2))
    together = {}
    for term in model.relations:
        cells = term.relation.cells
        if cells is None:
            continue
        for place, weight in zip(cells.place, cells.weight, strict=True):
            together[term.relation.title, place] = float(weight)
    known = {each.name: each.values.nnz for each in network.relations.values()}
    numbers = {key: value for key, value in together.items() if key[0].startswith("gaussian")}
    towns = {key: value for key, value in together.items() if key[0].startswith("categorical")}
    (income,), (city,) = numbers.values(), towns.values()
    assert income * known["income"] / (city * known["city"]) == pytest.approx(
        np.sqrt(known["income"] / known["city"])
    )


def test_a_sum_of_many_is_exact() -> None:
    values = torch.zeros(8 * all_pairs.SHORT)
    values[0], values[all_pairs.SHORT], values[3 * all_pairs.SHORT], values[-1] = 2.0**24, 1, 1, 1
    assert float(all_pairs.exact_sum(values)) == 2**24 + 3
