"""Tuning one's own network: the search never sees what it is judged on, goes on where it was, and shares."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from people_network import people_network

from coembed.cli import main
from coembed.errors import InputError
from coembed.experiments.own_tuning import Question, parse_space, search_settings
from coembed.experiments.search_spaces import Range
from coembed.network import write
from coembed.settings import preset_settings

pytest.importorskip("optuna")
SPACE = {"beta": Range(0.1, 0.9), "epochs": (50, 100)}


@pytest.fixture
def asked(monkeypatch) -> list[dict]:
    """Instead of fits: note what was asked; beta near 0.3 is best."""
    seen: list[dict] = []

    def stub(network, task, method, seed, *, changes, part, **options):
        seen.append({"part": part, "changes": changes, **options})
        given = dict(each.split("=") for each in changes)
        if given.get("epochs") == "13":
            raise InputError("unlucky")
        return SimpleNamespace(figures={"accuracy": 1 - abs(float(given.get("beta", 0.9)) - 0.3)})

    monkeypatch.setattr("coembed.evaluation.evaluation.run_trial", stub)
    return seen


def question(**options) -> Question:
    return Question(people_network(), "classification", **({"space": SPACE} | options))


def test_the_search_asks_validation_data_only_and_the_usual_settings_first(asked, tmp_path: Path) -> None:
    found = search_settings(question(), tmp_path / "study", 8)
    assert {each["part"] for each in asked} == {"validation"}
    assert asked[0]["changes"] == ()
    assert found.own.value == pytest.approx(0.4)
    assert found.best.value == max(each.value for each in found.trials) > 0.8


@pytest.mark.parametrize("database", [False, True])
def test_a_stopped_search_goes_on_as_if_it_had_not_been(asked, tmp_path: Path, database) -> None:
    def place(name: str) -> Path | str:
        return f"sqlite:///{tmp_path / name}.db" if database else tmp_path / name

    whole = search_settings(question(), place("whole"), 6)
    search_settings(question(), place("parts"), 2)
    before = len(asked)
    parts = search_settings(question(), place("parts"), 6)
    assert len(asked) - before == 4
    assert [each.settings for each in parts.trials] == [each.settings for each in whole.trials]
    # another question in the same place is another study
    other = search_settings(question(labels=0.5), place("parts"), 1)
    assert len(other.trials) == 1


def test_a_search_interrupted_in_its_first_trial_still_begins_with_the_usual_settings(
    asked, tmp_path
) -> None:
    def interrupt(self, settings, part, progress):
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Question, "value", interrupt)
        with pytest.raises(KeyboardInterrupt):
            search_settings(question(), tmp_path / "study", 2)
    found = search_settings(question(), tmp_path / "study", 2)
    assert [bool(each.settings) for each in found.trials] == [False, True]


def test_the_time_is_kept_and_what_fails_is_no_end(asked, tmp_path: Path) -> None:
    assert len(search_settings(question(), tmp_path / "a", 9, seconds=0).trials) == 1
    unlucky = question(space={"epochs": (13,)})
    found = search_settings(unlucky, tmp_path / "b", 2)
    assert [each.error is None for each in found.trials] == [True, False]
    assert found.best == found.own
    with pytest.raises(InputError, match=r"no trial worked.*unlucky"):
        search_settings(question(changes=("epochs=13",)), tmp_path / "c", 1)


@pytest.mark.parametrize("text", ["beta", "beta=0.9..0.1", "beta=0..1 log", "labels=a..b", "bta=1,2"])
def test_a_space_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_space([text])


def test_nothing_the_search_does_depends_on_the_part_that_judges(tmp_path: Path) -> None:
    """Other labels in that part, the same trials: it was never seen."""
    from coembed.evaluation.trial import draw_splits

    network = people_network()
    split = draw_splits(network, "classification", 0.8).labels
    assert split is not None
    values = network.items("person").labels.values.copy()
    values[split.test] = (values[split.test] + 1) % 3
    small = ("epochs=2", "dim=4", "space_dim=0", "label_ensemble=0")
    found = [
        search_settings(
            Question(each, "classification", changes=small, space={"beta": Range(0.1, 0.9)}),
            tmp_path / str(place),
            2,
        )
        for place, each in enumerate((network, network.with_labels(values, "person")))
    ]
    assert found[0].trials[0].settings == {}
    assert [each[:2] for each in found[0].trials] == [each[:2] for each in found[1].trials]
    assert not np.array_equal(values, network.items("person").labels.values)


def test_the_command_leaves_settings_that_train_takes_and_a_picture(asked, tmp_path, capfd) -> None:
    write(people_network(), tmp_path / "net")
    out = tmp_path / "tuning"
    words = [
        "tune",
        tmp_path / "net",
        "-o",
        out,
        "--trials",
        5,
        "--set",
        "dim=8",
        "--search",
        "beta=0.1..0.9",
    ]
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in [*words, "--json", "-q"]])
    assert not end.value.code
    report = json.loads(capfd.readouterr().out)
    assert [each["part"] for each in asked] == ["validation"] * 5 + ["test"] * 2
    assert asked[-2]["changes"] == ("dim=8", f"beta={report['settings']['beta']}")  # what was found, and
    assert asked[-1]["changes"] == ("dim=8",)  # the usual settings
    assert report["unseen"]["found"] > report["unseen"]["usual"]
    kept = tomllib.loads((out / "best.toml").read_text())
    settings = preset_settings(kept["preset"]).change(**kept["settings"])
    assert (settings.dim, settings.beta) == (8, report["settings"]["beta"])
    assert (out / "study.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(SystemExit) as end:
        main(["tune", str(tmp_path / "net"), "-o", str(out), "--storage", "nothing://here"])
    assert end.value.code == 2
    assert "give a URL" in capfd.readouterr().err
