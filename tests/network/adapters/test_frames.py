"""Frames of any library are the tables that they hold."""

import numpy as np
import pyarrow as pa
import pytest

import coembed
from coembed.errors import InputError
from coembed.network.adapters.frames import as_table

COLUMNS = {
    "id": ["ann", "bob", "eve", "dan", "gil", "hal"],
    "age": [31, None, 24, 50, 41, 33],
    "town": ["Oslo", "Rome", None, "Oslo", "Rome", "Oslo"],
    "member": [True, False, None, True, True, False],
    "likes": [["chess"], ["golf", "chess"], None, [], ["golf"], ["chess"]],
}
CALLS = {"who": ["ann", "bob", "ann"], "whom": ["bob", "eve", "dan"]}


def same(one, other):
    assert list(one.types) == list(other.types)
    for name, items in one.types.items():
        assert list(items.ids) == list(other.types[name].ids)
    assert list(one.relations) == list(other.relations)
    for name, relation in one.relations.items():
        assert relation.column == other.relations[name].column
        assert relation.directed == other.relations[name].directed
        np.testing.assert_array_equal(relation.values.toarray(), other.relations[name].values.toarray())


@pytest.fixture
def expected():
    return coembed.network.from_tables({"people": pa.table(COLUMNS), "calls": pa.table(CALLS)})


def test_tables_of_pyarrow_and_plain_columns(expected):
    same(coembed.read({"people": pa.table(COLUMNS), "calls": CALLS}), expected)
    reader = pa.table(COLUMNS).to_reader()
    same(coembed.read({"people": reader, "calls": pa.RecordBatch.from_pydict(CALLS)}), expected)
    one = coembed.read(COLUMNS)
    assert list(one.main.ids) == COLUMNS["id"]
    assert one.main.name == "items"
    labelled = coembed.read(pa.table(COLUMNS), labels="town")
    assert labelled.main.labels.classes.tolist() == ["Oslo", "Rome"]


def test_rows_and_dates_of_numpy():
    rows = [{name: cells[i] for name, cells in COLUMNS.items()} for i in range(6)]
    del rows[1]["age"], rows[2]["town"]  # the same as None
    assert as_table("people", rows).to_pydict() == COLUMNS
    days = [np.datetime64("2013-01-01"), np.datetime64("2014-02-03")]
    assert as_table("people", {"since": days})["since"].to_pylist() == [day.item() for day in days]
    for strange in ([1, 2], [{"age": 1}, 2], 5, "people"):
        with pytest.raises(InputError, match="people cannot be read as a table"):
            as_table("people", strange)


def test_frames_of_pandas(expected):
    pandas = pytest.importorskip("pandas")
    people = pandas.DataFrame(COLUMNS)
    same(coembed.read({"people": people, "calls": pandas.DataFrame(CALLS)}), expected)
    people["town"] = people["town"].astype("category")
    same(coembed.read({"people": people.set_index("id"), "calls": pandas.DataFrame(CALLS)}), expected)
    bare = people.set_index("id").rename_axis(index=None)
    assert as_table("people", bare).column_names[0] == "id"
    # numbers of rows say nothing
    assert as_table("calls", pandas.DataFrame(CALLS)).column_names == ["who", "whom"]


def test_frames_of_polars(expected):
    polars = pytest.importorskip("polars")
    people, calls = polars.DataFrame(COLUMNS), polars.DataFrame(CALLS)
    same(coembed.read({"people": people, "calls": calls}), expected)
    people = people.with_columns(polars.col("town").cast(polars.Categorical))
    same(coembed.read({"people": people.lazy(), "calls": calls.lazy()}), expected)


def test_anything_that_hands_on_a_stream(expected):
    class Frame:
        def __init__(self, table):
            self.table = table

        def __arrow_c_stream__(self, requested_schema=None):
            return self.table.__arrow_c_stream__(requested_schema)

    same(coembed.read({"people": Frame(pa.table(COLUMNS)), "calls": Frame(pa.table(CALLS))}), expected)


def test_a_million_rows_keep_their_order():
    count = 1_000_000
    ids = pa.array(np.arange(count)[::-1].astype(str))
    table = pa.table({"id": ids, "size": np.sqrt(np.arange(count))})
    network = coembed.read(table)
    assert network.main.ids[0] == str(count - 1)
    size = network.relation("size")
    assert float(size.column.cell(size.values.data[123_456])) == pytest.approx(123_456**0.5, rel=1e-5)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (object(), "builtins.object is no network; give a path"),
        ({"a": [1], "b": [1, 2]}, "cannot be read as a table"),
        (7, "builtins.int is no network"),
        (np.array(["a"]), "give a matrix of numbers"),
    ],
)
def test_what_is_no_network_is_told(given, words):
    with pytest.raises(InputError, match=words):
        coembed.read(given)
    with pytest.raises(InputError, match="give one object"):
        coembed.read(pa.table(COLUMNS), "more.csv")
