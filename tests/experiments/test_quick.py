"""The whole reproduction in small: every experiment, on the bundled network, from one command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from coembed.experiments.plan import PLANS
from coembed.experiments.record_store import Store
from coembed.report.figures import FIGURES


def reproduce(folder: Path) -> str:
    words = [sys.executable, "-m", "coembed", "reproduce", "all", "--quick", "--out", "out", "--jobs", "2"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.slow
def test_a_quick_run_has_every_experiment_and_repeats_nothing(tmp_path: Path) -> None:
    pytest.importorskip("torch_geometric")
    reproduce(tmp_path)
    store = Store(tmp_path / "out")
    records = list(store.records())
    # profiling is told by the cells of attributes and links
    assert {record["experiment"] for record in records} == set(PLANS) - {"profiling"}
    assert not list(store.records("failed"))
    assert not list(store.marks.iterdir())
    for name in FIGURES:
        assert (tmp_path / "out" / "figures" / f"{name}.svg").is_file(), name
    reports = [tmp_path / "out" / name for name in ("report.html", "report.md")]
    before = [page.read_bytes() for page in reports]
    assert f"0 cells done, {len(records)} were there" in " ".join(reproduce(tmp_path).split())
    assert [page.read_bytes() for page in reports] == before
