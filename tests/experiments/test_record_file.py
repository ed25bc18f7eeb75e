"""Records in few files: nothing torn, nothing lost, parsed once."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from coembed.errors import InputError
from coembed.experiments.cell import Cell
from coembed.experiments.record_file import RecordFile
from coembed.experiments.record_store import Store

PROCESSES, EACH = 4, 25


@pytest.fixture
def file(tmp_path: Path) -> RecordFile:
    return RecordFile(tmp_path / "some" / "figures.jsonl", ("row", "seed"))


def record(row: str, seed: int, **more: object) -> dict:
    return {"row": row, "seed": seed, **more}


def write_many(path: Path, row: str, text: str) -> None:
    for seed in range(EACH):
        RecordFile(path, ("row", "seed")).append(record(row, seed, text=text))


def write_for_ever(path: Path) -> None:
    for seed in range(10**9):
        RecordFile(path, ("row", "seed")).append(record("a", seed, text="x" * 300_000))


def test_many_processes_at_once_tear_nothing(file: RecordFile) -> None:
    context = multiprocessing.get_context("fork")
    # longer than a buffer, so that a line is more than one write of the system where it can be
    jobs = [
        context.Process(target=write_many, args=(file.path, str(number), str(number) * 200_000))
        for number in range(PROCESSES)
    ]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert {job.exitcode for job in jobs} == {0}
    found = file.records()
    assert set(found) == {(str(number), seed) for number in range(PROCESSES) for seed in range(EACH)}
    assert all(set(each["text"]) == {row} for (row, _), each in found.items())
    assert len(file.path.read_bytes().splitlines()) == PROCESSES * EACH


def test_killed_at_any_moment_what_was_written_stays(file: RecordFile) -> None:
    job = multiprocessing.get_context("fork").Process(target=write_for_ever, args=(file.path,))
    job.start()
    while len(file.records()) < 3:
        time.sleep(0.001)
    os.kill(job.pid, signal.SIGKILL)
    job.join()
    before = dict(file.records())
    file.append(record("b", 0))
    assert file.records() == before | {("b", 0): record("b", 0)}
    assert all(json.loads(line) for line in file.path.read_bytes().splitlines())


@pytest.mark.parametrize("cut", [1, 5, 12, 18])
def test_half_a_line_is_passed_over_and_cut_off(file: RecordFile, cut: int) -> None:
    file.append(record("a", 0))
    whole = file.path.read_bytes()
    file.path.write_bytes(whole + json.dumps(record("torn", 1)).encode()[:cut])
    assert list(file.records()) == [("a", 0)]
    file.append(record("b", 0))
    assert file.path.read_bytes() == whole + json.dumps(record("b", 0)).encode() + b"\n"
    assert list(file.records()) == [("a", 0), ("b", 0)]


def test_a_line_without_its_end_counts(file: RecordFile) -> None:
    file.append(record("a", 0))
    file.path.write_bytes(file.path.read_bytes() + json.dumps(record("b", 0)).encode())  # by an editor, say
    assert list(file.records()) == [("a", 0), ("b", 0)]
    file.append(record("c", 0))
    assert list(file.records()) == [("a", 0), ("b", 0), ("c", 0)]
    assert len(file.path.read_text().splitlines()) == 3


def test_a_half_line_longer_than_a_buffer_is_cut_off(file: RecordFile) -> None:
    file.append(record("a", 0))
    whole = file.path.read_bytes()
    file.path.write_bytes(whole + b'{"row": "' + b"x" * 200_000)
    file.append(record("b", 0))
    assert file.path.read_bytes().startswith(whole + b'{"row": "b"')


def test_a_table_is_parsed_once(file: RecordFile, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[Path] = []
    plain = RecordFile._parsed

    def counted(self: RecordFile, text: bytes) -> dict:
        parsed.append(self.path)
        return plain(self, text)

    monkeypatch.setattr(RecordFile, "_parsed", counted)
    for seed in range(20):
        file.append(record("a", seed))
        assert file.get("a", seed) is not None
    assert len(parsed) == 1  # after the first line; one's own lines are known
    with file.path.open("a") as other:
        other.write(json.dumps(record("b", 0)) + "\n")
    assert file.get("b", 0) is not None
    assert len(parsed) == 2


def test_a_file_that_is_gone_is_forgotten(file: RecordFile) -> None:
    file.append(record("a", 0))
    assert file.records()
    file.path.unlink()
    assert file.records() == {}
    file.append(record("b", 0))
    assert list(file.records()) == [("b", 0)]


def test_what_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="folder cannot be read"):
        RecordFile(tmp_path / "folder", ()).append({})
    file = RecordFile(tmp_path / "figures.jsonl", ("row",))
    with pytest.raises(ValueError, match="Out of range"):
        file.append({"row": "a", "auc": float("nan")})
    assert not file.path.exists()


def test_a_broken_file_is_not_added_to(file: RecordFile) -> None:
    file.path.parent.mkdir()
    file.path.write_text("[1]\n")
    with pytest.raises(InputError, match=r"figures\.jsonl, line 1 is no record"):
        file.append(record("a", 0))
    assert file.path.read_text() == "[1]\n"


def test_marks_count_attempts_and_go_with_the_record(tmp_path: Path) -> None:
    store, cell = Store(tmp_path), Cell("table1", "majority", "cora", 0, method="majority")
    assert (store.running(cell), store.attempts(cell), store.busy(cell)) == (False, 0, False)
    store.begin(cell)
    store.begin(cell)  # the first time took the process down
    assert (store.running(cell), store.attempts(cell), store.doubtful(cell)) == (True, 2, True)
    assert not store.busy(cell)  # it is this process
    store.write(cell, {"state": "failed", "error": "MemoryError"})
    assert (store.running(cell), store.attempts(cell), store.doubtful(cell)) == (False, 2, True)
    store.begin(cell)
    store.write(cell, {"state": "done"})
    assert store.read(cell)["attempts"] == 3
    assert (store.running(cell), store.attempts(cell), store.done(cell)) == (False, 0, True)
    assert not list(store.marks.iterdir())


def test_a_mark_lost_with_the_machine_is_one_attempt(tmp_path: Path) -> None:
    store, cell = Store(tmp_path), Cell("table1", "majority", "cora", 0, method="majority")
    store.begin(cell)
    (mark,) = store.marks.iterdir()
    mark.write_text("")
    assert (store.attempts(cell), store.busy(cell)) == (1, False)
