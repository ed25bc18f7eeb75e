"""What lies beside a model may change, where that is allowed: selections, corrections, a training."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from coembed.explorer import Explorer
from coembed.explorer.retraining_job import RetrainingJob
from coembed.fitted import load, save
from coembed.fitted.corrections import read_corrections
from coembed.fitted.kept_selections import read_selections
from coembed.maps.layout import make_layout

from .conftest import client_of

TOKEN = {"Authorization": "Bearer s3cret"}


@pytest.fixture
def kept(general, tmp_path) -> Explorer:
    return Explorer(general, make_layout(general, "pca"), folder=save(general, tmp_path / "model"))


def quickly(fitted, corrections, progress, steps):
    """Not a training, but as long as one to those who watch."""
    from coembed.fitted.corrections import corrected

    steps("looking")
    progress(1, 2, {})
    return replace(fitted, network=corrected(fitted.network, corrections))


@pytest.fixture
def ask(kept):
    return client_of(kept, token="s3cret", reload=lambda: None, retrain=quickly)


def post(ask, path: str, code: int = 200, headers=TOKEN, **body):
    answer = ask.post(f"/api/v1/{path}", json=body or None, headers=headers)
    assert answer.status_code == code, answer.text
    return answer.json()


def test_nothing_is_kept_unless_allowed(kept, people):
    plain = client_of(kept)
    assert plain.get("/api/v1/changes").json()["allowed"] is False
    for path in ("selections", "corrections", "corrections/undo", "retrain"):
        assert plain.post(f"/api/v1/{path}", json={}).status_code == 404
    nowhere = client_of(people, token="s3cret", reload=lambda: None)
    assert nowhere.get("/api/v1/changes", headers=TOKEN).json()["allowed"] is False
    assert "in no folder" in post(nowhere, "corrections", 400, id="p003", label="left")["error"]["message"]


def test_another_site_or_a_wrong_token_changes_nothing(ask, kept):
    foreign = {**TOKEN, "Origin": "https://elsewhere.example"}
    post(ask, "corrections", 403, foreign, id="p003", label="left")
    post(ask, "corrections", 401, {"Authorization": "Bearer no"}, id="p003", label="left")
    assert read_corrections(kept.folder) == []


def test_a_selection_is_kept_found_and_forgotten(ask, kept, general):
    post(ask, "selections", name="left ones", selection={"query": "class:left"})
    assert read_selections(kept.folder)["left ones"].query == "class:left"
    found = ask.get("/api/v1/find", params={"q": 'in:"left ones"'}, headers=TOKEN).json()
    assert found["total"] == len(general.find("class:left"))
    listed = ask.get("/api/v1/fields", headers=TOKEN).json()["selections"]
    assert [each["name"] for each in listed] == ["left ones"]
    post(ask, "selections", 400, name="nothing", selection={"query": "degree>99999"})
    post(ask, "selections/remove", 404, name="lft ones")
    assert post(ask, "selections/remove", name="left ones")["selections"] == []


def test_corrections_are_a_table_and_can_be_taken_back(ask, kept):
    unknown = [f"p{i:03d}" for i, y in enumerate(kept.network.items("person").labels.values) if y < 0]
    assert post(ask, "corrections", id=unknown[0], label="left")["pending"] == 1
    assert post(ask, "corrections", id=unknown[1], label="right")["pending"] == 2
    first, _ = read_corrections(kept.folder)
    assert (first.type, first.id, first.label) == ("person", unknown[0], "left")
    assert first.was in ("left", "middle", "right")
    assert post(ask, "corrections/undo")["corrections"][0]["id"] == unknown[0]
    post(ask, "corrections/undo")
    post(ask, "corrections/undo", 400)
    post(ask, "corrections", 404, id=unknown[0], label="lft")
    post(ask, "corrections", 404, id="nobody", label="left")


def test_a_training_is_watched_compared_and_taken(ask, kept):
    post(ask, "retrain", 400)
    unknown = [f"p{i:03d}" for i, y in enumerate(kept.network.items("person").labels.values) if y < 0]
    post(ask, "corrections", id=unknown[0], label="left")
    post(ask, "retrain", 202)
    for _ in range(100):
        told = ask.get("/api/v1/changes", headers=TOKEN).json()["retraining"]
        if told["status"] != "training":
            break
        time.sleep(0.05)
    assert told["status"] == "done", told
    people = next(each for each in told["changes"] if each["type"] == "person")
    assert people["after"]["labelled"] == people["before"]["labelled"] + 1
    post(ask, "retrain/take")
    labels = load(kept.folder).network.items("person").labels
    assert str(labels.classes[labels.values[int(unknown[0][1:])]]) == "left"
    assert len(read_corrections(kept.folder)) == 1
    post(ask, "retrain/take", 400)


def test_a_training_that_fails_says_why_and_changes_nothing(kept):
    from coembed.errors import InputError

    def failing(*given):
        raise InputError("no room left")

    job = RetrainingJob(failing)
    job.start(kept, [], None)
    for _ in range(100):
        if job.status != "training":
            break
        time.sleep(0.02)
    assert job.told()["problem"] == "no room left"
    with pytest.raises(InputError, match="no newly trained model"):
        job.take(kept)
    job.drop()
    assert job.status == "idle"


def test_two_items_are_compared(ask, general):
    told = ask.get("/api/v1/compare", params={"id": "p003", "other": "p004"}, headers=TOKEN).json()
    assert [each["id"] for each in told["items"]] == ["p003", "p004"]
    likes = general.network.relation("likes").values
    shared = set(likes[[3]].indices) & set(likes[[4]].indices)
    [entry] = [each for each in told["relations"] if each["relation"] == "likes"]
    assert entry["both"]["total"] == len(shared)
    assert entry["first"]["total"] == likes[[3]].nnz - len(shared)
    assert {each["column"] for each in told["cells"]} == {"income", "city", "member"}
    follows = next(each for each in told["linked"] if each["relation"] == "follows")
    assert follows["known"] == bool(general.network.relation("follows").values[3, 4])
    assert -1 <= told["cosine"] <= 1
    other = ask.get("/api/v1/compare", params={"id": "p003", "other": "f001"}, headers=TOKEN).json()
    assert other["classes"] == []
    assert [each["relation"] for each in other["linked"]] == ["saw"]
