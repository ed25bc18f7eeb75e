"""Tables in, tables out: what many items are told at once is what each is told by itself."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pytest

from .conftest import client_of

ARROW = "application/vnd.apache.arrow.stream"
WORDS = pa.array(["a"] * 99)
NODES = ["Denmark.n.01", "salmon.n.01", "battery.n.02"]


def stream(table: pa.Table, **options) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return sink.getvalue()


def columns(client, path, given, **parameters):
    answer = client.post(f"/api/v1/batch/{path}", params=parameters, json={"columns": given})
    assert answer.status_code == 200, answer.text
    return answer.json()["columns"]


def as_arrow(client, path, table, **parameters) -> pa.Table:
    answer = client.post(
        f"/api/v1/batch/{path}",
        params=parameters,
        content=stream(table),
        headers={"Content-Type": ARROW, "Accept": ARROW},
    )
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == ARROW
    return pa.ipc.open_stream(answer.content).read_all()


def test_scores_of_pairs_are_those_of_the_result(client, trained):
    network = trained.network
    given = {"source": NODES, "target": ["sea", "fish", "sea"]}
    found = columns(client, "score", given, relation="attributes")
    pairs = [
        [network.node_index(a), network.attribute_index(b)] for a, b in zip(*given.values(), strict=True)
    ]
    score, std = trained.answer("attributes", np.array(pairs))
    np.testing.assert_allclose(found["score"], score)
    np.testing.assert_allclose(found["std"], std)
    table = as_arrow(client, "score", pa.table(given), relation="attributes")
    np.testing.assert_allclose(table["score"], score)


def test_what_many_should_have_is_what_each_should_have(client, trained):
    found = columns(client, "complete", {"id": NODES}, relation="links", k=3)
    assert found["item"] == [name for name in NODES for _ in range(3)]
    each = [match.name for node in NODES for match in trained.complete(node, "links", 3)]
    assert found["name"] == each
    table = as_arrow(client, "complete", pa.table({"id": NODES}), relation="links", k=3)
    assert table["name"].to_pylist() == each


def test_thousands_are_predicted_at_once(client, trained):
    ids = [str(name) for name in trained.network.node_names] * 6  # known ones may come several times
    ids = [f"{name} {i}" for i, name in enumerate(ids)]
    words = [["fish", "sea"] if i % 2 else ["island"] for i in range(len(ids))]
    found = columns(client, "predict", {"id": ids, "attributes": words})
    assert len(ids) > 8000
    assert found["id"] == ids
    assert all(found["new"])
    one = client.post("/api/v1/predict", json={"rows": [{"id": "x", "attributes": ["fish", "sea"]}]}).json()
    assert found["predicted"][1] == one["items"][0]["predicted"]
    assert found["probability"][1] == pytest.approx(one["items"][0]["probability"], abs=1e-5)


def test_known_rows_are_answered_as_they_were_learnt(client, trained):
    table = as_arrow(client, "predict", pa.table({"id": NODES}))
    rows = [trained.network.node_index(node) for node in NODES]
    assert table["predicted"].to_pylist() == list(trained.predict()[rows])
    wordy = as_arrow(client, "predict", pa.table({"id": NODES, "attributes": [["fish"]] * 3}))
    assert wordy["predicted"].to_pylist() == table["predicted"].to_pylist()
    assert b"answered as learnt" in wordy.schema.metadata[b"notices"]


def test_codes_and_places_are_those_of_the_model(client, trained, explorer):
    found = columns(client, "embed", {"id": NODES})
    rows = np.array([trained.network.node_index(node) for node in NODES])
    np.testing.assert_allclose(found["code"], trained.codes("node").mean[rows], rtol=1e-6)
    np.testing.assert_allclose(found["x"], explorer.layout.nodes[rows, 0], rtol=1e-6)
    table = as_arrow(client, "embed", pa.table({"id": ["new"], "attributes": [["fish", "sea"]]}))
    assert table["new"].to_pylist() == [True]
    placed = client.post("/api/v1/embed", json={"nodes": [{"id": "x", "attributes": ["fish", "sea"]}]}).json()
    assert table["x"][0].as_py() == pytest.approx(placed["nodes"][0]["place"]["x"], abs=1e-4)
    assert len(table["code"][0].as_py()) == trained.code_dim


def test_sets_of_classes_are_those_of_the_result(people):
    client, fitted = client_of(people), people.fitted
    ids = [str(each) for each in fitted.network.main.ids[:5]]
    if fitted.types[fitted.main].doubt is None:
        answer = client.post("/api/v1/batch/sets", json={"columns": {"id": ids}})
        assert answer.status_code == 400
        assert "keeps nothing to promise" in answer.json()["error"]["message"]
        return
    found = columns(client, "sets", {"id": ids}, coverage=0.9)
    assert found["set"] == [list(each) for each in fitted.predict_set(0.9)[:5]]


@pytest.mark.parametrize(
    ("path", "given", "status", "said"),
    [
        ("score?relation=links", {"source": ["a"]}, 400, "no column target"),
        ("score?relation=lniks", {"source": ["a"], "target": ["b"]}, 404, "no relation 'lniks'"),
        ("score?relation=links", {"source": ["nobody"], "target": ["x"]}, 404, "has no node 'nobody'"),
        ("complete", {"id": ["nobody"]}, 404, "has no node 'nobody'"),
        ("complete?k=200", {"id": ["Denmark.n.01"] * 5001}, 400, "ask for fewer"),
        ("predict", {"id": ["x"], "attributes": [["fish"], ["sea"]]}, 400, "same number of cells"),
        ("predict", {"id": ["x"] * 10_001}, 422, "at most 10000"),
        ("predict", {}, 422, "at least 1"),
        ("predict?colour=red", {"id": ["x"]}, 422, "no parameter 'colour'"),
    ],
)
def test_what_makes_no_sense_is_told(client, path, given, status, said):
    answer = client.post(f"/api/v1/batch/{path}", json={"columns": given})
    assert (answer.status_code, said in answer.json()["error"]["message"]) == (status, True), answer.text


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "no Arrow stream"),
        (b"\xff" * 40, "no Arrow stream"),
        (stream(pa.table({"id": ["a" * 1000] * 1000}), compression="zstd"), "is compressed"),
        (stream(pa.table({"id": WORDS.dictionary_encode()}), compression="lz4"), "is compressed"),
        (stream(pa.table({"id": ["a"] * 10_001})), "at most 10,000 rows"),
        (stream(pa.table({"id": ["a"] * 40}))[:-60], "no Arrow stream"),
    ],
)
def test_a_stream_that_is_broken_or_could_be_a_bomb_is_refused(client, body, said):
    answer = client.post("/api/v1/batch/complete", content=body, headers={"Content-Type": ARROW})
    assert answer.status_code == 400
    assert said in answer.json()["error"]["message"]
