"""A result of any types and relations answers, explains, places and exports as a plain one does."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.fitted import load, save
from coembed.fitted.export import arrays_of, export
from coembed.fitted.label_quality import judge
from coembed.fitted.moments import unit_length
from coembed.fitted.reasons import Reasons
from coembed.maps.layout import Plane, cached_layout, make_layout
from coembed.maps.picture import draw_map


def test_a_cell_comes_in_its_unit_and_a_category_as_probabilities(general):
    (income,) = general.complete("p001", "income")
    assert 1_000 < income.score < 500_000
    assert income.std > 0
    cities = general.complete("p001", "city")
    assert sum(match.score for match in cities) == pytest.approx(1, abs=1e-5)
    assert all(match.std <= 0.5 for match in cities)
    (member,) = general.complete("p001", "member")
    assert 0 < member.score < 1


def test_a_relation_is_asked_from_both_ends(general):
    rows = general.score_rows(np.arange(60), "follows")
    network = general.network.relation("follows")
    theirs = np.flatnonzero(network.values.toarray()[:, 7])
    order = [i for i in np.argsort(-rows[:, 7], kind="stable") if i != 7 and i not in theirs]
    found = general.complete("p007", "follows", 5, backwards=True)
    assert [match.name for match in found] == [f"p{i:03d}" for i in order[:5]]
    seen = general.complete("f003", "saw", 100)
    absent = np.flatnonzero(general.network.relation("saw").values.toarray()[:, 3] == 0)
    assert {match.name for match in seen} == {f"p{i:03d}" for i in absent}


def test_a_value_of_a_column_is_asked_for_its_items(general):
    cells = general.cells("city", np.arange(60))[:, 1]
    found = general.complete("city=Oslo", "city", 60, known=True)
    assert [match.name for match in found] == [f"p{i:03d}" for i in np.argsort(-cells, kind="stable")]
    owned = general.network.relation("city").values[:, [2]].toarray()[:, 0] > 0
    assert {match.name for match in found if match.known} == {f"p{i:03d}" for i in np.flatnonzero(owned)}
    assert general.complete("income", "income", 3)[0].score > 1000
    with pytest.raises(InputError, match="'income' is no value of the column city"):
        general.complete("income", "city")
    assert len(general.complete("likes=word03", "likes", 4)) == 4


@pytest.mark.parametrize(("type", "relation"), [("person", "follows"), ("film", "saw")])
def test_newcomers_answer_from_both_ends_as_the_model_alone_does(general, type, relation):
    """A copy of an item by its own rows, and the item itself, as the model without other scores says."""
    network, item = general.network, 4
    rows = {}
    for each in network.relations.values():
        if each.source == type:
            rows[f"{each.name}>"] = each.values[[item]]
        if each.target == type:
            rows[f"{each.name}<"] = each.backwards[[item]]
    placed = general.place(type, rows)
    assert placed.codes.mean.shape == (1, general.code_dim)
    found = placed.complete(0, relation, 5, backwards=True)
    held = {f"p{i:03d}" for i in network.relation(relation).backwards[[item]].indices}
    assert not held & {match.name for match in found}
    assert {match.kind for match in found} == {"person"}
    same = placed.nearest(0, type, 1)[0]
    assert same.score > 0.9
    # one by one or all together
    two = general.place(type, {name: sp.csr_array(sp.vstack([part, part])) for name, part in rows.items()})
    again = two.complete(1, relation, 5, backwards=True)
    assert [match.name for match in again] == [match.name for match in found]


def test_reasons_are_found_in_every_relation_and_column(general):
    why = Reasons(general, "p001")
    assert len(why.label(3).reasons) <= 3
    everything = why.explain("likes", ["likes=word03"], 100)[0]
    assert {reason.relation for reason in everything.reasons} <= {"", *general.network.relations}
    (city,) = why.explain("city", ["city=Oslo"])
    assert city.claimed == pytest.approx(general.cells("city", [1])[0].max()) or city.title == "Oslo"
    assert general.why("p001", column="city", target="Oslo") == general.why(
        "p001", column="city", target="city=Oslo"
    )
    income = general.why("p001", column="income", k=3)
    assert income.claimed == pytest.approx(general.complete("p001", "income")[0].score)
    assert income.claimed > 1000
    assert income.owners == []
    assert general.why("f001").target in ("drama", "comedy")
    with pytest.raises(InputError, match="is an attribute"):
        general.why("city=Oslo")


@pytest.mark.parametrize(
    ("item", "how"),
    [
        ("p001", {"relation": "follows"}),
        ("p001", {"relation": "follows", "backwards": True}),
        ("f001", {"relation": "saw"}),
        ("p001", {"relation": "saw"}),
        ("p001", {"column": "city"}),
        ("p001", {"column": "likes"}),
        ("p001", {"column": "income"}),
        ("f001", {}),
    ],
)
def test_reasons_of_any_type_relation_and_column_add_up(general, item, how):
    found = general.why(item, k=4, **how)
    if how:
        best = general.complete(
            item, k=1, relation=how.get("relation", how.get("column")), backwards=bool(how.get("backwards"))
        )[0]
        assert (found.target, found.claimed) == (best.name, pytest.approx(best.score, rel=1e-5))
    given = sum(each.contribution for each in found.reasons)
    assert found.nothing + given + found.others + found.beyond == pytest.approx(found.claimed)
    assert found.reasons


def test_exported_queries_rank_as_the_model_does(general, tmp_path):
    export(general, tmp_path / "codes.npz")
    with np.load(tmp_path / "codes.npz", allow_pickle=False) as arrays:
        assert {f"{type}.mean" for type in general.network.types} <= set(arrays)
        assert list(arrays["person.titles"][:2]) == ["Person 0", "Person 0"]
        assert arrays["film.probabilities"].shape == (40, 2)
        query, keys = arrays["follows.query"], arrays["follows.key"]
    fit = general.relations["follows"]
    here = general.latents("person")
    scores = fit.crossed(here, here).mean
    difference = scores - query @ keys.T  # the same for all targets of a source
    np.testing.assert_allclose(difference, difference[:, :1].repeat(60, axis=1), atol=1e-4)


@pytest.mark.parametrize("format", ["csv", "parquet", "npz", "word2vec", "projector"])
def test_every_format_takes_any_types(general, tmp_path, format):
    assert all(path.stat().st_size for path in export(general, tmp_path / "codes", format))


def test_cosines_of_exported_codes_are_the_answers(general):
    arrays = arrays_of(general)
    cosines = unit_length(arrays["person.mean"])[3] @ unit_length(arrays["film.mean"]).T
    found = general.nearest("p003", "film", 40)
    assert [m.name for m in found] == [f"f{i:03d}" for i in np.argsort(-cosines, kind="stable")]


def test_a_number_has_two_poles(general):
    """What is low is as near the other way, and can be asked for, and is exported."""
    network = general.network
    attributes = network.relation("income").target
    place = network.items(attributes).position("income")
    code = general.codes(attributes).mean[place]
    cosines = unit_length(general.codes("person").mean) @ unit_length(code[None])[0]
    poorest, richest = int(cosines.argmin()), int(cosines.argmax())
    for row, word in ((poorest, "low"), (richest, "high")):
        found = general.profile(f"p{row:03d}", 1000)
        assert all(match.score >= 0 for match in found if match.name == "income")
        (income,) = (match for match in found if match.name == "income")
        assert income.title == f"income {word}"
        assert income.score == pytest.approx(abs(cosines[row]), abs=1e-5)
        assert general.nodes_about(f"income {word}", 1)[0].name == f"p{row:03d}"
    assert general.nodes_about("income", 60) == general.nodes_about("income high", 60)
    arrays = arrays_of(general)
    ids = arrays[f"{attributes}.ids"].tolist()
    assert "income" not in ids
    low, high = (arrays[f"{attributes}.mean"][ids.index(f"income {word}")] for word in ("low", "high"))
    np.testing.assert_array_equal(low, -high)
    np.testing.assert_array_equal(high, code)


def test_the_cell_that_is_known_is_said(general):
    network = general.network
    for name in ("income", "member"):
        relation = network.relation(name)
        known = np.diff(relation.values.indptr) > 0
        row, other = int(np.flatnonzero(known)[0]), int(np.flatnonzero(~known)[0])
        (there,) = general.complete(f"p{row:03d}", name)
        assert there.cell == pytest.approx(relation.column.cell(relation.values.data[0]), rel=1e-5)
        assert there.as_dict()["cell"] == there.cell
        (missing,) = general.complete(f"p{other:03d}", name)
        assert (missing.cell, missing.known) == (None, False)
    city = network.relation("city")
    row = int(np.flatnonzero(np.diff(city.values.indptr))[0])
    titles = network.items(city.target).title(int(city.values.indices[0]))
    # however unlikely
    assert [m.title for m in general.complete(f"p{row:03d}", "city", 1) if m.known] == [titles]


def test_saved_is_loaded_and_answers_alike(general, tmp_path):
    loaded = load(save(general, tmp_path / "model"))
    for question in (("p001", "income"), ("p001", "city"), ("p001", "follows"), ("f001", "saw")):
        assert loaded.complete(*question) == general.complete(*question)


def test_quality_is_judged_by_type(general):
    truth = general.network
    for type in ("person", "film"):
        labels = truth.items(type).labels
        full = np.where(labels.values < 0, 0, labels.values)
        found = judge(general, truth.with_labels(full, type), type)
        assert found.type == type
        assert len(found.nodes) == (labels.values < 0).sum()


def test_all_types_are_laid_out_kept_and_drawn(general, tmp_path):
    layout = cached_layout(general, tmp_path, "pca")
    assert {type: places.shape for type, places in layout.places.items()} == {
        type: (len(items), 2) for type, items in general.network.types.items()
    }
    again = cached_layout(general, tmp_path, "pca")
    for type, places in layout.places.items():
        np.testing.assert_array_equal(places, again.places[type])
    plane = Plane(general, make_layout(general, "pca"))
    assert plane.place(general.codes("film"), "film").shape == (40, 2)
    assert draw_map(general, layout, tmp_path / "map.png").stat().st_size > 10_000
