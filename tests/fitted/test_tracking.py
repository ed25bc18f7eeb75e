"""What other programs are told of a training is what history.jsonl has, read back by their own readers."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace

import pytest
from people_network import people_network

from coembed.cli import main
from coembed.errors import InputError
from coembed.fitted import tracking
from coembed.fitted.tracking import mlflow_tracker, tensorboard_tracker
from coembed.network import write

SETTINGS = ("epochs=3", "dim=4", "space_dim=0", "label_ensemble=0", "validation=0.3")
TRAIN = [*(word for each in SETTINGS for word in ("--set", each)), "--no-compare", "-q"]


def trained(tmp_path, *words) -> list[dict]:
    """Train by the command, and give the lines of its history."""
    write(people_network(), tmp_path / "net")
    command = ["train", tmp_path / "net", "-o", tmp_path / "model", *TRAIN, *words]
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in command])
    assert not end.value.code
    return [json.loads(line) for line in (tmp_path / "model" / "history.jsonl").read_text().splitlines()]


def test_tensorboard_reads_what_the_history_has(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    lines = trained(tmp_path, "--tensorboard", tmp_path / "runs")
    events = EventAccumulator(str(tmp_path / "runs")).Reload()
    names = {name for line in lines for name in line} - {"epoch"}
    assert set(events.Tags()["scalars"]) == names
    assert any(name.startswith("validation") for name in names)
    for name in names:
        wanted = [(line["epoch"], line[name]) for line in lines if name in line]
        found = [(each.step, each.value) for each in events.Scalars(name)]
        assert [step for step, _ in found] == [step for step, _ in wanted]
        assert [value for _, value in found] == pytest.approx([value for _, value in wanted], rel=1e-6)


@pytest.mark.parametrize("there", [True, False])
def test_runs_are_of_one_experiment(there, monkeypatch):
    """Of that which is there, or else of a new one."""

    class Client:
        def __init__(self, tracking_uri):
            assert tracking_uri == "here"

        def get_experiment_by_name(self, name):
            return SimpleNamespace(experiment_id="old") if there else None

        def create_experiment(self, name):
            return "new"

        def create_run(self, experiment, run_name):
            runs.append(experiment)
            return SimpleNamespace(info=SimpleNamespace(run_id="1"))

        def log_batch(self, run, **_):
            pass

        def set_terminated(self, run):
            pass

    runs = []
    parts = {
        "mlflow": {"MlflowClient": Client},
        "mlflow.entities": {"Metric": tuple, "Param": lambda *_: None},
        "mlflow.exceptions": {"MlflowException": OSError},
    }
    for name, part in parts.items():
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(**part))
    fitted = SimpleNamespace(history={}, settings={}, preset="best", network=SimpleNamespace(name="people"))
    monkeypatch.setattr(tracking, "epoch_figures", lambda _: [])
    mlflow_tracker("here")(fitted)
    assert runs == ["old" if there else "new"]


def test_mlflow_reads_what_the_history_has(tmp_path):
    mlflow = pytest.importorskip("mlflow")
    pytest.importorskip("sqlalchemy")
    uri = f"sqlite:///{tmp_path / 'runs.db'}"
    lines = trained(tmp_path, "--mlflow", uri)
    client = mlflow.MlflowClient(tracking_uri=uri)
    [run] = client.search_runs([client.get_experiment_by_name("coembed").experiment_id])
    assert (run.info.status, run.info.run_name) == ("FINISHED", "people")
    assert (run.data.params["dim"], run.data.params["preset"]) == ("4", "best")
    names = {name for line in lines for name in line} - {"epoch"}
    assert set(run.data.metrics) == names
    for name in names:
        found = [(each.step, each.value) for each in client.get_metric_history(run.info.run_id, name)]
        assert sorted(found) == [(line["epoch"], line[name]) for line in lines if name in line]


def test_a_place_that_is_none_is_told_before_the_training(tmp_path):
    pytest.importorskip("mlflow")
    with pytest.raises(InputError, match="check the address"):
        mlflow_tracker("nothing://here")
    pytest.importorskip("tensorboard")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="file"):
        tensorboard_tracker(tmp_path / "file")


@pytest.mark.parametrize(
    ("make", "extra"), [(mlflow_tracker, "mlflow"), (tensorboard_tracker, "tensorboard")]
)
def test_without_the_extra_the_remedy_is_told(make, extra, tmp_path, monkeypatch):
    import sys

    for name in [each for each in sys.modules if each.split(".")[0] == extra]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, extra, None)
    with pytest.raises(InputError, match=rf"install coembed\[{extra}\]"):
        make(tmp_path / "runs" if extra == "tensorboard" else "sqlite:///x.db")
