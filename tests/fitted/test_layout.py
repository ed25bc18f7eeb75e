import sys
from types import SimpleNamespace

import numpy as np
import pytest

from coembed.errors import InputError
from coembed.fitted import Gaussians
from coembed.maps.layout import (
    Layout,
    Plane,
    cached_layout,
    make_layout,
    principal_plane,
    spreads,
    where_thickest,
)

from .conftest import with_space


def both(items):
    return {"node": items, "attribute": items}


def test_principal_plane_keeps_the_largest_variances(rng):
    rows = rng.standard_normal((200, 6)) * [5, 1, 3, 0.1, 0.1, 0.1]
    plane = principal_plane(rows)
    right = np.linalg.svd(rows - rows.mean(0))[1][:2] ** 2
    np.testing.assert_allclose((plane**2).sum(0), right, rtol=1e-8)
    assert abs(plane[:, 0] @ plane[:, 1]) < 1e-6


def test_one_coordinate_is_a_line():
    assert principal_plane(np.array([[1.0], [3.0]])).tolist() == [[-1.0, 0.0], [1.0, 0.0]]


@pytest.mark.parametrize("method", ["pca", "tsne"])
def test_nodes_and_attributes_have_finite_places_that_the_seed_repeats(fitted, method):
    if method == "tsne":
        pytest.importorskip("openTSNE")
    first, second = fitted.map2d(method, seed=1), fitted.map2d(method, seed=1)
    assert (first.nodes.shape, first.attributes.shape) == ((40, 2), (15, 2))
    assert np.isfinite(first.nodes).all()
    np.testing.assert_array_equal(first.nodes, second.nodes)
    np.testing.assert_array_equal(first.attributes, second.attributes)


def test_items_of_one_direction_share_a_place(fitted):
    code = fitted.attribute_mean.copy()
    code[3] = 2 * code[7]
    places = make_layout(with_space(fitted, "attribute", mean=code), "pca").attributes
    np.testing.assert_allclose(places[3], places[7], atol=1e-5)


def test_an_attribute_stands_on_the_island_of_most_of_its_nodes_not_between(rng):
    islands = np.repeat([[0.0, 0.0], [50.0, 0.0]], 30, axis=0) + rng.standard_normal((60, 2))
    towards = np.eye(60)
    mostly_first = towards[:6].sum(axis=0) + 1.01 * towards[30:34].sum(axis=0)
    mostly_second = towards[:4].sum(axis=0) + towards[30:36].sum(axis=0)
    places = where_thickest(np.stack([mostly_first, mostly_second]) / 3.3, towards, islands)
    assert abs(places[0] - islands[:6].mean(axis=0)).max() < 1.5
    assert abs(places[1] - islands[30:36].mean(axis=0)).max() < 1.5


def test_on_the_map_attributes_stand_by_the_nodes_that_point_their_way(fitted):
    pytest.importorskip("openTSNE")
    layout = make_layout(fitted, "tsne")
    low, high = layout.nodes.min(axis=0), layout.nodes.max(axis=0)
    assert ((layout.attributes >= low) & (layout.attributes <= high)).all()
    apart = np.linalg.norm(layout.attributes[:, None] - layout.nodes, axis=2)
    codes = [fitted.codes(name).mean for name in ("node", "attribute")]
    nodes, attributes = (c / np.linalg.norm(c, axis=1, keepdims=True) for c in codes)
    nodes, attributes = nodes - nodes.mean(axis=0), attributes - attributes.mean(axis=0)
    nodes, attributes = (c / np.linalg.norm(c, axis=1, keepdims=True) for c in (nodes, attributes))
    near = np.argsort(-(attributes @ nodes.T), axis=1)[:, :10]
    assert np.take_along_axis(apart, near, axis=1).mean() < 0.9 * apart.mean()


def test_spreads_are_covariances_and_vanish_without_uncertainty(fitted):
    layout = fitted.map2d("pca")
    items = np.arange(4)
    covariances = spreads(fitted, layout, both(items))
    assert covariances.shape == (8, 2, 2)
    assert (np.linalg.eigvalsh(covariances) >= -1e-9).all()
    assert np.trace(covariances, axis1=1, axis2=2).min() > 0
    sure = with_space(fitted, "attribute", std=fitted.attribute_std * 0)
    np.testing.assert_allclose(spreads(sure, layout, {"attribute": items}), 0, atol=1e-9)


def test_a_layout_is_made_once_for_a_model(fitted, tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr("coembed.maps.layout.make_layout", lambda *a: made.append(a) or make_layout(*a))
    first, second = (cached_layout(fitted, tmp_path, "pca") for _ in range(2))
    assert len(made) == 1
    np.testing.assert_array_equal(first.nodes, second.nodes)
    cached_layout(with_space(fitted, "attribute", mean=fitted.attribute_mean + 1), tmp_path, "pca")
    assert len(made) == 2  # another model in the same folder
    (tmp_path / "map-pca.npz").write_bytes(b"broken")
    cached_layout(fitted, tmp_path, "pca")
    assert len(made) == 3


def test_unknown_methods_are_refused(fitted, monkeypatch):
    with pytest.raises(InputError, match="no map method 'globe'"):
        fitted.map2d("globe")
    monkeypatch.setattr("coembed.maps.layout.find_spec", lambda name: None)
    assert fitted.map2d().method == "pca"
    with pytest.raises(InputError, match=r"install coembed\[map\]"):
        fitted.map2d("tsne")
    with pytest.raises(InputError, match="install umap-learn"):
        fitted.map2d("umap")


def test_progress_is_told_to_the_end(fitted):
    pytest.importorskip("openTSNE")
    told = []
    make_layout(fitted, "tsne", progress=lambda done, steps: told.append((done, steps)))
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    assert told[-1] == (750, 750)


def test_a_known_code_is_placed_where_it_is_and_nothing_moves(fitted):
    layout = fitted.map2d("pca")
    before = layout.nodes.copy()
    plane = Plane(fitted, layout)
    placed = plane.place(fitted.nodes, "node")
    extent = np.ptp(layout.nodes, axis=0).max()
    assert np.median(np.linalg.norm(placed - layout.nodes, axis=1)) < 0.1 * extent
    np.testing.assert_array_equal(layout.nodes, before)


def test_among_islands_a_new_item_lands_on_the_nearest(rng, fitted):
    """Two far groups of nodes: a code of one group falls on its group, not in between."""
    half = np.arange(40) < 20
    codes = fitted.node_mean * 0 + np.where(half, 1, -1)[:, None] * np.array([3, 1, 0, 0, 0])
    noise = 0.1 * rng.standard_normal(codes.shape)
    two = with_space(fitted, "node", mean=(codes + noise).astype(np.float32))
    nodes = np.where(half, -50, 50)[:, None] + rng.standard_normal((40, 2))
    plane = Plane(two, Layout("pca", {"node": nodes, "attribute": rng.uniform(-60, 60, (15, 2))}))
    new = Gaussians(two.nodes.mean[:1] + 0.01, two.nodes.std[:1])
    assert np.linalg.norm(plane.place(new, "node")[0] + 50) < 15


def test_spreads_of_a_large_map_come_from_a_sample(fitted, monkeypatch):
    layout, items = fitted.map2d("pca"), np.arange(6)
    exact = spreads(fitted, layout, both(items))
    monkeypatch.setattr("coembed.maps.layout._ANCHORS", 10)
    monkeypatch.setattr("coembed.maps.layout._CLOSE", 12)
    near = spreads(fitted, layout, both(items))
    assert (np.linalg.eigvalsh(near) >= -1e-9).all()
    ratio = np.trace(near, axis1=1, axis2=2).sum() / np.trace(exact, axis1=1, axis2=2).sum()
    assert 0.2 < ratio < 5


def test_umap_lays_out_where_it_is_installed(fitted, monkeypatch):
    class Umap:
        def __init__(self, n_neighbors, random_state, n_jobs):
            self.seed = random_state

        def fit_transform(self, rows):
            return np.random.default_rng(self.seed).random((len(rows), 2))

    monkeypatch.setitem(sys.modules, "umap", SimpleNamespace(UMAP=Umap))
    monkeypatch.setattr("coembed.maps.layout.find_spec", lambda name: name)
    layout = make_layout(fitted, "umap", seed=4)
    assert (layout.method, layout.nodes.shape, layout.attributes.shape) == ("umap", (40, 2), (15, 2))
