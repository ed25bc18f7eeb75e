"""A column of dates is answered in dates, not in days since 1970."""

from __future__ import annotations

import csv
from datetime import date, timedelta

import numpy as np
import pytest

from coembed.fitted import load, save
from coembed.network import read
from coembed.settings import preset_settings
from coembed.training import fit


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    """Members who joined the later the older they are, tagged in two columns; a model of them."""
    folder = tmp_path_factory.mktemp("members")
    rng = np.random.default_rng(0)
    lines = ["id,age,joined,likes,speaks"]
    for i in range(60):
        age = int(rng.integers(20, 70))
        joined = date(2020, 1, 1) + timedelta(days=20 * age + int(rng.integers(60)))
        tags = ";".join(["go", "chess", "bridge"][: 1 + i % 3])
        lines.append(f"m{i},{age},{joined:%d.%m.%Y},{tags},{'de;fr' if i % 2 else 'fr;nl'}")
    (folder / "members.csv").write_text("\n".join(lines))
    return save(fit(read(folder / "members.csv"), preset_settings("fast")), folder / "model")


def test_answers_for_all_are_dates(run, members, tmp_path):
    assert run("complete", members, "--column", "joined", "-o", tmp_path / "joined.csv").code == 0
    rows = list(csv.DictReader((tmp_path / "joined.csv").open()))
    found = load(members).complete("m7", "joined")[0]
    told = {name: date.fromisoformat(rows[7][name]) for name in ("joined", "cell")}
    assert (told["joined"] - date(1970, 1, 1)).days == round(found.score)
    assert (told["cell"] - date(1970, 1, 1)).days == round(found.cell)
    assert float(rows[7]["std"]) == pytest.approx(found.std)


def test_reasons_are_days_and_what_they_add_up_to_a_date(run, members):
    found = load(members).why("m7", column="joined")
    lines = [line.split("\t") for line in run("why", members, "m7", "--column", "joined").out.splitlines()]
    start, end = (date.fromisoformat(lines[row][2]) for row in (1, -1))
    assert (start - date(1970, 1, 1)).days == round(found.nothing)
    assert (end - date(1970, 1, 1)).days == round(found.claimed)
    days = [int(line[2].removesuffix(" days").replace(",", "")) for line in lines[2:-1]]
    assert sum(days) == pytest.approx((end - start).days, abs=len(days))
    date.fromisoformat(lines[2][3])


def test_all_items_are_completed_without_naming_what(run, members, tmp_path):
    ran = run("complete", members, "-o", tmp_path / "likes.csv", "-k", 2)
    assert ran.code == 0
    assert "this is likes; there is speaks, too" in ran.err
    rows = list(csv.DictReader((tmp_path / "likes.csv").open()))
    assert {row["name"] for row in rows} <= {
        "likes=go",
        "likes=chess",
        "likes=bridge",
        "go",
        "chess",
        "bridge",
    }
    assert run("complete", members).code == 2
