"""What of a network the model reads and explains, and how relations are set up: nothing is left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from general_network import general_network
from test_relation import codes, dense_term, ends, relation, term_of
from torch.autograd import gradcheck

from coembed.distributed.partition import Partition
from coembed.distributed.shares import Share
from coembed.kernels import Noise
from coembed.model import ItemCodes, ModelledRelation, RelationTerm, scan
from coembed.model.inference import glorot_rows
from coembed.model.schema import LEAST_ATTRIBUTES, Keys, alone, bias_evidence, modelled_relations
from coembed.model.several_labels import SeveralLabels
from coembed.model.views_inference import _Hidden
from coembed.network import Items, Labels, Network, Relation
from coembed.settings import preset_settings
from coembed.views.reach import readings


@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("all_pairs", ["exact", "sampled"])
def test_a_bias_is_added_to_the_score_of_every_pair(same, all_pairs) -> None:
    """As [c, b, 1] . [c', 1, b']; both ends of an undirected relation share theirs."""
    modelled = relation("bernoulli", same)
    rng = np.random.default_rng(0)
    evidence = {"source_evidence": rng.random((modelled.matrix.shape[0], 2))}
    evidence["target_evidence"] = evidence["source_evidence"] if same else rng.random((5, 2))
    modelled = replace(modelled, **evidence)
    term = term_of(modelled, all_pairs=all_pairs, block=100)
    assert (term.source_bias is term.target_bias) == same
    for place, bias in enumerate((term.source_bias, term.target_bias)):
        with torch.no_grad():
            bias.weight.copy_(torch.tensor([0.7, -1.2]) + place * (not same))
            bias.constant.fill_(0.3)
    term = term.double()
    left, right = ends(modelled, (1, 1))
    here, there = term.source_bias().detach(), term.target_bias().detach()
    one = torch.ones_like(here)[:, None, None], torch.ones_like(there)[:, None, None]
    left = ItemCodes(torch.cat([left.values, here[:, None, None], one[0]], dim=2), None)
    wide = ItemCodes(torch.cat([right.values, one[1], there[:, None, None]], dim=2), None)
    plain = ends(modelled, (1, 1))
    expected = dense_term(modelled, left, wide, balance=True)
    torch.testing.assert_close(term(*plain, Noise(0)), expected)


def test_one_link_costs_what_its_way_and_its_pair_cost() -> None:
    """A mean over what is there, also where that is a single link."""
    matrix = sp.csr_array((np.ones(1), ([0], [2])), shape=(4, 4))
    modelled = ModelledRelation("r", "one", "one", matrix, directed=True)
    term = RelationTerm(modelled, size=3, all_pairs="exact", dtype=torch.float64).double()
    with torch.no_grad():
        term.direction.lean.copy_(torch.tensor([1.0, -0.5, 0.2]))
        term.direction.turn.copy_(torch.arange(9.0).view(3, 3) / 10)
    items = codes(4, 1, 0)
    values = items.values[:, 0].detach()
    score = (values @ term.direction.matrix) @ values.T + (values @ term.direction.lean)[:, None]
    score = score - (values @ term.direction.lean)[None]
    way = torch.nn.functional.softplus(-(score - score.T)[0, 2])
    with torch.no_grad():
        torch.testing.assert_close(term._which_way(items), way.detach())


def test_cells_start_from_what_is_usual_for_none() -> None:
    model = scan(general_network(), preset_settings("best", dim=4, rank=4, epochs=1))
    found = [term.cell_bias for term in model.relations if term.cell_bias is not None]
    assert found
    assert all(not each.any() for each in found)


def test_every_relation_and_column_is_explained_and_cells_pay_for_nobody() -> None:
    network = general_network()
    share, settings = Share.of(network), preset_settings("best")
    found = modelled_relations(share, readings(network), settings)
    columns = [each for each in found if each.cells is not None]
    entries = sum(r.values.nnz for r in network.relations.values() if r.column and r.column.has_cells)
    assert sum(each.matrix.nnz for each in columns) == entries
    assert not any(each.pays for each in columns)
    others = [each for each in found if each.cells is None]
    entries = sum(r.values.nnz for r in network.relations.values() if not (r.column and r.column.has_cells))
    assert sum(each.matrix.nnz for each in others) == entries
    assert sum(each.weight for each in found if each.cells is None) < 1


def test_counts_that_tell_popularity_are_those_of_every_way() -> None:
    """Undirected relations once, directed ones from either end; of attributes all columns together."""
    network = general_network()
    found = bias_evidence(Share.of(network))
    values = {name: relation.values.toarray() != 0 for name, relation in network.relations.items()}
    ways = [values["hobbies"].sum(1), values["knows"].sum(1), values["follows"].sum(1)]
    ways += [values["follows"].sum(0), values["saw"].sum(1)]
    np.testing.assert_allclose(found["person"], np.log1p(np.stack(ways, axis=1)))
    np.testing.assert_allclose(
        found["film"], np.log1p(np.stack([values["saw"].sum(0), values["plot"].sum(1)], axis=1))
    )
    np.testing.assert_allclose(found["person attributes"][:, 0], np.log1p(values["hobbies"].sum(0)))


def test_attributes_of_several_columns_of_words_have_one_count() -> None:
    rng = np.random.default_rng(0)
    base = general_network()
    second = np.zeros((120, 36))
    second[:, 30:36] = rng.random((120, 6)) < 0.3
    hobbies = base.relation("hobbies")
    more = Relation.build(
        "more", "person", "person attributes", second, column=hobbies.column.__class__("more", "tags", 30, 36)
    )
    network = Network.of(list(base.types.values()), [hobbies, more], "two columns")
    found = bias_evidence(Share.of(network))["person attributes"]
    counts = hobbies.values.toarray().astype(bool).sum(0) + second.astype(bool).sum(0)
    np.testing.assert_allclose(found, np.log1p(counts)[:, None])


@pytest.mark.parametrize("beta", [0.2, 0.9])
def test_what_pays_for_itself_pays_its_part_over_all_its_pairs(beta) -> None:
    network, settings = general_network(), preset_settings("best", beta=beta)
    assert alone(network, "person", settings) == pytest.approx((1 - beta) / (120 * LEAST_ATTRIBUTES))
    assert alone(network, "film attributes", settings) == pytest.approx((1 - beta) / (21 * LEAST_ATTRIBUTES))


def test_the_inputs_of_paper_are_all_that_a_type_is_joined_to() -> None:
    base = general_network()
    network = Network.of(
        [*base.types.values(), Items.build("town", 3)], list(base.relations.values()), "more"
    )
    model = scan(network, preset_settings("paper", dim=4, hidden=6))
    keys = Keys.of(network).types
    names = {name: set(model.inference[keys[name]].names) for name in network.types}
    assert {"links", "saw>", "words"} <= names["person"]
    assert {"saw<", "words"} <= names["film"]
    assert "owners" in names["person attributes"]
    assert names["town"] == {"nothing"}
    # words are words alone: cells are read apart, and masked
    inputs = model.inference[keys["person"]]
    words = inputs.inputs.matrices[inputs.names.index("words")]
    hobbies = network.relation("hobbies").values
    assert words.shape == hobbies.shape
    ones = torch.ones(hobbies.shape[1], 1)
    np.testing.assert_allclose((words @ ones).ravel(), hobbies.sum(axis=1), rtol=1e-5)


def test_an_opinion_is_not_trusted_unless_that_is_said() -> None:
    observed, opinion = np.array([[1, 0], [-1, -1]]), np.full((2, 2), 0.9)
    with_opinion = SeveralLabels(observed, 2, opinion=opinion)
    assert torch.equal(with_opinion.weights, SeveralLabels(observed, 2).weights)
    assert not with_opinion.weights[1].any()


def test_rows_of_many_labels_start_with_length_one() -> None:
    labels = Labels.build(np.arange(400) % 200, [f"c{i}" for i in range(200)])
    links = sp.csr_array(np.eye(400, k=1) + np.eye(400, k=-1))
    network = Network.of([Items.build("a", 400, labels=labels)], [Relation.build("r", "a", "a", links)])
    torch.manual_seed(0)
    model = scan(network, preset_settings("best", dim=4, rank=4, epochs=1))
    (table,) = model.label_tables.values()
    assert table.detach().norm(dim=1).mean().item() == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("share", [0.25, 0.5])
def test_slopes_of_units_of_which_some_are_left_out(share) -> None:
    views = [
        torch.randn(5, 4, generator=torch.Generator().manual_seed(i), dtype=torch.float64) for i in (0, 1)
    ]
    kept = [(torch.arange(40.0, dtype=torch.float64).view(5, 8) % 3 > 0) / (1 - share)]

    def hidden(*views):
        return _Hidden.apply([mask.clone() for mask in kept], [share], *views)

    assert gradcheck(hidden, tuple(view.requires_grad_() for view in views))


def test_no_two_tables_start_alike() -> None:
    torch.manual_seed(0)
    tables = [glorot_rows(Partition.whole(2), 2).detach() for _ in range(40)]
    assert len({tuple(each.ravel().tolist()) for each in tables}) == 40


def test_rows_of_inputs_have_one_length_where_the_settings_say_so() -> None:
    """Of attributes and of other types each by its own setting."""
    network, keys = general_network(), Keys.of(general_network()).types
    for nodes, attributes in (("unit", "raw"), ("raw", "unit")):
        settings = preset_settings("paper", dim=4, hidden=6, node_inputs=nodes, attribute_inputs=attributes)
        model = scan(network, settings)
        scaled = {name: model.inference[keys[name]].inputs.row_scale is not None for name in network.types}
        assert scaled == {
            name: (attributes if network.owner_type(name) else nodes) == "unit" for name in network.types
        }
