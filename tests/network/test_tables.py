"""Tables of text: every usual shape is understood, every broken one is explained with its line."""

import bz2
import gzip
import weakref

import numpy as np
import pytest

from coembed.errors import InputError
from coembed.network import read
from coembed.network.readers import delimited_text


def put(folder, **texts):
    for name, text in texts.items():
        data = text if isinstance(text, bytes) else text.encode()
        (folder / f"{name}.csv").write_bytes(data)
    return folder


def links_of(network):
    """Links by name, however the nodes are ordered."""
    rows, columns = network.links.nonzero()
    names = network.node_names
    return {tuple(sorted((names[i], names[j]))) for i, j in zip(rows, columns, strict=True)}


ABC = {("a", "b"), ("b", "c")}


@pytest.mark.parametrize(
    "text",
    [
        "a,b\nb,c\n",
        "a,b\nb,c",
        "a,b\r\nb,c\r\n",
        "source,target\na,b\nb,c\n",
        "Source,Target\na,b\nb,c\n",
        "a\tb\nb\tc\n",
        "a;b\nb;c\n",
        "a|b\nb|c\n",
        "a b\nb c\n",
        '"a","b"\n"b","c"\n',
        "a, b\nb, c\n",
        "\ufeffa,b\nb,c\n",
        "\ufefffrom,to\na,b\nb,c\n",
        "a,b\n\nb,c\n\n",
        "# a comment\n# another, with, commas\na,b\nb,c\n",
        "% sym\na b\nb c\n",
        "a,b\nb,a\nb,c\nc,b\n",
        "a,b\na,b\nb,c\n",
        "a,b\nb,b\nb,c\n",
    ],
)
def test_every_way_to_list_two_links(tmp_path, text):
    network = read(put(tmp_path, edges=text))
    assert links_of(network) == ABC
    assert set(network.links.data) == {1}
    assert network.n_nodes == 3


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_compressed_text_is_told_by_content(tmp_path, pack):
    file = tmp_path / "links.txt"
    file.write_bytes(pack(b"a,b\nb,c\n"))
    assert links_of(read(file)) == ABC
    (tmp_path / "edges.csv.gz").write_bytes(gzip.compress(b"a,b\nb,c\n"))
    file.unlink()
    assert links_of(read(tmp_path)) == ABC


def test_numeric_ids_keep_their_text(tmp_path):
    network = read(put(tmp_path, edges="007,10\n10,9\n"))
    assert list(network.node_names) == ["007", "10", "9"]


def test_a_hash_tag_is_a_node_not_a_comment(tmp_path):
    assert links_of(read(put(tmp_path, edges="#red,#blue\n#red,#green\n"))) == {
        ("#blue", "#red"),
        ("#green", "#red"),
    }


def test_a_node_called_like_a_title_is_a_node(tmp_path):
    network = read(put(tmp_path, edges="source,target\nsource,x\n"))
    assert links_of(network) == {("source", "x")}
    network = read(put(tmp_path, edges="root,1\n1,2\n2,3\n"))
    assert ("1", "root") in links_of(network)


def test_weights_with_and_without_titles(tmp_path):
    for text in ("a,b,2.5\nb,c,-1\n", "from,to,weight\na,b,2.5\nb,c,-1\n", "x,y,w\na,b,2.5\nb,c,-1e0\n"):
        network = read(put(tmp_path, edges=text))
        np.testing.assert_array_equal(network.links.toarray(), [[0, 2.5, 0], [2.5, 0, -1], [0, -1, 0]])


def test_repeated_weighted_rows_add_up_and_say_so(tmp_path):
    network = read(put(tmp_path, edges="a,b,2\na,b,3\n"))
    assert network.links[0, 1] == 5
    assert any("added up" in notice for notice in network.notices)


def test_a_titled_third_column_that_is_no_weight_is_left_out(tmp_path):
    network = read(put(tmp_path, edges="from,to,year\na,b,1999\n"))
    assert network.links[0, 1] == 1
    assert any("year" in notice for notice in network.notices)


def test_nodes_that_no_link_has_are_told_unless_they_were_listed(tmp_path):
    tables = {"edges": "a,b\nb,a\n", "labels": "a,x\nzoe,y\n", "attributes": "A,red\nb,red\n"}
    network = read(put(tmp_path, **tables))
    assert network.notices == (
        "2 node(s) have no link, such as 'zoe'; if they should, "
        "compare the names in attributes.csv and labels.csv with those in edges.csv",
    )
    listed = put(tmp_path, names="kind,name\nnode,a\nnode,b\nnode,zoe\nnode,A\n")
    assert read(listed).notices == ()


def test_directed_links_are_joined_with_a_notice(tmp_path):
    once = read(put(tmp_path, edges="a,b\nb,c\n"))
    assert once.notices == ("every link was listed in one direction and taken as undirected",)
    mixed = read(put(tmp_path, edges="a,b\nb,a\nb,c\n"))
    assert any("directed" in notice for notice in mixed.notices)
    both = read(put(tmp_path, edges="a,b\nb,a\n"))
    assert both.notices == ()


@pytest.mark.parametrize(
    "text",
    [
        "a,red,1\na,old,2\nb,red,1\n",
        "node,attribute,value\na,red,1\na,old,2\nb,red,1\n",
        "id,thing,count\na,red,1\na,old,2\nb,red,1\n",
        "node,red,old\na,1,2\nb,1,0\n",
        ",red,old\na,1,2\nb,1,\n",
        "who,red,old\na,1,2\nb,1,0\n",
    ],
)
def test_attributes_as_a_list_or_a_wide_table(tmp_path, text):
    network = read(put(tmp_path, edges="a,b\n", attributes=text))
    assert list(network.attribute_names) == ["red", "old"]
    np.testing.assert_array_equal(network.attributes.toarray(), [[1, 2], [1, 0]])


def test_wide_tables_without_titles_and_with_categories(tmp_path):
    network = read(put(tmp_path, edges="a,b\n", attributes="a,1,0,3\nb,0,0,1.5\n"))
    assert network.n_attributes == 3
    np.testing.assert_array_equal(network.attributes.toarray(), [[1, 0, 3], [0, 0, 1.5]])
    network = read(put(tmp_path, edges="a,b\n", attributes="node,age,town\na,31,Oslo\nb,,Rome\nc,40,\n"))
    assert list(network.attribute_names) == ["age", "town=Oslo", "town=Rome"]
    np.testing.assert_array_equal(network.attributes.toarray(), [[31, 1, 0], [0, 0, 1], [40, 0, 0]])


def test_a_very_wide_table(tmp_path):
    width = 12_000
    header = "node," + ",".join(f"word{i}" for i in range(width))
    rows = [f"{node}," + ",".join(str((i + k) % 2) for i in range(width)) for k, node in enumerate("ab")]
    network = read(put(tmp_path, edges="a,b\n", attributes="\n".join([header, *rows])))
    assert network.attributes.shape == (2, width)
    assert network.attributes.nnz == width


def test_names_that_occur_only_beside_the_links_are_nodes_too(tmp_path):
    network = read(put(tmp_path, edges="a,b\n", attributes="c,red\n", labels="d,tall\n"))
    assert sorted(network.node_names) == ["a", "b", "c", "d"]
    assert network.n_links == 1
    assert network.labels[network.node_index("d")] == 0


def test_labels_may_be_unknown_and_classes_are_sorted(tmp_path):
    network = read(put(tmp_path, edges="a,b\nc,d\n", labels="node,label\na,10\nb,9\nc,\nd,-1\n"))
    assert list(network.class_names) == ["9", "10"]
    by_name = dict(zip(network.node_names, network.labels.tolist(), strict=True))
    assert by_name == {"a": 1, "b": 0, "c": -1, "d": -1}
    network = read(put(tmp_path, edges="a,b\n", labels="a,tall\nb,short\n"))
    assert list(network.class_names) == ["short", "tall"]


def test_labels_repeated_alike_are_fine(tmp_path):
    network = read(put(tmp_path, edges="a,b\n", labels="a,x\na,x\n"))
    assert network.labels.tolist() == [0, -1]


def test_a_table_with_only_titles_is_an_empty_table(tmp_path):
    network = read(put(tmp_path, edges="source,target\n", labels="node,label\na,x\n"))
    assert (network.n_nodes, network.n_links) == (1, 0)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"edges": ""}, r"edges\.csv is empty"),
        ({"edges": "\n\n"}, r"edges\.csv is empty"),
        ({"edges": "# nothing\n"}, r"edges\.csv holds no rows"),
        ({"edges": "a\nb\n"}, r"edges\.csv, line 1: a link needs two nodes"),
        ({"edges": "a,b\nb,c,d\n"}, r"edges\.csv, line 2: expected 2 columns, found 3"),
        ({"edges": "# hello\n\na,b\n\nb\n"}, r"edges\.csv, line 5: expected 2 columns, found 1"),
        ({"edges": "a,b,1\nb,c,x\nc,d,1\n"}, r"edges\.csv, line 2: the weight 'x' is not a number"),
        ({"edges": "source,target,weight\na,b,1\n\nb,c,NaN\n"}, r"edges\.csv, line 4: the weight is nan"),
        ({"edges": "a,b,1\nb,c,inf\n"}, r"edges\.csv, line 2: the weight is inf"),
        ({"edges": "a,b,1\nb,c,\n"}, r"edges\.csv, line 2: the weight is empty"),
        ({"edges": "a,b\n,c\n"}, r"edges\.csv, line 2: the node is empty"),
        ({"edges": "a,b,c,d\n"}, r"edges\.csv, line 1: 4 columns"),
        ({"edges": b"a,b\nb,\xe6\n"}, r"edges\.csv, line 2: not UTF-8"),
        ({"edges": "a,b\nb,c\n".encode("utf-16")[:-1]}, r"edges\.csv cannot be read .*utf-16"),
        ({"edges": gzip.compress(b"a,b\n" * 5000)[:-20]}, r"edges\.csv cannot be read"),
        (
            {"edges": "a,b\n", "attributes": "a,red,1\nb,red,many\n"},
            r"attributes\.csv, line 2: the value 'many'",
        ),
        (
            {"edges": "a,b\n", "attributes": "node,x,y\na,1,2\nb,nan,2\n"},
            r"attributes\.csv, line 3: the value of 'x'",
        ),
        ({"edges": "a,b\n", "attributes": "node,x,x\na,1,2\n"}, "two columns are called 'x'"),
        ({"edges": "source,target\n"}, r"edges\.csv holds no rows below its header; give at least one link"),
        ({"edges": "a,b\n", "attributes": "red\n"}, r"attributes\.csv, line 1: one column"),
        (
            {"edges": "a,b\n", "labels": "a,x\nb,y\na,y\n"},
            r"labels\.csv, line 3: node 'a' has two labels, 'x' and here 'y'; give",
        ),
        ({"edges": "a,b\n", "labels": "x\ny\n"}, r"labels\.csv, line 1: one column"),
        ({"edges": "a,b\n", "labels": "a,x,y\n"}, r"labels\.csv, line 1: 3 columns"),
        ({"labels": "a,x\n"}, "no table of links"),
        ({"edges": "a,b\n", "names": "kind,name\nthing,a\n"}, r"names\.csv, line 2: kind 'thing'"),
    ],
)
def test_broken_tables_are_explained(tmp_path, files, said):
    put(tmp_path, **files)
    with pytest.raises(InputError, match=said) as caught:
        read(tmp_path)
    assert "\n" not in str(caught.value)


def test_line_numbers_hold_far_down(tmp_path):
    rows = [f"n{i},n{i + 1},1" for i in range(50_000)]
    rows[43_210] = "n1,n2,oops"
    with pytest.raises(InputError, match=r"line 43211: the weight 'oops'"):
        read(put(tmp_path, edges="\n".join(rows)))
    rows[43_210] = "n1"
    with pytest.raises(InputError, match=r"line 43211: expected 3 columns, found 1"):
        read(put(tmp_path, edges="\n".join(rows)))


def test_no_thread_holds_a_file_that_was_read(tmp_path, monkeypatch):
    """One that lets go of it while the interpreter ends would abort the process."""
    opened = []

    class Watched(delimited_text.PlainBytes):
        def __init__(self, path):
            super().__init__(path)
            opened.append(weakref.ref(self))

    monkeypatch.setattr(delimited_text, "PlainBytes", Watched)
    put(tmp_path, people="id,age,town\n1,2,x\n2,3,y\n")
    for _ in range(150):
        delimited_text.read_text(tmp_path / "people.csv")
        list(delimited_text.stream_text(tmp_path / "people.csv"))
        assert not [each for each in opened if each() is not None]
