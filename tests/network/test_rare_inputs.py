"""Rare tables and files, each of which one line of a reader is for: what is said, or how they are read."""

import json
import pickle
import re
import struct
import zipfile
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network import Column, Items, Labels, Network, Relation, read, write
from coembed.network.readers.streaming import stream_tables

from .test_table_folder import SHOP

PEOPLE = "id,age,town\na,31,Oslo\nb,24,Rome\nc,55,Oslo\n"


def names(*rows):
    return "".join(f"{row}\n" for row in rows)


# Folders of tables that are refused: files, options of read, and what is said.
REFUSED = {
    "a table of names with three columns": (
        {"edges.csv": "a,b\n", "names.csv": "kind,name,why\nnode,a,x\n"},
        {},
        "names needs the columns kind and name",
    ),
    "too many classes": (
        {"people.csv": names("id,group,x", *(f"p{i},g{i},{i}" for i in range(12_000)))},
        {"labels": "group"},
        "12,000 classes; choose one with at most",
    ),
    "a class that the schema does not know": (
        {
            "people.csv": PEOPLE,
            "network.toml": '[types.people]\nfile = "people.csv"\nlabel = "town"\nclasses = ["Oslo"]\n',
        },
        {},
        "'Rome', which is none of the classes",
    ),
    "classes that are no texts": (
        {
            "people.csv": PEOPLE,
            "network.toml": '[types.people]\nfile = "people.csv"\nlabel = "town"\nclasses = [1]\n',
        },
        {},
        "classes must be a list of texts",
    ),
    "a unit that is no number": (
        {
            "people.csv": PEOPLE,
            "network.toml": '[types.people]\nfile = "people.csv"\n[types.people.columns]\n'
            'age = {kind = "number", scale = "x"}\n',
        },
        {},
        "scale must be a number",
    ),
    "a relation that does not say its ends": (
        {
            **{f"{name}.csv": text for name, text in SHOP.items()},
            "network.toml": '[types.customers]\nfile = "customers.csv"\n'
            '[types.products]\nfile = "products.csv"\n[relations.orders]\nfile = "orders.csv"\n',
        },
        {},
        "does not say its source_type; give a type",
    ),
    "an absence that is neither no nor unknown": (
        {
            "people.csv": PEOPLE,
            "friends.csv": "a,b\na,b\n",
            "network.toml": '[types.people]\nfile = "people.csv"\n'
            '[relations.friends]\nfile = "friends.csv"\nsource = "a"\ntarget = "b"\nabsent = "perhaps"\n',
        },
        {},
        'absent must be "no" or "unknown"',
    ),
    "a key of what is no type": (
        {
            "people.csv": PEOPLE,
            "network.toml": '[types.people]\nfile = "people.csv"\n[types.people.columns]\n'
            'town = {kind = "key", of = "towns"}\n',
        },
        {},
        "'town' is a key of 'towns', which is no type",
    ),
    "two tables of one name": (
        {"people.csv": PEOPLE, "people.tsv": PEOPLE.replace(",", "\t")},
        {},
        "have the same name",
    ),
    "too many relations in one column": (
        {
            "people.csv": names("id,age", *(f"p{i},{i % 7}" for i in range(300))),
            "knows.csv": names("one,other,kind", *(f"p{i},p{(i + 1) % 300},k{i}" for i in range(300))),
            "network.toml": '[types.people]\nfile = "people.csv"\n[relations.knows]\nfile = "knows.csv"\n'
            'source = "one"\ntarget = "other"\nsplit = "kind"\n',
        },
        {},
        "'kind' has 300 values, too many for relations",
    ),
    "tags of one column": (
        {
            "people.csv": PEOPLE,
            "likes.csv": "who\na\n",
            "network.toml": '[types.people]\nfile = "people.csv"\n[types.people.columns]\n'
            'likes = {file = "likes.csv", kind = "tags"}\n',
        },
        {},
        "one column found; give the item and its value",
    ),
    "a count that is no number": (
        {
            "people.csv": PEOPLE,
            "likes.csv": "who,what,count\na,tea,1\nb,tea,often\n",
            "network.toml": '[types.people]\nfile = "people.csv"\n[types.people.columns]\n'
            'likes = {file = "likes.csv", kind = "counts"}\n',
        },
        {},
        "likes.csv, (line|row) 3: the count 'often' is not a number",
    ),
    "attributes of a column that stand apart": (
        {
            "people.csv": PEOPLE,
            "names.csv": "column,title\nage,age\ntown,Oslo\nage,more\n",
            "network.toml": '[types.people]\nfile = "people.csv"\nattributes = "names.csv"\n',
        },
        {},
        "the attributes of 'age' must stand together",
    ),
    "more tables of links than there are roles": (
        {f"x{i}.csv": "a,b\nb,c\n" for i in range(4)},
        {"files": [f"x{i}.csv" for i in range(4)]},
        "there are edges, attributes and labels already",
    ),
    "texts that are to be numbers": (
        {"people.csv": PEOPLE},
        {"kinds": {"town": "number"}},
        "people.csv: .*town",
    ),
    "a schema for what holds no tables": (
        {"net.graphml": "<graphml/>"},
        {"schema": "x.toml", "file": "net.graphml"},
        "holds no tables, which a schema is about",
    ),
    "two files of links of SCAN": (
        {"a.edge": "0 1\n", "b.edge": "0 1\n"},
        {"files": ["a.edge", "b.edge"]},
        "are both .edge files",
    ),
    "a model": ({"model.json": "{}"}, {}, "is a model, not a network"),
    "lines that end in odd ways": (
        {"people.csv": b"id,age\ra,1\nb,2\r\nc,3\n\n\rd,4,5\n"},
        {},
        "columns|quote|lines",
    ),
}


def folder_of(place, files):
    for name, data in files.items():
        (place / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return place


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_in_a_sentence(tmp_path, case):
    files, options, said = REFUSED[case]
    options = dict(options)
    folder_of(tmp_path, files)
    paths = [tmp_path / name for name in options.pop("files", [options.pop("file", ".")])]
    with pytest.raises(InputError, match=said) as caught:
        read(*paths, **options)
    assert "\n" not in str(caught.value)


# Folders of tables that are read: files, options, and what is said of them.
READ = {
    "a single item and no number of it": ({"people.csv": PEOPLE + "d,,\n"}, {}, ""),
    "hardly any keys": (
        {
            **{f"{name}.csv": text for name, text in SHOP.items()},
            "calls.csv": names("caller,minutes", *(f"c{1 + i % 4},{i}" for i in range(8)), "x,1", "y,2"),
        },
        {},
        "are ids of customers",
    ),
    "repeated rows": (
        {**{f"{n}.csv": t for n, t in SHOP.items()}, "friends.csv": "a,b\nc1,c2\nc1,c2\nc2,c3\n"},
        {},
        "1 repeated row\\(s\\) were counted once",
    ),
    "repeated rows with numbers": (
        {
            **{f"{n}.csv": t for n, t in SHOP.items()},
            "orders.csv": "customer,product,count\nc1,p1,2\nc1,p1,3\nc2,p2,1\n",
        },
        {},
        "1 repeated row\\(s\\) were added up",
    ),
    "an item without an id in a schema": (
        {
            "people.csv": "age,town\n31,Oslo\n31,Oslo\n24,Rome\n",
            "network.toml": '[types.people]\nfile = "people.csv"\n',
        },
        {},
        "people.csv: no column has unique ids: the rows are numbered",
    ),
    "keys of which some are no ids": (
        {
            "people.csv": "id,town,age\na,Oslo,1\nb,Rome,5\nc,Atlantis,7\n",
            "towns.csv": "id,size\nOslo,3\nRome,9\n",
            "network.toml": '[types.people]\nfile = "people.csv"\n[types.people.columns]\n'
            'town = {kind = "key", of = "towns"}\n[types.towns]\nfile = "towns.csv"\n',
        },
        {},
        "1 key\\(s\\) in 'town', such as 'Atlantis', are no id of towns",
    ),
    "texts that hardly repeat are no tags": (
        {
            **{f"{n}.csv": t for n, t in SHOP.items()},
            "notes.csv": "customer,text\nc1,likes tea\nc2,comes late\nc3,pays in cash\nc4,never seen\n",
        },
        {},
        "",
    ),
    "a label column of too many numbers": (
        {"people.csv": names("id,label,x", *(f"p{i},{i * 1.5},{i % 3}" for i in range(40)))},
        {},
        "",
    ),
    "two columns of one name and a table called as one of them": (
        {
            "people.csv": PEOPLE,
            "pets.csv": "id,age,kind\nx,3,cat\ny,5,dog\nz,4,cat\n",
            "knows.csv": "a,b\na,b\nb,c\n",
            "network.toml": '[types.people]\nfile = "people.csv"\n[types.pets]\nfile = "pets.csv"\n'
            '[relations."people.age"]\nfile = "knows.csv"\nsource = "a"\ntarget = "b"\n'
            'source_type = "people"\ntarget_type = "people"\n',
        },
        {},
        "",
    ),
    "edges that are not as many as announced": (
        {"net.edge": "#Nodes 3\n#Edges 5\n0 1\n1 2\n"},
        {"file": "net.edge"},
        "announces 5 edges, lists 2",
    ),
    "a third column of SCAN's": (
        {"net.edge": "0 1 7\n1 2 7\n"},
        {"file": "net.edge"},
        "columns after the second were not used",
    ),
}


@pytest.mark.parametrize("case", READ)
def test_it_is_read_and_told(tmp_path, case):
    files, options, said = READ[case]
    network = read(folder_of(tmp_path, files) / options.get("file", "."))
    assert len(network.main) >= 3
    assert not said or any(re.search(said, each) for each in network.notices), network.notices


def test_a_label_of_one_table_is_a_column_of_another(tmp_path):
    files = {
        "people.csv": "id,group,x\na,u,1\nb,v,2\nc,u,3\n",
        "pets.csv": "id,group,y\nx,u,1\ny,v,5\nz,u,3\n",
    }
    network = read(folder_of(tmp_path, files), labels="people.group")
    assert network.items("people").labels is not None
    assert network.items("pets").labels is None
    assert "pets.group was not chosen as a label: it is a column like any other" in network.notices


def test_scan_text_that_announces_no_edges_has_none(tmp_path):
    network = read(folder_of(tmp_path, {"net.edge": "#Nodes 4\n#Edges 0\n\n"}) / "net.edge")
    assert (network.n_nodes, network.n_links) == (4, 0)


def test_dictionaries_and_empty_batches_of_parquet(tmp_path):
    codes = pa.array(["1.5", "2", "1.5"]).dictionary_encode()
    table = pa.table({"source": ["a", "b", "c"], "target": ["b", "c", "d"], "weight": codes})
    pq.write_table(table, tmp_path / "edges.parquet")
    assert read(tmp_path / "edges.parquet").links.data.max() == 2
    pq.write_table(table.slice(0, 0), tmp_path / "edges.parquet")
    with pytest.raises(InputError, match=r"no rows|no links|empty"):
        read(tmp_path / "edges.parquet")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b,3e38\na,b,3e38\n", "infinity"),
        ("a,b,1e-46\nb,c,1\n", "closer to zero"),
    ],
)
def test_streamed_numbers_that_leave_what_can_be_written(tmp_path, text, said):
    pytest.importorskip("duckdb")
    (tmp_path / "edges.csv").write_text("source,target,weight\n" + text)
    tables = {"edges": tmp_path / "edges.csv"}
    try:
        network = stream_tables(tables, "net", tmp_path / "out")
    except InputError as error:
        told = str(error)
    else:
        told = " ".join(network.notices)
    assert said in told


# Arrays


def npz(place, **changes):
    pieces = {
        "adj_data": np.ones(2, np.float32),
        "adj_indices": np.array([1, 0]),
        "adj_indptr": np.array([0, 1, 2]),
        "adj_shape": np.array([2, 2]),
    }
    np.savez(place / "net.npz", **(pieces | changes))
    return place / "net.npz"


def attributes(rows, columns):
    return {
        "attr_data": np.ones(rows, np.float32),
        "attr_indices": np.zeros(rows, int),
        "attr_indptr": np.arange(rows + 1),
        "attr_shape": np.array([rows, columns]),
    }


def test_attributes_of_other_nodes(tmp_path):
    with pytest.raises(InputError, match="3 rows of attributes for 2 nodes"):
        read(npz(tmp_path, **attributes(3, 2)))


def test_attributes_without_names_are_numbered(tmp_path):
    assert read(npz(tmp_path, **attributes(2, 3))).n_attributes == 3


def test_packed_names(tmp_path):
    octets, offsets = np.frombuffer(b"ann\0bob", np.uint8), np.array([0, 4, 7])
    packed = {"node_names.bytes": octets, "node_names.offsets": offsets}
    assert list(read(npz(tmp_path, **packed)).node_names) == ["ann\0", "bob"]
    with pytest.raises(InputError, match=r"net.npz: node_names: the offsets of the names do not fit"):
        read(npz(tmp_path, **{**packed, "node_names.offsets": offsets[::-1]}))


def test_an_array_of_a_later_version_is_not_whole(tmp_path):
    path = npz(tmp_path)
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("labels.npy", b"\x93NUMPY\x09\x00" + bytes(80))
    with pytest.raises(InputError, match=r"version \(9, 0\) of its format"):
        read(path)


def test_complex_indicators_of_classes(tmp_path):
    labels = sp.csc_matrix(np.array([[np.nan, 0], [0, 1]]))
    scipy.io.savemat(tmp_path / "net.mat", {"Network": sp.csc_matrix(np.eye(2)[::-1]), "Label": labels})
    with pytest.raises(InputError, match="NaN"):
        read(tmp_path / "net.mat")


# Pickles of Planetoid


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        ({0: [2**70], 1: [0], 2: [0]}, "beyond all numbers"),
        (pickle.dumps(bytearray(b"ab"), 2), "made of nothing only|dictionary of lists|not a"),
        (b"cnumpy.core.multiarray\nscalar\n.", "dictionary of lists|not a"),
        (b"c__builtin__\nlist\n(I5\ntR.", "made of nothing only"),
        (
            b"cnumpy.core.numeric\n_frombuffer\n(I5\ncnumpy\ndtype\n(U\x02f8tR(I1\ntU\x01CtR.",
            "bytes only|not a",
        ),
    ],
)
def test_pickles_that_are_no_graph(tmp_path, graph, said):
    eye = np.eye(2)
    parts = {
        "allx": sp.csr_matrix(eye),
        "ally": eye,
        "tx": sp.csr_matrix(eye[:1]),
        "ty": eye[:1],
        "graph": graph,
    }
    for ending, value in parts.items():
        data = value if isinstance(value, bytes) else pickle.dumps(value, protocol=2)
        (tmp_path / f"ind.x.{ending}").write_bytes(data)
    (tmp_path / "ind.x.test.index").write_text("2\n")
    with pytest.raises(InputError, match=said):
        read(tmp_path)


# Mapped networks


@pytest.fixture
def mapped(tmp_path):
    network = Network.of(
        [
            Items.build(
                "one", 2, titles=["x", "y"], labels=Labels.of_several(np.array([[1, 0], [0, 1]]), ["p", "q"])
            ),
            Items.build("one attributes", 1),
        ],
        [
            Relation.build(
                "age",
                "one",
                "one attributes",
                np.array([[1.0], [2.0]]),
                absent="unknown",
                likelihood="gaussian",
                column=Column("age", "number", 0, 1),
            )
        ],
    )
    write(network, tmp_path / "net.mapped")
    return tmp_path / "net.mapped"


def change_record(place, change):
    record = json.loads((place / "network.json").read_text())
    change(record)
    (place / "network.json").write_text(json.dumps(record))


def change_array(place, name, array):
    np.save(place / f"{name}.npy", array)
    told = {
        "dtype": array.dtype.str,
        "shape": list(array.shape),
        "crc32": f"{zlib.crc32(array.tobytes()):08x}",
    }
    change_record(place, lambda record: record["arrays"].update({name: told}))


def set_of(*path, value):
    def change(record):
        for key in path[:-1]:
            record = record[key]
        record[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (set_of("relations", 0, "likelihood", value="cauchy"), "no likelihood"),
        (set_of("relations", 0, "column", "scale", value=float("inf")), "no finite unit"),
        (set_of("relations", 0, "column", "scale", value=0.0), "no finite unit"),
        (set_of("types", 0, "labels", "classes", value=["p"]), "labels of one are 4"),
        (set_of("types", 0, "count", value=3), "."),
    ],
)
def test_records_that_say_something_else(mapped, change, said):
    read(mapped)
    change_record(mapped, change)
    with pytest.raises(InputError, match=said):
        read(mapped)


@pytest.mark.parametrize(
    ("name", "array", "said"),
    [
        ("t0.titles.bytes", np.frombuffer(b"\xff\xfe", np.uint8), "not UTF-8"),
        ("t0.titles.offsets", np.array([0, 1, 1, 2]), "holds 3 names for 2"),
        ("t0.ids.bytes", np.frombuffer(b"aa", np.uint8), "occurs twice"),
    ],
)
def test_names_that_are_none(mapped, name, array, said):
    before = np.load(mapped / f"{name}.npy")
    if name.endswith("bytes") and len(before) != len(array):
        pytest.skip(f"the names of this network take {len(before)} bytes")
    change_array(mapped, name, array.astype(before.dtype))
    with pytest.raises(InputError, match=said):
        read(mapped)


# Networks that tables cannot hold


def test_names_that_are_not_unicode_are_not_written_as_tables(tmp_path):
    with pytest.raises(InputError, match="not Unicode"):
        write(Network.of([Items.build("a", ["\udcff", "y"])], []), tmp_path / "net")


def columns_of(*columns, titles=None):
    width = max(column.stop for column, _ in columns)
    relations = [
        Relation.build(f"c{i}", "a", "a attributes", values, absent=absent, likelihood=kind, column=column)
        for i, (column, (values, absent, kind)) in enumerate(columns)
    ]
    return Network.of([Items.build("a", 2), Items.build("a attributes", width, titles=titles)], relations)


NUMBER = (np.array([[1.0], [2.0]]), "unknown", "gaussian")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: columns_of((Column("x", "number", 0, 1), NUMBER), (Column("x", "number", 0, 1), NUMBER)),
            "two columns of a have one name",
        ),
        (
            lambda: columns_of((Column("x", "number", 0, 1), NUMBER), (Column("y", "number", 0, 1), NUMBER)),
            "share attributes",
        ),
    ],
)
def test_columns_that_a_table_cannot_hold(tmp_path, make, said):
    with pytest.raises(InputError, match=said):
        write(make(), tmp_path / "net")
    assert list(tmp_path.iterdir()) == []


def test_a_header_of_mat_that_lies(tmp_path):
    """Version 4: a matrix of 2 x 2 with room for one number."""
    (tmp_path / "net.mat").write_bytes(struct.pack("<5i", 0, 2, 2, 0, 8) + b"Network\0" + bytes(8))
    with pytest.raises(InputError):
        read(tmp_path / "net.mat")


def test_rows_without_a_header_are_said(tmp_path):
    (tmp_path / "people.csv").write_text("a1,31,Oslo\na2,24,Rome\na3,55,Oslo\n")
    network = read(tmp_path / "people.csv", kinds={"column2": "number"})
    assert any("has no header: its columns are called column1" in each for each in network.notices)


def test_labels_that_are_numbers_but_for_one_are_texts(tmp_path):
    folder_of(tmp_path, {"edges.csv": "a,b\nb,c\nc,d\n", "labels.csv": "node,label\na,1\nb,x\nc,-1\n"})
    assert set(map(str, read(tmp_path).class_names)) == {"1", "x", "-1"}


def test_a_stray_label_makes_no_classes():
    with pytest.raises(InputError, match="2,000,001 classes, but 2 entries"):
        Labels.build([0, 2_000_000])


def test_nodes_of_scan_text_need_no_pairs_twice(tmp_path):
    """Edges may be listed once or from both ends; attributes are never."""
    edges = "#Nodes 3\n#Edges 1\n0 1\n1 0\n"
    place = folder_of(tmp_path, {"net.edge": edges, "net.node": "0 0\n1 1\n2 0\n"})
    assert not [each for each in read(place / "net.edge").notices if "announces" in each]


def test_a_file_and_a_folder_are_not_several_files(tmp_path):
    folder_of(tmp_path, {"edges.csv": "a,b\n"})
    (tmp_path / "labels").mkdir()
    with pytest.raises(InputError, match="is not a file; give one folder, or several files"):
        read(tmp_path / "edges.csv", tmp_path / "labels")
