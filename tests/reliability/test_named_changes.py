"""The changes that tests once let pass: the list fits the code, and the documentation has all of it."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHANGES = tomllib.loads((ROOT / "benchmarks" / "named_changes.toml").read_text(encoding="utf-8"))["change"]


@pytest.mark.parametrize("change", CHANGES, ids=lambda each: each["what"])
def test_a_named_change_can_be_made_and_is_told(change):
    code = (ROOT / "src" / "coembed" / change["path"]).read_text(encoding="utf-8")
    assert code.count(change["before"]) == 1
    assert (ROOT / change["by"]).is_file()
    told = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    assert f"| {change['what']} | `{change['by']}` |" in told
