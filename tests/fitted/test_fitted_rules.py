"""Small rules of a fitted model: who is tried, what grows, what fits, what is searched."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from coembed.errors import InputError
from coembed.fitted import Fitted
from coembed.fitted import evidence as evidence_module
from coembed.fitted.evidence import _nearest
from coembed.fitted.gaussians import Gaussians
from coembed.fitted.looking_up import search
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
