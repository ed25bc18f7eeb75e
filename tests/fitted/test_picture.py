"""Pictures are files of their format, whatever the network lacks and whatever its names hold."""

from dataclasses import replace

import numpy as np
import pytest

from coembed.errors import InputError
from coembed.maps import naming, picture
from coembed.maps.naming import by_turns, spread_out
from coembed.maps.palette import COLOURS, class_mark
from coembed.maps.picture import draw_map
from coembed.network import Items


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_pictures_are_written_in_the_format_of_their_name(fitted, tmp_path, suffix, start):
    path = draw_map(fitted, fitted.map2d("pca"), tmp_path / f"map{suffix}")
    assert path.read_bytes().startswith(start)
    assert list(tmp_path.iterdir()) == [path]


def test_models_without_classes_or_attributes_can_be_drawn(unlabelled, bare, tmp_path):
    for fitted in (unlabelled, bare):
        assert draw_map(fitted, fitted.map2d("pca"), tmp_path / "map.png").stat().st_size > 10_000


def test_names_that_look_like_formulas_are_drawn_as_they_are(fitted, tmp_path):
    words = Items.build("attribute", [f"$\\frac{i}$_^" for i in range(15)])
    odd = replace(fitted, network=replace(fitted.network, types={**fitted.network.types, "attribute": words}))
    draw_map(odd, odd.map2d("pca"), tmp_path / "map.png")


def test_long_names_of_classes_stay_inside_of_the_picture(fitted):
    node = fitted.network.main
    classes = np.array([f"CD4+/CD45RA+/CD25- NAIVE {k}" for k in range(node.n_classes)], dtype=object)
    long = replace(node, labels=replace(node.labels, classes=classes))
    odd = replace(fitted, network=replace(fitted.network, types={**fitted.network.types, "node": long}))
    figure = odd.plot("pca", words=3, names=3)
    figure.draw_without_rendering()
    assert len(figure.legends) == 2
    assert all(each.get_window_extent().x1 <= figure.bbox.x1 for each in figure.legends)


def test_a_map_counts_the_labels_of_all_types(general):
    known = {name: len(general.network.items(name).labels.known) for name in ("person", "film")}
    assert picture._known_labels(general.network) == (
        f", known labels of {known['person']} person and {known['film']} film"
    )


def test_attributes_are_named_so_that_they_say_something(general):
    network = general.network
    type = network.relation("income").target
    name = naming.names_of(network, type)
    assert name(network.items(type).position("income")) == "income high"
    assert name(network.items(type).position("city=Oslo")) == "Oslo"
    numbered = Items.build("x", ["frames=8"], np.array(["8"], dtype=object))
    assert numbered.speaking(0) == "frames=8"


def test_classes_take_turns_in_being_named(fitted):
    order = by_turns(fitted)
    assert sorted(order) == list(range(40))
    labels = fitted.network.labels
    classes = np.where(labels >= 0, labels, fitted.probabilities.argmax(1))
    assert len(set(classes[order[:3]])) == len(set(classes))


def test_other_endings_are_refused(fitted, tmp_path):
    with pytest.raises(InputError, match=r"must end in \.png, \.svg or \.pdf"):
        draw_map(fitted, fitted.map2d("pca"), tmp_path / "map.gif")
    assert list(tmp_path.iterdir()) == []


def drawn(fitted, tmp_path, monkeypatch):
    """The axes of a map."""
    figures = []
    monkeypatch.setattr(picture, "_explain", lambda figure, *rest: figures.append(figure))
    draw_map(fitted, fitted.map2d("pca"), tmp_path / "map.png", words=15, names=20)
    return figures[0].axes[0]


def test_ellipses_are_whole(fitted, tmp_path, monkeypatch):
    monkeypatch.setattr(picture, "WIDENED", 9.0)
    axes = drawn(fitted, tmp_path, monkeypatch)
    room = axes.get_window_extent().padded(1)
    assert len(axes.patches) == len(axes.texts)
    for ellipse in axes.patches:
        box = ellipse.get_window_extent()
        assert room.x0 <= box.x0
        assert box.x1 <= room.x1
        assert room.y0 <= box.y0
        assert box.y1 <= room.y1


def test_names_do_not_overlap(fitted, tmp_path, monkeypatch):
    axes = drawn(fitted, tmp_path, monkeypatch)
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) > 10
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_every_region_gets_a_name_early(rng):
    places = np.vstack([rng.normal(0, 1, (300, 2)), rng.normal(40, 1, (5, 2))])
    weights = np.append(np.arange(300) + 100, np.ones(5))
    order = spread_out(places, weights)
    assert sorted(order) == list(range(305))
    assert (order[:8] >= 300).any()


def test_colour_and_mark_tell_144_classes_apart():
    assert len({class_mark(k) for k in range(144)}) == 144
    assert len({class_mark(k)[0] for k in range(24)}) == 24
    assert len(set(COLOURS)) == 8
