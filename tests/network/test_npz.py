"""Our own files: what is optional, what is refused."""

import zipfile

import numpy as np
import pytest

from coembed.errors import InputError
from coembed.network import read, write


def pieces(demo, tmp_path):
    write(demo, tmp_path / "net.npz")
    return dict(np.load(tmp_path / "net.npz"))


def test_only_the_links_must_be_there(demo, tmp_path):
    arrays = pieces(demo, tmp_path)
    np.savez(
        tmp_path / "links.npz", **{key: value for key, value in arrays.items() if key.startswith("adj_")}
    )
    network = read(tmp_path / "links.npz")
    assert network.n_links == demo.n_links
    assert network.n_attributes == network.n_classes == 0
    assert network.name == "links"


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("adj_data", None, "no array 'adj_data'"),
        ("attr_indptr", None, "no array 'attr_indptr'"),
        ("adj_indices", np.full(7364, 99_999), "do not make a CSR matrix"),
        ("adj_indices", np.full(7364, -1), "do not make a CSR matrix"),
        ("adj_indptr", np.arange(1477)[::-1], "do not make a CSR matrix"),
        ("adj_shape", np.array([1476]), "two integers"),
        ("adj_shape", np.array([-1, 3]), "do not make a CSR matrix"),
        ("adj_data", np.full(7364, np.nan), "NaN"),
        ("adj_data", np.full(7364, "x"), "numbers"),
        ("attr_shape", np.array([1475, 626]), "CSR matrix"),
        ("labels", np.arange(5), "labels must be 1476 integers"),
        ("labels", np.full(1476, 0.5), "labels must be 1476 integers"),
        ("labels", np.full(1476, 7), "no name"),
        ("node_names", np.array(["a"]), "1 node names for 1476"),
        ("labels", np.array([{}] * 1476), "pickled objects"),
    ],
)
def test_broken_arrays_are_explained(demo, tmp_path, key, value, said):
    arrays = pieces(demo, tmp_path)
    arrays.pop(key)
    if value is not None:
        arrays[key] = value
    np.savez(tmp_path / "broken.npz", **arrays)
    with pytest.raises(InputError, match=said) as caught:
        read(tmp_path / "broken.npz")
    assert "\n" not in str(caught.value)


def test_every_truncation_is_an_input_error(demo, tmp_path):
    write(demo, tmp_path / "net.npz")
    whole = (tmp_path / "net.npz").read_bytes()
    for size in np.linspace(0, len(whole) - 1, 25).astype(int):
        (tmp_path / "cut.npz").write_bytes(whole[:size])
        with pytest.raises(InputError, match=r"cut\.npz"):
            read(tmp_path / "cut.npz")


def test_flipped_bytes_never_pass_unnoticed_as_another_error(demo, tmp_path, assert_same):
    write(demo, tmp_path / "net.npz")
    whole = bytearray((tmp_path / "net.npz").read_bytes())
    rng = np.random.default_rng(0)
    for position in rng.integers(len(whole), size=40):
        damaged = whole.copy()
        damaged[position] ^= 0xFF
        (tmp_path / "bad.npz").write_bytes(damaged)
        try:
            network = read(tmp_path / "bad.npz")
        except InputError:
            continue
        assert_same(network, demo)  # a byte that carries nothing, a date for example


def test_a_zip_of_something_else_is_named(tmp_path):
    with zipfile.ZipFile(tmp_path / "book.npz", "w") as file:
        file.writestr("xl/workbook.xml", "")
    with pytest.raises(InputError, match="Excel"):
        read(tmp_path / "book.npz")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as file:
        file.writestr("edges.csv", "a,b")
    with pytest.raises(InputError, match="unpack"):
        read(tmp_path / "all.zip")


def test_names_that_repeat_become_titles_and_stay_so(demo, tmp_path):
    arrays = pieces(demo, tmp_path)
    arrays["node_names"][1] = arrays["node_names"][0]
    np.savez(tmp_path / "twice.npz", **arrays)
    network = read(tmp_path / "twice.npz")
    assert network.node_names[1] == "node1"
    assert network.main.title(1) == arrays["node_names"][0]
    assert len(network.notices) == 1
    write(network, tmp_path / "again.npz")
    again = read(tmp_path / "again.npz")
    assert list(again.main.titles) == list(network.main.titles)
    assert again.notices == ()
