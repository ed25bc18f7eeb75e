"""The client asks a real server, and its types are those of the API."""

from __future__ import annotations

import typing

import pyarrow as pa
import pytest

from coembed import client as typed
from coembed.client import ApiError, Client
from coembed.errors import InputError
from coembed.explorer import item_schemas, model_schemas

from .browser import running

NODES = ["Denmark.n.01", "salmon.n.01"]


@pytest.fixture(scope="module")
def ask(explorer):
    with running(explorer, token="s3cret") as address:
        yield Client(f"{address}#token=s3cret")


def test_items_are_asked_for(ask, trained):
    assert ask.wait(5)["status"] == "ready"
    assert ask.model()["model"] == "wordnet-demo"
    assert ask.search("denmrak")["items"][0]["id"] == NODES[0]
    found = ask.find("has:river class:animal", limit=2)
    assert found["total"] == len(trained.find("has:river class:animal"))
    alike = ask.similar(NODES[0], k=4)["items"]
    assert [match["id"] for match in alike] == [match.name for match in trained.similar(NODES[0], 4)]
    assert ask.item(NODES[0])["probabilities"][0]["label"] == "location"
    known = ask.complete(NODES[0], relation="links", known=True, k=200)["items"]
    assert any(match["known"] for match in known)
    assert {match["type"] for match in ask.nearest(NODES[0], to="attribute")["items"]} == {"attribute"}
    assert ask.why(NODES[0], targets=["sea"])["targets"][0]["target"] == "sea"
    assert ask.place([{"id": "x", "columns": {"attributes": ["fish"]}}])[0]["id"] == "x"


def test_tables_come_back_as_they_went(ask, trained):
    pairs = {"source": NODES, "target": ["sea", "fish"]}
    as_columns, as_table = ask.score(pairs, "attributes"), ask.score(pa.table(pairs), "attributes")
    assert isinstance(as_table, pa.Table)
    assert as_columns["score"] == pytest.approx(as_table["score"].to_pylist())
    assert ask.predict({"id": NODES})["predicted"] == [
        trained.predict()[trained.network.node_index(node)] for node in NODES
    ]
    assert len(ask.complete_many({"id": NODES}, relation="links", k=3)["name"]) == 6
    assert len(ask.embed(pa.table({"id": NODES}))["code"][0].as_py()) == trained.code_dim
    with pytest.raises(ApiError, match="keeps nothing to promise"):
        ask.sets({"id": NODES})


def test_refusals_are_errors_with_the_words_of_the_server(ask):
    with pytest.raises(ApiError, match="did you mean 'Denmark") as refused:
        ask.item("Denmrak.n.01")
    assert (refused.value.status, refused.value.code) == (404, "not_found")
    with pytest.raises(ApiError) as refused:
        Client(ask.base, token="wrong").model()
    assert refused.value.status == 401
    with pytest.raises(ApiError) as refused:
        Client("http://127.0.0.1:9", timeout=2).model()
    assert refused.value.code == "gone"
    with pytest.raises(ApiError) as refused:
        ask.reload()
    assert refused.value.status == 404
    with pytest.raises(InputError, match="is no address"):
        Client("127.0.0.1:8642")


def test_an_id_too_long_for_an_address_goes_into_the_body(ask):
    with pytest.raises(ApiError) as refused:
        ask.item("x" * 60_000)
    assert (refused.value.status, refused.value.code) == (404, "not_found")


@pytest.mark.parametrize(
    "name",
    [
        *(
            "ItemRef",
            "Match",
            "Matches",
            "Completion",
            "LabelProbability",
            "Found",
            "SearchAnswer",
            "ItemCard",
        ),
        "Readiness",
    ],
)
def test_its_types_are_those_of_the_api(name):
    promised = getattr(item_schemas, name, None) or getattr(model_schemas, name)
    assert set(typing.get_type_hints(getattr(typed, name))) == set(promised.model_fields)
