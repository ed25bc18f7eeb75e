"""Nothing that a user gave is written over or hidden, and a table may come from standard input."""

from __future__ import annotations

import io
import shutil
from types import SimpleNamespace

import pyarrow as pa
import pytest
from pyarrow import parquet

from coembed.errors import InputError
from coembed.fitted import load, save
from coembed.network import read, write, write_customers
from coembed.settings import preset_settings
from coembed.training import fit


@pytest.fixture
def customers(tmp_path):
    write_customers(tmp_path / "shop")
    return tmp_path / "shop"


@pytest.fixture
def piped(monkeypatch):
    def pipe(content: bytes) -> None:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))

    return pipe


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("source", ["", "customers.csv"])
def test_a_model_is_not_written_beside_the_tables_it_is_of(run, customers, source):
    before = contents(customers)
    ran = run("train", customers / source, "-o", customers, "--label", "segment", "--epochs", 1)
    assert ran.code == 2
    assert "holds a network (customers.csv)" in ran.err
    assert str(customers / "model") in ran.err
    assert contents(customers) == before
    assert len(read(customers).main) == 2000


@pytest.mark.parametrize(
    "name", ["edges", "a.parquet", "a.csv.gz", "cora.mat", "cora.edge", "ind.cora.x", "network.toml"]
)
def test_a_folder_of_any_format_is_refused(general, tmp_path, name):
    (tmp_path / name).write_text("mine")
    with pytest.raises(InputError, match="holds a network"):
        save(general, tmp_path)
    assert contents(tmp_path) == {name: b"mine"}


def test_placed_items_are_not_written_beside_a_network(run, model, demo, tmp_path):
    write(demo, tmp_path / "net")
    before = contents(tmp_path / "net")
    assert run("embed", model, tmp_path / "net", "-o", tmp_path / "net").code == 2
    assert contents(tmp_path / "net") == before


def test_a_model_may_be_replaced_though_there_are_tables_beside_it(run, model, tmp_path):
    # answers are often written into the model's own folder
    placed = tmp_path / "model"
    save(load(model), placed)
    assert run("predict", placed, "-o", placed / "classes.csv").code == 0
    save(load(model), placed)
    assert (placed / "classes.csv").is_file()


def test_a_table_on_standard_input_is_that_of_a_file(run, customers, piped, tmp_path):
    (tmp_path / "stdin.csv").write_bytes((customers / "customers.csv").read_bytes())
    expected = run("info", tmp_path / "stdin.csv", "--label", "segment", "--json").json
    piped((customers / "customers.csv").read_bytes())
    assert run("info", "-", "--label", "segment", "--json").json == expected


def test_parquet_on_standard_input(run, piped):
    table = io.BytesIO()
    people = {"id": ["ann", "bob", "eve"], "age": [31, 44, 28], "tall": [1, 0, 1]}
    parquet.write_table(pa.table(people), table)
    piped(table.getvalue())
    assert run("info", "-", "--json").json["types"][0]["count"] == 3


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"id,age,town\nann,31\n", "standard input, line 2: expected 3 columns"),
        (b"", "standard input is empty"),
    ],
)
def test_what_is_wrong_on_standard_input_is_said_of_it(run, piped, content, said):
    piped(content)
    ran = run("info", "-")
    assert ran.code == 2
    assert said in ran.err


def test_standard_input_is_one_table_and_leaves_nothing(run, piped, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    piped(b"id,age,town\nann,31,Oslo\nbob,44,Rome\n")
    assert run("info", "-").code == 0
    assert not list(tmp_path.iterdir())
    ran = run("info", "-", "-")
    assert ran.code == 2
    assert "one table" in ran.err


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        (("predict",), "model.json"),
        (("predict",), "corrections.json"),
        (("complete",), "model.json"),
        (("links",), "model.json"),
        (("find", "class:animal"), "model.json"),
        (("export", "--format", "csv"), "model.json"),
    ],
    ids=lambda each: each[0] if isinstance(each, tuple) else each,
)
def test_answers_are_not_written_over_the_model(run, model, tmp_path, asked, name):
    mine = shutil.copytree(model, tmp_path / "mine")
    before = contents(mine)
    command, *options = asked
    ran = run(command, mine, *options, "-o", mine / name)
    assert ran.code == 2
    assert "part of the model" in ran.err
    assert contents(mine) == before
    assert run("predict", mine, "-o", mine / "classes.csv").code == 0


@pytest.mark.parametrize(
    ("name", "said"), [("customers.csv", "would lose it"), ("full.csv", "one of the tables of")]
)
def test_a_filled_table_is_not_put_among_those_it_is_made_of(run, customers, tmp_path, name, said):
    before = contents(customers)
    ran = run("impute", customers, "-o", customers / name, "--epochs", 1)
    assert ran.code == 2
    assert said in ran.err
    assert contents(customers) == before


def test_a_schema_is_not_written_over_a_table(run, customers):
    before = contents(customers)
    ran = run("info", customers, "--schema", "-o", customers / "customers.csv")
    assert ran.code == 2
    assert "must end in .toml" in ran.err
    assert contents(customers) == before


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """Two tables of items and one of pairs of them, and a model of theirs."""
    folder = tmp_path_factory.mktemp("safety") / "shop"
    folder.mkdir()
    people = "".join(f"c{i},{i * 37 % 90},{'ab'[i % 2]}\n" for i in range(40))
    (folder / "customers.csv").write_text("id,spend,segment\n" + people)
    (folder / "products.csv").write_text("id,price\n" + "".join(f"p{i},{i % 7}\n" for i in range(12)))
    bought = "".join(f"c{i},p{i % 12}\nc{i},p{i * 5 % 12}\n" for i in range(40))
    (folder / "bought.csv").write_text("customer,product\n" + bought)
    model = folder.parent / "model"
    network = read(folder, labels="customers.segment")
    save(fit(network, preset_settings("best", epochs=1, dim=8)), model)
    return folder, model


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("products.csv", "called as a table that the model learnt from"),
        ("bought.csv", "called as a table that the model learnt from"),
        ("out.csv", "would be one of the tables beside customers and products"),
    ],
)
def test_answers_are_not_written_over_tables_beside_the_one_that_is_asked_about(run, shop, name, said):
    folder, model = shop
    before = contents(folder)
    asked = [
        ("predict", model, folder / "customers.csv"),
        ("predict", model),
        ("impute", model, folder / "customers.csv"),
        ("complete", model, "--type", "customers", "--column", "spend"),
        ("links", model),
        ("find", model, "type:customers"),
        ("export", model),
    ]
    for command in asked:
        ran = run(*command, "-o", folder / name)
        assert ran.code == 2, command
        assert said in ran.err
    assert contents(folder) == before


def test_answers_are_written_again_where_no_table_is(run, shop, tmp_path):
    _, model = shop
    for _ in range(2):
        assert run("predict", model, "-o", tmp_path / "classes.csv").code == 0
        assert run("links", model, "--relation", "bought", "-o", tmp_path / "bought.csv").code == 0


def test_a_type_that_is_not_there_is_named(run, shop, tmp_path):
    ran = run("complete", shop[1], "--type", "nope", "--column", "spend", "-o", tmp_path / "out.csv")
    assert ran.code == 2
    assert "no type 'nope'" in ran.err
