"""Reasons: what is left out is what the score loses."""

from __future__ import annotations

import numpy as np
import pytest

from coembed.errors import InputError
from coembed.fitted import reasons
from coembed.fitted.reasons import why_attributes, why_label
from coembed.network.network import UNKNOWN, Network

from .conftest import random_fitted, random_network


def without(network: Network, node: int, link: int | None = None, attribute: int | None = None) -> Network:
    """The node alone, as a newcomer with a part of what it had, beside all the others."""
    links, owned = network.links.toarray(), network.attributes.toarray()
    row, own = links[node].copy(), owned[node].copy()
    if link is not None:
        row[link] = 0
    if attribute is not None:
        own[attribute] = 0
    grown = np.block([[links, row[:, None]], [row[None], np.zeros((1, 1))]])
    return Network.build(
        grown,
        np.vstack([owned, own]),
        np.append(network.labels, network.labels[node]),
        node_names=[*network.node_names, "copy"],
        attribute_names=network.attribute_names,
        class_names=network.class_names,
    )


def test_contributions_are_differences_of_placing_the_node_anew(any_fitted):
    network = any_fitted.network
    node = int(np.diff(network.links.indptr).argmax())
    target = int(np.flatnonzero(network.attributes.toarray()[node] == 0)[0])
    pair = np.array([[network.n_nodes, target]])
    whole = any_fitted.embed(without(network, node)).result.score_attributes(pair)[0]
    (found,) = why_attributes(any_fitted, node, [target], k=100, positions=True)
    assert found.score == pytest.approx(whole, abs=1e-5)
    assert found.reasons
    for reason in found.reasons:
        name = {"node": network.node_index, "attribute": network.attribute_index}[reason.kind](reason.name)
        part = {"link": name} if reason.kind == "node" else {"attribute": name}
        left = any_fitted.embed(without(network, node, **part)).result.score_attributes(pair)[0]
        assert reason.contribution == pytest.approx(whole - left, abs=1e-4)
    given = [reason.contribution for reason in found.reasons]
    assert given == sorted(given, reverse=True)
    assert min(given) > 0


def test_the_label_has_reasons_of_its_own(fitted):
    network = fitted.network
    node = int(np.diff(network.links.indptr).argmax())
    found = why_label(fitted, node, k=3, positions=True)
    whole = fitted.embed(without(network, node)).result.probabilities[-1]
    label = int(fitted.probabilities[node].argmax())
    assert found.target == network.class_names[label]
    assert found.score == pytest.approx(whole[label], abs=1e-5)
    assert len(found.reasons) <= 3


def test_linked_owners_are_named(fitted):
    network = fitted.network
    dense = network.attributes.toarray() > 0
    linked = network.links.toarray() > 0
    for node in range(network.n_nodes):
        (found,) = why_attributes(fitted, f"n{node}", ["word3"])
        expected = np.flatnonzero(linked[node] & dense[:, 3])
        assert sorted(found.owners) == sorted(network.node_names[expected])
        for reason in found.reasons:
            assert reason.owns == (reason.kind == "node" and reason.name in found.owners)


def test_a_node_without_links_or_attributes_has_no_reasons(rng):
    network = random_network(rng)
    links, owned = network.links.toarray(), network.attributes.toarray()
    links[5] = links[:, 5] = owned[5] = 0
    alone = Network.build(
        links,
        owned,
        network.labels,
        node_names=network.node_names,
        attribute_names=network.attribute_names,
        class_names=network.class_names,
    )
    fitted = random_fitted(rng, alone)
    assert why_attributes(fitted, 5, [0, 1], positions=True)[1].reasons == []
    assert why_label(fitted, 5, positions=True).reasons == []


def test_only_the_nearest_of_many_are_tried(fitted, monkeypatch):
    monkeypatch.setattr(reasons, "MOST_TRIED", 2)
    (found,) = why_attributes(fitted, 0, [0], k=100, positions=True)
    kinds = [reason.kind for reason in found.reasons]
    assert kinds.count("node") <= 2
    assert kinds.count("attribute") <= 2


def test_models_without_classes_explain_attributes_only(unlabelled):
    assert (unlabelled.network.labels == UNKNOWN).all()
    assert len(why_attributes(unlabelled, "n3", ["word1", "word2"])) == 2
    with pytest.raises(InputError, match="knows no classes"):
        why_label(unlabelled, "n3")
