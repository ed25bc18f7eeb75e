"""The table of libraries: every snippet runs, and is of five lines at most."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coembed.settings import PRESETS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "libraries.md"


def snippets() -> dict[str, list[str]]:
    found = re.findall(r"^\*\*([^*\n]+)\*\*\n\n```py\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    return {name: list(filter(None, body.splitlines())) for name, body in found}


@pytest.fixture
def quick(monkeypatch):
    for tasks in PRESETS.values():
        for changes in tasks.values():
            for name, value in {"epochs": 2, "dim": 4, "space_dim": 4}.items():
                monkeypatch.setitem(changes, name, value)


def test_every_library_that_read_knows_has_a_row():
    named = " ".join(snippets())
    rows = re.findall(r"^\| (?!library|---)(.+?) \|", PAGE.read_text("utf-8"), re.M)
    assert rows == list(snippets())
    assert len(snippets()) == 10
    for library in ("pandas", "polars", "pyarrow", "NetworkX", "igraph", "Geometric", "AnnData", "SciPy"):
        assert library in named


@pytest.mark.parametrize("library", snippets())
def test_its_snippet_runs(library, quick, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = snippets()[library]
    assert 3 <= len(lines) <= 5
    for name in re.findall(r"^(?:import|from) ([\w, ]+)", "\n".join(lines), re.M):
        for each in name.removesuffix(" import").split(", "):
            pytest.importorskip(each.split()[0])
    exec("\n".join(lines), {})
