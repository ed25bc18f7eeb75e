"""The panel that the documentation adds to the page is there, and shows what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coembed.explorer import application
from coembed.explorer.page_files import page_files

from .browser import running

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "extending" / "panel.md"


def changed(files: dict[str, bytes], text: str) -> dict[str, bytes]:
    """The files with the lines of a diff; those that it takes away must be there exactly once."""
    found = dict(files)
    for name, lines in re.findall(r"^--- (\S+)\n((?:[+-](?!--).*\n)+)", text, re.M):
        whole = found[name].decode()
        for old, new in re.findall(r"((?:^-.*\n)*)((?:^\+.*\n)+)", lines, re.M):
            before, after = (re.sub(r"^[+-]", "", each, flags=re.M) for each in (old, new))
            assert not before or whole.count(before) == 1, f"{GUIDE.name}: {name} has not this line: {before}"
            whole = whole.replace(before, after) if before else whole + "\n" + after
        found[name] = whole.encode()
    return found


def test_the_panel_of_the_documentation(browser, people, visit, monkeypatch: pytest.MonkeyPatch) -> None:
    [diff] = re.findall(r"^```diff\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.M | re.S)
    monkeypatch.setattr(application, "page_files", lambda: changed(page_files(), diff))
    with running(people) as home:
        page = visit(home=home).go("#tab=types")
        page.get_by_role("tab", name="Types").click()
        page.wait_for_selector("#types-tab h2")
        told = page.locator("#types-tab").inner_text()
    for relation in people.network.relations.values():
        assert f"{relation.name}: {relation.source} to {relation.target}" in told
