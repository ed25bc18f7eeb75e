"""MATLAB files as BlogCatalog and Flickr come."""

import struct

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network import read
from coembed.network.readers.matlab_file import list_variables


def put(demo, path, **changes):
    content = {
        "Network": sp.csc_matrix(demo.links.astype(float)),
        "Attributes": sp.csc_matrix(demo.attributes.astype(float)),
        "Label": (demo.labels + 1.0)[:, None],
    }
    content.update(changes)
    scipy.io.savemat(path, {key: value for key, value in content.items() if value is not None})
    return path


def test_the_three_variables(demo, tmp_path, assert_same):
    network = read(put(demo, tmp_path / "wordnet.mat"))
    assert_same(network, demo, names=False)
    assert network.class_names[0] == "1"
    assert network.name == "wordnet"


def test_content_decides_not_the_ending(demo, tmp_path, assert_same):
    put(demo, tmp_path / "wordnet.mat").rename(tmp_path / "wordnet.data")
    assert_same(read(tmp_path / "wordnet.data"), demo, names=False)


@pytest.mark.parametrize("compressed", [False, True])
def test_a_folder_with_one_file_and_compression(demo, tmp_path, assert_same, compressed):
    content = {
        "network": demo.links.toarray(),
        "ATTRIBUTES": demo.attributes.toarray(),
        "label": demo.labels + 1,
    }
    scipy.io.savemat(tmp_path / "x.mat", content, do_compression=compressed)
    assert_same(read(tmp_path), demo, names=False)


def test_labels_as_one_column_a_class_with_gaps(demo, tmp_path):
    one_hot = np.eye(demo.n_classes)[demo.labels]
    one_hot[5] = 0
    expected = demo.labels.copy()
    expected[5] = -1
    for value in (one_hot, sp.csc_matrix(one_hot)):
        network = read(put(demo, tmp_path / "x.mat", Label=value))
        np.testing.assert_array_equal(network.labels, expected)


def test_attributes_and_labels_may_lack(demo, tmp_path):
    network = read(put(demo, tmp_path / "x.mat", Attributes=None, Label=None))
    assert (network.n_attributes, network.n_classes, network.n_links) == (0, 0, demo.n_links)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"Network": None}, "no variable Network"),
        ({"Network": "text"}, "Network is not a matrix"),
        ({"Network": np.zeros((1476, 5))}, "5 columns of Network for 1476 nodes"),
        ({"Attributes": np.zeros((7, 5))}, "7 rows of Attributes for 1476 nodes"),
        ({"Label": np.zeros((7, 5))}, "Label has shape"),
        ({"Label": np.ones((1476, 2))}, "2 labels"),
        ({"Label": np.full(1476, 0.5)}, "not a whole number"),
        ({"Label": "text"}, "Label is not"),
        ({"Network": np.full((1476, 1476), np.nan)}, "NaN"),
    ],
)
def test_wrong_variables_are_explained(demo, tmp_path, changes, said):
    with pytest.raises(InputError, match=said):
        read(put(demo, tmp_path / "x.mat", **changes))


def test_broken_files_are_explained(demo, tmp_path):
    whole = put(demo, tmp_path / "x.mat").read_bytes()
    for size in (1, 100, 128, 150, 1000, len(whole) // 2, len(whole) - 10):
        (tmp_path / "cut.mat").write_bytes(whole[:size])
        with pytest.raises(InputError, match=r"cut\.mat"):
            read(tmp_path / "cut.mat")
    header = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + b"\0" * 384 + b"\x89HDF\r\n\x1a\n"
    (tmp_path / "new.mat").write_bytes(header)
    with pytest.raises(InputError, match=r"7\.3.*-v7"):
        read(tmp_path / "new.mat")


def _version_4(code: int, rows: int, columns: int, octets: bytes, imaginary: int = 0) -> bytes:
    order = "<" if code < 1000 else ">"
    return struct.pack(f"{order}5i", code, rows, columns, imaginary, 2) + b"A\0" + octets


def _version_5(*elements: bytes) -> bytes:
    return b" " * 124 + struct.pack("<H", 0x0100) + b"IM" + b"".join(elements)


_SPARSE_4 = np.array([[1, 2, 7.0], [2, 1, 5.0], [2, 2, 0]])
_CUT_SHORT = {
    b"MAT": "no header",
    b"MATLAB 5.0": "header is cut short",
    _version_4(0, 1, 9, b"\0" * 8): "cut short",
    _version_4(9, 1, 1, b"\0" * 8): "not a matrix",  # a kind that nobody has
    _version_4(90, 1, 1, b"\0" * 8): "a header of it is damaged",
    _version_4(2, 2, 3, np.array([[1, 2.5, 7], [2, 2, 0]]).tobytes("F")): "not whole numbers",
    _version_5(struct.pack("<II", 14, 99)): "cut short",
    _version_5(struct.pack("<II", 14, 8), struct.pack("<II", 6, 0)): "no name",
    _version_5(struct.pack("<II", 14, 24), struct.pack("<II", 6, 0) * 3): "no kind",
    _version_5(struct.pack("<II", 14, 8), struct.pack("<II", (5 << 16) | 6, 0)): "larger than its place",
    _version_5(struct.pack("<II", 14, 24), struct.pack("<II", 99, 0) * 3): "not numbers",
}


@pytest.mark.parametrize(("octets", "said"), _CUT_SHORT.items(), ids=_CUT_SHORT.values())
def test_a_file_that_lies_about_itself_is_told(tmp_path, octets, said):
    path = tmp_path / "x.mat"
    path.write_bytes(octets)
    if said == "not a matrix":
        assert [each.load for each in list_variables(path)] == [None]
        return
    with pytest.raises(ValueError, match=said):
        [each.load() for each in list_variables(path)]


@pytest.mark.parametrize("order", ["<", ">"])
def test_matrices_of_version_4_full_and_sparse_whichever_way_bytes_go(tmp_path, order):
    path, first = tmp_path / "x.mat", 0 if order == "<" else 1000
    full = np.array([[1.0, 2.0, 3.0]]).astype(f"{order}f8")
    path.write_bytes(
        _version_4(first, 1, 3, full.tobytes("F"))
        + _version_4(first + 2, 3, 3, _SPARSE_4.astype(f"{order}f8").tobytes("F"))
        + _version_4(first, 1, 1, b"\0" * 16, imaginary=1)
    )
    found = [each.load and each.load() for each in list_variables(path)]
    np.testing.assert_array_equal(found[0], [[1, 2, 3]])
    np.testing.assert_array_equal(found[1].toarray(), [[0, 7], [5, 0]])
    assert found[2] is None
