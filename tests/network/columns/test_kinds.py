"""Every kind of column: its attributes, its values, what is unknown, and the way back to cells."""

import numpy as np
import pyarrow as pa
import pytest

from coembed.errors import InputError
from coembed.network.columns import KINDS, Cells, code_column
from coembed.network.columns.dates import parse_dates
from coembed.network.columns.numbers import FARTHEST, as_learnt, parse_numbers


def coded(kind, cells, name="x"):
    [(coding, matrix)] = code_column(Cells.of(name, cells), kind, parts=False)
    return coding, matrix


class TestNumbers:
    def test_the_way_back_leads_to_the_cells(self):
        rng = np.random.default_rng(0)
        for cells in (rng.normal(50, 9, 500), rng.lognormal(8, 1, 500), -rng.lognormal(2, 1, 500)):
            coding, matrix = coded("number", cells)
            back = coding.column.cell(matrix.data.astype(float))
            near = np.abs(matrix.data) < FARTHEST
            np.testing.assert_allclose(back[near], cells[near], rtol=1e-4)
        assert coded("number", rng.lognormal(8, 1, 500))[0].column.log

    def test_a_known_median_is_stored_and_an_empty_cell_is_not(self):
        coding, matrix = coded("number", ["1", "2", "3", "", "n/a"])
        assert coding.column.center == 2
        assert matrix.nnz == 3
        assert matrix.data.tolist()[1] == 0
        assert np.diff(matrix.indptr).tolist() == [1, 1, 1, 0, 0]

    def test_the_scale_is_robust_and_never_zero(self):
        steady = coded("number", [1.0] * 90 + [5.0] * 10)[0].column
        assert steady.scale == pytest.approx(1.2)  # the quartiles are one: the deviation
        wild = coded("number", [*np.linspace(-1, 1, 999), 1e9])[1]
        assert np.abs(wild.data).max() == FARTHEST

    def test_whole_numbers_are_told(self):
        assert coded("number", ["1", "2.0"])[0].column.whole
        assert not coded("number", ["1", "2.5"])[0].column.whole

    def test_what_was_taken_as_unknown_is_said(self):
        coding, matrix = coded("number", ["1", "2", "<5", "inf"])
        assert matrix.nnz == 2
        assert coding.notices == (
            "1 cell(s) are infinite and were taken as unknown",
            "1 cell(s) such as '<5' are no numbers: taken as unknown",
        )

    def test_typed_numbers_equal_texts(self):
        typed = pa.array([1.5, None, 3.0, float("nan")])
        np.testing.assert_array_equal(
            coded("number", typed)[1].toarray(), coded("number", ["1.5", "", "3.0", "nan"])[1].toarray()
        )

    def test_a_column_without_numbers_is_refused(self):
        with pytest.raises(InputError, match="'x' holds no number"):
            coded("number", ["a", "b"])


class TestCategories:
    def test_one_attribute_a_value(self):
        coding, matrix = coded("category", ["b", "a", "", "b", "NA"], "town")
        assert coding.ids == ["town=a", "town=b"]
        assert matrix.toarray().tolist() == [[0, 1], [1, 0], [0, 0], [0, 1], [0, 0]]

    def test_numbered_values_are_in_order(self):
        assert coded("category", ["10", "9", "9"])[0].titles == ("9", "10")

    def test_the_rarest_of_too_many_are_other(self):
        coding, matrix = coded("category", [*(f"v{i}" for i in range(1500)), *(f"v{i}" for i in range(700))])
        assert len(coding.titles) == 1000
        assert coding.titles[-1] == "other"
        assert matrix.sum() == 2200
        assert matrix[:, [999]].sum() == 501
        assert "501 cell(s) are 'other'" in coding.notices[0]

    def test_a_new_value_is_unknown_or_other(self):
        kind = KINDS["category"]
        coding = kind.learn(Cells.of("x", ["a", "b"]))
        assert kind.values(Cells.of("x", ["c", "b"]), coding).toarray().tolist() == [[0, 0], [0, 1]]


def test_yes_and_no_are_both_stored():
    coding, matrix = coded("yes/no", ["Yes", "no", "", "NO"], "member")
    assert coding.ids == ["member"]
    assert matrix.data.tolist() == [1, 0, 0]
    assert np.diff(matrix.indptr).tolist() == [1, 1, 0, 1]
    assert coded("yes/no", pa.array([True, None, False]))[1].data.tolist() == [1, 0]
    with pytest.raises(InputError, match="'maybe', which is neither yes nor no"):
        coded("yes/no", ["yes", "maybe"])


def test_tags_are_present_once_however_they_are_separated():
    for cells in (
        ["a;b", "", "b; b;"],
        ["a|b", "", "b|b"],
        ["a, b", "", "b,b"],
        pa.array([["a", "b"], None, ["b", "b"]]),
    ):
        coding, matrix = coded("tags", cells)
        assert coding.ids == ["x=a", "x=b"]
        assert matrix.toarray().tolist() == [[1, 1], [0, 0], [0, 1]]


def test_no_word_is_missing_among_tags_and_texts():
    assert coded("tags", ["none;na", "unknown"])[0].titles == ("na", "none", "unknown")
    assert coded("text", ["unknown soldier", "soldier unknown", "x y", "z z"])[0].titles == (
        "soldier",
        "unknown",
    )


def test_counts_are_values():
    coding, matrix = coded("counts", ["red:3; blue:1.5", "red:2", "blue"])
    assert coding.titles == ("blue", "red")
    assert matrix.toarray().tolist() == [[1.5, 3], [0, 2], [1, 0]]


def test_text_is_its_words():
    coding, matrix = coded("text", ["The red, red house", "a HOUSE of cards", "cards!", "nothing"])
    assert coding.titles == ("cards", "house")  # red is in one row only, nothing too
    assert matrix.toarray().tolist() == [[0, 1], [1, 1], [1, 0], [0, 0]]
    assert coded("text", ["red red", "red", "x y", "z q", "r s"])[1].toarray()[0].tolist() == [2]


def test_words_of_more_than_half_of_the_rows_tell_nothing():
    assert coded("text", ["same one", "same two", "same two", "one"])[0].titles == ("two",)


@pytest.mark.parametrize(
    "cells",
    [
        ["2024-01-31", "2024-02-01", ""],
        ["2024/01/31", "2024/02/01", "NA"],
        ["31.01.2024", "1.2.2024", "?"],
        ["31/01/2024", "01/02/2024", ""],
        ["01/31/2024", "02/01/2024", ""],
        ["31 Jan 2024", "1 Feb 2024", ""],
        ["Jan 31, 2024", "Feb 1, 2024", ""],
        ["2024-01-31T00:00:00Z", "2024-02-01 00:00", ""],
        pa.array([19753, 19754, None], pa.date32()),
    ],
)
def test_dates_of_all_usual_forms(cells):
    coding, matrix = coded("date", cells)
    assert coding.column.whole
    np.testing.assert_allclose(coding.column.cell(matrix.data), [19753, 19754], rtol=1e-6)
    assert matrix.shape == (3, 1)


def test_month_and_weekday_where_they_vary():
    parts = code_column(Cells.of("joined", ["2024-01-31", "2024-02-01", ""]), "date")
    assert [coding.column.name for coding, _ in parts] == ["joined", "joined.month", "joined.weekday"]
    assert parts[1][0].ids == ["joined.month=January", "joined.month=February"]
    assert parts[2][0].titles == ("Wednesday", "Thursday")
    assert parts[2][1].toarray().tolist() == [[1, 0], [0, 1], [0, 0]]
    assert len(code_column(Cells.of("day", ["2024-01-03", "2024-01-10"]), "date")) == 1


def test_day_and_month_that_could_be_either_are_said():
    coding, _ = coded("date", ["01/02/2024", "03/04/2024"])
    assert "month/day/year" in coding.notices[0]


@pytest.mark.parametrize("kind", ["number", "category", "yes/no", "tags", "text", "date"])
def test_new_cells_are_coded_as_the_first_were(kind):
    cells = {
        "number": ["1", "5", "", "9"],
        "category": ["a", "b", "", "a"],
        "yes/no": ["yes", "no", "", "no"],
        "tags": ["a;b", "b", "", "a"],
        "text": ["red house", "red car", "", "blue house"],
        "date": ["2024-01-01", "2024-05-01", "", "2023-01-01"],
    }[kind]
    coding, matrix = coded(kind, cells)
    again = KINDS[kind].values(Cells.of("x", cells[::-1]), coding)
    np.testing.assert_array_equal(again.toarray(), matrix.toarray()[::-1])
    assert again.shape[1] == len(coding.titles) == coding.column.stop


def test_a_sign_for_an_empty_cell_is_no_tag():
    coding, matrix = coded("tags", ["red;blue", "-", "n/a", "red", "-;red"])
    assert coding.titles == ("-", "blue", "red")  # within a list it is one
    assert np.diff(matrix.indptr).tolist() == [2, 0, 0, 1, 2]


@pytest.mark.parametrize(
    ("cells", "tags"),
    [
        (["a|b", "b|c", ";"], ("a", "b", "c")),  # ; alone says: none
        (["a|b"] * 60 + ["x;y"], ("a", "b", "x;y")),  # not by what hardly any cell has
        (["a;b,c", "b,c;a"], ("a", "b,c")),
        (["a;", "b;"], ("a", "b")),
    ],
)
def test_tags_are_parted_by_what_parts_many(cells, tags):
    assert coded("tags", cells)[0].titles == tags


def test_new_numbers_are_read_with_the_marks_of_the_column():
    sales = ["1.234,5", "9.310,97", "15.720,07", "890,1"]
    coding = coded("number", sales)[0]
    for text, number in (("9.500", 9500.0), ("9,500", 9500.0), ("812", 812.0), ("1.000,5", 1000.5)):
        cells = as_learnt(Cells.of("x", [text, ""]), coding)
        assert parse_numbers(cells)[0] == number
    small = coded("number", ["0.5", "1.25", "2.125", "9.75"])[0]
    assert parse_numbers(as_learnt(Cells.of("x", ["1.500", "2,250"]), small))[0] == 1.5
    assert parse_numbers(as_learnt(Cells.of("x", ["n/a"]), small)).tolist() == pytest.approx(
        [np.nan], nan_ok=True
    )


@pytest.mark.parametrize(
    ("cells", "days"),
    [
        (["01.02.1970", "1970-01-03", "soon", "later"], [31, 2, np.nan, np.nan]),
        (["31.02.1970", "30/02/1970", "1970-02-30", "Feb 30, 1970"], [np.nan] * 4),
        (["1970-02-30", "1970-02-28", "7 Feb 1970", "7-Sep-1970"], [np.nan, 58, 37, 249]),
    ],
)
def test_dates_of_several_forms_and_no_dates_beside_each_other(cells, days):
    np.testing.assert_array_equal(parse_dates(Cells.of("x", cells)), days)


def test_a_text_of_which_no_word_is_in_two_rows_says_so():
    coding, matrix = coded("text", ["red house", "green tree", "blue sky"])
    assert coding.titles == ()
    assert matrix.nnz == 0
    assert coding.notices == ("none of its 6 words is in 2 rows: nothing is left of it",)
    assert coded("text", ["red house", "red tree", "blue sky", "x y"])[0].notices == ()


def test_whole_numbers_beyond_those_of_floats_are_the_next_float():
    found = parse_numbers(Cells.of("x", pa.chunked_array([pa.array([2**53 + 1, 3])])))
    assert found.tolist() == [2.0**53, 3.0]
