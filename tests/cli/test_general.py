"""Commands that ask a model of several types."""

import csv
import io
import json
from types import SimpleNamespace

import numpy as np
import pytest
from pyarrow import parquet

from coembed.fitted import save


@pytest.fixture(scope="module")
def people(general, tmp_path_factory):
    return save(general, tmp_path_factory.mktemp("people") / "model")


def test_a_number_comes_in_its_unit_with_its_spread(run, people, general):
    ran = run("complete", people, "--item", "p001", "--column", "income")
    heading, line = ran.out.splitlines()
    assert heading.split("\t") == ["name", "income", "±", "cell"]
    name, value, spread, cell = line.split("\t")
    (match,) = general.complete("p001", "income")
    assert (name, float(cell.replace(",", ""))) == ("income", round(match.cell))
    assert float(value.replace(",", "")) == pytest.approx(match.score, abs=match.std / 10)
    assert float(spread.replace(",", "")) == pytest.approx(match.std, rel=0.06)
    (found,) = run("complete", people, "--item", "p001", "--column", "income", "--json").json
    assert (found["type"], found["title"], found["score"]) == ("person.columns", "income", match.score)


def test_a_category_comes_as_probabilities_with_titles(run, people):
    lines = run("complete", people, "--item", "p001", "--column", "city").out.splitlines()
    assert lines[0].split("\t") == ["name", "title", "probability", "±", "known"]
    assert {line.split("\t")[1] for line in lines[1:]} == {"Lille", "Oslo", "Rome", "Turin"}
    assert sum(float(line.split("\t")[2]) for line in lines[1:]) == pytest.approx(1, abs=0.01)


def test_classes_of_any_type_are_predicted(run, people, general, tmp_path):
    ran = run("predict", people, "--json")
    assert "film have some, too: choose with --type" in ran.err
    assert [row["id"] for row in ran.json] == list(general.network.items("person").ids)
    assert ran.json[2]["title"] == "Person 1"
    films = run("predict", people, "--type", "film", "--json").json
    assert [row["predicted"] for row in films] == list(general.predict("film"))
    assert run("predict", people, "--type", "film", "-o", tmp_path / "films.csv", "--unlabelled").code == 0
    with (tmp_path / "films.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["type"] for row in rows} == {"film"}
    assert len(rows) == np.count_nonzero(general.labels_of("film") < 0)


def test_relations_are_ranked_from_both_ends(run, people, general):
    for arguments, found in [
        (("links", "--item", "p001"), general.complete("p001", "follows")),
        (("links", "--node", "p001", "--backwards"), general.complete("p001", "follows", backwards=True)),
        (("links", "--item", "f001"), general.complete("f001", "saw")),
        (("links", "--item", "p001", "--relation", "saw"), general.complete("p001", "saw")),
        (("complete", "--item", "f001"), general.complete("f001")),
        (("nearest", "--item", "city=Oslo", "--to", "film"), general.nearest("city=Oslo", "film")),
    ]:
        command, *rest = arguments
        assert run(command, people, *rest, "--json").json == [match.as_dict() for match in found]
    assert "there is saw, too" in run("links", people, "--item", "p001").err


def test_profiles_go_from_items_to_their_attributes_and_back(run, people, general):
    assert run("profile", people, "f001", "--json").json == [
        match.as_dict() for match in general.nearest("f001", "film.columns")
    ]
    assert run("profile", people, "city=Oslo", "--json").json == [
        match.as_dict() for match in general.nearest("city=Oslo", "person")
    ]


@pytest.mark.parametrize("name", ["codes.csv", "codes.npz", "codes.vec", "codes.tsv", "map.png"])
def test_all_types_are_written(run, people, tmp_path, name):
    command = ["map", "--method", "pca"] if name.endswith("png") else ["export"]
    assert run(command[0], people, "-o", tmp_path / name, *command[1:]).code == 0
    assert (tmp_path / name).stat().st_size > 1000


def test_new_rows_are_predicted_from_a_file_or_from_standard_input(
    run, people, general, tmp_path, monkeypatch
):
    rows = "id,city,member,phone\nnew,Oslo,yes,1\np003,Rome,no,2\n"
    (tmp_path / "new.csv").write_text(rows)
    (tmp_path / "follows.csv").write_text("who,whom\nnew,p001\n")
    ran = run("predict", people, tmp_path / "new.csv", tmp_path / "follows.csv", "--json")
    new, known = ran.json
    assert (new["id"], new["new"], known["new"]) == ("new", True, False)
    assert known["probability"] == pytest.approx(general.predict_proba("person")[3].max())
    assert "'phone'" in ran.err
    as_new = run("predict", people, tmp_path / "new.csv", "--as-new", "--json").json[1]
    assert as_new["new"]
    assert as_new["probability"] != known["probability"]
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(rows.encode())))
    assert run("predict", people, "-", "-o", tmp_path / "out.parquet").code == 0
    assert parquet.read_table(tmp_path / "out.parquet").column("new").to_pylist() == [True, False]


def test_options_of_new_rows_and_of_known_ones_are_not_mixed(run, people, tmp_path):
    (tmp_path / "new.csv").write_text("id,city,member\nnew,Oslo,yes\n")
    assert run("predict", people, tmp_path / "new.csv", "--item", "p001").code == 2
    assert run("predict", people, "--as-new").code == 2
    assert run("predict", people, tmp_path / "new.csv", "-o", tmp_path / "out.doc").code == 2


def test_every_item_that_is_named_is_answered(run, people, general):
    found = run(
        "complete", people, "--item", "p001", "--item", "p003", "--relation", "saw", "-k", 2, "--json"
    ).json
    assert [each["item"] for each in found] == ["p001", "p003"]
    for each in found:
        expected = general.complete(each["item"], "saw", 2)
        assert [line["name"] for line in each["answers"]] == [match.name for match in expected]
    lines = run("links", people, "-i", "p001", "-i", "p003", "-r", "follows", "-k", 3).out.splitlines()
    assert lines[0].split("\t")[0] == "item"
    assert [line.split("\t")[0] for line in lines[1:]] == ["p001"] * 3 + ["p003"] * 3
    incomes = run(
        "complete", people, "--item", "p001", "--item", "p003", "--column", "income"
    ).out.splitlines()
    assert incomes[0].split("\t") == ["item", "name", "income", "±", "cell"]
    near = run("nearest", people, "--item", "p001", "--item", "p002", "--to", "film", "-k", 1, "--json").json
    assert [each["item"] for each in near] == ["p001", "p002"]
    ran = run("nearest", people, "--item", "p001", "--item", "f001")
    assert ran.code == 2
    assert "one type at a time" in ran.err


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".json"])
def test_all_items_at_once_go_to_a_file(run, people, general, tmp_path, ending, monkeypatch):
    monkeypatch.setattr("coembed.fitted.pair_candidates.AT_ONCE", 400)
    file = tmp_path / f"top{ending}"
    assert run("complete", people, "--relation", "saw", "-k", 2, "-o", file).code == 0
    if ending == ".parquet":
        rows = parquet.read_table(file).to_pylist()
    elif ending == ".json":
        rows = json.loads(file.read_text())
    else:
        with file.open(newline="") as stream:
            rows = list(csv.DictReader(stream, delimiter="\t" if ending == ".tsv" else ","))
    assert len(rows) == 120
    assert [row["name"] for row in rows[6:8]] == [match.name for match in general.complete("p003", "saw", 2)]
    assert run("links", people, "--type", "film", "-k", 1, "-o", file).code == 0
    assert run("complete", people, "--type", "person", "--column", "income", "-o", file).code == 0


def test_without_an_item_a_file_is_wanted(run, people, tmp_path):
    ran = run("complete", people, "--relation", "saw")
    assert ran.code == 2
    assert "give an item" in ran.err
    assert run("complete", people, "--relation", "saw", "-o", tmp_path / "top.doc").code == 2
    assert not list(tmp_path.iterdir())


def test_why_is_told_of_classes_relations_and_cells(run, people, general):
    ran = run("why", people, "p001", "--column", "income", "-k", 2)
    rows = [line.split("\t") for line in ran.out.splitlines()]
    assert rows[0] == ["because of", "by", "contribution", "alone left out"]
    assert rows[-1][0] == "= income"
    *given, claimed = [float(row[2].replace(",", "")) for row in rows[1:]]
    assert claimed == pytest.approx(general.complete("p001", "income")[0].score, abs=0.6)
    assert sum(given) == pytest.approx(claimed, abs=0.6 * len(given))
    found = run("why", people, "p001", "--relation", "saw", "--target", "f001", "--json").json
    assert (found["item"], found["relation"], found["target"]) == ("p001", "saw", "f001")
    assert found["claimed"] == pytest.approx(float(general.score("saw", [[1, 1]])[0]))
    assert "= class" in run("why", people, "f001", "--class", "drama").out
    for wrong, words in [
        (("f001", "--class", "dramas"), "did you mean 'drama'"),
        (("f001", "--class", "drama", "--relation", "saw"), "one at a time"),
        (("city=Oslo",), "is an attribute"),
        (("p001", "--column", "city", "--target", "Osla"), "did you mean 'Oslo'"),
    ]:
        refused = run("why", people, *wrong)
        assert (refused.code, refused.out) == (2, "")
        assert words in refused.err
