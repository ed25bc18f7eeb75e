"""Commands on tables: what was found is shown, written as a schema, and overruled."""

import json

import pytest

SHOP = {
    "customers.csv": "id,age,city,nick\n" + "".join(
        f"c{i},{20 + i % 9},{'Oslo' if i % 2 else 'Rome'},nick{i}\n" for i in range(20)
    ),
    "friends.csv": "a,b\nc1,c2\nc2,c3\nc5,c6\n",
}  # fmt: skip


@pytest.fixture
def shop(tmp_path):
    folder = tmp_path / "shop"
    folder.mkdir()
    for name, text in SHOP.items():
        (folder / name).write_text(text)
    return folder


def test_info_shows_types_relations_columns_and_what_was_left_out(run, shop):
    result = run("info", shop)
    lines = [line.split("\t") for line in result.out.splitlines()]
    assert ["customers", "20", "", ""] in lines
    assert ["friends", "customers", "customers", "3", "yes"] in lines
    assert ["customers.age", "number", "20 to 28", "0.0%"] in lines
    assert ["customers.city", "category", "2", "0.0%"] in lines
    assert "column 'nick' was left out: nearly every cell is different" in result.err
    assert "--label customers.city" in result.err


def test_info_as_data(run, shop):
    figures = run("info", shop, "--label", "city", "--as", "age=category", "--json").json
    assert figures["types"][0]["class_sizes"] == {"Oslo": 10, "Rome": 10}
    assert [column["kind"] for column in figures["columns"]] == ["category"]
    assert figures["relations"][0]["directed"] is True
    assert json.loads(json.dumps(figures)) == figures


def test_a_schema_is_written_and_used(run, shop):
    text = run("info", shop, "--schema").out
    assert "[types.customers]" in text
    assert 'nick = "skip"' in text
    run("info", shop, "--schema", "-o", shop / "network.toml")
    assert (shop / "network.toml").read_text() == text
    (shop / "network.toml").write_text(text.replace('# label = "city"', 'label = "city"'))
    assert run("info", shop, "--json").json["types"][0]["labelled"] == 20


def test_any_network_is_converted(run, shop, tmp_path):
    for target in ("shop.mapped", "again", "again.parquet"):
        assert (
            "20 customers, 1 relations, 1 columns"
            in run("convert", shop, tmp_path / target, "--label", "city").err
        )
        assert run("info", tmp_path / target, "--json").json["types"][0]["labelled"] == 20


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--as", "age"], "--as age: give a column and its kind"),
        (["--as", "age=digits"], "no kind of column for age"),
        (["--label", "town"], "no column for the label 'town'"),
    ],
)
def test_mistakes_are_explained(run, shop, words, said):
    result = run("info", shop, *words)
    assert result.code == 2
    assert said in result.err


@pytest.mark.parametrize("label", [(), ("--label", "customers.city")])
def test_what_to_do_next_with_a_model_is_something_it_can_do(run, shop, tmp_path, label):
    trained = run("train", shop, "-o", tmp_path / "model", "--preset", "fast", "--no-compare", *label)
    assert trained.code == 0, trained.err
    assert ("coembed predict" in trained.err) == bool(label)
