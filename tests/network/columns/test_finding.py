"""Which kind a column is: each rule once."""

import numpy as np
import pyarrow as pa
import pytest

from coembed.errors import InputError
from coembed.network.columns import Cells, check_kind, find_kind

RNG = np.random.default_rng(0)
NAMES = [f"nick{i}" for i in range(40)]
SENTENCES = [f"this is sentence number {i} of many" for i in range(40)]


@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        ("number", ["1.5", "2", "", "NA", "-", "?", "unknown"]),
        ("number", ["1", "2", "3", "4", "5"] * 5),  # a rating
        ("number", ["1,5", "2,25", "3"]),
        ("number", pa.array([1, 2, None])),
        ("number", [*map(str, range(100, 200)), "<5"]),
        ("category", ["1", "2", "3", "A"] * 3),  # few numbers: a code
        ("category", ["01234", "99999", "01234", "99999"]),
        ("category", ["Oslo", "Rome", "Oslo", "n/a"]),
        ("category", pa.array(["a", "b", "a"]).dictionary_encode()),
        ("yes/no", ["true", "False", ""]),
        ("yes/no", ["yes", "no", "No"]),
        ("yes/no", ["0", "1", "1"]),
        ("yes/no", pa.array([True, False, None])),
        ("yes/no", pa.array([1.0, 0.0, None])),
        ("tags", ["a;b", "b", "a;c", "c"]),
        ("tags", ["8", "8;9;10", "9;10", "10"]),
        ("tags", ["a|b", "b", "a|c", "c"]),
        ("tags", ["red wine, beer", "beer", "red wine"] * 4),
        ("tags", pa.array([["a"], ["a", "b"]])),
        ("counts", ["a:1;b:2", "b:2", "a:1"] * 2),
        ("text", SENTENCES),
        ("text", ["one of them; which is long enough", "another one; also not short"]),
        ("date", ["2024-01-31", "2023-12-24", "NA"]),
        ("date", ["31.12.2024", "1.2.2023"]),
        ("date", ["31.12.24", "1.2.23"]),
        ("date", ["20241231", "20230201"]),
        ("date", pa.array([20241231, 20230201])),
        ("date", ["12/31/2024 3:04 PM", "1/2/2023 11:00 am"]),
        ("date", ["31-Dec-2024", "01-Feb-2023"]),
        ("date", ["Dec 31 2024", "Feb 1, 2023"]),
        ("date", pa.array([1, 2], pa.timestamp("s"))),
        ("number", ["$1,200.50", "$3.00", "n.a.", "#N/A"]),
        ("number", ["75.4 %", "3 %"]),
        ("number", ["1.234,50 €", "7,25 €", "3 €"]),
        ("number", ["12 345,6", "7"]),
        ("number", ["40 kg", "41 kg", "40 kg"]),
        ("number", ["(20)", "30", "\u22124"]),
        ("number", [*map(str, range(100, 200)), *["not measured"] * 30]),
        ("category", ["12 A", "12 B", "12 A", "12 B"]),  # no unit: doors of a house
        ("yes/no", ["ja", "nein", "Ja"]),
        ("yes/no", ["oui", "non", ""]),
        ("tags", ["x", "", "x", ""]),  # a mark
        ("tags", ["['a', 'b']", "['b', 'a']", "['b']", "[]"]),
    ],
)
def test_kinds(kind, cells):
    assert find_kind(Cells.of("x", cells)).kind == kind


@pytest.mark.parametrize(
    ("why", "cells"),
    [
        ("all cells are empty", ["", "NA", "-"]),
        ("all known cells are 'x'", ["x", "x", "x"]),
        ("all known cells are 'Oslo'", ["Oslo", "Oslo", ""]),
        ("all known cells are '1'", ["1", "1.0", ""]),
        ("it counts the rows", [str(i) for i in range(10)]),
        ("nearly every cell is different, such as 'nick0'", NAMES),
        ("addresses, such as 'https://a.org/1'", ["https://a.org/1", "https://a.org/2", "https://b.org"]),
        ("addresses", ["ann@a.org", "bob@b.org"]),
        ("lists of double", pa.array([[1.0, 2.0], [0.5]])),
        ("its cells are struct", pa.array([{"a": 1}])),
        ("its cells are time", pa.array([1], pa.time32("s"))),
    ],
)
def test_what_is_left_out_says_why(why, cells):
    found = find_kind(Cells.of("x", cells))
    assert found.kind == "skip"
    assert why in found.why


def test_numbers_that_name_something_are_no_quantities():
    shops = [str(7 * i % 90) for i in range(900)]
    assert find_kind(Cells.of("visits", shops)).kind == "number"
    for name in ("shop_id", "ZIP", "area code", "postcode"):
        assert find_kind(Cells.of(name, shops)).kind == "category"
    phones = [str(7_000_000 + 13 * i) for i in range(50)]
    assert find_kind(Cells.of("phone", phones)).kind == "skip"
    assert find_kind(Cells.of("income", phones)).kind == "number"


def test_texts_with_commas_are_no_tags():
    assert find_kind(Cells.of("x", [f"{text}, and more of it" for text in SENTENCES])).kind == "text"


def test_short_cells_of_which_most_repeat_are_categories():
    assert find_kind(Cells.of("x", [f"town {i // 2}" for i in range(40)])).kind == "category"


def test_a_kind_that_is_not_known_names_the_nearest():
    assert check_kind("number", "age") == "number"
    with pytest.raises(InputError, match="did you mean 'number'"):
        check_kind("numbers", "age")


def test_a_comma_in_a_name_makes_no_list():
    towns = ["Wien, 1. Bezirk", "Lille", "Rome", "Wien, 1. Bezirk"] * 9
    assert find_kind(Cells.of("town", towns)).kind == "category"
    places = ["Paris, France", "Lyon, France", "Rome, Italy", "Milan, Italy"] * 9
    assert find_kind(Cells.of("place", places)).kind == "category"
    assert find_kind(Cells.of("likes", ["go, chess", "bridge, go", "chess"] * 9)).kind == "tags"
