"""Mapped networks: nothing is copied, what is written is read, and no broken folder gets through."""

import json
import os

import numpy as np
import pytest
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network import Names, Network, open_mapped, read, summary, synthesize, write
from coembed.network.readers.mapped import ARRAYS, RECORD, write_mapped
from coembed.network.splits import split_labels, split_links


def base_of(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return type(array).__name__


@pytest.fixture
def folder(demo, tmp_path):
    write_mapped(demo, tmp_path / "net")
    return tmp_path / "net"


def test_nothing_is_copied(folder):
    network = read(folder)
    arrays = [getattr(m, piece) for m in (network.links, network.attributes) for piece in
              ("data", "indices", "indptr")]  # fmt: skip
    arrays += [network.labels, network.node_names.octets, network.node_names.offsets]
    for array in arrays:
        assert base_of(array) == "mmap"
        assert not array.flags.writeable
    assert network.links.indices.dtype == network.links.indptr.dtype == np.int32


def test_matrices_on_files_work_as_others_do(folder, demo):
    network = read(folder)
    rng = np.random.default_rng(0)
    right = rng.standard_normal((demo.n_nodes, 3)).astype(np.float32)
    np.testing.assert_array_equal(network.links @ right, demo.links @ right)
    np.testing.assert_array_equal(network.attributes.T @ right, demo.attributes.T @ right)
    rows = np.array([5, 3, 1000])
    assert (network.attributes[rows] != demo.attributes[rows]).nnz == 0
    assert (network.links[:, rows] != demo.links[:, rows]).nnz == 0
    assert (
        sp.hstack([network.links, network.attributes]) != sp.hstack([demo.links, demo.attributes])
    ).nnz == 0
    assert {**summary(network), "name": ""} == {**summary(demo), "name": ""}
    hidden = split_links(network, validation=0.1, test=0.1).visible(network)
    assert (hidden.links != split_links(demo, validation=0.1, test=0.1).visible(demo).links).nnz == 0
    np.testing.assert_array_equal(
        split_labels(network).visible(network).labels, split_labels(demo).visible(demo).labels
    )


def test_names_and_notices_survive(odd, tmp_path, assert_same):
    from dataclasses import replace

    network = replace(odd, notices=("something was changed",))
    write(network, tmp_path / "odd.mapped")
    again = open_mapped(tmp_path / "odd.mapped", check="full")
    assert_same(again, network)
    assert (again.name, again.notices) == ("odd", ("something was changed",))
    assert again.node_index("ø\tæ") == 2
    with pytest.raises(InputError, match="no node 'sources'; did you mean 'source'"):
        again.node_index("sources")


def test_it_is_told_by_its_content(folder, tmp_path, demo, assert_same):
    folder.rename(tmp_path / "net.csv")
    assert_same(read(tmp_path / "net.csv"), demo)
    assert_same(read(tmp_path / "net.csv" / RECORD), demo)


def test_a_mapped_network_may_be_written_over_itself(folder, demo, assert_same):
    write_mapped(read(folder), folder)
    assert_same(open_mapped(folder, check="full"), demo)


def test_other_formats_take_what_was_mapped(folder, tmp_path, demo, assert_same):
    for place in ("again.npz", "again.parquet", "again"):
        write(read(folder), tmp_path / place)
        assert_same(read(tmp_path / place), demo)


def changed(folder, **changes):
    record = json.loads((folder / RECORD).read_text())
    for key, value in changes.items():
        if value is None:
            record.pop(key)
        else:
            record[key] = value
    (folder / RECORD).write_text(json.dumps(record))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"version": 3}, "format version 3, this program reads up to 2"),
        ({"version": "1"}, "no format version"),
        ({"nodes": 5}, "not a sound mapped network"),
        ({"nodes": -1}, "no whole number of nodes"),
        ({"nodes": 10**30}, "not a sound mapped network"),
        ({"nodes": 1.5}, "no whole number of nodes"),
        ({"attributes": 7}, "not a sound mapped network"),
        ({"classes": []}, "labels name more than the 0 classes"),
        ({"classes": 7}, "not a sound mapped network"),
        ({"classes": [[]] * 7}, "list where a text should be"),
        ({"name": 3}, "int where a text should be"),
        ({"arrays": None}, "does not say 'arrays'"),
        ({"arrays": []}, "not a sound mapped network"),
        ({"arrays": {}}, "does not say 'links.indptr'"),
        ({"arrays": dict.fromkeys(ARRAYS, 3)}, "is not an array"),
    ],
)
def test_a_strange_record_is_explained(folder, changes, said):
    changed(folder, **changes)
    with pytest.raises(InputError, match=said) as caught:
        read(folder)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


def replaced(folder, name, array):
    """The folder with another array and a record that fits it: what a hostile hand would make."""
    np.save(folder / f"{name}.npy", array, allow_pickle=True)
    record = json.loads((folder / RECORD).read_text())
    record["arrays"][name] |= {"dtype": array.dtype.str, "shape": list(array.shape)}
    (folder / RECORD).write_text(json.dumps(record))


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("links.indices", lambda a: a + 5000, "leave the 1476 columns"),
        ("links.indices", lambda a: a - 1, "leave the 1476 columns"),
        ("links.indices", lambda a: a.astype(np.int64), "positions of type int32"),
        ("links.indices", lambda a: a[:-1], "lengths that do not make"),
        ("links.indptr", lambda a: np.r_[a[:1], a[1:-1][::-1], a[-1:]].astype(a.dtype), "goes down"),
        ("links.indptr", lambda a: a + 1, "does not begin at 0"),
        ("links.data", lambda a: a.astype(np.float64), "type float32"),
        ("links.data", lambda a: a.reshape(2, -1), "does not say"),
        ("links.data", lambda a: a.astype(object), "broken"),
        ("attributes.indices", lambda a: a + 700, "leave the 626 columns"),
        ("labels", lambda a: a + 7, "more than the 7 classes"),
        ("labels", lambda a: a.astype(np.int32), "labels must be int64"),
        ("node_names.offsets", lambda a: np.r_[a[:1], a[1:-1][::-1], a[-1:]], "do not fit their bytes"),
        ("node_names.offsets", lambda a: a * 3, "do not fit their bytes"),
        ("node_names.offsets", lambda a: np.delete(a, 1), "1475 node names for 1476"),
        ("attribute_names.bytes", lambda a: a[:5], "do not fit their bytes"),
    ],
)
def test_hostile_arrays_are_explained(folder, name, change, said):
    replaced(folder, name, change(np.load(folder / f"{name}.npy")))
    with pytest.raises(InputError, match=said) as caught:
        read(folder)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [*ARRAYS, RECORD])
def test_a_missing_or_cut_file_is_named(folder, name):
    file = folder / (name if name == RECORD else f"{name}.npy")
    whole = file.read_bytes()
    for size in np.linspace(0, len(whole) - 2, 6).astype(int):
        file.write_bytes(whole[:size])
        with pytest.raises(InputError, match="net"):
            open_mapped(folder)
    file.unlink()
    with pytest.raises(InputError, match="net"):
        open_mapped(folder)


def test_the_full_check_finds_every_flipped_byte(folder):
    rng = np.random.default_rng(0)
    for name in ARRAYS:
        file = folder / f"{name}.npy"
        whole = bytearray(file.read_bytes())
        damaged = whole.copy()
        damaged[rng.integers(128, len(whole))] ^= 0x01
        file.write_bytes(damaged)
        with pytest.raises(InputError, match="net is not a sound mapped network"):
            open_mapped(folder, check="full")
        file.write_bytes(whole)
    open_mapped(folder, check="full")


@pytest.mark.parametrize(
    ("links", "said"),
    [
        ([[0, 1], [0, 0]], "not symmetric"),
        ([[1, 0], [0, 0]], "self-loops"),
        ([[0, np.nan], [np.nan, 0]], "NaN"),
    ],
)
def test_the_full_check_finds_what_is_no_network(tmp_path, links, said):
    good = Network.build(np.zeros((2, 2)))
    bad = good.with_matrices(links=sp.csr_array(np.array(links, dtype=np.float32)))
    write_mapped(bad, tmp_path / "net")
    with pytest.raises(InputError, match=said):
        open_mapped(tmp_path / "net", check="full")
    with pytest.raises(InputError, match="no check 'some'"):
        open_mapped(tmp_path / "net", check="some")


def test_a_failure_leaves_the_older_network(folder, demo, odd, assert_same, monkeypatch):
    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("coembed.network.readers.mapped.seal", full_disk)
    with pytest.raises(InputError, match="No space"):
        write_mapped(odd, folder)
    assert_same(open_mapped(folder, check="full"), demo)
    assert os.listdir(folder.parent) == ["net"]


def test_names_behave_as_an_array_of_strings(demo):
    plain, names = demo.node_names, Names.pack(demo.node_names)
    assert len(names) == names.size == names.shape[0] == len(plain)
    assert names.dtype == plain.dtype
    keys = [
        3,
        -1,
        np.int64(7),
        slice(2, 9),
        slice(None, None, -2),
        np.array([4, 4, 0]),
        [1, 2],
        plain == plain[5],
    ]
    for key in keys:
        np.testing.assert_array_equal(names[key], plain[key])
    np.testing.assert_array_equal(np.asarray(names), plain)
    np.testing.assert_array_equal(np.concatenate([names, names]), np.concatenate([plain, plain]))
    np.testing.assert_array_equal(names.astype(str), plain.astype(str))
    np.testing.assert_array_equal(names == plain[5], plain == plain[5])
    np.testing.assert_array_equal(names != plain[5], plain != plain[5])
    assert list(names) == names.tolist() == list(plain)
    assert plain[8] in names
    assert "nowhere" not in names
    with pytest.raises(IndexError):
        names[len(plain)]


def test_strange_names_come_back(tmp_path):
    strange = ["", "ø", "a\0b", "\udcff", " x ", "日本"]
    names = Names.pack(strange)
    assert list(names) == strange
    assert [names.find(name) for name in strange] == list(range(6))
    assert names.decodable()
    assert names.repeated() is None
    assert Names.pack(["a", "b", "a"]).repeated() == "a"
    assert list(Names.numbered("node", 3)) == ["node0", "node1", "node2"]
    assert list(Names.pack([])) == []


def test_opening_costs_no_memory(tmp_path):
    """What Python and NumPy allocate while opening is a fraction of what is opened."""
    import tracemalloc

    write_mapped(synthesize(50_000, 200_000, 1000, 1_000_000, 5), tmp_path / "net")
    size = sum(file.stat().st_size for file in (tmp_path / "net").iterdir())
    open_mapped(tmp_path / "net")  # modules loaded
    tracemalloc.start()
    network = open_mapped(tmp_path / "net")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert network.n_links == 200_000
    assert peak < size / 50
