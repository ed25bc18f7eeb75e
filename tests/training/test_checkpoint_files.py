"""What checkpoints are on the disk: written whole or not at all, dealt out anew, strange ones refused."""

from __future__ import annotations

import errno
import json
import os
from itertools import pairwise

import numpy as np
import pytest
import torch

from coembed.distributed.partition import Partition
from coembed.errors import InputError
from coembed.training import Checkpoints
from coembed.training.checkpoint import RECORD, _rows


def full(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("step", ["_write_state", "_write_record"])
def test_a_full_disk_is_told_and_the_one_before_stays(tmp_path, monkeypatch, step) -> None:
    checkpoints = Checkpoints(tmp_path / "c", resume=True)
    assert checkpoints.save({"epoch": 1}, {"weight": torch.ones(3)}) is None
    monkeypatch.setattr(Checkpoints, step, full)
    said = checkpoints.save({"epoch": 2}, {"weight": torch.zeros(3)})
    assert said == (
        f"a checkpoint could not be written to {tmp_path / 'c'} (No space left on device); "
        "the one before it stays"
    )
    monkeypatch.undo()
    record, tensors = checkpoints.load()
    assert record == {"epoch": 1}
    assert torch.equal(tensors["weight"], torch.ones(3))
    assert len(list((tmp_path / "c").iterdir())) == 2  # what the second left is gone


def test_a_first_one_that_cannot_be_written_leaves_nothing(tmp_path, monkeypatch) -> None:
    checkpoints = Checkpoints(tmp_path / "c")
    monkeypatch.setattr(Checkpoints, "_write_record", full)
    assert "could not be written" in checkpoints.save({"epoch": 1}, {"weight": torch.ones(3)})
    assert checkpoints.load() is None
    assert list((tmp_path / "c").iterdir()) == []


def test_another_process_that_cannot_write_is_no_reason_that_is_known() -> None:
    assert "(of another process)" in Checkpoints("c")._told(None)
    assert "(a reason)" in Checkpoints("c")._told(OSError("a reason"))


def test_what_cannot_be_written_to_is_refused_at_once(tmp_path, monkeypatch) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is a file; give the name of a folder"):
        Checkpoints(tmp_path / "file").check()
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match="Permission denied"):
        Checkpoints(tmp_path / "new").check()
    monkeypatch.undo()
    Checkpoints(tmp_path / "new").check()
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("forged", "said"),
    [
        ({"format": "other"}, "not a checkpoint that this version"),
        ({"version": 10**6}, "not a checkpoint that this version"),
        ({"run": [1]}, "its figures are not an object"),
        ({"states": ["../state-00000000.safetensors"]}, "it names a strange file"),
    ],
)
def test_a_forged_record_is_refused(tmp_path, forged, said) -> None:
    checkpoints = Checkpoints(tmp_path, resume=True)
    checkpoints.save({"epoch": 1}, {"weight": torch.ones(3)})
    whole = json.loads((tmp_path / RECORD).read_text())
    (tmp_path / RECORD).write_text(json.dumps({**whole, **forged}))
    with pytest.raises(InputError, match=said):
        checkpoints.load()


@pytest.mark.parametrize("processes", [1, 2, 3, 5])
def test_rows_are_dealt_out_anew_to_any_number_of_processes(processes) -> None:
    """Pieces of three processes, read by as many as there are now."""
    whole = np.arange(22).reshape(11, 2)
    bounds = (0, 4, 5, 11)
    pieces = [whole[a:b] for a, b in pairwise(bounds)]
    parts = [_rows(pieces, bounds, Partition.even(11, processes, rank)) for rank in range(processes)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    np.testing.assert_array_equal(_rows(pieces, bounds, None), whole)
    np.testing.assert_array_equal(_rows([whole], None, None), whole)
    np.testing.assert_array_equal(_rows([whole], None, Partition.even(11, 2, 1)), whole[6:])


def test_only_the_first_process_writes_the_record(tmp_path, monkeypatch) -> None:
    second = Checkpoints(tmp_path, rank=1, processes=2)
    monkeypatch.setattr(Checkpoints, "_of_all", lambda self, number: [number, number])
    assert second.save({"epoch": 1}, {"weight": torch.ones(3)}) is None
    assert not (tmp_path / RECORD).exists()
    assert len(list(tmp_path.glob("state-*0001.safetensors"))) == 1


def test_files_of_others_stay_when_checkpoints_are_cleared(tmp_path) -> None:
    checkpoints = Checkpoints(tmp_path, resume=True)
    checkpoints.save({"epoch": 1}, {"weight": torch.ones(3)})
    (tmp_path / "notes.txt").write_text("mine")
    checkpoints.clear()
    assert [each.name for each in tmp_path.iterdir()] == ["notes.txt"]
