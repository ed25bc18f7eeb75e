"""Views of nodes: as dense algebra says, and those of new nodes like those of known ones."""

import numpy as np
import pytest
import scipy.sparse as sp

from coembed.network import Column, Items, Labels, Network, Relation
from coembed.views import (
    Touch,
    attribute_views,
    find_lens,
    nearest_neighbours,
    nearest_rows,
    owners_of,
    readings,
    training_views,
    views_of,
)
from coembed.views.basis import find_word_basis


@pytest.fixture
def network():
    rng = np.random.default_rng(0)
    links = np.triu(rng.random((30, 30)) < 0.15, 1)
    # values, so that no two cosines are the same
    attributes = (rng.random((30, 12)) < 0.3) * rng.uniform(0.5, 2, (30, 12))
    attributes[:, 0] += ~attributes.any(axis=1)
    return Network.build((links + links.T).astype(np.float32), attributes.astype(np.float32))


def lens_of(network, rank, neighbours=4):
    """As `gaussian`: values are read as they are, in their unit."""
    return find_lens(network, readings(network, "bernoulli", "gaussian"), rank, neighbours)


def test_views_are_the_products_they_are_named_after(network):
    lens = lens_of(network, 12)
    views = training_views(network, lens)["node"]
    words, links = lens.types["node"].words, network.links.toarray()
    x = network.attributes.toarray() * words.rarity
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    t = x @ words.vectors
    p = links + np.eye(30)
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
    assert list(views.all) == ["words", *expected, "position"]
    np.testing.assert_allclose(views.sparse["words"].toarray(), x, atol=1e-6)
    counts = np.stack([links.sum(axis=1), (network.attributes.toarray() > 0).sum(axis=1)], axis=1)
    np.testing.assert_allclose(np.expm1(views.evidence), counts, atol=1e-4)
    half = 1 / np.sqrt(np.maximum(links.sum(axis=1), 1))
    position = (half[:, None] * links * half) @ lens.types["node"].position.vectors
    np.testing.assert_allclose(views.dense["position"], position, atol=1e-5)


def test_full_rank_coordinates_keep_all_cosines(network):
    views = training_views(network, lens_of(network, 99))["node"]
    words = views.sparse["words"]
    np.testing.assert_allclose(
        views.dense["own"] @ views.dense["own"].T, (words @ words.T).toarray(), atol=1e-5
    )


def test_rarer_attributes_weigh_more(network):
    owners = (network.attributes.toarray() > 0).sum(axis=0)
    rarity = find_word_basis(network.attributes, 3).rarity
    assert np.all(np.diff(rarity[np.argsort(owners)]) <= 0)


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
    found = nearest_rows(find_word_basis(network.attributes, 3).own(network.attributes), k=5)
    before = found.rows.copy(), found.cosines.copy()
    found.graph(30)
    np.testing.assert_array_equal(found.rows, before[0])
    np.testing.assert_array_equal(found.cosines, before[1])


def test_a_new_node_sees_the_network_as_a_known_one_with_the_same_links_does(network):
    lens = lens_of(network, 12)
    known = training_views(network, lens)
    row = 7
    attributes = lens.readings["attributes"].inputs(network.attributes[[row]])
    reach = {"node": {"links>": Touch(network.links[[row]], None), "attributes>": Touch(attributes, None)}}
    new = views_of(lens, reach, known)["node"]
    for name in ("own", "linked", "position"):
        np.testing.assert_allclose(
            new.dense[name][0], known["node"].dense[name][row], atol=1e-5, err_msg=name
        )
    np.testing.assert_allclose(new.evidence[0], known["node"].evidence[row])
    assert new.alike.rows[0, 0] == row  # its twin is the node most like it


@pytest.mark.parametrize("missing", ["links", "attributes"])
def test_what_a_network_has_nothing_of_is_no_view(network, missing):
    links, attributes = network.links, network.attributes
    if missing == "links":
        links = sp.csr_array(links.shape, dtype=np.float32)
    else:
        attributes = sp.csr_array((30, 0), dtype=np.float32)
    network = Network.build(links, attributes)
    lens = lens_of(network, 5)
    views = training_views(network, lens)["node"]
    assert ("position" in views.dense) == (missing == "attributes")
    assert ("words" in views.sparse) == (missing == "links")
    assert all(np.isfinite(view).all() for view in views.dense.values())
    owners = owners_of(network, "node", lens.readings)
    assert attribute_views(owners, views).evidence.shape == (attributes.shape[1], 1)


@pytest.fixture
def library():
    """Papers that cite papers and have authors; words, a number and a category of papers, ages of authors."""
    rng = np.random.default_rng(1)
    cites = np.triu(rng.random((20, 20)) < 0.15, 1)
    wrote = rng.random((8, 20)) < 0.3
    words = rng.random((20, 6)) < 0.4
    pages, field = rng.normal(size=20), rng.integers(0, 3, 20)
    known = rng.random(20) < 0.7
    pages[np.flatnonzero(known)[0]] = 0.0  # known, and zero
    values = np.zeros((20, 10), dtype=np.float32)
    values[:, :6] = words
    rows = np.flatnonzero(known)
    number = sp.coo_array((pages[rows], (rows, np.full(len(rows), 6))), shape=(20, 10)).tocsr()
    category = sp.coo_array((np.ones(20), (np.arange(20), 7 + field)), shape=(20, 10)).tocsr()
    ages = sp.coo_array((rng.normal(size=8), (np.arange(8), np.zeros(8, int))), shape=(8, 1)).tocsr()
    word_values = sp.csr_array(values)
    papers = Items.build("papers", 20, labels=Labels.build(field))
    return Network.of(
        [papers, Items.build("authors", 8), Items.build("pa", 10), Items.build("aa", 1)],
        [
            Relation.build("cites", "papers", "papers", cites, directed=True),
            Relation.build("wrote", "authors", "papers", wrote),
            Relation.build("words", "papers", "pa", word_values, column=Column("words", "tags", 0, 6)),
            Relation.build(
                "pages",
                "papers",
                "pa",
                number,
                "gaussian",
                "unknown",
                column=Column("pages", "number", 6, 7),
            ),
            Relation.build(
                "field",
                "papers",
                "pa",
                category,
                "categorical",
                "unknown",
                column=Column("field", "category", 7, 10),
            ),
            Relation.build(
                "age", "authors", "aa", ages, "gaussian", "unknown", column=Column("age", "number", 0, 1)
            ),
        ],
    )


def mean_over(matrix):
    sums = matrix.sum(axis=1, keepdims=True)
    return matrix / np.where(sums > 0, sums, 1)


def test_views_of_any_types_are_the_means_they_are_named_after(library):
    lens = find_lens(library, readings(library), rank=6, neighbours=3)
    views = training_views(library, lens)
    papers, authors = views["papers"].dense, views["authors"].dense
    cites, wrote = library.relation("cites").values.toarray(), library.relation("wrote").values.toarray()
    both = cites + cites.T + np.eye(20)
    np.testing.assert_allclose(papers["linked"], mean_over(both) @ papers["own"], atol=1e-5)
    np.testing.assert_allclose(papers["r0out_own"], mean_over(cites) @ papers["own"], atol=1e-5)
    np.testing.assert_allclose(papers["r0in_own"], mean_over(cites.T) @ papers["own"], atol=1e-5)
    np.testing.assert_allclose(papers["r1in_cells"], mean_over(wrote.T) @ authors["cells"], atol=1e-5)
    np.testing.assert_allclose(authors["r1out_own"], mean_over(wrote) @ papers["own"], atol=1e-5)
    np.testing.assert_allclose(authors["r1out_linked"], mean_over(wrote) @ papers["linked"], atol=1e-5)
    # an item's own cells are not among those of its links
    np.testing.assert_allclose(
        papers["cells_linked"], mean_over(cites + cites.T) @ papers["cells"], atol=1e-5
    )


def test_a_known_zero_is_a_cell_and_an_unknown_one_is_not(library):
    views = training_views(library, find_lens(library, readings(library), 6, 3))["papers"]
    pages = library.relation("pages").values
    known = np.diff(pages.indptr) > 0
    np.testing.assert_array_equal(views.dense["cells"][:, 1] > 0, known)
    assert (pages.data == 0).any()
    assert views.place.tolist() == [0, 0, 1, 1, 1]
    assert (views.dense["cells"][:, 2:].sum(axis=1) == 1).all()


def test_a_new_item_of_any_type_is_seen_as_a_known_one_is(library):
    lens = find_lens(library, readings(library), rank=6, neighbours=3)
    known = training_views(library, lens)
    row = 4
    cites, wrote = library.relation("cites"), library.relation("wrote")
    touch = {
        "cites>": Touch(cites.values[[row]], None),
        "cites<": Touch(cites.backwards[[row]], None),
        "wrote<": Touch(wrote.backwards[[row]], None),
    } | {
        f"{name}>": Touch(library.relation(name).values[[row]], None) for name in ("words", "pages", "field")
    }
    new = views_of(lens, {"papers": touch}, known)["papers"]
    for name in known["papers"].dense:
        if not name.startswith("alike"):
            np.testing.assert_allclose(
                new.dense[name][0], known["papers"].dense[name][row], atol=1e-5, err_msg=name
            )


@pytest.mark.parametrize("compared", [4000, 100, 0], ids=["rare", "some lonely", "all lonely"])
def test_candidates_hold_nearly_all_of_the_nearest(monkeypatch, compared):
    pytest.importorskip("faiss")
    rng = np.random.default_rng(0)
    topics = rng.random((8, 60)) < 0.3
    rows = sp.csr_array(
        (topics[rng.integers(8, size=900)] & (rng.random((900, 60)) < 0.7)).astype(np.float32)
    )
    basis = find_word_basis(rows, 32)
    own = basis.own(rows)
    exact = nearest_neighbours.nearest_fellows(own, own @ basis.vectors, 10)
    monkeypatch.setattr(nearest_neighbours, "EXACT_ROWS", 100)
    monkeypatch.setattr(nearest_neighbours, "COMPARED", compared)
    monkeypatch.setattr(nearest_neighbours, "SEARCHED", 256)
    found = nearest_neighbours.nearest_fellows(own, own @ basis.vectors, 10)
    assert found.cosines.mean() > 0.98 * exact.cosines.mean()
    assert not (found.rows == np.arange(900)[:, None]).any()
    again = nearest_neighbours.nearest_fellows(own, own @ basis.vectors, 10)
    np.testing.assert_array_equal(found.rows, again.rows)


def test_evidence_is_how_many_entries_there_are_of_each(network):
    """Of a plain network links, then words."""
    from coembed.views import look

    views = look(network, readings(network), 4, 3).types["node"]
    counts = [np.diff(network.links.indptr), np.diff(network.attributes.indptr)]
    np.testing.assert_allclose(views.evidence, np.log1p(np.stack(counts, axis=1)), rtol=1e-6)
