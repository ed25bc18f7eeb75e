"""Whatever is refused is told in one sentence of ours, with what to do instead."""

from __future__ import annotations

import pytest

NEW = "/api/v1/embed"


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "said"),
    [
        ("GET", "/api/v1/itme?id=x", None, 404, "at /api/v1/itme; did you mean /api/v1/item"),
        ("GET", "/wp-admin", None, 404, "the addresses are listed at /api/openapi.json"),
        ("GET", NEW, None, 405, "/api/v1/embed takes POST, not GET"),
        ("DELETE", "/api/v1/item", None, 405, "/api/v1/item takes GET or POST, not DELETE"),
        ("POST", "/", None, 405, "/ takes GET, not POST"),
        ("GET", "/api/node", None, 422, "id is missing; ask with ?id=..."),
        ("GET", "/api/node?id=x&k=0", None, 422, "k must be at least 1, got '0'"),
        ("GET", "/api/node?id=x&k=many", None, 422, "k must be a whole number, got 'many'"),
        ("GET", "/api/v1/similar?id=x&type=word", None, 404, "there is no type 'word'"),
        ("GET", "/api/v1/items?lable=x", None, 422, "there is no parameter 'lable'; did you mean label?"),
        ("POST", NEW, None, 422, "the body is missing; send a JSON object"),
        ("POST", NEW, "{", 422, "the body is not JSON"),
        ("POST", NEW, "[]", 422, "the body must be a JSON object"),
        ("POST", NEW, "{}", 422, "nodes is missing from the body"),
        ("POST", NEW, '{"nodes": []}', 422, "nodes must hold at least 1, got 0"),
        ("POST", NEW, '{"nodes": [{"words": []}]}', 422, "there is no field nodes.0.words"),
        ("POST", NEW, '{"nodes": [{"links": "x"}]}', 422, "nodes.0.links must be a list of names, or an"),
        ("POST", NEW, '{"nodes": [{"links": {"x": "y"}}]}', 422, "nodes.0.links.x must be a number, got 'y'"),
        ("POST", NEW, '{"nodes": [{"links": ["x", 3]}]}', 422, "nodes.0.links.1 must be a text, got 3"),
        (
            "POST",
            "/api/v1/predict",
            '{"rows": [{"size": {"a": 1}}]}',
            422,
            "rows.0.size must be a number, a text",
        ),
        ("POST", "/api/v1/predict", '{"rows": [{"size": [[1]]}]}', 422, "or a list of texts, got [[1]]"),
        (
            "POST",
            "/api/v1/predict",
            '{"rows": [{"size": "%s"}]}' % ("x" * 70_000),
            422,
            "rows.0.size must have at most",
        ),
    ],
)
def test_refusals_are_sentences(client, method, path, body, status, said):
    answer = client.request(method, path, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == status
    message = answer.json()["error"]["message"]
    assert said in message
    assert "\n" not in message


def test_a_name_of_the_other_kind_is_told(client):
    message = client.get("/api/node", params={"id": "fish"}).json()["error"]["message"]
    assert message == "wordnet-demo has no node 'fish'; it is of type attribute: ask with type=attribute"
