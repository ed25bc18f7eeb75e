"""The grid: nothing is done twice, nothing is lost, one fault does not stop the rest."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from copy import deepcopy
from dataclasses import field, fields, make_dataclass, replace
from pathlib import Path

import pytest

from coembed.baselines import METHODS
from coembed.errors import InputError
from coembed.experiments import cell_work
from coembed.experiments.benchmark_networks import chosen_networks
from coembed.experiments.cell import Cell, CellJob
from coembed.experiments.cell_work import run_job
from coembed.experiments.grid import Tally, Where, run_grid
from coembed.experiments.plan import Choice, parse_seeds, plan
from coembed.experiments.record_store import Mark, Store
from coembed.report.figures import FIGURES
from coembed.settings import Task, preset_settings

HERE = Path()


def floors(*seeds: int) -> list[Cell]:
    return plan(["table1", "table2"], Choice(("wordnet-demo",), ("majority", "popularity"), seeds))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def fake(failing: set[str], ran: list[str]):
    """Work that takes no time and fails where it is told to."""

    def do(job: CellJob, progress: object) -> dict:
        ran.append(job.cell.name)
        if job.cell.row in failing:
            raise ZeroDivisionError("no figures today")
        return {"metrics": {"accuracy": 0.5}, "seconds": {"fit": 200.0}}

    return do


def test_the_first_seed_of_everything_comes_first() -> None:
    cells = floors(0, 1)
    assert [cell.seed for cell in cells] == [0, 0, 1, 1]
    assert [cell.row for cell in cells[:2]] == ["majority", "popularity"]


def test_what_is_done_is_not_done_again(store: Store) -> None:
    first = run_grid(floors(0), store, HERE)
    before = {record["row"]: record["finished"] for record in store.records()}
    again = run_grid(floors(0, 1), store, HERE)
    assert (first.done, again.kept, again.done) == (2, 2, 2)
    after = {record["row"]: record["finished"] for record in store.records() if record["seed"] == 0}
    assert after == before


def test_a_record_says_all_that_is_needed_to_make_it_again(store: Store) -> None:
    cell = Cell("table1", "scan-paper", "wordnet-demo", 0, preset="paper", changes=("epochs=2", "dim=8"))
    run_grid([cell], store, HERE)
    (record,) = store.records()
    assert record["configuration"]["settings"]["epochs"] == 2
    assert {"accuracy", "macro_f1", "micro_f1", "ece", "error_auroc", "svm_accuracy"} <= set(
        record["metrics"]
    )
    assert {"fit", "fit_cpu", "total", "total_cpu"} <= set(record["seconds"])
    assert record["code"].startswith("0.")
    assert set(record["details"]) == {"reliability", "variance", "curves"}
    assert json.loads((store.cells / "table1-strict.jsonl").read_text()) == record


def test_other_settings_are_another_number(store: Store) -> None:
    cell = Cell("table1", "scan-paper", "wordnet-demo", 0, preset="paper", changes=("epochs=2",))
    store.write(cell, {"state": "done"})
    assert store.done(cell)
    assert not store.done(replace(cell, changes=("epochs=3",)))


def test_a_setting_that_came_later_spoils_no_record(store: Store) -> None:
    cell = Cell("table1", "scan-paper", "wordnet-demo", 0, preset="paper")
    store.write(cell, {"state": "done"})
    record = deepcopy(store.read(cell))
    del record["configuration"]["settings"]["label_decoding"]
    store.table(cell.table).append(record)
    assert store.done(cell)


@pytest.mark.parametrize(("row", "task"), [("san", "attributes"), ("gcn", "classification")])
def test_another_default_of_a_rival_is_another_number(
    store: Store, monkeypatch, row: str, task: Task
) -> None:
    cell = Cell("table2", row, "wordnet-demo", 0, task=task, method=row)
    store.write(cell, {"state": "done"})
    assert store.done(cell)
    kind = METHODS[row].options
    assert kind is not None
    first = fields(kind)[0]
    other = make_dataclass(
        "Options", [(first.name, first.type, field(default=first.default / 2, metadata=first.metadata))]
    )
    monkeypatch.setitem(METHODS, row, replace(METHODS[row], options=other))
    assert not store.done(cell)


def test_a_record_of_a_rival_without_its_options_stays_good(store: Store) -> None:
    cell = Cell("table2", "san", "wordnet-demo", 0, task="attributes", method="san")
    store.write(cell, {"state": "done"})
    record = deepcopy(store.read(cell))
    assert record["configuration"].pop("settings") == {"restart": 0.5, "links": 0.1, "steps": 8}
    store.table(cell.table).append(record)
    assert store.done(cell)
    assert not store.done(replace(cell, changes=("restart=0.6",)))


def test_the_model_without_labels_is_recorded_under_its_own_preset(store: Store) -> None:
    cell = Cell("table2", "can", "wordnet-demo", 3, task="attributes", method="can")
    asked = preset_settings("paper", "attributes", seed=3).as_dict()
    assert cell.configuration["settings"] == asked


def test_one_failure_is_written_down_and_the_rest_goes_on(store: Store, monkeypatch) -> None:
    ran: list[str] = []
    monkeypatch.setitem(cell_work.WORK, "table1", fake({"majority"}, ran))
    tally = run_grid(floors(0), store, HERE)
    assert (tally.done, tally.failed) == (1, 1)
    (failed,) = store.records("failed")
    assert failed["error"] == "ZeroDivisionError: no figures today"
    assert "ZeroDivisionError" in failed["traceback"]
    # the next time it is tried again, after all that has never failed
    ran.clear()
    monkeypatch.setitem(cell_work.WORK, "table1", fake(set(), ran))
    monkeypatch.setitem(cell_work.WORK, "table2", fake(set(), ran))
    tally = run_grid(floors(0, 1), store, HERE)
    assert (tally.kept, tally.done, tally.failed) == (1, 3, 0)
    assert ran[-1] == "table1-strict/majority.wordnet-demo.0"


def test_a_slow_method_has_fewer_seeds(store: Store, monkeypatch) -> None:
    monkeypatch.setitem(cell_work.WORK, "table1", fake(set(), []))
    monkeypatch.setitem(cell_work.WORK, "table2", fake(set(), []))
    tally = run_grid(floors(*range(10)), store, HERE, thrifty=True)
    assert (tally.done, tally.skipped, tally.settled) == (10, 10, 20)


def test_two_runs_on_one_folder_share_the_work(store: Store, monkeypatch) -> None:
    ran: list[str] = []
    monkeypatch.setitem(cell_work.WORK, "table1", fake(set(), ran))
    monkeypatch.setitem(cell_work.WORK, "table2", fake(set(), ran))
    first, second, third, last = floors(0, 1)
    store.put_mark(first, Mark(pid=os.getppid()))
    store.put_mark(third, Mark(pid=2**22 + 5))  # of a run that was killed

    def tell(tally: Tally, cell: Cell | None, record: dict) -> None:
        if cell == second:  # meanwhile the other run has finished the last one
            store.write(last, {"state": "done"})

    tally = run_grid(floors(0, 1), store, HERE, tell=tell)
    assert ran == [second.name, third.name]
    assert (tally.done, tally.kept, tally.settled) == (2, 2, 4)
    assert store.read(third)["attempts"] == 2
    assert store.running(first)
    assert not store.running(third)


def test_bad_data_is_one_sentence_in_the_record() -> None:
    record = run_job(CellJob(Cell("table1", "majority", "cora", 0, method="majority"), Path("nowhere"), 1))
    assert record["state"] == "failed"
    assert "nowhere" in record["error"]
    assert record["traceback"] == ""


def test_an_interrupted_fit_is_no_result(demo, monkeypatch) -> None:
    def stop(epoch: int, epochs: int, figures: dict[str, float]) -> None:
        raise KeyboardInterrupt

    cell = Cell("table1", "scan-paper", "wordnet-demo", 0, preset="paper", changes=("dim=4", "hidden=8"))
    with pytest.raises(KeyboardInterrupt):
        run_job(CellJob(cell, HERE, 1), stop)


@pytest.mark.slow
def test_processes_give_what_one_process_gives(store: Store, tmp_path: Path) -> None:
    cells = floors(0, 1)
    other = Store(tmp_path / "other")
    run_grid(cells, store, HERE)
    told: list[int] = []

    def tell(tally: Tally, cell: Cell | None, record: dict) -> None:
        told.append(tally.settled)

    tally = run_grid(cells, other, HERE, Where(jobs=2), tell=tell)
    assert (tally.done, told) == (4, [0, 1, 2, 3, 4])
    assert [record["metrics"] for record in store.records()] == [
        record["metrics"] for record in other.records()
    ]


def test_names_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no benchmark network 'corra'"):
        chosen_networks(tmp_path, ("corra",))
    with pytest.raises(InputError, match=r"cora\.npz does not exist"):
        chosen_networks(tmp_path, ("cora",))
    with pytest.raises(InputError, match="not a folder"):
        chosen_networks(tmp_path / "nowhere", ())
    with pytest.raises(InputError, match="no method 'gnc'"):
        plan(["table1"], Choice(("cora",), ("gnc",)))
    for text in ("a", "1-", "", "3-2"):
        with pytest.raises(InputError, match="seed"):
            parse_seeds(text)
    with pytest.raises(InputError, match="no backend"):
        Where(backend="slurm")  # type: ignore[arg-type]


def test_a_broken_record_is_told_by_name(store: Store) -> None:
    cell = floors(0)[0]
    store.write(cell, {"state": "done"})
    path = store.cells / "table1-strict.jsonl"
    path.write_text(path.read_text() + "{\n" + path.read_text())
    with pytest.raises(InputError, match=r"table1-strict\.jsonl, line 2 is no record; delete the line"):
        store.done(cell)


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "coembed", "reproduce", "table1", "-o", str(tmp_path), "--quiet"]
    words += ["--methods", "majority,linear-x,linear-smooth,linear-views,knn,propagation"]
    words += ["--networks", "wordnet-demo", "--seeds", "0-2"]
    store = Store(tmp_path)
    run = subprocess.Popen(words, start_new_session=True)
    while len(list(store.records())) < 3 and run.poll() is None:
        time.sleep(0.02)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    path = store.cells / "table1-strict.jsonl"
    before = path.read_bytes()
    assert 3 <= len(list(store.records())) < 18
    assert subprocess.run(words, check=False).returncode == 0
    assert len(list(store.records())) == 18
    assert path.read_bytes().startswith(before[: before.rfind(b"\n") + 1])


@pytest.mark.slow
def test_a_process_that_dies_takes_only_its_own_cell_along(store: Store, monkeypatch) -> None:
    script = f"""
import os, sys
from pathlib import Path
from coembed.experiments import grid
from coembed.experiments.plan import Choice, plan
from coembed.experiments.record_store import Store

cells = plan(["table1"], Choice(("wordnet-demo",), ("majority", "linear-x", "propagation"), (0, 1)))
kept = grid._there
def deadly(job):
    if job.cell.row == "majority" and job.cell.seed == 0:
        os._exit(9)
    return kept(job)
grid._there = deadly
tally = grid.run_grid(cells, Store(Path({str(store.folder)!r})), Path(), grid.Where(jobs=2))
print(tally.done, tally.failed)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["5", "1"], done.stderr
    (failed,) = store.records("failed")
    assert (failed["row"], failed["seed"]) == ("majority", 0)
    assert "process ended" in failed["error"]


CLUSTER = """
import sys
from pathlib import Path
from coembed.experiments.grid import Where, run_grid
from coembed.experiments.plan import Choice, plan
from coembed.experiments.record_store import Store

if __name__ == "__main__":
    cells = plan(["table1", "table2"], Choice(("wordnet-demo",), ("majority", "popularity"), (0, 1)))
    address = ""
    if sys.argv[2] == "running":
        from distributed import LocalCluster
        cluster = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None)
        address = cluster.scheduler_address
    tally = run_grid(cells, Store(Path(sys.argv[1])), Path(), Where(2, sys.argv[3], address))
    print(tally.done, tally.failed)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "backend"), [("own", "dask"), ("running", "dask"), ("own", "ray")])
def test_a_cluster_gives_what_one_process_gives(
    store: Store, tmp_path: Path, kind: str, backend: str
) -> None:
    package = {"dask": "distributed", "ray": "ray"}[backend]
    if subprocess.run([sys.executable, "-c", f"import {package}"], check=False).returncode:
        pytest.skip(f"{backend} is not installed")
    script = tmp_path / "on_cluster.py"
    script.write_text(CLUSTER)
    other = Store(tmp_path / "other")
    words = [sys.executable, str(script), str(other.folder), kind, backend]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["4", "0"], done.stderr
    run_grid(floors(0, 1), store, HERE)
    assert [record["metrics"] for record in store.records()] == [
        record["metrics"] for record in other.records()
    ]


@pytest.mark.slow
def test_the_quick_run_reports_everything(tmp_path: Path) -> None:
    words = [
        sys.executable,
        "-m",
        "coembed",
        "reproduce",
        "all",
        "--quick",
        "-o",
        str(tmp_path),
        "--jobs",
        "2",
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    drawn = {path.stem for path in (tmp_path / "figures").glob("*.svg")}
    assert drawn == set(FIGURES)
    assert "Failed:" not in (tmp_path / "report.md").read_text(encoding="utf-8")
