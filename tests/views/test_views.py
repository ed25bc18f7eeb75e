"""Views of nodes: as dense algebra says, and those of new nodes like those of known ones."""

import numpy as np
import pytest
import scipy.sparse as sp

from coembed.views import (
    attribute_views,
    find_basis,
    nearest_neighbours,
    nearest_rows,
    new_views,
    training_views,
)


@pytest.fixture
def network():
    rng = np.random.default_rng(0)
    links = np.triu(rng.random((30, 30)) < 0.15, 1)
    # values, so that no two cosines are the same
    attributes = (rng.random((30, 12)) < 0.3) * rng.uniform(0.5, 2, (30, 12))
    attributes[:, 0] += ~attributes.any(axis=1)
    return (
        sp.csr_array((links + links.T).astype(np.float32)),
        sp.csr_array(attributes.astype(np.float32)),
    )


def test_views_are_the_products_they_are_named_after(network):
    links, attributes = network
    basis = find_basis(links, attributes, rank=12)
    views = training_views(links, attributes, basis, neighbours=4)
    x = attributes.toarray() * basis.rarity
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    t = x @ basis.attributes
    p = links.toarray() + np.eye(30)
    p /= p.sum(axis=1, keepdims=True)
    cosines = x @ x.T - 2 * np.eye(30)
    s = np.zeros_like(cosines)
    best = np.argsort(-cosines, axis=1)[:, :4]
    np.put_along_axis(s, best, np.take_along_axis(cosines, best, 1), 1)
    s /= s.sum(axis=1, keepdims=True)
    expected = {
        "own": t,
        "linked": p @ t,
        "linked2": p @ p @ t,
        "linked3": p @ p @ p @ t,
        "alike": s @ t,
        "alike_linked": s @ p @ t,
    }
    for name, dense in expected.items():
        np.testing.assert_allclose(views.dense[name], dense, atol=1e-5, err_msg=name)
    np.testing.assert_allclose(views.sparse["words"].toarray(), x, atol=1e-6)
    np.testing.assert_allclose(np.expm1(views.evidence[:, 0]), links.toarray().sum(axis=1), atol=1e-4)


def test_full_rank_coordinates_keep_all_cosines(network):
    links, attributes = network
    views = training_views(links, attributes, find_basis(links, attributes, rank=99), neighbours=4)
    words = views.sparse["words"]
    np.testing.assert_allclose(
        views.dense["own"] @ views.dense["own"].T, (words @ words.T).toarray(), atol=1e-5
    )


def test_rarer_attributes_weigh_more(network):
    basis = find_basis(*network, rank=3)
    owners = (network[1].toarray() > 0).sum(axis=0)
    assert np.all(np.diff(basis.rarity[np.argsort(owners)]) <= 0)


@pytest.mark.parametrize("density", [0.01, 0.5])
def test_nearest_rows_are_those_of_the_whole_matrix_of_cosines(density):
    rng = np.random.default_rng(1)
    rows = sp.csr_array(sp.random(300, 200, density=density, random_state=2, format="csr", dtype=np.float32))
    rows = sp.csr_array(rows / np.maximum(np.linalg.norm(rows.toarray(), axis=1), 1e-9)[:, None])
    found = nearest_rows(rows, k=7)
    cosines = (rows @ rows.T).toarray()
    np.fill_diagonal(cosines, -1)
    expected = -np.sort(-cosines, axis=1)[:, :7]
    np.testing.assert_allclose(found.cosines, np.maximum(expected, 0), atol=1e-5)
    some = rng.choice(300, 20, replace=False)
    kept = found.cosines[some] > 0
    np.testing.assert_allclose(
        np.take_along_axis(cosines[some], found.rows[some], 1)[kept], found.cosines[some][kept], atol=1e-5
    )


def test_the_graph_leaves_what_it_is_made_from_alone(network):
    found = nearest_rows(find_basis(*network, rank=3).own(network[1]), k=5)
    before = found.rows.copy(), found.cosines.copy()
    found.graph(30)
    np.testing.assert_array_equal(found.rows, before[0])
    np.testing.assert_array_equal(found.cosines, before[1])


def test_a_new_node_sees_the_network_as_a_known_one_with_the_same_links_does(network):
    links, attributes = network
    basis = find_basis(links, attributes, rank=12)
    known = training_views(links, attributes, basis, neighbours=4)
    row = 7
    new = new_views(
        links[[row]], sp.csr_array((1, 1), dtype=np.float32), attributes[[row]], basis, known, neighbours=4
    )
    for name in ("own", "linked", "position"):
        np.testing.assert_allclose(new.dense[name][0], known.dense[name][row], atol=1e-5, err_msg=name)
    np.testing.assert_allclose(new.evidence[0], known.evidence[row])
    assert new.alike.rows[0, 0] == row  # its twin is the node most like it


@pytest.mark.parametrize("missing", ["links", "attributes"])
def test_what_a_network_has_nothing_of_is_no_view(network, missing):
    links, attributes = network
    if missing == "links":
        links = sp.csr_array(links.shape, dtype=np.float32)
    else:
        attributes = sp.csr_array((30, 0), dtype=np.float32)
    basis = find_basis(links, attributes, rank=5)
    views = training_views(links, attributes, basis, neighbours=4)
    assert ("position" in views.dense) == (missing == "attributes")
    assert ("words" in views.sparse) == (missing == "links")
    assert all(np.isfinite(view).all() for view in views.dense.values())
    assert attribute_views(attributes.T.tocsr(), views).evidence.shape == (attributes.shape[1], 1)


@pytest.mark.parametrize("compared", [4000, 100, 0], ids=["rare", "some lonely", "all lonely"])
def test_candidates_hold_nearly_all_of_the_nearest(monkeypatch, compared):
    pytest.importorskip("faiss")
    rng = np.random.default_rng(0)
    topics = rng.random((8, 60)) < 0.3
    rows = sp.csr_array(
        (topics[rng.integers(8, size=900)] & (rng.random((900, 60)) < 0.7)).astype(np.float32)
    )
    basis = find_basis(sp.csr_array((900, 900), dtype=np.float32), rows, rank=32)
    own = basis.own(rows)
    exact = nearest_neighbours.nearest_fellows(own, own @ basis.attributes, 10)
    monkeypatch.setattr(nearest_neighbours, "EXACT_ROWS", 100)
    monkeypatch.setattr(nearest_neighbours, "COMPARED", compared)
    monkeypatch.setattr(nearest_neighbours, "SEARCHED", 256)
    found = nearest_neighbours.nearest_fellows(own, own @ basis.attributes, 10)
    assert found.cosines.mean() > 0.98 * exact.cosines.mean()
    assert not (found.rows == np.arange(900)[:, None]).any()
    again = nearest_neighbours.nearest_fellows(own, own @ basis.attributes, 10)
    np.testing.assert_array_equal(found.rows, again.rows)
