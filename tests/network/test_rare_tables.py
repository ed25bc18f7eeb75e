"""Rare columns, keys, records and files, one for each line of a reader that seldom runs."""

from __future__ import annotations

import pickle
import struct
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network import Column, Items, Labels, Network, Relation, from_tables, load_split, read, write
from coembed.network.readers import label_column
from coembed.network.readers.delimited_text import (
    _explained,
    _layout,
    _line_of_row,
    _widths,
    read_text,
    stream_text,
)
from coembed.network.readers.keys import (
    Ids,
    id_column,
    is_named_after,
    is_unique,
    nearly_key_of,
    nearly_unique,
)
from coembed.network.readers.mapped import open_mapped
from coembed.network.readers.mapped_arrays import ArrayFile, check_texts
from coembed.network.readers.matlab_file import _full, _sparse
from coembed.network.readers.named_table import named_table
from coembed.network.readers.plain_pickle import read_pickle
from coembed.network.readers.read import find_tables
from coembed.network.readers.scan_text import siblings
from coembed.network.readers.sheet import _as_numbers
from coembed.network.readers.side_column import read_sides
from coembed.network.readers.write_tables import _as_cells
from coembed.records import pack, unpack

from .test_rare_inputs import PEOPLE, folder_of


def table_of(**columns):
    return named_table("people", pa.table(columns))


def test_lists_are_neither_keys_nor_ids() -> None:
    lists = table_of(id=["a", "b", "c"], likes=[["x"], ["y"], ["x"]])
    ids = Ids.of("people", lists.columns["id"])
    assert nearly_key_of(lists.columns["likes"], [ids]) is None
    assert not is_unique(lists, "likes")
    assert nearly_unique(lists) is None
    assert ids.share(pa.array([], pa.large_string())) == 0.0


def test_what_counts_or_measures_is_no_id() -> None:
    assert id_column(table_of(day=["2021-01-03", "2021-02-04", "2021-03-05"], x=[1, 1, 2])) is None
    assert id_column(table_of(height=["1.5", "2.5", "3.25"], x=["u", "u", "v"])) is None
    assert id_column(table_of(sku=["k1", "k2", "k3"], x=["u", "u", "v"])) == "sku"


def test_a_column_called_as_the_ids_of_a_table_is_about_it() -> None:
    table = table_of(sku=["k1", "k2"])
    assert is_named_after("sku", Ids.of("people", table.columns["sku"]))
    assert not is_named_after("id", Ids.of("people", table_of(id=["k1", "k2"]).columns["id"]))


@pytest.mark.parametrize("read_it", [read_text, lambda path: list(stream_text(path))])
def test_quotes_over_several_lines_are_told_with_their_line(tmp_path, read_it) -> None:
    place = tmp_path / "t.csv"
    place.write_text('a,b\n"x\ny",c\nd,e\n')
    with pytest.raises(InputError, match=r"line [23]: .*(several lines|columns)"):
        read_it(place)
    place.write_text('a,b\nx,y\n"d,e\nf,g\n')
    with pytest.raises(InputError, match=r"quote|columns"):
        read_it(place)
    place.write_text('a,b\nx,"y"z"\nd,e\n')
    with pytest.raises(InputError, match="quote"):
        read_it(place)


def test_a_field_too_long_for_a_delimiter_is_none(tmp_path) -> None:
    assert _widths(["x" * 200_000 + ",y"], ",") == [1]


def test_a_row_beyond_the_last_is_told_by_its_number(tmp_path) -> None:
    place = tmp_path / "t.csv"
    place.write_text("a,b\nx,y\n")
    assert _line_of_row(place, _layout(place, None), 1) == 2
    assert _line_of_row(place, _layout(place, None), 7) == 8


def test_an_unreadable_record_of_a_mapped_network_is_told(tmp_path, demo) -> None:
    place = tmp_path / "net.mapped"
    write(demo, place)
    (place / "network.json").write_text("{")
    with pytest.raises(InputError, match="cannot be read"):
        open_mapped(place)


def test_matrices_of_matlab_are_whole() -> None:
    for pieces, shape in (([], (2, 2)), ([np.zeros(3)], (2, 2)), ([np.zeros(2)], (-1, -2))):
        with pytest.raises(ValueError, match="does not have"):
            _full(pieces, shape)
    np.testing.assert_array_equal(_full([np.arange(4.0)], (2, 2)), [[0, 2], [1, 3]])
    whole = [np.array([0, 1]), np.array([0, 1, 2]), np.array([5.0, 7.0])]
    with pytest.raises(ValueError, match="not whole"):
        _sparse(whole[:2], (2, 2))
    with pytest.raises(ValueError, match="fewer entries"):
        _sparse([whole[0], np.array([0, 1, 3]), whole[2]], (2, 2))
    np.testing.assert_array_equal(_sparse(whole, (2, 2)).toarray(), [[5, 0], [0, 7]])


def test_pickles_of_numbers_and_far_references(tmp_path) -> None:
    place = tmp_path / "p"
    place.write_bytes(pickle.dumps({"x": np.float64(2.5)}, 2))
    assert read_pickle(place) == {"x": 2.5}
    place.write_bytes(b"\x80\x02K\x01r\xff\xff\xff\x7f.")
    with pytest.raises(InputError, match="more parts than it has bytes"):
        read_pickle(place)


def test_files_of_scan_stand_beside_those_of_their_ending_only(tmp_path) -> None:
    folder_of(tmp_path, {"net.edge": "0 1\n", "net.node": "0 0\n", "net.txt": "x\n"})
    assert siblings(tmp_path / "net.txt") == [tmp_path / "net.txt"]
    assert siblings(tmp_path / "net.edge") == [tmp_path / "net.edge", tmp_path / "net.node"]


def test_sides_are_told_by_single_values_of_a_table_that_is_there() -> None:
    table = table_of(id=["a", "b", "c"], team=["u", "v", "u"], likes=[["x"], ["y"], []])
    schema = SimpleNamespace(types={"people": SimpleNamespace(file="people", id="id", label="mood")})
    found = SimpleNamespace(schema=schema, tables={"people": table})
    network = Network.of([Items.build("people", ["a", "b", "c"])], [])
    for type, column, said in (
        ("pets", "team", "table"),
        ("people", "club", "column of people"),
        ("people", "likes", "split by a column of single values"),
        ("people", "mood", "leave no label of any class"),
    ):
        with pytest.raises(InputError, match=said):
            read_sides(found, network, type, "group", column)
    with pytest.raises(InputError, match="neither dates nor numbers"):
        read_sides(found, network, "people", "time", "team")
    assert read_sides(found, network, "people", "group", "people.team") is not None


def test_too_many_cells_of_classes_are_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(label_column, "MOST_CELLS", 3)
    files = {"people.csv": "id,groups,x\na,u;v,1\nb,v,2\nc,u;w,3\nd,u,4\n"}
    with pytest.raises(InputError, match="too many"):
        read(folder_of(tmp_path, files), labels="groups")


def test_rows_that_are_there_twice_may_hold_lists() -> None:
    once = from_tables(
        {"people": pa.table({"id": ["a", "b", "c", "a"], "likes": [["x"], ["y"], ["x"], ["x"]]})}
    )
    assert len(once.main) == 3
    with pytest.raises(InputError, match="differs"):
        from_tables({"people": pa.table({"id": ["a", "b", "c", "a"], "likes": [["x"], ["y"], ["x"], ["z"]]})})


def test_a_schema_of_tables_names_those_given(tmp_path) -> None:
    folder_of(tmp_path, {"network.toml": '[types.people]\nfile = "people"\n[types.pets]\nfile = "pets"\n'})
    with pytest.raises(InputError, match="there is no table 'pets'"):
        from_tables({"people": pa.table({"id": ["a", "b"], "x": [1, 2]})}, schema=tmp_path / "network.toml")


def test_what_tables_cannot_say_is_not_written_as_tables(tmp_path) -> None:
    people, words = Items.build("people", 3), Items.build("words", 4)
    column = Column("likes", "tags", 0, 4)
    likes = Relation.build("likes", "people", "words", np.eye(3, 4), column=column)
    labelled = Items.build("words", 4, labels=Labels.build([0, 1, 0, 1]))
    near = Relation.build("near", "words", "words", np.eye(4, k=1))
    joined = Relation.build("near", "people", "words", np.eye(3, 4))
    same = Items.build("words", 4, titles=["u", "u", "v", "w"])
    many = Relation.build("likes", "people", "words", 2.0 * np.eye(3, 4), column=column)
    for types, relations, said in (
        ([people, labelled], [likes], "more than the attributes of people"),
        ([people, words], [likes, near], "joins attributes|more than the attributes"),
        ([people, words], [likes, joined], "joins attributes|more than the attributes"),
        ([people, same], [many], "two attributes of likes have one title"),
    ):
        with pytest.raises(InputError, match=said):
            write(Network.of(types, relations, "net"), tmp_path / "net")
        assert not (tmp_path / "net").exists()


def test_tags_with_the_marks_that_part_them_are_listed_apart(tmp_path) -> None:
    words = Items.build("people.attributes", 3, titles=["a;b", "c", "d"])
    column = Column("likes", "tags", 0, 3)
    likes = Relation.build("likes", "people", "people.attributes", np.eye(3), column=column)
    network = Network.of([Items.build("people", ["x", "y", "z"]), words], [likes], "net")
    write(network, tmp_path / "net")
    again = read(tmp_path / "net")
    assert (again.relation("likes").values != network.relation("likes").values).nnz == 0
    titles = again.items("people.attributes")
    assert [titles.title(i) for i in range(3)] == ["a;b", "c", "d"]


def test_an_empty_path_is_not_the_current_folder() -> None:
    with pytest.raises(InputError, match="the path is empty"):
        read("")


def test_a_split_of_the_wrong_shape_is_refused(tmp_path, demo) -> None:
    from coembed.network import save_split, split_labels

    place = tmp_path / "split.npz"
    save_split(split_labels(demo), place)
    with np.load(place) as file:
        arrays = {name: file[name] for name in file.files}
    np.savez(place, **{**arrays, "train": arrays["train"][:, None]})
    with pytest.raises(InputError, match="'train' has the wrong shape"):
        load_split(place)


def test_records_of_any_keys_come_back_and_strange_ones_are_refused() -> None:
    column = Column("age", "number", 0, 1)
    whole = {"by number": {1: column, "~x": sp.csr_array(np.eye(2))}, "list": (1, (2, 3))}
    tree, arrays = pack(whole)
    again = unpack(tree, arrays, [Column])
    assert again["by number"][1] == column
    assert (again["by number"]["~x"] != sp.csr_array(np.eye(2))).nnz == 0
    assert again["list"] == (1, (2, 3))
    assert unpack(tree, arrays, [Column], check=False)["by number"][1] == column
    for strange, said in (
        ({"~": "Planet"}, "'Planet' that this program does not know"),
        ({"~": "Column", "name": "age", "moons": 2}, "'moons', which this program does not know"),
        ({"~": "Column", "name": 3}, "name of its Column is not what it should be"),
    ):
        with pytest.raises(InputError, match=said):
            unpack(strange, {}, [Column])


def test_no_key_holds_nested_cells() -> None:
    nested = table_of(id=["a", "b"], place=[{"x": 1}, {"x": 2}])
    ids = Ids.of("people", nested.columns["id"])
    assert nearly_key_of(nested.columns["place"], [ids]) is None
    mostly_the_same = table_of(kind=["u", "u", "u", "u", "v", "v"], name=[*"klmnoo"])
    assert nearly_unique(mostly_the_same) == "name"


def test_lists_beside_ids_are_no_links(tmp_path) -> None:
    table = pa.table({"id": ["a", "b", "c"], "likes": [["tea"], ["milk"], ["tea"]]})
    pq.write_table(table, tmp_path / "people.parquet")
    assert read(tmp_path / "people.parquet").relation("likes").values.nnz == 3


def test_records_and_arrays_of_mapped_networks_are_whole(tmp_path, demo) -> None:
    write(demo, tmp_path / "net.mapped")
    (tmp_path / "net.mapped" / "network.json").write_text("[]")
    with pytest.raises(InputError, match="not the record of a mapped network"):
        open_mapped(tmp_path / "net.mapped")
    with (
        pytest.raises(ValueError, match="lacks 2 entries"),
        ArrayFile(tmp_path, "x", np.dtype("i8"), 3) as file,
    ):
        file.write(np.array([1]))
    strange = SimpleNamespace(decodable=lambda: False)
    with pytest.raises(InputError, match="not UTF-8"):
        check_texts(strange, "names", "full")
    twice = SimpleNamespace(decodable=lambda: True, repeated=lambda: "ann")
    with pytest.raises(InputError, match="'ann' occurs twice among its names"):
        check_texts(twice, "names", "full")
    check_texts(twice, "titles", "full", unique=False)


def test_what_is_no_matrix_in_a_matlab_file_is_passed_over(tmp_path) -> None:
    corpus = Path(__file__).parents[1] / "reliability" / "corpus" / "mat" / "net.mat"
    place = tmp_path / "net.mat"
    place.write_bytes(corpus.read_bytes() + struct.pack("<II", 1, 8) + bytes(8))
    assert read(place).n_links == read(corpus).n_links


def test_files_are_taken_for_what_they_hold(tmp_path, monkeypatch, demo) -> None:
    folder_of(tmp_path, {"people.csv": PEOPLE, "pets.csv": "id,kind\nx,cat\ny,dog\nz,cat\n"})
    both = read(tmp_path / "people.csv", tmp_path / "pets.csv", labels=["pets.kind"])
    assert set(both.entity_types) == {"people", "pets"}
    assert find_tables(tmp_path) is None  # tables of items are no lists of links
    assert find_tables(tmp_path / "people.csv") is None
    assert find_tables(tmp_path / "people.csv", tmp_path / "pets.csv") is None
    (tmp_path / "x.h5ad").write_bytes(b"x")
    monkeypatch.setattr("coembed.network.adapters.annotated_data.read_h5ad", lambda *_: demo)
    assert read(tmp_path / "x.h5ad") is demo


def test_numbers_may_be_stored_once_for_many_rows() -> None:
    values = pa.chunked_array([pa.array(["1.5", "", "2", "1.5"]).dictionary_encode()])
    numbers, present = _as_numbers(values)
    np.testing.assert_array_equal(numbers, [1.5, 0, 2, 1.5])
    np.testing.assert_array_equal(present, [True, False, True, True])


def test_a_column_of_nothing_has_no_attributes(tmp_path) -> None:
    network = read(
        folder_of(tmp_path, {"people.csv": "id,age,likes\na,1,\nb,5,\nc,7,\n"}), kinds={"likes": "tags"}
    )
    assert "likes" not in network.relations
    assert "age" in network.relations


def test_cells_that_a_table_cannot_hold_are_listed_apart(tmp_path) -> None:
    """Two numbers a column, and whole numbers that are not."""
    column = Column("size", "number", 0, 2)
    sizes = sp.csr_array(np.array([[1.5, 0], [0, 2.5], [3.5, 0]]))
    wide = Relation.build("size", "people", "people.attributes", sizes, absent="unknown", column=column)
    assert _as_cells(wide, ["size", "other"]) is None
    whole = Column("age", "number", 0, 1, whole=True)
    ages = Relation.build("age", "people", "a", sizes[:, :1], absent="unknown", column=whole)
    assert _as_cells(ages, ["age"]).to_pylist() == ["2", "", "4"]


def test_what_the_machine_says_while_a_table_is_looked_at_again_is_told(tmp_path) -> None:
    place = tmp_path / "t.csv"
    place.write_text("a,b\nx,y\n")
    layout = _layout(place, None)
    assert "cannot be read (" in str(_explained(place, layout, OSError("gone")))
    assert "cannot be read as a table (odd)" in str(_explained(place, layout, pa.ArrowInvalid("odd\n")))
    place.unlink()
    assert "cannot be read as a table" in str(_explained(place, layout, pa.ArrowInvalid("odd")))
