from dataclasses import replace

import numpy as np
import pytest

from coembed.errors import InputError
from coembed.result import layout as layouts
from coembed.result.layout import cached_layout, make_layout, principal_plane, spreads
from coembed.result.picture import _by_turns, draw_map


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
    places = make_layout(replace(fitted, attribute_mean=code), "pca").attributes
    np.testing.assert_allclose(places[3], places[7], atol=1e-5)


def test_spreads_are_covariances_and_vanish_without_uncertainty(fitted):
    layout = fitted.map2d("pca")
    items = np.arange(4)
    covariances = spreads(fitted, layout, items, items)
    assert covariances.shape == (8, 2, 2)
    assert (np.linalg.eigvalsh(covariances) >= -1e-9).all()
    assert np.trace(covariances, axis1=1, axis2=2).min() > 0
    sure = replace(fitted, attribute_std=fitted.attribute_std * 0)
    np.testing.assert_allclose(spreads(sure, layout, items[:0], items), 0, atol=1e-9)


def test_a_layout_is_made_once_for_a_model(fitted, tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(layouts, "make_layout", lambda *a: made.append(a) or make_layout(*a))
    first, second = (cached_layout(fitted, tmp_path, "pca") for _ in range(2))
    assert len(made) == 1
    np.testing.assert_array_equal(first.nodes, second.nodes)
    cached_layout(replace(fitted, attribute_mean=fitted.attribute_mean + 1), tmp_path, "pca")
    assert len(made) == 2  # another model in the same folder
    (tmp_path / "map-pca.npz").write_bytes(b"broken")
    cached_layout(fitted, tmp_path, "pca")
    assert len(made) == 3


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_pictures_are_written_in_the_format_of_their_name(fitted, tmp_path, suffix, start):
    path = draw_map(fitted, fitted.map2d("pca"), tmp_path / f"map{suffix}")
    assert path.read_bytes().startswith(start)
    assert list(tmp_path.iterdir()) == [path]


def test_models_without_classes_or_attributes_can_be_drawn(unlabelled, bare, tmp_path):
    for fitted in (unlabelled, bare):
        assert draw_map(fitted, fitted.map2d("pca"), tmp_path / "map.png").stat().st_size > 10_000


def test_names_that_look_like_formulas_are_drawn_as_they_are(fitted, tmp_path):
    words = fitted.network.attribute_names.copy()
    words[:] = [f"$\\frac{i}$_^" for i in range(15)]
    odd = replace(fitted, network=replace(fitted.network, attribute_names=words))
    draw_map(odd, odd.map2d("pca"), tmp_path / "map.png")


def test_classes_take_turns_in_being_named(fitted):
    order = _by_turns(fitted)
    assert sorted(order) == list(range(40))
    labels = fitted.network.labels
    classes = np.where(labels >= 0, labels, fitted.probabilities.argmax(1))
    assert len(set(classes[order[:3]])) == len(set(classes))


def test_unknown_methods_and_formats_are_refused(fitted, tmp_path, monkeypatch):
    with pytest.raises(InputError, match="no map method 'globe'"):
        fitted.map2d("globe")
    with pytest.raises(InputError, match=r"must end in \.png, \.svg or \.pdf"):
        draw_map(fitted, fitted.map2d("pca"), tmp_path / "map.gif")
    monkeypatch.setattr(layouts, "find_spec", lambda name: None)
    assert fitted.map2d().method == "pca"
    with pytest.raises(InputError, match=r"install coembed\[map\]"):
        fitted.map2d("tsne")
