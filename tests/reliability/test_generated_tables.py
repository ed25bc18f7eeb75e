"""Tables of any cells: columns of every kind, gaps, quotes, line ends, any characters."""

import csv
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzzing import check_network
from hypothesis import HealthCheck, given, settings

from coembed.errors import InputError
from coembed.network import read, write
from coembed.network.columns import Cells
from coembed.network.columns.finding import find_kind
from coembed.network.readers.table_schema import read_schema, write_schema

LIGHT = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
HEAVY = settings(LIGHT, max_examples=3_000, derandomize=False)

text = st.text(st.characters(codec="utf-8"), max_size=12)
words = st.lists(st.sampled_from(["tea", "go", "chess", "sea", "boat", "book"]), max_size=5)
cell = st.one_of(
    text,
    st.integers(-(10**20), 10**20).map(str),
    st.floats(width=64).map(str),
    st.dates().map(str),
    st.sampled_from(["", "yes", "no", "true", "0", "NA", "nan", "unknown", '"', "1,5", "1.500,2", "01"]),
    words.map(";".join),
    words.map(" ".join),
)


def columns(rows: int) -> st.SearchStrategy[list[str]]:
    """Mostly alike, as columns are."""
    alike = st.one_of(
        st.just([f"p{i}" for i in range(rows)]),
        st.lists(st.sampled_from(["Oslo", "Rome", ""]), min_size=rows, max_size=rows),
        st.lists(st.integers(0, 99).map(str), min_size=rows, max_size=rows),
        st.lists(st.dates().map(str), min_size=rows, max_size=rows),
        st.lists(words.map(";".join), min_size=rows, max_size=rows),
    )
    return st.one_of(alike, st.lists(cell, min_size=rows, max_size=rows))


tables = st.integers(1, 8).flatmap(
    lambda rows: st.dictionaries(
        st.one_of(st.sampled_from(["id", "name", "label", "source", "target", "age"]), text),
        columns(rows),
        min_size=1,
        max_size=5,
    )
)


def as_csv(table: dict[str, list[str]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*table.values(), strict=True))
    return stream.getvalue()


def read_or_refused(reader: Callable[[Path], Any], path: Path) -> Any:
    """None if it was refused, in a line; any other exception is a find."""
    try:
        return reader(path)
    except InputError as error:
        told = str(error)
    assert "\n" not in told
    return None


def check_tables(table: dict[str, list[str]]) -> None:
    """Read as text and as Parquet; what was read comes back from a folder of arrays as it was."""
    folder = Path(tempfile.mkdtemp())
    (folder / "people.csv").write_bytes(as_csv(table).encode("utf-8"))
    pq.write_table(pa.table({name: list(cells) for name, cells in table.items()}), folder / "people.parquet")
    for name in ("people.csv", "people.parquet"):
        network = read_or_refused(read, folder / name)
        if network is None:
            continue
        check_network(network)
        write(network, folder / f"{name}.mapped")
        again = read(folder / f"{name}.mapped")
        assert repr(again) == repr(network)
        for relation in network.relations.values():
            assert (again.relation(relation.name).values != relation.values).nnz == 0
        for type, items in network.types.items():
            np.testing.assert_array_equal(np.asarray(again.types[type].ids), np.asarray(items.ids))


@LIGHT
@given(tables)
def test_any_table_is_read_or_refused(table):
    check_tables(table)


@pytest.mark.slow
@HEAVY
@given(tables)
def test_thousands_of_tables(table):
    check_tables(table)


def check_column(cells: list[str]) -> None:
    found = find_kind(Cells.of("x", cells))
    assert find_kind(Cells.of("x", cells)) == found
    assert found.kind in ("number", "category", "yes/no", "tags", "counts", "text", "date", "skip")


@LIGHT
@given(st.integers(1, 30).flatmap(columns))
def test_any_column_has_a_kind(cells):
    check_column(cells)


@pytest.mark.slow
@HEAVY
@given(st.integers(1, 300).flatmap(columns))
def test_thousands_of_columns(cells):
    check_column(cells)


plain = st.recursive(
    st.one_of(
        text, st.booleans(), st.integers(-9, 9), st.sampled_from(["people.csv", "id", "number", "key"])
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["file", "id", "title", "label", "columns", "kind", "of", "x"]), inner
        ),
    ),
    max_leaves=12,
)
schemas = st.dictionaries(st.sampled_from(["types", "relations", "name", "x"]), plain)


def as_toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{as_toml(str(k))} = {as_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    if isinstance(value, str):
        return '"' + "".join(c if c.isalnum() or c in "._ " else f"\\U{ord(c):08x}" for c in value) + '"'
    return str(value).lower()


@LIGHT
@given(schemas)
def test_any_schema_is_read_or_refused(record):
    path = Path(tempfile.mkdtemp()) / "network.toml"
    path.write_text("\n".join(f"{key} = {as_toml(value)}" for key, value in record.items()), "utf-8")
    schema = read_or_refused(read_schema, path)
    if schema is None:
        return
    path.write_text(write_schema(schema), "utf-8")
    assert read_schema(path) == schema


@pytest.mark.parametrize(
    "sent", ["x = " + "[" * 5000, "a." * 3000 + "b = 1", "\0", "x = 1979-99-99", "\ufeff"]
)
def test_strange_schemas_are_refused_or_read(sent, tmp_path):
    (tmp_path / "network.toml").write_text(sent, "utf-8")
    with pytest.raises(InputError):
        read_schema(tmp_path / "network.toml")
