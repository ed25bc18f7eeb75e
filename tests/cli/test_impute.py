"""The command that fills empty cells."""

from __future__ import annotations

import csv
import json

import pyarrow as pa
import pytest
from pyarrow import parquet

from coembed.fitted import save
from coembed.network import write_customers


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def customers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop") / "shop"
    write_customers(folder, 120)
    return folder


@pytest.mark.parametrize("source", ["", "customers.csv"])
def test_a_table_is_filled_by_a_model_trained_for_it(run, customers, tmp_path, source):
    full = tmp_path / "full.csv"
    ran = run("impute", customers / source, "-o", full, "--epochs", 2, "--json", "-q")
    assert ran.code == 0, ran.err
    before, after = rows_of(customers / "customers.csv"), rows_of(full)
    assert len(after) == len(before)
    told = ("age", "income", "city", "joined", "newsletter")
    for old, new in zip(before, after, strict=True):
        for column, cell in old.items():
            assert new[column] == cell if cell or column not in told else new[column]
    assert ran.json["filled"] == ran.json["empty"]
    assert ran.json["empty"]["age"] == sum(not row["age"] for row in before)


def test_rows_without_ids_are_filled_too(run, tmp_path):
    lines = [f"{i % 7},{'' if i % 5 == 0 else i % 7 * 2 + 1},{'ab'[i % 2]}" for i in range(150)]
    (tmp_path / "plain.csv").write_text("\n".join(["x,y,z", *lines]))
    assert run("impute", tmp_path / "plain.csv", "-o", tmp_path / "full.csv", "--epochs", 2, "-q").code == 0
    assert all(row["y"] for row in rows_of(tmp_path / "full.csv"))


def test_a_model_fills_a_table_with_draws(run, general, tmp_path):
    model = save(general, tmp_path / "model")
    (tmp_path / "new.csv").write_text("id,city,member,income\np001,,yes,\nnew,Oslo,,20000\n")
    ran = run("impute", model, tmp_path / "new.csv", "-o", tmp_path / "full.parquet", "--draws", 3)
    assert ran.code == 0, ran.err
    table = parquet.read_table(tmp_path / "full.parquet")
    assert table.column("draw").to_pylist() == [1, 1, 2, 2, 3, 3]
    assert table.column("member").to_pylist()[::2] == ["yes"] * 3
    assert "3 of 3 empty cells filled" in ran.err


def test_a_table_with_lists_is_filled_into_a_text_file(run, general, tmp_path):
    model = save(general, tmp_path / "model")
    tags = pa.array([["red, dark", "blue"], [], None])
    rows = pa.table({"id": ["p001", "new", "newer"], "city": [None, "Oslo", "Rome"], "tags": tags})
    parquet.write_table(rows, tmp_path / "new.parquet")
    ran = run("impute", model, tmp_path / "new.parquet", "-o", tmp_path / "full.csv")
    assert ran.code == 0, ran.err
    written = [row["tags"] for row in rows_of(tmp_path / "full.csv")]
    assert [cell and json.loads(cell) for cell in written] == [["red, dark", "blue"], [], ""]


def test_what_cannot_be_filled_is_refused_and_nothing_written(run, general, customers, tmp_path):
    model = save(general, tmp_path / "model")
    (tmp_path / "new.csv").write_text("id,city,member\np001,,yes\n")
    out = tmp_path / "full.csv"
    for words, said in (
        ((model,), "name the table to fill"),
        ((model, tmp_path / "new.csv", "--epochs", 3), "the model is trained"),
        ((customers, "--as-new"), "new to a model"),
        ((customers, "--type", "shops"), "no table 'shops'"),
        ((tmp_path / "none.csv",), "does not exist"),
    ):
        ran = run("impute", *words, "-o", out)
        assert ran.code == 2
        assert said in ran.err
        assert not out.exists()
    assert run("impute", model, tmp_path / "new.csv", "-o", tmp_path / "full.doc").code == 2


@pytest.mark.parametrize("command", ["impute", "predict"])
def test_the_table_that_is_read_is_not_written_over(run, general, tmp_path, command):
    model = save(general, tmp_path / "model")
    table = tmp_path / "new.csv"
    table.write_text("id,city,member\np001,,yes\n")
    ran = run(command, model, table, "-o", tmp_path / "model" / ".." / "new.csv")
    assert ran.code == 2
    assert "would lose it" in ran.err
    assert table.read_text() == "id,city,member\np001,,yes\n"
