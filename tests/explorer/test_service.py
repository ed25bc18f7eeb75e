"""What a server in production needs: described, watched, packed, shared with other sites only on demand."""

from __future__ import annotations

import gzip
import json
import re
from threading import Event

import pytest

from coembed.errors import InputError
from coembed.explorer import application
from coembed.explorer.model_loading import Loaded
from coembed.explorer.model_source import Source
from coembed.explorer.request_counts import RequestCounts, SharedCounts

from .conftest import HERE, client_of

TOKEN = {"Authorization": "Bearer s3cret"}


def test_every_operation_has_a_name_a_tag_and_says_whether_it_asks_for_the_token(explorer):
    client = client_of(explorer, token="s3cret")
    described = client.get("/api/openapi.json", headers=TOKEN).json()
    operations = [(path, each) for path, methods in described["paths"].items() for each in methods.values()]
    names = [each["operationId"] for _, each in operations]
    assert len(set(names)) == len(names)
    assert {"search", "item", "batch_predict", "ready"} <= set(names)
    assert {tag for _, each in operations for tag in each["tags"]} <= set(application.TAGS)
    assert described["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    for path, each in operations:
        assert each["security"] == ([] if path in ("/live", "/ready") else [{"token": []}]), path


def test_whether_it_lives_and_is_ready_is_told_without_a_token(explorer):
    client = client_of(explorer, token="s3cret")
    assert client.get("/live").json() == {"status": "alive"}
    found = client.get("/ready").json()
    assert (found["status"], found["loads"], found["problem"]) == ("ready", 1, None)
    assert client.get("/metrics").status_code == 401
    assert client.get("/metrics", headers=TOKEN).status_code == 200


@pytest.mark.parametrize("path", ["/", "/live", "/api/v1/health", "/api/v1/map", "/docs", "/page/main.js"])
def test_head_is_get_without_the_body(client, path):
    whole, head = client.get(path), client.head(path)
    assert (head.status_code, head.content) == (whole.status_code, b"")
    assert head.headers["content-length"] == whole.headers["content-length"]


def test_while_the_map_is_laid_out_that_is_told_and_then_it_answers(explorer):
    goes_on = Event()

    class Slow(Source):
        def read(self):
            return explorer.fitted, None

        def explorer(self, fitted, truth, progress=None):
            progress(37, 100)
            assert goes_on.wait(20)
            return explorer

    loaded = Loaded(Slow("model"))
    client = client_of(loaded)
    thread = loaded.start()
    while loaded.progress is None:
        pass
    starting = client.get("/ready")
    assert starting.status_code == 503
    assert (starting.json()["doing"], starting.json()["progress"]) == ("laying out the map", 0.37)
    refused = client.get("/api/v1/health")
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "starting")
    assert "laying out the map (37%)" in refused.json()["error"]["message"]
    assert client.get("/").status_code == client.get("/live").status_code == 200
    goes_on.set()
    thread.join(20)
    assert client.get("/ready").json()["status"] == "ready"
    assert client.get("/api/v1/health").status_code == 200


def test_a_reload_that_fails_leaves_the_model_that_answers(explorer, tmp_path, capfd):
    loaded = Loaded(Source(tmp_path / "nowhere"), explorer)
    client = client_of(loaded)
    loaded.start().join(20)
    found = client.get("/ready").json()
    assert (found["status"], found["loads"]) == ("ready", 1)
    assert "nowhere" in found["problem"]
    assert "not reloaded" in capfd.readouterr().err
    assert client.get("/api/v1/health").status_code == 200


def test_nothing_changes_unless_it_was_allowed_and_the_token_and_origin_are_right(explorer):
    reloads = []
    assert client_of(explorer, token="s3cret").post("/api/v1/reload", headers=TOKEN).status_code == 404
    with pytest.raises(InputError, match="needs a token"):
        client_of(explorer, reload=lambda: None)
    client = client_of(explorer, token="s3cret", reload=lambda: reloads.append(1))
    assert client.post("/api/v1/reload").status_code == 401
    elsewhere = client.post("/api/v1/reload", headers={**TOKEN, "Origin": "http://evil.example"})
    assert (elsewhere.status_code, elsewhere.json()["error"]["code"]) == (403, "forbidden_origin")
    assert reloads == []
    for origin in ({}, {"Origin": HERE}):
        assert client.post("/api/v1/reload", headers={**TOKEN, **origin}).status_code == 202
    assert reloads == [1, 1]


def test_counts_are_told_to_prometheus(explorer):
    client = client_of(explorer)
    for _ in range(3):
        client.get("/api/v1/health")
    client.get("/api/v1/item?id=nobody")
    client.get("/nowhere")
    text = client.get("/metrics").text
    lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert lines['coembed_requests_total{path="/api/v1/health",status="2xx"}'] == "3"
    assert lines['coembed_requests_total{path="/api/v1/item",status="4xx"}'] == "1"
    assert lines['coembed_requests_total{path="other",status="4xx"}'] == "1"
    assert lines['coembed_request_seconds_bucket{path="/api/v1/health",le="+Inf"}'] == "3"
    assert lines['coembed_request_seconds_count{path="/api/v1/health"}'] == "3"
    assert lines["coembed_ready"] == "1"
    assert all(re.fullmatch(r'\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})?', name) for name in lines)


def test_whichever_worker_is_asked_tells_of_all(explorer):
    shared, loaded = SharedCounts(), Loaded(explorer=explorer)
    first, second = (RequestCounts(["/a", "/b"], shared) for _ in range(2))
    first.add("/a", 200, 0.02)
    second.add("/a", 200, 3.0)
    assert first.in_prometheus(loaded) == second.in_prometheus(loaded)
    assert 'coembed_requests_total{path="/a",status="2xx"} 2' in first.in_prometheus(loaded)
    assert 'coembed_request_seconds_bucket{path="/a",le="0.025"} 1' in first.in_prometheus(loaded)


def test_every_answer_has_a_name_that_the_log_has_too(explorer):
    lines = []
    client = client_of(explorer, write_log=lines.append)
    given = client.get("/api/v1/item?id=secret", headers={"X-Request-Id": "proxy-17"})
    assert given.headers["x-request-id"] == "proxy-17"
    made = client.get("/live", headers={"X-Request-Id": 'bad "id"'})
    assert re.fullmatch("[0-9a-f]{16}", made.headers["x-request-id"])
    first, second = map(json.loads, lines)
    assert (first["id"], first["path"], first["status"]) == ("proxy-17", "/api/v1/item", 404)
    assert second["id"] == made.headers["x-request-id"]
    assert first["bytes"] == len(given.content)
    assert "secret" not in lines[0]


def test_page_files_come_packed_and_only_once(client):
    first = client.get("/page/main.js", headers={"Accept-Encoding": "gzip"})
    assert first.headers["content-encoding"] == "gzip"
    plain = client.get("/page/main.js", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert first.content == plain.content
    tag = first.headers["etag"]
    for known in (tag, f"W/{tag}", f'"other", {tag}'):
        assert client.get("/page/main.js", headers={"If-None-Match": known}).status_code == 304
    assert client.get("/page/main.js", headers={"If-None-Match": '"other"'}).status_code == 200
    assert len(gzip.compress(plain.content)) < len(plain.content) / 2


def test_other_sites_may_ask_only_if_they_were_named(explorer, client):
    origin = {"Origin": "https://site.example"}
    asks = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    assert "access-control-allow-origin" not in client.get("/api/v1/health", headers=origin).headers
    named = client_of(explorer, token="s3cret", cors=["https://site.example"])
    asked = named.options("/api/v1/score", headers={**origin, **asks})
    assert asked.status_code == 200
    assert asked.headers["access-control-allow-origin"] == "https://site.example"
    found = named.get("/api/v1/health", headers={**origin, **TOKEN})
    assert found.headers["access-control-allow-origin"] == "https://site.example"
    other = named.get("/api/v1/health", headers={"Origin": "https://evil.example", **TOKEN})
    assert "access-control-allow-origin" not in other.headers
