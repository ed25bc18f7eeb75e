"""The API of a model of several types."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from coembed.explorer import Explorer
from coembed.fitted.pair_doubt import PairDoubt

from .conftest import client_of


@pytest.fixture(scope="module")
def api(people):
    client = client_of(people)

    def ask(path, body=None, **parameters):
        at = f"/api/v1/{path}"
        answer = client.get(at, params=parameters) if body is None else client.post(at, json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    return ask


def test_types_and_relations_are_told(api, general):
    found = api("types")
    assert [each["name"] for each in found["types"]] == list(general.network.types)
    assert [each["owner"] for each in found["types"]] == [None, None, "person", "film"]
    assert found["types"][1]["classes"] == ["drama", "comedy"]
    kinds = {each["name"]: (each["kind"], each["score"]) for each in found["relations"]}
    assert kinds["income"] == ("number", "value")
    assert kinds["follows"] == (None, "score")  # too few to be weighed against what is not there


def test_a_card_has_cells_relations_both_ways_and_neighbours_of_every_type(api, general):
    card = api("item", id="p001", k=4)
    assert (card["type"], card["title"]) == ("person", "Person 0")
    assert [each["column"] for each in card["cells"]] == ["income", "city", "member"]
    ways = [(each["relation"], each["backwards"]) for each in card["relations"]]
    assert ways == [("likes", False), ("follows", False), ("follows", True), ("saw", False)]
    assert list(card["nearest"]) == list(general.network.types)
    backwards = card["relations"][2]
    column = general.network.relation("follows").values[:, [1]].toarray()[:, 0]
    assert backwards["has"]["total"] == np.count_nonzero(column)
    assert [m["id"] for m in backwards["suggested"]] == [
        m.name for m in general.complete("p001", "follows", 4, backwards=True)
    ]
    film = api("item", id="f001", type="film")
    assert {each["label"] for each in film["probabilities"]} == {"drama", "comedy"}
    assert [(each["relation"], each["other"]) for each in film["relations"]] == [
        ("plot", "film.columns"),
        ("saw", "person"),
    ]


def test_a_cell_is_told_in_its_unit(api, general):
    (income, *_) = api("item", id="p001")["cells"]
    row = general.network.relation("income").values[[1]]
    known = np.expm1(row.data[0] * 0.5 + 10)
    assert float(income["known"].replace(",", "")) == pytest.approx(known, rel=1e-3)
    assert income["spread"]
    found = api("complete", id="p001", column="income")
    assert found["text"].startswith("income ")
    assert " ± " in found["text"]
    assert found["items"][0]["score"] == general.complete("p001", "income")[0].score


def test_an_attribute_has_a_card_of_its_own(api):
    oslo = api("item", id="city=Oslo")
    assert (oslo["title"], oslo["owner"]) == ("Oslo", "person")
    assert oslo["column"] == {"name": "city", "kind": "category", "relation": "city"}
    assert sum(each["share"] for each in oslo["classes"]) == pytest.approx(1)
    assert api("item", id="income")["classes"] == []


def test_titles_and_ids_are_found_and_types_narrow_the_search(api):
    assert {item["type"] for item in api("search", q="word01", limit=50)["items"]} == {
        "person.columns",
        "film.columns",
    }
    found = api("search", q="person 7")["items"]
    assert [item["title"] for item in found[:2]] == ["Person 7", "Person 7"]
    assert len({item["id"] for item in found}) == len(found)
    assert api("search", q="word01", type="film.columns")["items"][0]["id"] == "plot=word01"


def test_new_items_of_any_type_are_placed_by_cells_and_entries(api, general):
    person = {
        "id": "new",
        "relations": {"follows": ["p001", "nobody"], "follows<": ["p002"], "saw": ["f001"]},
        "columns": {
            "income": 30000,
            "city": "Oslo",
            "member": True,
            "likes": ["word03", "likes=word06", "x"],
        },
    }
    film = {
        "id": "a film",
        "type": "film",
        "relations": {"saw": ["p001"]},
        "columns": {"plot": "word01 blorp"},
    }
    found = api("place", {"items": [film, person], "k": 3})["items"]
    assert [each["type"] for each in found] == ["film", "person"]
    assert found[1]["unknown"] == {"follows": ["nobody"], "likes": ["x"]}
    assert [each["column"] for each in found[1]["cells"]] == ["income", "city", "member"]
    assert len(found[0]["nearest"]["person"]) == 3
    assert {each["relation"] for each in found[0]["relations"]} == {"plot", "saw"}
    placed = general.place("film", {"saw<": _row(60, 1), "plot": _row(8, 1)})
    right = [m.name for m in placed.nearest(0, "film", 3)]
    assert [m["id"] for m in found[0]["nearest"]["film"]] == right


def _row(width, place):
    import scipy.sparse as sp

    return sp.csr_array(([np.float32(1)], ([0], [place])), shape=(1, width))


def test_what_new_items_cannot_have_is_refused(people):
    client = client_of(people)
    for item, said in (
        ({"columns": {"age": 3}}, "no column of person 'age'"),
        ({"relations": {"plot": ["x"]}}, "no relation of person 'plot'"),
        ({"type": "planet", "columns": {}}, "no type 'planet'"),
        ({"type": "film.columns", "columns": {}}, "are attributes of film"),
        ({"columns": {"income": "much"}}, "has nothing that the model knows"),
    ):
        answer = client.post("/api/v1/place", json={"items": [item]})
        assert answer.status_code in (400, 404)
        assert said in answer.json()["error"]["message"]


def test_reasons_and_scores_by_relation(api, general):
    found = api("why", {"id": "p001", "relation": "saw", "targets": ["f001"]})
    assert found["targets"][0]["target"] == "f001"
    assert api("why", {"id": "f001"})["label"]["target"] in ("drama", "comedy")
    scores = api("score", {"saw": [["p001", "f001"]], "likes": [["p001", "likes=word03"]]})
    assert scores["saw"] == pytest.approx(general.answer("saw", [[1, 1]])[0].tolist())
    assert len(scores["likes"]) == 1


def test_everything_else_answers(api, people):
    assert api("model")["coloured"] == "person"
    assert [each["type"] for each in api("map")["types"]] == list(people.types)
    assert api("items", type="film", label="drama")["total"] > 0
    assert len(api("nearest", id="f001", to="person", k=4)["items"]) == 4
    assert api("similar", id="f001")["items"][0]["type"] == "film"
    assert api("neighbours", id="p001", relation="follows", backwards=True)["total"] >= 0
    assert set(api("spread", {"items": {"film": [0, 1], "person": [3]}})["items"]) == {"film", "person"}
    for path in ("health", "training", "quality", "data"):
        assert api(path)


def test_rows_of_a_new_table_are_predicted(api, general, people):
    rows = [
        {"id": "new", "city": "Oslo", "member": True, "income": 31000.5, "likes": ["word01", "word99"]},
        {"id": "p003", "likes": None, "phone": "1"},
    ]
    found = api("predict", {"rows": rows})
    new, known = found["items"]
    assert (new["type"], new["new"], known["new"]) == ("person", True, False)
    assert known["probability"] == pytest.approx(general.predict_proba("person")[3].max())
    table = {"id": ["new"], "city": ["Oslo"], "member": ["yes"], "income": [31000.5], "likes": ["word01"]}
    expected = general.predict_rows(table).probabilities[0]
    shares = {each["label"]: each["probability"] for each in new["probabilities"]}
    assert shares[new["predicted"]] == pytest.approx(expected.max(), abs=1e-5)
    assert any("'phone'" in said for said in found["notices"])
    assert any("word99" in said for said in found["notices"])
    client = client_of(people)
    assert client.post("/api/v1/predict", json={"rows": [{"x": 1}]}).status_code == 404


def test_doubt_is_told(general, people):
    """Sets of classes on a card, the interval of a number, lists with few errors, and what to label next."""
    doubt = PairDoubt.of(np.full(50, 0.5), np.zeros(1000), 0.5)
    fits = {
        "income": replace(general.relations["income"], errors=np.linspace(0, 2, 99).astype(np.float32)),
        "saw": replace(general.relations["saw"], doubt=doubt),
    }
    fitted = replace(general, relations={**general.relations, **fits})
    client = client_of(Explorer(fitted, people.layout))
    card = client.get("/api/v1/item", params={"id": "p000", "type": "person"}).json()
    sizes = [len(each["classes"]) for each in card["sets"]]
    assert [each["coverage"] for each in card["sets"]] == [0.9, 0.95, 0.99]
    assert sizes == sorted(sizes)
    assert sizes[0] >= 1
    assert card["sets"][0]["classes"][0] == card["probabilities"][0]["label"]
    cells = {each["column"]: each for each in card["cells"]}
    assert " to " in cells["income"]["interval"]
    assert cells["city"]["interval"] is None
    advice = client.get("/api/v1/ask-next", params={"k": 3, "type": "person"}).json()
    assert advice["type"] == "person"
    assert len(advice["items"]) == 3
    assert advice["items"][0]["settles"] >= advice["items"][2]["settles"]
    asked = {"id": "p000", "type": "person", "relation": "saw", "k": 100}
    sure = client.get("/api/v1/complete", params={**asked, "fdr": 0.1}).json()
    assert "one in 2 of the pairs" in sure["text"]
    every = client.get("/api/v1/complete", params=asked).json()["items"]
    assert [each["id"] for each in sure["items"]] == [each["id"] for each in every if each["score"] >= 0.5]
    assert client.get("/api/v1/complete", params={**asked, "fdr": 10}).status_code == 422
    for coverage in (0.5, 0.9):
        asked = {"id": "p000", "column": "income", "coverage": coverage}
        told = client.get("/api/v1/complete", params=asked).json()["items"][0]
        meant = fitted.complete("p000", "income", coverage=coverage)[0]
        assert (told["low"], told["high"]) == (meant.low, meant.high)
        batch = {"columns": {"id": ["p000"]}}
        address = f"/api/v1/batch/complete?type=person&column=income&coverage={coverage}"
        many = client.post(address, json=batch)
        assert many.json()["columns"]["low"] == [pytest.approx(meant.low)]
    assert meant.low < fitted.complete("p000", "income", coverage=0.5)[0].low
    assert client.get("/api/v1/complete", params=asked | {"coverage": 1}).status_code == 422
    rows = {"rows": [{"id": "new", "income": 30000, "city": "Lille"}], "type": "person", "coverage": 0.9}
    assert client.post("/api/v1/predict", json=rows).json()["items"][0]["set"]
