"""Reasons: found by leaving out, and they add up to what is claimed."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from coembed.errors import InputError
from coembed.fitted import evidence
from coembed.fitted.evidence import Evidence
from coembed.fitted.reasons import Reasons
from coembed.network.network import UNKNOWN, Network

from .conftest import random_fitted, random_network


def part_of(network: Network, node: int, links: list[int], attributes: list[int], known=True) -> Network:
    """The node once more, as a newcomer with a part of what it had, beside all the others."""
    dense, owned = network.links.toarray(), network.attributes.toarray()
    row, own = np.zeros_like(dense[node]), np.zeros_like(owned[node])
    row[links], own[attributes] = dense[node, links], owned[node, attributes]
    grown = np.block([[dense, row[:, None]], [row[None], np.zeros((1, 1))]])
    return Network.build(
        grown,
        np.vstack([owned, own]),
        np.append(network.labels, network.labels[node] if known else UNKNOWN),
        node_names=[*network.node_names, "copy"],
        attribute_names=network.attribute_names,
        class_names=network.class_names,
    )


def total(found):
    return found.nothing + sum(each.contribution for each in found.reasons) + found.others + found.beyond


def test_contributions_add_up_to_what_is_claimed(any_fitted):
    network = any_fitted.network
    node = int(np.diff(network.links.indptr).argmax())
    for k in (2, 100):
        found = any_fitted.why(f"n{node}", relation="attributes", target="word3", k=k)
        assert total(found) == pytest.approx(found.claimed, abs=1e-6)
        assert found.claimed == pytest.approx(float(any_fitted.score_attributes([[node, 3]])[0]), abs=1e-6)
        assert len(found.reasons) <= k
        sizes = [abs(each.contribution) for each in found.reasons]
        assert sizes == sorted(sizes, reverse=True)
    assert found.others == pytest.approx(0, abs=1e-9)


def test_each_is_left_out_by_placing_the_node_anew(any_fitted):
    network = any_fitted.network
    node = int(np.diff(network.links.indptr).argmax())
    target = int(np.flatnonzero(network.attributes.toarray()[node] == 0)[0])
    links = network.links[[node]].indices.tolist()
    own = network.attributes[[node]].indices.tolist()

    def placed(links, own, known=True):
        grown = any_fitted.embed(part_of(network, node, links, own, known)).result
        return grown.score_attributes(np.array([[network.n_nodes, target]]))[0]

    (found,) = Reasons(any_fitted, node, positions=True).explain(None, [target], 100, positions=True)
    assert found.claimed - found.beyond == pytest.approx(placed(links, own), abs=1e-5)
    assert found.nothing == pytest.approx(placed([], [], known=False), abs=1e-5)
    for reason in found.reasons:
        if reason.relation == "links":
            left = placed([each for each in links if each != network.node_index(reason.name)], own)
        elif reason.relation == "attributes":
            left = placed(links, [each for each in own if each != network.attribute_index(reason.name)])
        else:
            left = placed(links, own, known=False)
        assert reason.without == pytest.approx(left, abs=1e-4)


def test_shares_are_averages_over_orders(rng, monkeypatch):
    """With all orders they are Shapley's, which for so few pieces can be written out."""
    fitted = random_fitted(rng, random_network(rng))
    counts = np.diff(fitted.network.links.indptr) + np.diff(fitted.network.attributes.indptr)
    counts += fitted.network.labels != UNKNOWN
    node = int(np.flatnonzero(counts == counts[counts >= 3].min())[0])
    size = int(counts[node])
    every = np.array(list(permutations(range(size))))
    monkeypatch.setattr(evidence, "_orders", lambda count: np.argsort(every, axis=1))
    found = Evidence(fitted, "node", node)
    subsets = evidence._variants(np.argsort(every, axis=1))
    values = rng.standard_normal(2**size)
    scores = values[subsets @ (1 << np.arange(size))]
    worth = found.worth(scores)
    expected = np.zeros(size)
    for order in every:
        have = 2**size - 1
        for piece in order:
            expected[piece] += values[have] - values[have - (1 << piece)]
            have -= 1 << piece
    np.testing.assert_allclose(worth.shares, expected / len(every), atol=1e-9)
    assert worth.shares.sum() == pytest.approx(values[-1] - values[0])


def test_the_class_has_reasons_of_its_own(fitted):
    network = fitted.network
    node = int(np.diff(network.links.indptr).argmax())
    found = fitted.why(node, positions=True, k=3)
    whole = fitted.embed(
        part_of(network, node, network.links[[node]].indices, network.attributes[[node]].indices)
    ).result.probabilities[-1]
    label = int(fitted.probabilities[node].argmax())
    assert (found.target, found.relation) == (network.class_names[label], "")
    assert found.claimed == pytest.approx(fitted.probabilities[node, label])
    assert found.claimed - found.beyond == pytest.approx(whole[label], abs=1e-5)
    assert len(found.reasons) <= 3
    assert total(found) == pytest.approx(found.claimed, abs=1e-6)
    # shares of all classes cancel out, as their probabilities sum to one
    each = [fitted.why(node, positions=True, k=1, label=str(name)) for name in network.class_names]
    assert sum(one.claimed for one in each) == pytest.approx(1, abs=1e-5)
    assert sum(one.nothing for one in each) == pytest.approx(1, abs=1e-5)
    with pytest.raises(InputError, match="class 1"):
        fitted.why("n3", label="class1")


def test_linked_owners_are_named(fitted):
    network = fitted.network
    dense = network.attributes.toarray() > 0
    linked = network.links.toarray() > 0
    for node in range(0, network.n_nodes, 4):
        found = fitted.why(f"n{node}", relation="attributes", target="word3")
        expected = np.flatnonzero(linked[node] & dense[:, 3])
        assert sorted(found.owners) == sorted(network.node_names[expected])
        for reason in found.reasons:
            assert reason.owns == (reason.relation == "links" and reason.name in found.owners)


def test_a_node_of_which_nothing_is_known_has_no_reasons(rng):
    network = random_network(rng)
    links, owned, labels = network.links.toarray(), network.attributes.toarray(), network.labels.copy()
    links[5] = links[:, 5] = owned[5] = 0
    labels[5] = UNKNOWN
    alone = Network.build(
        links,
        owned,
        labels,
        node_names=network.node_names,
        attribute_names=network.attribute_names,
        class_names=network.class_names,
    )
    fitted = random_fitted(rng, alone)
    for found in (fitted.why("n5"), fitted.why("n5", relation="attributes", target="word1")):
        assert found.reasons == []
        assert found.others == 0
        assert found.nothing + found.beyond == pytest.approx(found.claimed)


def test_what_is_beyond_the_nearest_goes_together(fitted, monkeypatch):
    monkeypatch.setattr(evidence, "MOST_TRIED", 2)
    found = fitted.why("n0", relation="attributes", target="word0", k=100)
    by = [reason.relation for reason in found.reasons]
    assert by.count("links") <= 3  # a last one by itself is not called "others"
    assert by.count("attributes") <= 3
    degree = np.diff(fitted.network.links.indptr)[0] + np.diff(fitted.network.attributes.indptr)[0]
    single = sum(reason.relation != "" for reason in found.reasons)
    assert found.others_count == degree - single
    assert total(found) == pytest.approx(found.claimed, abs=1e-6)


def test_questions_that_cannot_be_answered(fitted, unlabelled):
    assert (unlabelled.network.labels == UNKNOWN).all()
    assert unlabelled.why("n3", relation="attributes", target="word1").target == "word1"
    with pytest.raises(InputError, match="knows no classes"):
        unlabelled.why("n3")
    with pytest.raises(InputError, match="one at a time"):
        fitted.why("n3", relation="links", label="class 1")
    with pytest.raises(InputError, match="no target"):
        fitted.why("n3", label="class 1", target="word1")
    with pytest.raises(InputError, match="'word3' is an attribute"):
        fitted.why("word3")
    with pytest.raises(InputError, match="did you mean"):
        fitted.why("n3", relation="attributes", target="wurd3")
