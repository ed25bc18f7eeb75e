"""Parquet: the same tables with types."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coembed.errors import InputError
from coembed.network import read


def put(folder, **tables):
    for name, table in tables.items():
        pq.write_table(pa.table(table), folder / f"{name}.parquet")
    return folder


def test_typed_columns_become_names_and_numbers(tmp_path):
    network = read(
        put(
            tmp_path,
            edges={"source": [7, 8], "target": [8, 9], "weight": pa.array([1.5, 2.0], pa.float32())},
            attributes={
                "node": [7, 9],
                "attribute": pa.array(["x", "y"]).dictionary_encode(),
                "value": pa.array([1, 4], pa.int8()),
            },
            labels={"node": [7, 8, 9], "label": ["a", None, "b"]},
        )
    )
    by_name = {name: i for i, name in enumerate(network.node_names)}
    assert set(by_name) == {"7", "8", "9"}
    assert network.links[by_name["7"], by_name["8"]] == 1.5
    assert network.attributes[by_name["9"], network.attribute_index("y")] == 4
    assert network.labels[by_name["8"]] == -1


def test_a_wide_table(tmp_path):
    network = read(
        put(
            tmp_path,
            edges={"source": ["a"], "target": ["b"]},
            attributes={"node": ["a", "b"], "age": [30, None], "tall": [True, False], "town": ["Oslo", None]},
        )
    )
    assert list(network.attribute_names) == ["age", "tall", "town=Oslo"]
    np.testing.assert_array_equal(network.attributes.toarray(), [[30, 1, 1], [0, 0, 0]])


def test_a_single_file_is_told_by_content(tmp_path):
    put(tmp_path, edges={"source": ["a"], "target": ["b"]})
    (tmp_path / "edges.parquet").rename(tmp_path / "friends.dat")
    network = read(tmp_path / "friends.dat")
    assert (network.n_links, network.name) == (1, "friends")


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        (
            {"edges": {"source": ["a", None], "target": ["b", "c"]}},
            r"edges\.parquet, row 2: the node is empty",
        ),
        ({"edges": {"source": ["a"], "target": ["b"], "weight": [float("nan")]}}, "row 1: the weight is nan"),
        ({"edges": {"source": ["a"], "target": ["b"], "weight": ["heavy"]}}, "row 1: the weight 'heavy'"),
        ({"edges": {"source": [["a"]], "target": ["b"]}}, "holds list"),
        ({"edges": {"source": ["a"]}}, "a link needs two nodes"),
    ],
)
def test_broken_tables_are_explained(tmp_path, tables, said):
    with pytest.raises(InputError, match=said):
        read(put(tmp_path, **tables))


def test_truncated_files_are_explained(tmp_path):
    put(tmp_path, edges={"source": ["a"] * 99, "target": ["b"] * 99})
    file = tmp_path / "edges.parquet"
    whole = file.read_bytes()
    for size in (0, 3, 4, 20, len(whole) - 1):
        file.write_bytes(whole[:size])
        for path in (file, tmp_path):
            with pytest.raises(InputError, match=r"edges\.parquet"):
                read(path)
