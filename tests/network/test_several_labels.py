"""Labels of which an item may have several: read, kept, hidden and written."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from coembed.errors import InputError
from coembed.network import Labels, from_tables, read, split_labels, summary, write

ROWS = "id,age,topics\n1,31,a|b\n2,,a\n3,40,b\n4,22,\n5,60,|\n6,33,c|?a\n"


@pytest.fixture
def table(tmp_path):
    (tmp_path / "people.csv").write_text(ROWS)
    return tmp_path / "people.csv"


def test_cells_hold_several_classes_each_known_or_not(table):
    network = read(table, labels=["topics"])
    labels = network.main.labels
    assert labels.several
    assert list(labels.classes) == ["a", "b", "c"]
    assert labels.values.tolist() == [[1, 1, 0], [1, 0, 0], [0, 1, 0], [-1] * 3, [0] * 3, [-1, 0, 1]]
    assert labels.known.tolist() == [0, 1, 2, 4, 5]
    assert labels.sizes.tolist() == [2, 2, 1]
    assert "topics" not in network.relations  # the label is no input
    told = summary(network)["types"][0]
    assert (told["labelled"], told["class_sizes"], told["several"]) == (5, {"a": 2, "b": 2, "c": 1}, True)


def test_none_of_all_is_one_sign_whatever_parts_the_classes(tmp_path):
    (tmp_path / "people.csv").write_text("id,topics\n1,a|b\n2,;\n3,b|?c\n4,n/a\n5,a\n6,c|a\n")
    labels = read(tmp_path / "people.csv", labels=["topics"]).main.labels
    assert list(labels.classes) == ["a", "b", "c"]
    assert labels.values.tolist() == [[1, 1, 0], [0, 0, 0], [0, 1, -1], [-1] * 3, [1, 0, 0], [1, 0, 1]]


def test_the_same_cells_can_be_one_class_each(table):
    labels = read(table, labels=["topics"], kinds={"topics": "category"}).main.labels
    assert not labels.several
    assert "a|b" in labels.classes
    assert "topics" not in read(table, labels=["topics"], kinds={"topics": "tags"}).relations


def test_lists_tell_an_empty_one_from_none():
    people = pa.table({"id": ["a", "b", "c"], "age": [1, 2, 3], "topics": [["x", "y"], [], None]})
    labels = from_tables({"people": people}, labels=["topics"]).main.labels
    assert labels.values.tolist() == [[1, 1], [0, 0], [-1, -1]]


@pytest.mark.parametrize("name", ["again", "again.mapped"])
def test_written_is_read(table, tmp_path, name):
    network = read(table, labels=["topics"])
    write(network, tmp_path / name)
    again = read(tmp_path / name)
    np.testing.assert_array_equal(again.main.labels.values, network.main.labels.values)
    assert list(again.main.labels.classes) == ["a", "b", "c"]
    assert again.main.labels.column == "topics"


def test_a_class_with_a_mark_in_it_is_not_written_as_a_table(tmp_path):
    people = pa.table({"id": ["a", "b"], "age": [1, 2], "topics": [["x;y"], ["z"]]})
    network = from_tables({"people": people}, labels=["topics"])
    with pytest.raises(InputError, match="mark that parts classes"):
        write(network, tmp_path / "tables")
    assert not (tmp_path / "tables").exists()


def test_whole_items_are_hidden(table):
    network = read(table, labels=["topics"])
    split = split_labels(network, 0.4, 0.5)
    seen = split.visible(network).main.labels
    given = np.concatenate([split.train, split.validation])
    np.testing.assert_array_equal(seen.values[given], network.main.labels.values[given])
    assert (seen.values[split.test] == -1).all()
    assert len(split.test) == 3


def test_texts_are_cells():
    labels = Labels.of_several(np.array([[1, 1], [0, 0], [-1, -1], [1, -1]]), ["a", "b"])
    assert labels.texts(np.arange(4)).to_pylist() == ["a;b", ";", "", "a"]
    assert labels.texts(np.arange(4), "?").to_pylist() == ["a;b", ";", "", "a;?b"]


@pytest.mark.parametrize("values", [[[2, 0]], [[0.5, 1]], [1, 0]])
def test_other_values_are_refused(values):
    with pytest.raises(InputError, match="1, 0 or -1"):
        Labels.of_several(np.array(values), ["a", "b"])


def test_another_label_than_the_one_that_was_written_can_be_chosen(tmp_path):
    (tmp_path / "people.csv").write_text("id,job,topics,age\n1,cook,a|b,3\n2,smith,a,4\n3,cook,b,5\n4,,a,6\n")
    write(read(tmp_path / "people.csv", labels=["job"]), tmp_path / "folder")
    network = read(tmp_path / "folder", labels=["topics"])
    assert network.main.labels.values.tolist() == [[1, 1], [1, 0], [0, 1], [1, 0]]
    assert set(network.relations) == {"job", "age"}
    assert read(tmp_path / "folder").main.labels.column == "job"
