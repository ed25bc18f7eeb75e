"""Small pieces of answers, of which one can say what they must be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from coembed.fitted import Fitted, storage
from coembed.fitted.batch_answers import Batch
from coembed.fitted.cell_texts import date_text
from coembed.fitted.enrichment import _names, set_apart
from coembed.fitted.gaussians import Gaussians
from coembed.fitted.history_lines import _figures
from coembed.fitted.item_fields import field_of
from coembed.fitted.pair_scores import _across, item_vectors
from coembed.fitted.space import RelationFit
from coembed.kernels.sparse import lopsided
from coembed.network.columns.column_cells import spread


def test_few_pairs_are_all_looked_at(general: Fitted) -> None:
    for relation, backwards in (("saw", False), ("saw", True), ("likes", False), ("income", False)):
        batch = Batch(general, relation, backwards=backwards)
        assert batch.candidates is None
        assert batch.note == ""


def test_what_is_on_both_sides_counts_inside(general: Fitted) -> None:
    inside, outside = np.arange(10), np.arange(10, 40)
    once = set_apart(general, {"person": inside}, {"person": outside})
    twice = set_apart(general, {"person": inside}, {"person": np.arange(40)})
    assert [each.name for each in once] == [each.name for each in twice]
    assert once == twice


@pytest.mark.parametrize(
    ("values", "are"), [([1, 2.5], True), ([1.0, None], False), ([1, "x"], False), ("ab", False), ([], True)]
)
def test_figures_are_numbers_all_of_them(values: object, are: bool) -> None:
    assert _figures(values) is are


def test_columns_that_nobody_has_stay() -> None:
    rows = sp.csr_array(np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]))
    assert spread(rows, np.array([1, 0, 1])).shape == (3, 3)


@pytest.mark.parametrize(
    ("shape", "is_so"), [((10, 41), True), ((41, 10), True), ((10, 40), False), ((9, 9), False)]
)
def test_lopsided_is_more_than_four_to_one(shape: tuple[int, int], is_so: bool) -> None:
    assert lopsided(shape) is is_so


def test_all_that_speaks_for_a_pair_is_asked() -> None:
    owned = sp.csr_array((np.arange(12).reshape(4, 3) % 2).astype(np.float32))
    links = sp.csr_array(np.ones((4, 4), np.float32))
    found = _across(owned, links, None, item_vectors(owned), 0)
    assert [each.name.split(" model")[0] for each in found if "ridge" not in each.name] == [
        "votes of links",
        *["item"] * sum(each.name.startswith("item model") for each in found),
        "popularity",
        "number of entries",
    ]
    popularity = found[-2].rows(np.arange(4))
    np.testing.assert_allclose(popularity, np.tile(np.log1p(owned.sum(axis=0)), (4, 1)), rtol=1e-6)
    entries = found[-1].rows(np.arange(4))
    np.testing.assert_allclose(entries, np.tile(np.log1p(owned.sum(axis=1))[:, None], (1, 3)), rtol=1e-6)


def test_attributes_are_compared_only_where_there_is_nothing_else(general: Fitted) -> None:
    people, attributes = np.arange(10), np.arange(3)
    both = set_apart(general, {"person": people, "person.columns": attributes})
    assert both == set_apart(general, {"person": people})


def test_only_an_empty_folder_is_removed(tmp_path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("mine")
    (tmp_path / "empty").mkdir()
    for name in ("full", "empty", "nowhere"):
        storage._remove_empty(tmp_path / name)
    assert [each.name for each in tmp_path.iterdir()] == ["full"]


def test_what_a_pair_leans_to_is_as_sure_as_its_ends() -> None:
    rng = np.random.default_rng(0)
    ends = [Gaussians(rng.normal(size=(3, 4)), rng.uniform(0.5, 2, (3, 4))) for _ in range(2)]
    lean = rng.normal(size=4)
    plain = RelationFit("bernoulli", 1.0, np.zeros(3), np.zeros(3), turn=np.zeros((4, 4)))
    leaning = replace(plain, lean=lean)
    found, without = leaning.crossed(*ends), plain.crossed(*ends)
    spread = [each.std**2 @ lean**2 for each in ends]
    np.testing.assert_allclose(found.variance - without.variance, spread[0][:, None] + spread[1], rtol=1e-9)
    towards = [each.mean @ lean for each in ends]
    np.testing.assert_allclose(found.mean - without.mean, towards[0][:, None] - towards[1], rtol=1e-9)


@pytest.mark.parametrize("days", [np.nan, np.inf, 4e6, -4e6])
def test_a_date_beyond_all_calendars_is_unknown(days: float) -> None:
    assert date_text(days) == "unknown"
    assert date_text(3e6) != "unknown"


def test_the_odds_of_an_association_are_smoothed_by_a_half(general: Fitted) -> None:
    here = np.arange(60) < 20
    field = field_of(general, "person", "likes")
    assert field is not None
    told = _names("person", field, here, ~here)
    a = np.rint(told.inside * 20)
    b = np.rint(told.outside * 40)
    expected = np.log2((a + 0.5) / (20.5 - a)) - np.log2((b + 0.5) / (40.5 - b))
    np.testing.assert_allclose(told.effect, expected, rtol=1e-9)
