"""The tutorials run from the first cell to the last, and what they show was given by a run."""

from __future__ import annotations

import importlib.util
import json
import os
import warnings
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
BOOKS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))
NEEDS = {"single_cells": "scanpy"}
BY_NAME = pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.stem)


def code_cells(book: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in book["cells"] if cell["cell_type"] == "code"]


def kinds(cell: dict[str, Any]) -> list[str]:
    """What a cell gave, by kind; several prints may come as one stream or as several."""
    found = [
        next((kind for kind in ("image/png", "text/html") if kind in output.get("data", {})), "text")
        for output in cell["outputs"]
    ]
    return [kind for i, kind in enumerate(found) if i == 0 or kind != found[i - 1]]


def test_there_are_five():
    assert len(BOOKS) == 5


@BY_NAME
def test_it_was_run_as_it_stands(book):
    """All its cells, in order, in one kernel, and none failed; what it gave is small."""
    whole = json.loads(book.read_text(encoding="utf-8"))
    cells = code_cells(whole)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert all(output["output_type"] != "error" for cell in cells for output in cell["outputs"])
    assert book.stat().st_size < 300_000
    assert not any("/" + place + "/" in json.dumps(whole) for place in ("home", "root", "Users"))


@pytest.mark.slow
@BY_NAME
def test_it_runs(book, monkeypatch):
    wanted = NEEDS.get(book.stem)
    if wanted and importlib.util.find_spec(wanted) is None:
        message = f"{wanted} is not installed: the tutorial {book.stem} is NOT RUN; pip install {wanted}"
        warnings.warn(message, stacklevel=1)
        pytest.skip(message)
    spec = importlib.util.spec_from_file_location("notebooks", ROOT / "benchmarks" / "notebooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # the kernel takes the code that is tested
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]))
    kept, given = json.loads(book.read_text(encoding="utf-8")), module.run(book)
    assert [kinds(cell) for cell in code_cells(given)] == [kinds(cell) for cell in code_cells(kept)]
