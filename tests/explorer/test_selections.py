"""Many items at once over the wire: found, set apart, as tables, with links, as files."""

from __future__ import annotations

import base64
import csv
import io

import numpy as np
import pyarrow.parquet as pq
import pytest

from .conftest import client_of


@pytest.fixture(scope="module")
def ask(people):
    return client_of(people)


def post(client, path: str, **body):
    answer = client.post(f"/api/v1/selection/{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer


def test_a_query_is_answered_with_counts_a_page_and_bits(ask, general):
    found = ask.get("/api/v1/find", params={"q": "income>20k", "limit": 3, "bits": True}).json()
    rows = general.find("income>20k").rows["person"]
    assert found["counts"] == {"person": len(rows), "film": 0, "person.columns": 0, "film.columns": 0}
    assert [each["id"] for each in found["items"]] == [f"p{row:03d}" for row in rows[:3]]
    octets = np.frombuffer(base64.b64decode(found["bits"]["person"]), np.uint8)
    assert np.flatnonzero(np.unpackbits(octets, bitorder="little")).tolist() == rows.tolist()
    refused = ask.get("/api/v1/find", params={"q": "incme>5"})
    assert refused.status_code == 404
    assert "did you mean 'income'" in refused.json()["error"]["message"]
    assert ask.get("/api/v1/find", params={"q": "(("}).status_code == 400


def test_a_selection_is_what_fits_all_that_is_given(ask, general):
    bits = ask.get("/api/v1/find", params={"q": "city:Lille", "bits": True}).json()["bits"]
    both = {"query": "member:yes", "bits": bits}
    page = post(ask, "table", selection=both, limit=200).json()
    assert page["total"] == len(general.find("member:yes city:Lille"))
    wrong = ask.post("/api/v1/selection/table", json={"selection": {"bits": {"person": "AAAA"}}})
    assert wrong.status_code == 400
    assert "not of its 60 items" in wrong.json()["error"]["message"]
    assert ask.post("/api/v1/selection/table", json={"selection": {}}).status_code == 400
    nobody = ask.post("/api/v1/selection/table", json={"selection": {"ids": {"person": ["zoe"]}}})
    assert nobody.status_code == 404


def test_what_sets_a_selection_apart_finds_itself(ask, general):
    told = post(ask, "apart", selection={"query": "class:left"}, k=5).json()
    assert (told["items"][0]["field"], told["items"][0]["value"]) == ("class", "left")
    for line in told["items"]:  # the term of each line can be asked for
        assert ask.get("/api/v1/find", params={"q": line["query"]}).json()["total"] > 0
    against = post(ask, "apart", selection={"query": "class:left"}, against={"query": "class:right"}).json()
    assert against["against"]["person"] == len(general.find("class:right"))


def test_rows_come_in_the_order_of_any_column_the_unknown_last(ask):
    page = post(
        ask, "table", selection={"query": "type:person"}, sort="income", descending=True, limit=60
    ).json()
    names = [column["name"] for column in page["columns"]]
    cells = [row[names.index("income")] for row in page["rows"]]
    known = [each for each in cells if each is not None]
    assert known == sorted(known, reverse=True)
    assert cells[: len(known)] == known
    towns = post(ask, "table", selection={"query": "type:person"}, sort="city", limit=60).json()["rows"]
    listed = [row[names.index("city")] for row in towns if row[names.index("city")] is not None]
    assert listed == sorted(listed)
    assert ask.post(
        "/api/v1/selection/table", json={"selection": {"query": "type:person"}, "sort": "nothing"}
    ).status_code in (400, 404)


def test_links_have_both_ends_inside(ask, general):
    found = post(ask, "links", selection={"query": "class:left"}).json()["relations"]
    rows = general.find("class:left").rows["person"]
    follows = general.network.relation("follows").values[rows][:, rows]
    [told] = [each for each in found if each["relation"] == "follows"]
    assert told["total"] == follows.nnz == len(told["from"])
    assert set(told["from"]) | set(told["to"]) <= set(rows.tolist())


def test_files_hold_all_columns_and_no_formulas(ask, awkward):
    told = post(ask, "export", selection={"query": "class:left or type:film"})
    rows = list(csv.DictReader(io.StringIO(told.text)))
    assert {row["type"] for row in rows} == {"person", "film"}
    assert {"id", "income", "city", "likes", "p", "x", "y"} <= set(rows[0])
    table = pq.read_table(
        io.BytesIO(post(ask, "export", selection={"query": "class:left"}, format="parquet").content)
    )
    assert table["income"].type == "int64"
    assert table.num_rows == sum(row["type"] == "person" for row in rows)
    risky = client_of(awkward).post(
        "/api/v1/selection/export", json={"selection": {"ids": {"node": ["=HYPERLINK(0)"]}}}
    )
    assert next(csv.DictReader(io.StringIO(risky.text)))["id"] == "'=HYPERLINK(0)"


def test_a_field_is_told_of_all_items(ask, general):
    fields = {each["name"]: each for each in ask.get("/api/v1/fields").json()["fields"]}
    assert fields["income"] == {"name": "income", "kind": "number", "types": ["person"]}
    told = ask.get("/api/v1/values", params={"field": "city"}).json()
    [people] = told["types"]
    towns = [None if code < 0 else told["names"][int(code)] for code in people["values"]]
    assert [i for i, town in enumerate(towns) if town == "Rome"] == general.find("city:Rome").rows[
        "person"
    ].tolist()
    has = ask.get("/api/v1/values", params={"field": "has:likes=word03"}).json()
    owners = next(each["values"] for each in has["types"] if each["type"] == "person")
    assert np.flatnonzero(owners).tolist() == general.find("likes:word03").rows["person"].tolist()
    assert ask.get("/api/v1/values", params={"field": "likes"}).status_code == 400
    assert ask.get("/api/v1/values", params={"field": "nothing"}).status_code == 400
