"""A week with a shop's tables: what its people type, and what they get."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from coembed.fitted import load, save
from coembed.network import read
from coembed.settings import preset_settings
from coembed.training import fit


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """Sixty customers, in three segments by what they earn, and what they bought of twelve products."""
    folder = tmp_path_factory.mktemp("shop")
    rng = np.random.default_rng(0)
    customers, orders = ["customer_id,name,city,income,balance,segment"], ["customer_id,product_id"]
    for i in range(60):
        kind = i % 3
        city = ["Basel", "Lyon", "Rome"][kind if rng.random() < 0.8 else rng.integers(3)]
        balance = f"{rng.integers(100, 9999) / 100 + 20 * kind:.2f}"
        segment = ["private", "student", "office"][kind] if i % 4 else ""
        customers.append(
            f'c{i:02},Client {i},{city},"${20_000 * (kind + 1) + rng.integers(9000):,}",{balance},{segment}'
        )
        orders += [f"c{i:02},p{p:02}" for p in range(kind, 12, 3) if rng.random() < 0.6]
    products = ["product_id,price", *(f"p{p:02},{3.6 + p}" for p in range(12))]
    for name, lines in {"customers": customers, "orders": orders, "products": products}.items():
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="module")
def model(shop, tmp_path_factory):
    network = read(shop, labels=["customers.segment"])
    return save(fit(network, preset_settings("fast")), tmp_path_factory.mktemp("models") / "shop")


def rows(path):
    with path.open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("column", ["income", "balance"])
def test_a_known_cell_is_told_as_the_table_has_it(run, shop, model, tmp_path, column):
    assert (
        run("complete", model, "--column", column, "--type", "customers", "-o", tmp_path / "a.csv").code == 0
    )
    given = [float(row[column].strip("$").replace(",", "")) for row in rows(shop / "customers.csv")]
    assert [float(row["cell"]) for row in rows(tmp_path / "a.csv")] == given
    ran = run("complete", model, "--column", column, "--item", "c07", "--json")
    assert json.loads(ran.out)[0]["cell"] == given[7]
    ran = run("find", model, "type:customers", "-o", tmp_path / "b.csv")
    assert [float(row[column]) for row in rows(tmp_path / "b.csv")] == given


def test_a_list_of_known_ids_is_answered(run, model, tmp_path):
    (tmp_path / "some.csv").write_text("who\nc07\nc08\n")
    ran = run("predict", model, tmp_path / "some.csv", "--json")
    assert [row["title"] for row in json.loads(ran.out)] == ["Client 7", "Client 8"]
    told = {row["id"]: row["predicted"] for row in json.loads(ran.out)}
    assert told == dict(zip(["c07", "c08"], load(model).predict()[7:9], strict=True))
    (tmp_path / "none.csv").write_text("who\nanna\nbob\n")
    ran = run("predict", model, tmp_path / "none.csv")
    assert ran.code == 2
    assert "knows none of its columns" in ran.err


@pytest.mark.parametrize("command", [["complete", "--item", "c07"], ["why", "c07"]], ids=lambda each: each[0])
def test_who_asks_for_the_column_of_classes_is_told_where_to_ask(run, model, command):
    name, *rest = command
    ran = run(name, model, *rest, "--column", "segment")
    assert ran.code == 2
    assert "'segment' holds the classes of customers: ask predict" in ran.err


def test_sizes_of_an_honest_split_and_classes_that_can_only_be_missed_are_told(run, tmp_path):
    lines = [f"{i},{'a' if i < 20 else 'ab'[i % 2]},{i}" for i in range(40)]
    (tmp_path / "visits.csv").write_text("\n".join(["id,ill,day", *lines]) + "\n")
    asked = ("evaluate", tmp_path / "visits.csv", "--label", "ill", "--task", "classification")
    asked = (*asked, "--method", "majority", "--seeds", 1, "--labels", 0.5)
    ran = run(*asked, "--time", "day")
    assert "20 labels given and 20 asked" in ran.err
    assert "50% of those asked are of a class that none given has" in ran.err
    ran = run(*asked, "--group", "ill")
    assert ran.code == 2
    assert "'ill' is what is asked" in ran.err


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    """Visits, numbered in a column that is called neither id nor visits_id, with the day before the month."""
    folder = tmp_path_factory.mktemp("clinic")
    rng = np.random.default_rng(0)
    lines = ["visit,seen,ill"]
    for i in range(60):
        ill = i % 2
        lines.append(
            f"{1000 + i},{rng.integers(1, 29)}/{rng.integers(1, 4) + 8 * ill}/2024,{['no', 'yes'][ill]}"
        )
    (folder / "visits.csv").write_text("\n".join(lines) + "\n")
    network = read(folder / "visits.csv", labels=["ill"])
    return save(fit(network, preset_settings("fast")), folder / "model")


def test_new_rows_are_told_by_the_column_of_ids_of_training(run, clinic, tmp_path):
    (tmp_path / "new.csv").write_text("ward,visit,seen\nA,1003,7/3/2024\nB,2001,7/3/2024\n")
    told = run("predict", clinic, tmp_path / "new.csv", "--json")
    assert [(row["id"], row["new"]) for row in json.loads(told.out)] == [("1003", False), ("2001", True)]
    assert "numbered" not in told.err
    (tmp_path / "twice.csv").write_text("ward,visit,seen\nA,1003,7/3/2024\nA,1003,8/3/2024\n")
    assert "visit '1003' is that of" in run("predict", clinic, tmp_path / "twice.csv").err


def test_dates_of_new_rows_are_the_same_way_round_as_in_training(run, clinic, tmp_path):
    """The seventh of March, which alone could be the third of July."""
    (tmp_path / "new.csv").write_text("visit,seen\n2001,7/3/2024\n")
    (tmp_path / "iso.csv").write_text("visit,seen\n2001,2024-03-07\n")
    new, iso = (run("predict", clinic, tmp_path / name, "--json") for name in ("new.csv", "iso.csv"))
    assert new.out == iso.out
    assert "either way round" not in new.err
    (tmp_path / "gaps.csv").write_text("visit,seen\n1000,\n2001,7/3/2024\n")
    assert run("impute", clinic, tmp_path / "gaps.csv", "-o", tmp_path / "full.csv").code == 0
    filled = rows(tmp_path / "full.csv")[0]["seen"]
    expected = load(clinic).complete("1000", "seen")[0].score
    days = np.datetime64("1970-01-01") + np.timedelta64(round(expected), "D")
    assert filled == days.item().strftime("%d/%m/%Y")
