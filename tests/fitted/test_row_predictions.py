"""Rows of a new table are read as those of training were, and answered as known or as new."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.fitted import row_predictions
from coembed.network import read
from coembed.network.items import UNKNOWN
from coembed.network.readers.named_table import named_table
from coembed.network.readers.new_rows import read_new_rows
from coembed.network.ways import ways_of


def cells_as_a_table(network, rows=slice(None)) -> dict[str, list]:
    """The people as their table would have them."""
    income, city, member, likes = (network.relation(name) for name in ("income", "city", "member", "likes"))
    titles = network.items("person.columns").titles

    def cell(relation, row, text):
        part = slice(relation.values.indptr[row], relation.values.indptr[row + 1])
        return text(relation.values.indices[part], relation.values.data[part])

    def one(text):
        return lambda places, values: text(places[0], values[0]) if len(places) else ""

    at = range(len(network.items("person")))[rows]
    return {
        "id": [str(network.items("person").ids[row]) for row in at],
        "income": [cell(income, row, one(lambda _, v: repr(float(income.column.cell(v))))) for row in at],
        "city": [cell(city, row, one(lambda place, _: titles[place])) for row in at],
        "member": [cell(member, row, one(lambda _, v: "yes" if v else "no")) for row in at],
        "likes": [cell(likes, row, lambda places, _: ";".join(titles[p] for p in places)) for row in at],
    }


def links_as_tables(network) -> dict[str, pa.Table]:
    found = {}
    for name in ("follows", "saw"):
        relation = network.relation(name)
        entries = relation.values.tocoo()
        ends = [
            [str(network.items(type).ids[i]) for i in places]
            for type, places in ((relation.source, entries.row), (relation.target, entries.col))
        ]
        found[name] = pa.table({"from": ends[0], "to": ends[1]})
    return found


def test_a_table_of_known_rows_holds_what_the_network_has(general):
    network = general.network
    people = named_table("people", pa.table(cells_as_a_table(network)))
    beside = [named_table(name, table) for name, table in links_as_tables(network).items()]
    new = read_new_rows(network, [people, *beside])
    assert (new.type, new.known.tolist(), new.among) == ("person", list(range(60)), {})
    for relation in [*network.columns("person"), network.relation("saw")]:
        expected = relation.values
        np.testing.assert_allclose(
            new.rows[f"{relation.name}>"].toarray(), expected.toarray(), rtol=1e-4, atol=1e-5
        )
        assert new.rows[f"{relation.name}>"].nnz == expected.nnz  # a known zero is stored
    follows = network.relation("follows").values.toarray()
    np.testing.assert_array_equal(new.rows["follows>"].toarray(), follows)
    np.testing.assert_array_equal(new.rows["follows<"].toarray(), follows.T)


def test_known_rows_are_answered_as_known_and_as_new_by_what_they_hold(general):
    network = general.network
    table = pa.table(cells_as_a_table(network))
    known = general.predict_rows(table, "person")
    np.testing.assert_array_equal(known.probabilities, general.predict_proba("person"))
    assert not known.new.any()
    assert "60 of 60 row(s) have ids that the model knows" in " ".join(known.notices)
    rows = {f"{each.name}>": each.values for each in network.columns("person")}
    rows |= {
        way.name: network.relation(way.relation).values
        if way.forwards
        else network.relation(way.relation).backwards
        for way in ways_of(network, "person")
    }
    expected = general.place("person", {name: sp.csr_array(part) for name, part in rows.items()})
    new = general.predict_rows(table, as_new=True, beside=links_as_tables(network))
    np.testing.assert_allclose(new.probabilities, expected.probabilities, atol=1e-4)
    assert new.new.all()


def test_new_rows_that_are_linked_are_placed_as_a_grown_network_places_them(general):
    network = general.network
    table = {name: cells[:3] for name, cells in cells_as_a_table(network).items()}
    table["id"] = ["new0", "new1", "new2"]
    follows = pa.table({"who": ["new0", "new1", "p004", "new2"], "whom": ["new1", "p003", "new0", "new2"]})
    found = general.predict_rows(pa.table(table), beside={"follows": follows})
    from dataclasses import replace

    from coembed.network.items import Items
    from coembed.network.network import Network

    people = network.items("person")
    ids = np.append(people.ids, table["id"]).astype(object)
    labels = replace(people.labels, values=np.append(people.labels.values, [UNKNOWN] * 3))
    grown = Items("person", ids, np.append(people.titles, ["a", "b", "c"]).astype(object), labels)
    relations = []
    for relation in network.relations.values():
        matrix = relation.values.tocoo()
        row, col, data = matrix.row, matrix.col, matrix.data
        shape = [
            len(ids) if end == "person" else size
            for end, size in zip(("person", relation.target), matrix.shape, strict=True)
        ]
        if relation.source != "person":
            relations.append(relation)
            continue
        if relation.column is not None:
            first = relation.values[:3].tocoo()
            row, col, data = (
                np.append(row, 60 + first.row),
                np.append(col, first.col),
                np.append(data, first.data),
            )
        if relation.name == "follows":
            row, col, data = (
                np.append(row, [60, 61, 4]),
                np.append(col, [61, 3, 60]),
                np.append(data, [1, 1, 1]),
            )
        wide = sp.coo_array((data.astype(np.float32), (row, col)), shape=tuple(shape)).tocsr()
        wide.sort_indices()
        relations.append(replace(relation, values=wide))
    types = [grown if name == "person" else items for name, items in network.types.items()]
    embedded = general.embed(Network.of(types, relations, "people"))
    expected = embedded.result.predict_proba("person")[embedded.new["person"]]
    np.testing.assert_allclose(found.probabilities, expected, atol=1e-5)
    assert "1 row(s) join no new row" in " ".join(found.notices)  # new2 to itself


def test_what_is_missing_unknown_and_strange_is_told_and_taken_as_empty(general):
    odd = pa.table(
        {
            "key": ["a", "b", "c"],
            "city": ["Oslo", "Paris", "n/a"],
            "income": ["much", "30000", ""],
            "likes": ["word01;flying", "", ""],
            "group": ["left", "up", ""],
            "phone": ["1", "2", "3"],
        }
    )
    found = general.predict_rows(odd)
    said = " | ".join(found.notices)
    assert "no column 'member'" in said
    assert "'city': 1 cell(s) such as 'Paris' hold no value that the model knows: taken as empty" in said
    assert "'income': 1 cell(s) such as 'much' hold no number: taken as empty" in said
    assert "'likes': 1 tag(s) such as 'flying' are unknown" in said
    assert "column(s) 'phone' are unknown to the model" in said
    assert "does not know the class of 1 row(s), such as 'up'" in said
    assert "1 new row(s) hold nothing that the model knows, such as 'c'" in said
    plain = pa.table(
        {
            "key": ["a", "b", "c"],
            "city": ["Oslo", "", ""],
            "income": ["", "30000", ""],
            "likes": ["word01", "", ""],
        }
    )
    np.testing.assert_allclose(general.predict_rows(plain).probabilities, found.probabilities, atol=1e-6)
    assert found.ids == ["a", "b", "c"]
    assert found.agreement is not None
    assert found.agreement[0] == 1


def test_ids_that_repeat_are_no_rows_by_number(general):
    ids = [str(each) for each in general.network.items("person").ids[:2]]
    rows = {"Kundennr": [*ids, ids[0]], "income": ["1", "2", "3"]}
    with pytest.raises(InputError, match=r"Kundennr '.*' is that of .*, but 'income' differs"):
        general.predict_rows(pa.table(rows), "person")
    again = general.predict_rows(pa.table({**rows, "income": ["1", "2", "1"]}), "person")
    assert again.ids == ids
    assert not again.new.any()
    strange = pa.table({"nick": ["x-a", "x-a", "x-b"], "income": ["1", "2", "3"]})
    said = general.predict_rows(strange, "person").notices
    assert any("'nick' repeats some" in each for each in said)


def test_numbers_and_dates_that_could_be_read_in_two_ways(tmp_path):
    lines = [f"r{i};{1000 + 37 * i}.{i % 10};{i % 28 + 1}.0{i % 9 + 1}.2020" for i in range(60)]
    lines = [line.replace(".", ",", 1) for line in lines]
    (tmp_path / "shops.csv").write_text("\n".join(["id;sales;since", *lines]))
    network = read(tmp_path / "shops.csv")
    rows = named_table("shops", pa.table({"id": ["n1"], "sales": ["2.500"], "since": ["03/04/2020"]}))
    new = read_new_rows(network, [rows])
    column = network.relation("sales").column
    assert column.cell(new.rows["sales>"].toarray()[0, 0]) == pytest.approx(2500)
    assert any("either way round" in each for each in new.notices)


def test_the_class_that_a_row_brings_does_not_change_its_answer(general):
    table = {name: cells[:5] for name, cells in cells_as_a_table(general.network).items()}
    table["id"] = [f"new{i}" for i in range(5)]
    without = general.predict_rows(pa.table(table))
    given = general.predict_rows(pa.table({**table, "group": ["left"] * 5}))
    np.testing.assert_array_equal(given.probabilities, without.probabilities)
    assert given.as_columns()["known"] == ["left"] * 5
    assert without.agreement is None


def test_many_rows_are_placed_in_parts(general, monkeypatch):
    table = pa.table(cells_as_a_table(general.network))
    whole = general.predict_rows(table, as_new=True)
    monkeypatch.setattr("coembed.fitted.placed_rows.AT_ONCE", 7)
    np.testing.assert_allclose(
        general.predict_rows(table, as_new=True).probabilities, whole.probabilities, atol=1e-6
    )


def test_drift_is_told_when_it_is_large_and_not_else(general):
    table = cells_as_a_table(general.network)
    beside = links_as_tables(general.network)
    assert general.predict_rows(pa.table(table), as_new=True, beside=beside).drifts == ()
    moved = {**table, "income": [repr(3 * float(cell)) if cell else "" for cell in table["income"]]}
    moved["city"] = ["Oslo"] * 60
    moved["member"] = [""] * 60
    moved["likes"] = [f"{cell};word07" if "word07" not in cell else cell for cell in table["likes"]]
    found = {each.column: each for each in general.predict_rows(pa.table(moved), as_new=True).drifts}
    assert set(found) == {"income", "city", "member", "likes", "follows", "saw"}
    assert found["city"].text.startswith("city: 'Oslo' in 100% of the rows")
    assert found["member"].text.startswith("member: empty in 100% of the rows")
    assert "'word07' in 100%" in found["likes"].text
    assert found["saw"].text.startswith("saw: any in 0% of the rows")
    assert found["income"].text.startswith("income: median")
    few = {name: cells[:15] for name, cells in moved.items()}
    assert general.predict_rows(pa.table(few), as_new=True).drifts == ()


@pytest.mark.parametrize(
    ("table", "how", "said"),
    [
        ({"a": ["1"], "b": ["2"]}, {}, "knows none of its columns"),
        ({"id": ["x", "x"], "city": ["Oslo", "Rome"]}, {}, "row 2: id 'x' is that of"),
        ({"id": ["x"], "plot": ["word01 word02"]}, {"type": "film.columns"}, "give rows of those"),
        ({"id": ["x"], "city": ["Oslo"]}, {"id": "key"}, "there is no column"),
        ({"id": ["x"], "city": ["Oslo"]}, {"beside": {"sees": {"a": ["x"]}}}, "known: follows, saw"),
        ("nowhere.csv", {}, "nowhere.csv is no file"),
    ],
)
def test_what_cannot_be_read_is_refused(general, table, how, said):
    with pytest.raises(InputError, match=said):
        general.predict_rows(pa.table(table) if isinstance(table, dict) else table, **how)


def test_parts_of_a_date_follow_from_it(tmp_path):
    from coembed.network import make_customers

    network = make_customers(200)
    table = named_table("new", pa.table({"id": ["n1", "n2"], "joined": ["2016-08-11", ""]}))
    new = read_new_rows(network, [table], "customers")
    titles = network.items("customers.attributes").titles
    months = new.rows["joined.month>"]
    assert [titles[i] for i in months.indices] == ["August"]
    assert [titles[i] for i in new.rows["joined.weekday>"].indices] == ["Thursday"]
    assert new.touched.tolist() == [3, 0]


def test_known_rows_have_the_classes_that_known_items_may_have(general, monkeypatch):
    """And new ones those of the new: the one is judged by who has not seen its label, the other by all."""

    def told(fitted, type, coverage, rows, new=None):
        return np.full((len(rows) if new is None else len(new), 3), new is None)

    monkeypatch.setattr(row_predictions, "sets_of", told)
    table = {name: cells[:3] for name, cells in cells_as_a_table(general.network).items()}
    table["id"][1] = "somebody new"
    found = general.predict_rows(pa.table(table), "person", coverage=0.9)
    np.testing.assert_array_equal(found.sets, [[True] * 3, [False] * 3, [True] * 3])
