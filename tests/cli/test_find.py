"""`coembed find`: the same answer as in Python, as lines, as JSON, as a file."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from coembed.fitted import load, save
from coembed.fitted.kept_selections import kept_of, write_selections


@pytest.fixture(scope="module")
def people(general, tmp_path_factory):
    return save(general, tmp_path_factory.mktemp("find") / "model")


def test_what_fits_is_printed_as_lines_and_as_json(run, people):
    found = load(people).find("city:Rome degree>3")
    lines = run("find", people, "city:Rome degree>3").out.splitlines()
    assert lines[0].split("\t") == ["id", "type", "title", "class", "p", "degree"]
    assert len(lines) == 1 + len(found)
    told = run("find", people, "city:Rome degree>3", "--json").json
    assert [row["id"] for row in told] == [line.split("\t")[0] for line in lines[1:]]
    assert {row["city"] for row in told} == {"Rome"}
    few = run("find", people, "type:person", "-k", 3)
    assert len(few.out.splitlines()) == 4
    assert "3 of 60" in few.err


def test_a_file_has_all_of_one_type_with_all_columns(run, people, tmp_path):
    assert run("find", people, "class:left", "-o", tmp_path / "left.csv").code == 0
    rows = list(csv.DictReader((tmp_path / "left.csv").open(newline="")))
    assert len(rows) == len(load(people).find("class:left"))
    assert {"id", "title", "class", "income", "likes"} <= set(rows[0])
    both = run("find", people, "degree>0", "-o", tmp_path / "both.csv")
    assert (both.code, "add type:person or type:film" in both.err) == (2, True)
    assert run("find", people, "degree>9999", "-o", tmp_path / "none.csv").code == 2
    assert run("find", people, "class:left", "-o", tmp_path / "left.doc").code == 2
    assert sorted(each.name for each in tmp_path.iterdir()) == ["left.csv"]


def test_a_kept_selection_is_found_and_a_wrong_query_is_one_sentence(run, people, general):
    write_selections(people, [kept_of(general.network, "two", {"person": np.array([3, 5])})])
    assert [row["id"] for row in run("find", people, "in:two", "--json").json] == ["p003", "p005"]
    wrong = run("find", people, "city:Lile")
    assert wrong.code == 2
    assert "query, character 1: there is no value of city 'Lile'; did you mean 'Lille'" in wrong.err
    assert wrong.out == ""
