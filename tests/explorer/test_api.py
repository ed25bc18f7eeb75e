"""The API answers what the fitted result answers, and refuses in one shape."""

from __future__ import annotations

import io
import sys
from subprocess import run

import numpy as np
import pytest

from coembed.explorer import Explorer
from coembed.explorer.guard import MOST_BODY

from .conftest import STRANGE, client_of

NODE, WORD = "Denmark.n.01", "fish"


def ask(client, path, **parameters):
    answer = client.get(f"/api/v1/{path}", params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_health_names_the_model(client, trained):
    found = ask(client, "health")
    assert (found["status"], found["model"], found["nodes"]) == ("ok", "wordnet-demo", 1476)
    assert ask(client, "model")["labelled"] == len(trained.network.labelled)


def by_relation(card):
    return {each["relation"]: each for each in card["relations"]}


def test_a_card_says_what_the_result_says(client, trained):
    card = ask(client, "item", id=NODE, k=5)
    assert (card["type"], card["title"], card["owner"]) == ("node", NODE, None)
    parts = by_relation(card)
    assert list(parts) == ["attributes", "links"]
    assert [m["id"] for m in card["nearest"]["node"]] == [m.name for m in trained.similar(NODE, 5)]
    assert [m["id"] for m in card["nearest"]["attribute"]] == [m.name for m in trained.profile(NODE, 5)]
    assert [m["id"] for m in parts["links"]["suggested"]] == [m.name for m in trained.suggest_links(NODE, 5)]
    assert [(m["id"], m["score"]) for m in parts["attributes"]["suggested"]] == [
        (m.name, m.score) for m in trained.complete_attributes(NODE, 5)
    ]
    row = trained.network.node_index(NODE)
    best = card["probabilities"][0]
    assert best["label"] == trained.predict()[row]
    assert best["probability"] == pytest.approx(float(trained.probabilities[row].max()))
    assert parts["links"]["has"]["total"] == np.diff(trained.network.links.indptr)[row]
    assert card["true_label"] == "location"


def test_certainty_compares_with_all_other_nodes(client, trained):
    surest = trained.network.node_names[trained.probabilities.max(axis=1).argmax()]
    least = trained.network.node_names[trained.probabilities.max(axis=1).argmin()]
    assert ask(client, "item", id=surest)["certainty"]["surer_than"] > 0.99
    found = ask(client, "item", id=least)["certainty"]
    assert found["surer_than"] == 0
    assert found["words"] in ("unsure", "leaning")


def test_an_attribute_card_says_what_the_result_says(client, trained):
    card = ask(client, "item", id=WORD, type="attribute", k=7)
    assert (card["owner"], card["column"]["name"]) == ("node", "attributes")
    assert [m["id"] for m in card["nearest"]["node"]] == [m.name for m in trained.nodes_about(WORD, 7)]
    assert [m["id"] for m in card["nearest"]["attribute"]] == [m.name for m in trained.similar(WORD, 7)]
    column = trained.network.attribute_index(WORD)
    assert (
        by_relation(card)["attributes"]["has"]["total"]
        == (trained.network.attributes[:, [column]] != 0).sum()
    )
    assert sum(each["share"] for each in card["classes"]) == pytest.approx(1)


def test_pages_of_neighbours_are_the_whole(client, trained):
    node = trained.network.node_names[np.diff(trained.network.links.indptr).argmax()]
    total = ask(client, "neighbours", id=node)["total"]
    pages = [
        ask(client, "neighbours", id=node, offset=start, limit=7)["items"] for start in range(0, total, 7)
    ]
    names = [item["id"] for page in pages for item in page]
    row = trained.network.node_index(node)
    assert sorted(names) == sorted(trained.network.node_names[trained.network.links[[row]].indices])
    owned = ask(client, "neighbours", id=WORD, type="attribute", limit=200)
    assert NODE not in [item["id"] for item in owned["items"]]
    assert len(owned["items"]) == owned["total"]


def test_items_can_be_paged_and_filtered(client, trained):
    first, second = (ask(client, "items", label="animal", offset=o, limit=20) for o in (0, 20))
    assert first["total"] == second["total"] > 40
    assert {item["label"] for item in first["items"]} == {"animal"}
    assert not {i["id"] for i in first["items"]} & {i["id"] for i in second["items"]}
    assert ask(client, "items", type="attribute")["total"] == trained.network.n_attributes
    refused = client.get("/api/v1/items", params={"label": "animals"})
    assert refused.status_code == 404
    assert refused.json()["error"]["message"] == "there is no class of node 'animals'; did you mean 'animal'?"


def test_search_finds_nodes_and_attributes_in_spite_of_typing_errors(client):
    assert ask(client, "search", q="Denmrak")["items"][0]["id"] == NODE
    types = {item["type"] for item in ask(client, "search", q="fish", limit=20)["items"]}
    assert types == {"node", "attribute"}
    words = ask(client, "search", q="fish", limit=20, type="attribute")["items"]
    assert {item["type"] for item in words} == {"attribute"}
    assert ask(client, "search", q="")["items"] == []
    few, all = (ask(client, "search", q="fish", limit=limit) for limit in (2, 200))
    assert few["total"] == all["total"] == len(all["items"]) > 2


def test_the_map_comes_in_columns_and_as_arrow(client, explorer):
    import pyarrow as pa

    found = ask(client, "map")
    nodes, attributes = found["types"]
    assert len(nodes["x"]) == 1476
    np.testing.assert_allclose(attributes["y"], explorer.layout.attributes[:, 1], atol=1e-3)
    arrow = client.get("/api/v1/map", headers={"Accept": "application/vnd.apache.arrow.stream"})
    table = pa.ipc.open_stream(io.BytesIO(arrow.content)).read_all()
    assert table.num_rows == 1476 + 626
    assert table.column("id").to_pylist()[:1476] == nodes["id"]
    labels = table.column("label").to_pylist()[:1476]
    assert labels == [nodes["class_names"][k] for k in nodes["label"]]


def test_the_map_is_not_sent_twice(client):
    first = client.get("/api/v1/map")
    again = client.get("/api/v1/map", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_scores_are_those_of_the_result(client, trained):
    network = trained.network
    pairs = {"links": [[NODE, "Sweden.n.01"]], "attributes": [[NODE, WORD], [NODE, "sea"]]}
    found = client.post("/api/score", json=pairs).json()
    links = np.array([[network.node_index(a), network.node_index(b)] for a, b in pairs["links"]])
    owned = np.array([[network.node_index(a), network.attribute_index(b)] for a, b in pairs["attributes"]])
    np.testing.assert_allclose(found["links"], trained.score_links(links), rtol=1e-6)
    np.testing.assert_allclose(found["attributes"], trained.score_attributes(owned), rtol=1e-6)


def test_a_new_node_like_an_old_one_falls_near_it_and_moves_nothing(client, trained, explorer):
    network = trained.network
    row = network.node_index("salmon.n.01")
    twin = {
        "id": "a twin",
        "attributes": list(network.attribute_names[network.attributes[[row]].indices]),
        "links": list(network.node_names[network.links[[row]].indices]),
    }
    before = explorer.layout.nodes.copy()
    found = client.post("/api/embed", json={"nodes": [twin], "k": 5}).json()["nodes"][0]
    assert found["id"] == "a twin"
    assert found["unknown"] == {}
    assert found["nearest"]["node"][0]["id"] == "salmon.n.01"
    place = np.array([found["place"]["x"], found["place"]["y"]])
    distances = np.linalg.norm(explorer.layout.nodes - place, axis=1)
    assert distances[row] < np.median(distances) / 3
    np.testing.assert_array_equal(before, explorer.layout.nodes)


def test_what_a_new_node_has_that_the_model_does_not_know_is_told(client):
    node = {"attributes": {"fish": 1, "blorp": 2}, "links": ["nowhere"]}
    found = client.post("/api/embed", json={"nodes": [node]}).json()["nodes"][0]
    assert found["unknown"] == {"attributes": ["blorp"], "links": ["nowhere"]}
    nothing = client.post("/api/embed", json={"nodes": [{"attributes": ["blorp"]}]})
    assert nothing.status_code == 404
    assert "give at least one thing" in nothing.json()["error"]["message"]


def test_reasons_name_links_and_attributes_of_the_node(client, trained):
    card = ask(client, "item", id="salmon.n.01", k=200)
    own = {item["id"] for part in card["relations"] for item in part["has"]["items"]}
    wanted = [m["id"] for m in by_relation(card)["attributes"]["suggested"][:3]]
    found = client.post("/api/v1/why", json={"id": "salmon.n.01", "targets": wanted}).json()
    assert found["label"]["target"] == card["probabilities"][0]["label"]
    assert [each["target"] for each in found["targets"]] == wanted
    for each in [found["label"], *found["targets"]]:
        assert {reason["id"] for reason in each["reasons"] if reason["relation"]} <= own
        given = sum(reason["contribution"] for reason in each["reasons"])
        assert each["nothing"] + given + each["others"] + each["beyond"] == pytest.approx(each["claimed"])


def test_reasons_of_a_class_a_relation_or_a_column_are_those_of_the_model(client, trained):
    def why(**body):
        return client.post("/api/v1/why", json={"id": "salmon.n.01", **body})

    found = why(label="plant", relation="links", k=2).json()
    assert found["label"]["claimed"] == pytest.approx(trained.why("salmon.n.01", label="plant").claimed)
    (link,) = found["targets"]
    assert link["target"] == trained.suggest_links("salmon.n.01", k=1)[0].name
    assert len(link["reasons"]) == 2
    assert why(column="attributes", targets=["fish"]).json()["targets"][0]["relation"] == "attributes"
    assert "not both" in why(relation="links", column="attributes").json()["error"]["message"]
    assert why(label="plants").status_code == 404


def test_overviews_have_their_figures(client, trained):
    training = ask(client, "training")
    assert training["loss"]["loss"] == pytest.approx(trained.history["loss"])
    assert len(training["validation"]["accuracy"]) == len(training["validated_at"]) > 0
    quality = ask(client, "quality")
    assert sum(map(sum, quality["confusion"])) == quality["judged"] == 1476 - len(trained.network.labelled)
    data = ask(client, "data")
    assert data["summary"]["nodes"] == sum(each["count"] for each in data["degrees"]) == 1476


def test_without_truth_nothing_is_judged(trained, explorer):
    blind = client_of(Explorer(trained, explorer.layout))
    assert ask(blind, "quality")["judged"] == 0
    assert ask(blind, "item", id=NODE)["true_label"] is None


@pytest.mark.parametrize("name", STRANGE, ids=lambda name: repr(name[:12]))
def test_any_name_can_be_asked_for(strange, name):
    client = client_of(strange)
    for kind, asked in (("node", name), ("attribute", f"{name}~")):
        if "\udcff" not in name:  # no such text can be in an address
            assert ask(client, "item", id=asked, type=kind)["id"] == asked
            assert ask(client, "similar", id=asked, type=kind)["type"] == kind
        body = b'{"id": "' + b"\\udcff" + (b"~" if kind == "attribute" else b"") + b'"}'
        sent = {"content": body} if "\udcff" in name else {"json": {"id": asked}}
        found = client.post("/api/v1/item", headers={"Content-Type": "application/json"}, **sent)
        assert found.status_code in ((200, 422) if "\udcff" in name else (200,)), found.text


def test_the_map_holds_any_name(strange):
    assert tuple(ask(client_of(strange), "map")["types"][0]["id"]) == STRANGE


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("node?id=nobody", 404, "not_found"),
        ("node", 422, "invalid"),
        ("node?id=x&k=0", 422, "invalid"),
        ("node?id=x&k=100000", 422, "invalid"),
        ("nothing", 404, "not_found"),
        ("embed", 405, "method_not_allowed"),
        ("similar?id=nobody&kind=thing", 404, "not_found"),
        ("v1/neighbours?id=Denmark.n.01&relation=lniks", 404, "not_found"),
        ("v1/items?lable=animal", 422, "invalid"),
    ],
)
def test_errors_have_one_shape(client, path, status, code):
    answer = client.get(f"/api/{path}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert answer.json()["error"]["message"]


def test_unknown_names_get_a_hint(client):
    message = client.get("/api/node", params={"id": "Denmrak.n.01"}).json()["error"]["message"]
    assert "did you mean 'Denmark.n.01'" in message


def test_bodies_are_limited_whatever_their_header_says(client):
    def endless():
        for _ in range(MOST_BODY // 100_000 + 2):
            yield b" " * 100_000

    json = {"Content-Type": "application/json"}
    for content in (b" " * (MOST_BODY + 1), endless()):
        answer = client.post("/api/score", content=content, headers=json)
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")


def test_work_is_limited(client):
    many = {"links": [[NODE, NODE]] * 10_001}
    assert client.post("/api/score", json=many).status_code == 422
    crowd = {"nodes": [{"id": str(i), "attributes": ["fish"]} for i in range(21)]}
    assert client.post("/api/embed", json=crowd).status_code == 422


def test_a_token_is_asked_of_the_api_only(explorer):
    client = client_of(explorer, token="s3cret", any_host=True)
    assert client.get("/").status_code == 200
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "s3cret"}):
        answer = client.get("/api/health", headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthorised")
    assert client.get("/api/health", headers={"Authorization": "Bearer s3cret"}).status_code == 200


def test_on_loopback_other_names_are_refused(client):
    for host in ("evil.example", "evil.example:8642", ""):
        assert client.get("/api/health", headers={"Host": host}).status_code == 403
    for host in ("localhost:1", "[::1]:99", "127.0.0.1"):
        assert client.get("/api/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "path", ["../app.py", "..%2fapp.py", "%2e%2e/app.py", "/etc/passwd", "index.html/.."]
)
def test_no_path_of_a_client_is_opened(client, path):
    answer = client.get(f"/page/{path}")
    assert answer.status_code in (404, 200)
    assert b"import" not in answer.content[:200]
    assert b"root:" not in answer.content


def test_the_page_may_load_its_own_files_only(client):
    policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_serving_needs_no_torch():
    code = "import sys, coembed.explorer; sys.exit('torch' in sys.modules)"
    assert run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(("nodes", "attributes", "classes"), [(1, 0, 0), (2, 1, 1), (9, 0, 2), (9, 4, 0)])
def test_small_and_bare_models_answer_everything(nodes, attributes, classes):
    from coembed.maps.layout import make_layout
    from coembed.network import Network
    from coembed.settings import preset_settings
    from coembed.training import fit

    rng = np.random.default_rng(nodes)
    links = np.triu(rng.random((nodes, nodes)) < 0.5, 1).astype(float)
    network = Network.build(
        links + links.T,
        (rng.random((nodes, attributes)) < 0.6).astype(float) if attributes else None,
        np.arange(nodes) % (classes + 1) - 1 if classes else None,
    )
    fitted = fit(network, preset_settings("paper", epochs=2, dim=4))
    client = client_of(Explorer(fitted, make_layout(fitted)))
    for path in ("health", "model", "map", "training", "quality", "data", "items", "search?q=node"):
        assert client.get(f"/api/{path}").status_code == 200, path
    assert (
        client.get("/api/v1/map", headers={"Accept": "application/vnd.apache.arrow.stream"}).status_code
        == 200
    )
    card = ask(client, "item", id="node0")
    assert len(card["nearest"]["node"]) == nodes - 1
    assert len(card["probabilities"]) == network.n_classes
    if attributes:
        assert ask(client, "item", id="attribute0")["id"] == "attribute0"
    assert client.post("/api/why", json={"id": "node0"}).status_code == 200
    placed = client.post("/api/embed", json={"nodes": [{"id": "x", "links": ["node0"]}]})
    assert placed.status_code == 200, placed.text


def test_a_model_that_was_grown_says_that_it_cannot_grow_again(trained, explorer):
    grown = trained.embed(trained.network).result
    client = client_of(Explorer(grown, explorer.layout))
    assert not ask(client, "model")["can_embed"]
    assert ask(client, "item", id=NODE)["id"] == NODE
    for path, body in (("embed", {"nodes": [{"attributes": ["fish"]}]}), ("why", {"id": NODE})):
        answer = client.post(f"/api/{path}", json=body)
        assert answer.status_code == 400
        assert "serve the model that was trained" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("health", "health"),
        ("search?q=fish&limit=3", "search?q=fish&limit=3"),
        ("node?id=Denmark.n.01&k=3", "item?id=Denmark.n.01&k=3&type=node"),
        ("attribute?id=fish", "item?id=fish&type=attribute"),
        ("similar?id=fish&kind=attribute", "similar?id=fish&type=attribute"),
        ("neighbours?id=fish&kind=attribute&to=node", "neighbours?id=fish&type=attribute"),
    ],
)
def test_old_addresses_lead_to_the_new_ones(client, old, new):
    answer = client.get(f"/api/{old}", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (308, f"/api/v1/{new}")


def test_old_bodies_arrive_too(client):
    assert client.post("/api/node", json={"id": NODE}).json()["id"] == NODE
    assert client.post("/api/score", json={"links": [[NODE, NODE]]}).status_code == 200
