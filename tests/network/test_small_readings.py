"""Small rules of readers, of which one can say what they must give."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coembed.errors import InputError
from coembed.network import Labels, read
from coembed.network.adapters.arrays import from_array
from coembed.network.columns import Cells, find_kind
from coembed.network.items import unique_names
from coembed.network.names import Names
from coembed.network.readers.named_table import names_columns
from coembed.network.readers.read import _check_paths
from coembed.network.readers.sheet import stream_parquet

from .test_rare_inputs import PEOPLE, folder_of


def test_minus_one_is_a_class_beside_classes_that_have_names(tmp_path) -> None:
    """Only among whole numbers does it say that a label is not known."""
    files = {"edges.csv": "a,b\nb,c\nc,d\n", "labels.csv": "a,red\nb,-1\nc,3\nd,red\n"}
    network = read(folder_of(tmp_path, files))
    assert set(network.class_names) == {"red", "-1", "3"}
    (tmp_path / "labels.csv").write_text("a,1\nb,-1\nc,3\nd,1\n")
    assert set(read(tmp_path).class_names) == {"1", "3"}


def test_a_first_row_of_words_is_a_header() -> None:
    words = [pa.chunked_array([["height", "tall", "low"]]), pa.chunked_array([["town", "Oslo", "Rome"]])]
    assert names_columns(["height", "town"], tuple(words))


def test_a_column_without_a_title_stays_if_anything_is_in_it(tmp_path) -> None:
    network = read(folder_of(tmp_path, {"people.csv": "id,age,\na,31,\nb,24,x\nc,55,y\nd,24,x\n"}))
    assert any("column3" in name for name in network.relations), network.relations
    (tmp_path / "people.csv").write_text("id,age,\na,31,\nb,24,\nc,55,\n")
    assert not any("column3" in name for name in read(tmp_path).relations)


def test_links_that_planetoid_lists_twice_are_counted_once_and_told(tmp_path) -> None:
    import pickle
    import shutil
    from pathlib import Path

    corpus = Path(__file__).parents[1] / "reliability" / "corpus" / "planetoid"
    shutil.copytree(corpus, tmp_path / "copy")
    place = tmp_path / "copy" / "ind.x.graph"
    graph = pickle.loads(place.read_bytes(), encoding="latin1")
    before = read(tmp_path / "copy").n_links
    node = next(node for node, others in graph.items() if others)
    graph[node] = [*graph[node], graph[node][0]]
    place.write_bytes(pickle.dumps(dict(graph), 2))
    again = read(tmp_path / "copy")
    assert again.n_links == before
    assert any("repeated link(s) were counted once" in said for said in again.notices)


def test_several_files_are_files_all_of_them(tmp_path) -> None:
    folder_of(tmp_path, {"a.csv": PEOPLE, "b.csv": PEOPLE})
    _check_paths([tmp_path / "a.csv", tmp_path / "b.csv"])
    _check_paths([tmp_path])
    with pytest.raises(InputError, match="is not a file; give one folder"):
        _check_paths([tmp_path / "a.csv", tmp_path])


def test_files_of_scan_that_keep_their_word_are_not_spoken_of(tmp_path) -> None:
    for listed in (2, 1):  # a link may be announced once and listed from both ends
        files = {"net.edge": f"#Nodes 3\n#Edges {listed}\n0 1\n1 {2 if listed == 2 else 0}\n"}
        files["net.node"] = "#Nodes 3\n#Attributes 2\n0 0\n1 1\n2 1\n"
        network = read(folder_of(tmp_path, files) / "net.edge")
        assert not [said for said in network.notices if "announces" in said]


@pytest.mark.parametrize("rows", [0, 1, 7])
def test_a_parquet_file_is_its_sheets(tmp_path, rows) -> None:
    table = pa.table(
        {"id": pa.array([f"a{i}" for i in range(rows)], pa.string()), "x": pa.array(range(rows))}
    )
    pq.write_table(table, tmp_path / "t.parquet")
    sheets = list(stream_parquet(tmp_path / "t.parquet", rows=3))
    assert [len(sheet.columns[0]) for sheet in sheets] == ([3, 3, 1] if rows == 7 else [rows])
    assert all(sheet.titles == ("id", "x") for sheet in sheets)


def test_a_schema_alone_names_the_files_beside_it(tmp_path) -> None:
    folder_of(tmp_path, {"people.csv": PEOPLE, "network.toml": '[types.people]\nfile = "people.csv"\n'})
    from coembed.network.readers.table_folder import _files_of
    from coembed.network.readers.table_schema import read_schema

    schema = read_schema(tmp_path / "network.toml")
    assert _files_of(schema, [], []) == [tmp_path / "people.csv"]
    said: list[str] = []
    assert _files_of(schema, [tmp_path / "people.csv", tmp_path / "other.csv"], said) == [
        tmp_path / "people.csv"
    ]
    assert said == ["other.csv not read: network.toml does not name them"]


def test_tags_of_items_that_are_not_there_are_left_out_and_told(tmp_path) -> None:
    schema = (
        '[types.people]\nfile = "people.csv"\n'
        '[types.people.columns]\nlikes = {file = "likes.csv", kind = "tags"}\n'
    )
    files = {
        "people.csv": PEOPLE,
        "likes.csv": "who,what\na,tea\nnobody,coffee\nb,tea\n",
        "network.toml": schema,
    }
    network = read(folder_of(tmp_path, files))
    (said,) = [each for each in network.notices if "likes.csv" in each]
    assert "1 row(s) of likes.csv name no people" in said
    assert "'nobody'" in said
    assert network.relation("likes").values.nnz == 2


def test_no_names_are_made_up_for_a_stray_label() -> None:
    with pytest.raises(InputError, match="classes"):
        Labels.build(np.array([0, 1, 2_000_000_000]))


def test_a_table_of_ids_alone_has_no_attributes(tmp_path) -> None:
    network = read(folder_of(tmp_path, {"edges.csv": "a,b\nb,c\n", "attributes.csv": "node\na\nb\n"}))
    assert (network.n_nodes, network.n_links, network.n_attributes) == (3, 2, 0)


def test_packed_names_are_kept_as_they_are_if_each_is_there_once() -> None:
    names = Names.of(["ann", "bob"])
    assert unique_names(names, 2, "node") is names
    with pytest.raises(InputError, match="'ann' occurs twice"):
        unique_names(Names.of(["ann", "ann"]), 2, "node")


@pytest.mark.parametrize("array", [np.zeros(3), np.zeros((2, 2, 2)), np.array([["a", "b"]])])
def test_an_array_that_is_no_matrix_of_numbers_is_refused(array) -> None:
    with pytest.raises(InputError, match="give a matrix of numbers"):
        from_array(array)


def test_texts_whose_parts_are_hardly_repeated_are_no_tags() -> None:
    """On average less than twice."""
    cells = ["a;b", "c;d", "e;f", "a;b", "c;d", "e"]
    assert find_kind(Cells.of("x", pa.array(cells))).kind != "tags"
    assert find_kind(Cells.of("x", pa.array([*cells, "e;f"]))).kind == "tags"
