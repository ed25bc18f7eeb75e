"""What those who watch are told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from coembed import progress


@pytest.mark.skipif(not progress.STATUS.exists(), reason="only Linux tells it by process")
def test_the_peak_of_memory_is_that_of_this_process_and_not_of_who_started_it() -> None:
    held = b"x" * (300 << 20)
    program = "from coembed.progress import peak_memory_mb; print(peak_memory_mb())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert 1 < float(done.stdout) < 150
    assert float(progress.peak_memory_mb() or 0) > len(held) / 2**20


@pytest.mark.parametrize("told", [None, "Name: python\nVmRSS: 1 kB\n"])
def test_where_nobody_tells_the_peak_it_is_counted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, told: str | None
) -> None:
    if told is not None:
        (tmp_path / "status").write_text(told)
    monkeypatch.setattr(progress, "STATUS", tmp_path / "status")
    assert float(progress.peak_memory_mb() or 0) > 10
