"""Tuning: validation data only, the same budget, stopped = uninterrupted."""

from __future__ import annotations

import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from coembed.baselines import METHODS
from coembed.baselines.method_options import changed
from coembed.errors import InputError
from coembed.experiments.plan import Choice, table_cells
from coembed.experiments.search_spaces import SPACES, Range
from coembed.experiments.table_rows import ROWS
from coembed.experiments.tuning import Study, read_chosen, studies, study_file, tune, write_chosen

pytest.importorskip("optuna")
SAN = next(row for row in ROWS["attributes"] if row.name == "san")


@pytest.fixture
def asked(monkeypatch) -> list[dict]:
    """Instead of a fit: note what was asked, and answer with a figure that depends on it."""
    seen: list[dict] = []

    def stub(network, task, method, seed, **options):
        seen.append({"task": task, "seed": seed, **options})
        return SimpleNamespace(figures={"auc": 0.5 + len("".join(options["changes"])) % 7 / 20})

    monkeypatch.setattr("coembed.evaluation.evaluation.run_trial", stub)
    return seen


def test_only_validation_data_are_asked_for(asked, tmp_path: Path) -> None:
    tune(Study("attributes", SAN, "wordnet-demo"), tmp_path, Path(), trials=3)
    assert [each["part"] for each in asked] == ["validation"] * 3
    assert {each["seed"] for each in asked} == {0}
    assert asked[0]["changes"] == ()  # its own values come first


def test_a_stopped_study_goes_on_as_if_it_had_not_been(asked, tmp_path: Path) -> None:
    study = Study("attributes", SAN, "wordnet-demo")
    whole = tune(study, tmp_path / "whole", Path(), trials=5)
    tune(study, tmp_path / "parts", Path(), trials=2)
    before = len(asked)
    parts = tune(study, tmp_path / "parts", Path(), trials=5)
    assert len(asked) - before == 3
    assert [trial["settings"] for trial in parts["trials"]] == [t["settings"] for t in whole["trials"]]
    assert study_file(tmp_path / "parts").get("attributes", "san", "wordnet-demo") == parts


def test_chosen_values_become_rows_beside_the_usual_ones(tmp_path: Path) -> None:
    record = {"task": "attributes", "row": "san", "network": "cora", "metric": "auc"}
    trials = [
        {"settings": {}, "value": 0.7, "seconds": 1.0},
        {"settings": {"restart": 0.3, "steps": 4}, "value": 0.8, "seconds": 1.0},
        {"settings": {"restart": 0.9}, "value": None, "seconds": 1.0},
    ]
    kept = study_file(tmp_path)
    kept.append(record | {"trials": trials})
    tie = [trials[0], trials[1] | {"value": 0.7}]
    kept.append(record | {"network": "pubmed", "trials": tie})
    path = tmp_path / "chosen.toml"
    assert write_chosen(tmp_path, path) == 2
    assert tomllib.loads(path.read_text())["attributes"]["san"]["cora"]["own"] == 0.7
    chosen = read_chosen(path)
    assert chosen == {
        ("attributes", "san", "cora"): ("restart=0.3", "steps=4"),
        ("attributes", "san", "pubmed"): (),  # a tie changes nothing
    }
    cells = table_cells("table2", Choice(("cora", "pubmed"), ("san",), seeds=(0,), tuned=chosen))
    assert [(cell.row, cell.network) for cell in cells] == [
        ("san", "cora"),
        ("san+tuned", "cora"),
        ("san", "pubmed"),
    ]
    assert cells[1].changes == ("restart=0.3", "steps=4")


def test_every_method_that_learns_has_a_space_it_accepts() -> None:
    from coembed.settings import preset_settings

    learning = {row.method for rows in ROWS.values() for row in rows if row.group != "floor"}
    assert learning == set(SPACES)
    for method, space in SPACES.items():
        ends = [tuple(s[:2]) if isinstance(s, Range) else (s[0], s[-1]) for s in space.values()]
        for end in (0, 1):
            changes = [f"{name}={values[end]}" for name, values in zip(space, ends, strict=True)]
            if method in ("scan", "can"):
                preset_settings("paper").parse(changes)
            else:
                _accepts(method, changes)


def _accepts(method: str, changes: list[str]) -> None:
    """The method's own record of options takes the texts."""
    kind = METHODS[method].options
    assert kind is not None
    made = changed(kind, changes)
    for change in changes:
        assert hasattr(made, change.partition("=")[0]), f"{method} has no {change}"


def test_rows_that_are_outcomes_of_tuning_are_not_tuned() -> None:
    names = {study.row.name for study in studies(("cora",), (), ("classification", "attributes"))}
    assert "gcn" in names
    assert not {"gcn-tuned", "bla-links", "majority"} & names


def test_a_bad_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "chosen.toml"
    with pytest.raises(InputError, match="cannot be read"):
        read_chosen(path)
    path.write_text("[attributes.san")
    with pytest.raises(InputError, match="no TOML"):
        read_chosen(path)
    path.write_text("[attributes.san.corra.settings]\n")
    with pytest.raises(InputError, match="corra"):
        read_chosen(path)
