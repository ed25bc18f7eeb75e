"""Planetoid: rows in their places, missing numbers, and pickles that are never run."""

import os
import pickle
from collections import defaultdict

import numpy as np
import pytest
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network import Network, read
from coembed.network.readers.plain_pickle import read_pickle

MISSING = (1400, 1423)


def put(folder, network, protocol=2, missing=()):
    """Write a network as Planetoid does: the last part is the test set, in random order."""
    n_rest = network.n_nodes - 300
    test = np.setdiff1d(np.arange(n_rest, network.n_nodes), missing)
    test = np.random.default_rng(0).permutation(test)
    one_hot = np.eye(network.n_classes, dtype=np.int32)[network.labels]
    features = sp.csr_matrix(network.attributes)
    graph = defaultdict(list)
    for i, j in zip(*network.links.nonzero(), strict=True):
        graph[int(i)].append(int(j))
    parts = {
        "x": features[:100],
        "y": one_hot[:100],
        "allx": features[:n_rest],
        "ally": one_hot[:n_rest],
        "tx": features[test],
        "ty": one_hot[test],
        "graph": graph,
    }
    for ending, value in parts.items():
        with (folder / f"ind.demo.{ending}").open("wb") as file:
            pickle.dump(value, file, protocol=protocol)
    (folder / "ind.demo.test.index").write_text("".join(f"{i}\n" for i in test))
    return folder


@pytest.mark.parametrize("protocol", range(6))
def test_every_protocol_gives_the_network(demo, tmp_path, assert_same, protocol):
    network = read(put(tmp_path, demo, protocol))
    assert_same(network, demo, names=False)
    assert network.name == "demo"


def test_any_file_stands_for_all(demo, tmp_path, assert_same):
    put(tmp_path, demo)
    for ending in ("graph", "test.index", "x"):
        assert_same(read(tmp_path / f"ind.demo.{ending}"), demo, names=False)


def test_numbers_missing_from_the_index_are_empty_nodes(demo, tmp_path, assert_same):
    network = read(put(tmp_path, demo, missing=MISSING))
    attributes = demo.attributes.tolil()
    attributes[list(MISSING)] = 0
    labels = demo.labels.copy()
    labels[list(MISSING)] = -1
    expected = Network.build(demo.links, attributes, labels, class_names=demo.class_names)
    assert_same(network, expected, names=False)


def python2_pickle():
    """A matrix as Python 2 wrote it: text strings for bytes, and the old names of modules."""
    raw = np.array([1.0, 2.0], dtype="<f4").tobytes()
    index = np.array([0, 1], dtype="<i4").tobytes()
    pointer = np.array([0, 1, 2], dtype="<i4").tobytes()

    def string(data):
        return b"T" + len(data).to_bytes(4, "little") + data

    def number(code):
        return (
            b"cnumpy\ndtype\n("
            + string(code)
            + b"K\x00K\x01tR(K\x03"
            + string(b"<")
            + b"NNNJ\xff\xff\xff\xff"
            b"J\xff\xff\xff\xffK\x00tb"
        )

    def array(data, code, count):
        return (
            b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00t" + string(b"b") + b"tR("
            b"K\x01(K" + bytes([count]) + b"t" + number(code) + b"\x89" + string(data) + b"tb"
        )

    items = [
        (b"_shape", b"(K\x02K\x02t"),
        (b"maxprint", b"K2"),
        (b"data", array(raw, b"f4", 2)),
        (b"indices", array(index, b"i4", 2)),
        (b"indptr", array(pointer, b"i4", 3)),
    ]
    state = b"}(" + b"".join(string(key) + value for key, value in items) + b"u"
    made = b"ccopy_reg\n_reconstructor\n(cscipy.sparse.csr\ncsr_matrix\nc__builtin__\nobject\nNtR"
    return b"\x80\x02" + made + state + b"b."


def test_pickles_of_python_2(tmp_path):
    file = tmp_path / "ind.old.x"
    file.write_bytes(python2_pickle())
    np.testing.assert_array_equal(read_pickle(file).toarray(), [[1, 0], [0, 2]])


class Runs:
    """What a hostile pickle looks like: an object that is made by calling a function."""

    def __init__(self, function, *arguments):
        self.call = (function, arguments)

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", [0, 2, 5])
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (os.system, ("touch {}",)),
        (eval, ("open({!r}, 'w')",)),
        (exec, ("open({!r}, 'w')",)),
        (open, ("{}", "w")),
        (getattr, ("", "join")),
        (__import__, ("os",)),
        (np.load, ("{}",)),
    ],
)
def test_hostile_pickles_are_refused_and_not_run(demo, tmp_path, protocol, function, arguments):
    put(tmp_path, demo)
    mark = tmp_path / "pwned"
    hostile = Runs(function, *(a.format(str(mark)) for a in arguments))
    for ending in ("allx", "graph"):
        for value in (hostile, {0: [hostile]}):
            (tmp_path / f"ind.demo.{ending}").write_bytes(pickle.dumps(value, protocol))
            with pytest.raises(InputError, match="may be hostile and was not run") as caught:
                read(tmp_path)
            assert "\n" not in str(caught.value)
            assert not mark.exists()
        put(tmp_path, demo)


@pytest.mark.parametrize(
    "program",
    [
        # a dotted name under an admitted module
        b"\x80\x04\x8c\x05numpy\x8c\x0cf2py.os.name\x93.",
        b"\x80\x04\x8c\x05numpy\x8c\x0edtype.__init__\x93.",
        # other members of admitted modules
        b"cnumpy\nfromfile\n.",
        b"ccollections\nnamedtuple\n.",
        b"c_codecs\ndecode\n.",
        b"cnumpy.core.multiarray\nfromfile\n.",
        # codecs that unpack, under the one name that is admitted
        b"c_codecs\nencode\n(X\x01\x00\x00\x00aX\x04\x00\x00\x00zlibtR.",
        # a function's own state
        b"c_codecs\nencode\n(N}X\x0c\x00\x00\x00__defaults__X\x01\x00\x00\x00xstb.",
        b"c__builtin__\nlist\n(N}X\x06\x00\x00\x00appendNstb.",
        b"cscipy.sparse.csr\ncsr_matrix\n(N}X\x06\x00\x00\x00matrixNstb.",
        # an array of objects from raw bytes would be an array of wild pointers
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tU\x01btR(K\x01(K\x01tcnumpy\ndtype\n"
        b"(U\x02O8K\x00K\x01tR\x89U\x08AAAAAAAAtb.",
        # persistent objects and the registry of extensions
        b"Pabc\n.",
        b"\x82\x01.",
        # rebuilding something else than a matrix
        b"ccopy_reg\n_reconstructor\n(c__builtin__\nlist\nc__builtin__\nobject\nNtR.",
        b"(" * 100_000,
        b"",
        b".",
    ],
)
def test_tricks_with_admitted_names_fail(tmp_path, program):
    file = tmp_path / "ind.trick.allx"
    file.write_bytes(program)
    with pytest.raises(InputError, match=r"ind\.trick\.allx"):
        read_pickle(file)


def test_the_reader_is_the_same_after_an_attack(demo, tmp_path, assert_same):
    (tmp_path / "ind.trick.allx").write_bytes(
        b"c_codecs\nencode\n(N}X\x0c\x00\x00\x00__defaults__X\x01\x00\x00\x00xstb."
    )
    with pytest.raises(InputError):
        read_pickle(tmp_path / "ind.trick.allx")
    (tmp_path / "ind.trick.allx").unlink()
    assert_same(read(put(tmp_path, demo)), demo, names=False)


def save(path, value):
    path.write_bytes(pickle.dumps(value, 2))


@pytest.mark.parametrize(
    ("ending", "value", "said"),
    [
        ("allx", [1, 2], r"ind\.demo\.allx does not hold a matrix"),
        ("tx", sp.csr_matrix((3, 626)), r"ind\.demo\.tx: 3 rows for 300"),
        ("tx", sp.csr_matrix((300, 5)), r"ind\.demo\.tx: 5 columns, but 626"),
        ("ally", np.zeros((3, 7)), r"ind\.demo\.ally: 3 rows for 1176"),
        ("ty", np.ones((300, 7)), r"ind\.demo\.ty: node 0 has 7 labels"),
        ("graph", [1], r"ind\.demo\.graph does not hold a dictionary"),
        ("graph", {0: ["x"]}, r"ind\.demo\.graph lists nodes that are not whole numbers"),
        ("graph", {0: [-4]}, r"ind\.demo\.graph lists a negative"),
        ("graph", {0: [10**12]}, r"ind\.demo\.graph: node 1000000000000 is far beyond"),
    ],
)
def test_wrong_contents_are_explained(demo, tmp_path, ending, value, said):
    put(tmp_path, demo)
    save(tmp_path / f"ind.demo.{ending}", value)
    with pytest.raises(InputError, match=said):
        read(tmp_path)


def test_missing_and_cut_files_are_named(demo, tmp_path):
    for ending in ("allx", "ally", "tx", "ty", "graph", "test.index"):
        put(tmp_path, demo)
        file = tmp_path / f"ind.demo.{ending}"
        whole = file.read_bytes()
        if ending != "test.index":
            file.write_bytes(whole[: len(whole) // 2])
            with pytest.raises(InputError, match=f"ind.demo.{ending} is not a whole pickle"):
                read(tmp_path)
        file.unlink()
        with pytest.raises(InputError, match=f"ind.demo.{ending} does not exist"):
            read(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("12\nx\n", "line 2: expected the number"),
        ("5\n" * 300, "twice"),
        ("".join(f"{i}\n" for i in range(300)), "allx"),
    ],
)
def test_a_broken_index_is_explained(demo, tmp_path, text, said):
    put(tmp_path, demo)
    (tmp_path / "ind.demo.test.index").write_text(text)
    with pytest.raises(InputError, match=said):
        read(tmp_path)
