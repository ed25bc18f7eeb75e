"""Models with right checksums and wrong contents: refused when loaded, or safe to be asked anything."""

import json
import shutil
import warnings

import numpy as np
import pytest
from forging import array_places, forged_model
from fuzzing import CORPUS, FORGED

from coembed.errors import InputError
from coembed.fitted import load
from coembed.fitted.soundness import check_sound
from coembed.maps.layout import make_layout

MODEL = CORPUS / "model"


def array_of(record: dict, path: str) -> str:
    return dict(array_places(record["rest"]))[path]


CHANGES = {
    "NaN among the means": ("/types/person/mean", lambda a: _with(a, np.nan), "NaN or infinity"),
    "infinite deviations": ("/types/film/std", lambda a: _with(a, np.inf), "NaN or infinity"),
    "means of another shape": ("/types/person/mean", lambda a: a.T, "means|deviations|shape"),
    "deviations of another shape": ("/types/person/std", lambda a: a[:, :-1], "deviations"),
    "whole numbers for means": ("/types/person/mean", lambda a: a.astype(np.int32), "means"),
    "fewer probabilities": ("/types/person/probabilities", lambda a: a[:, :-1], "classes|probabilities"),
    "a label shift of another shape": ("/types/person/label_shift", lambda a: a[:, :2], "label"),
    "links that are not symmetric": ("/network/0/values/~matrix/0", lambda a: _with(a, np.nan), "NaN"),
    "items alike that are not there": ("/placing/alike/person/rows", lambda a: a + 10**6, "items alike"),
    "items alike before the first": ("/placing/alike/person/rows", lambda a: a - 10**6, "items alike"),
    "labels of no class": ("/labels/person", lambda a: a + 99, "labels do not fit"),
    "directions for others": ("/types/film/direction", lambda a: a[:-1], "directions"),
    "directions of another space": ("/types/film/direction", lambda a: a[:, :-1], "directions"),
    "NaN among the directions": ("/types/film/direction", lambda a: _with(a, np.nan), "NaN or infinity"),
    "steering into another space": ("/placing/steering/film/saw<", lambda a: a[:, :-1], "steering"),
    "p-values for others": ("/types/person/doubt/p_values", lambda a: a[:-1], "p-values"),
    "p-values of other classes": ("/types/person/doubt/p_values", lambda a: a[:, :-1], "p-values"),
    "a scale of nothing": (
        "/types/person/doubt/scale/spread",
        np.zeros_like,
        "divides by zero",
    ),
    "labels for others": ("/labels/person", lambda a: a[:-1], "labels do not fit"),
}


def _with(array: np.ndarray, value: float) -> np.ndarray:
    changed = array.copy()
    changed.reshape(-1)[0] = value
    return changed


@pytest.mark.parametrize("name", CHANGES)
def test_a_forged_array_is_told(tmp_path, name):
    path, change, said = CHANGES[name]

    def forge(record, arrays):
        key = array_of(record, path)
        arrays[key] = change(arrays[key])

    with pytest.raises(InputError, match=said) as caught:
        load(forged_model(MODEL, tmp_path / "forged", forge))
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("part", ["types", "relations", "placing", "network", "labels"])
@pytest.mark.parametrize("value", [None, 5, [], {}, "x", {"~": "Step"}])
def test_a_forged_part_is_told(tmp_path, part, value):
    if (part, value) in (("placing", None), ("network", [])):
        pytest.skip("a model may have left it behind, and a network have no relations")

    def forge(record, arrays):
        record["rest"][part] = value

    with pytest.raises(InputError, match=r"not a (sound|whole) model"):
        load(forged_model(MODEL, tmp_path / "forged", forge))


def test_newcomers_that_point_nowhere_are_told(tmp_path):
    def forge(record, arrays):
        del record["rest"]["placing"]["steering"]["film"]

    with pytest.raises(InputError, match="where newcomers of film point"):
        load(forged_model(MODEL, tmp_path / "forged", forge))


def test_a_damaged_record_is_told(tmp_path):
    shutil.copytree(MODEL, tmp_path / "copy")
    path = tmp_path / "copy" / "model.json"
    record = json.loads(path.read_text())
    assert len(record["checksum"]) == 8
    record["preset"] = "worst"
    path.write_text(json.dumps(record))
    with pytest.raises(InputError, match=r"model.json is damaged: its content does not fit its checksum"):
        load(tmp_path / "copy")


def test_every_flipped_bit_of_a_record_is_told_or_harmless(tmp_path):
    """Blanks between the parts may change, what is said may not."""
    shutil.copytree(MODEL, tmp_path / "copy")
    path = tmp_path / "copy" / "model.json"
    whole = path.read_bytes()
    said = json.loads(whole)
    rng = np.random.default_rng(0)
    for place in rng.integers(len(whole), size=150):
        changed = bytearray(whole)
        changed[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(changed)
        try:
            load(tmp_path / "copy")
        except InputError:
            continue
        assert json.loads(path.read_text()) == said


def test_what_is_not_sound_is_not_saved(general, tmp_path):
    from dataclasses import replace

    from coembed.fitted import save

    space = general.types["person"]
    spoilt = replace(
        general, types={**general.types, "person": replace(space, mean=_with(space.mean, np.nan))}
    )
    with pytest.raises(InputError, match="did not end in a sound model"):
        save(spoilt, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []
    check_sound(general)


QUESTIONS = [
    *("model", "map", "quality", "search?q=p", "training", "data", "items?type=person", "items?type=film"),
    *("item?id=p000&type=person", "item?id=f000&type=film", "similar?id=p000&type=person"),
    *("nearest?id=p000&type=person&to=film", "complete?id=p000&type=person&relation=saw"),
    *("complete?id=p000&type=person&relation=income", "neighbours?id=p000&type=person"),
]


@pytest.mark.parametrize("seed", range(40))
def test_a_forged_model_that_is_loaded_answers(tmp_path, seed):
    """No question is answered with a failure of the server."""
    pytest.importorskip("fastapi")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from fastapi.testclient import TestClient

        from coembed.explorer import Explorer, make_app
    try:
        fitted = load(FORGED["model"](np.random.default_rng(seed), tmp_path / "forged"))
    except InputError:
        return
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explorer = Explorer(fitted, make_layout(fitted, "pca"))
        client = TestClient(make_app(explorer), base_url="http://127.0.0.1", raise_server_exceptions=False)
        for question in QUESTIONS:
            answer = client.get(f"/api/v1/{question}")
            assert answer.status_code < 500, (question, answer.text)
