"""Small rules of a fitted model: who is tried, what grows, what fits, what is searched."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from coembed.errors import InputError
from coembed.fitted import Fitted
from coembed.fitted import evidence as evidence_module
from coembed.fitted.evidence import _nearest
from coembed.fitted.gaussians import Gaussians, with_observed
from coembed.fitted.looking_up import neighbours, search
from coembed.fitted.soundness import _check_types
from coembed.fitted.space import RelationFit


def test_of_many_items_those_with_the_highest_scores_are_tried(general: Fitted, monkeypatch) -> None:
    monkeypatch.setattr(evidence_module, "MOST_TRIED", 5)
    for row, forwards, count in ((3, True, 40), (7, False, 60)):
        items = np.arange(count)
        found = _nearest(general, row, items, "saw", forwards)
        here = np.full(len(items), row)
        scores = general.score("saw", np.column_stack([here, items] if forwards else [items, here]))
        assert len(found) == 5
        assert (np.diff(found) > 0).all()
        assert scores[found].min() >= np.delete(scores, found).max()
    np.testing.assert_array_equal(_nearest(general, 0, np.arange(4), "saw", True), np.arange(4))


def test_names_are_found_with_errors_and_within_a_type(general: Fitted) -> None:
    person, film = general.network.items("person").ids[4], general.network.items("film").ids[2]
    for name, type in ((person, "person"), (film, "film")):
        assert search(general, name)[0].name == name
        assert search(general, name, type=type)[0].name == name
        other = general.network.items("film" if type == "person" else "person")
        assert {match.name for match in search(general, name, type=other.name)} <= set(other.ids)
    with pytest.raises(InputError, match="type"):
        search(general, person, type="planet")
    assert len(search(general, "p", k=3)) == 3


def test_variances_of_what_leans_are_those_of_the_sum() -> None:
    """Of <lean, c>, with c as uncertain as it is."""
    rng = np.random.default_rng(0)
    codes = Gaussians(rng.normal(size=(4, 3)), rng.uniform(0.5, 3, (4, 3)))
    lean = np.array([1.0, -2.0, 0.5])
    found = RelationFit(lean=lean)._leaning(codes)
    np.testing.assert_allclose(found.mean, codes.mean @ lean)
    np.testing.assert_allclose(found.variance, (codes.std**2 * lean**2).sum(axis=1))


def test_classes_that_are_known_of_a_type_are_those_of_its_items(general: Fitted) -> None:
    space = general.types["person"]
    fewer = replace(space, probabilities=space.probabilities[:, :-1], label_shift=space.label_shift[:-1])
    with pytest.raises(InputError, match="person"):
        _check_types(replace(general, types={**general.types, "person": fewer}))


def test_a_map_is_the_same_each_time_unless_another_is_asked_for(general: Fitted, monkeypatch) -> None:
    asked = []
    monkeypatch.setattr("coembed.maps.layout.make_layout", lambda fitted, method, seed: asked.append(seed))
    general.map2d("pca")
    general.map2d("pca", seed=4)
    assert asked == [0, 4]


def test_newcomers_lean_towards_those_they_are_linked_to(general: Fitted) -> None:
    """As far as the fit found that to help: by the mean of what is known or thought of their neighbours."""
    network = general.network
    rows = {name: network.relation(name).values[:8] for name in ("follows", "saw", "likes")}
    leaning = {}
    for strength in (0.0, 0.5):
        space = replace(general.types["person"], strength=strength)
        leaning[strength] = replace(general, types={**general.types, "person": space}).place("person", rows)
    plain, found = (leaning[strength].probabilities for strength in (0.0, 0.5))
    there = with_observed(general.types["person"].probabilities, general.labels_of("person"))
    known = np.asarray(rows["follows"].toarray() != 0) * 1.0
    linked = known.sum(axis=1) > 0
    assert linked.any()
    mean = known[linked] @ there / known[linked].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found[linked], 0.5 * plain[linked] + 0.5 * mean, atol=1e-5)
    np.testing.assert_allclose(found[~linked], plain[~linked])


def test_what_an_attribute_is_joined_to_is_found_from_its_end(general: Fitted) -> None:
    network = general.network
    titles = network.items("person.columns")
    place = network.relation("likes").column.start
    owners = np.flatnonzero(network.relation("likes").values[:, [place]].toarray())
    found = neighbours(general, titles.ids[place], "likes", type="person.columns")
    assert {match.name for match in found} == set(network.items("person").ids[owners])
