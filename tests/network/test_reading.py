"""Which format is which, and which file is for what."""

import pickle

import numpy as np
import pytest

from coembed.errors import InputError
from coembed.network import demo_network, read, write


def test_text_is_text_under_any_name(tmp_path):
    for name in ("links.txt", "links.data", "links", "links.tsv"):
        (tmp_path / name).write_text("a,b\nb,c\n")
        assert read(tmp_path / name).n_links == 2


def test_an_npz_is_one_under_any_name(demo, tmp_path, assert_same):
    write(demo, tmp_path / "net.npz")
    (tmp_path / "net.npz").rename(tmp_path / "net.csv")
    assert_same(read(tmp_path / "net.csv"), demo)


def test_several_tables_by_name_or_by_order(tmp_path):
    texts = {"edges": "a,b\n", "attributes": "a,red\n", "labels": "b,tall\n"}
    for names in (
        {"edges": "my_links.csv", "attributes": "features.tsv", "labels": "x-classes.txt"},
        {"edges": "one.csv", "attributes": "two.csv", "labels": "three.csv"},
    ):
        paths = [tmp_path / names[role] for role in texts]
        for path, text in zip(paths, texts.values(), strict=True):
            path.write_text(text)
        orders = [paths, paths[::-1]] if "my_links.csv" in names.values() else [paths]
        for order in orders:
            network = read(*order)
            assert (network.n_links, list(network.attribute_names)) == (1, ["red"])
            assert list(network.class_names) == ["tall"]


def test_names_of_networks(demo, tmp_path):
    folder = tmp_path / "friends"
    write(demo, folder)
    assert read(folder).name == "friends"
    assert read(folder / "edges.csv").name == "friends"
    (tmp_path / "people.csv").write_text("a,b\n")
    assert read(tmp_path / "people.csv").name == "people"
    assert demo_network().name == "wordnet-demo"


def test_links_alone_say_what_lies_beside_them(demo, tmp_path):
    write(demo, tmp_path / "net")
    network = read(tmp_path / "net" / "edges.csv")
    assert network.n_attributes == 0
    assert any("attributes.csv, labels.csv beside edges.csv not read" in notice for notice in network.notices)


def test_other_files_of_a_folder_are_left_alone(demo, tmp_path, assert_same):
    write(demo, tmp_path / "net")
    (tmp_path / "net" / "README.md").write_text("hello")
    (tmp_path / "net" / ".hidden").write_text("hello")
    assert_same(read(tmp_path / "net"), demo)


def test_a_folder_with_one_npz(demo, tmp_path, assert_same):
    write(demo, tmp_path / "net.npz")
    assert_same(read(tmp_path), demo)
    write(demo, tmp_path / "net2.npz")
    with pytest.raises(InputError, match=r"several networks \(net\.npz, net2\.npz\)"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.csv", b"", "x.csv is empty"),
        ("x.bin", b"\x00\x01\x02\x03" * 50, "not known"),
        ("x.pkl", pickle.dumps([1]), "is a pickle"),
        ("x.npz", b"hello,world\n", "not a whole .npz"),
        ("x.parquet", b"hello,world\n", "not a Parquet"),
        ("x.mat", b"hello,world\n", "not a whole MATLAB"),
    ],
)
def test_files_of_no_use_are_explained(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=said):
        read(tmp_path / name)


def test_places_of_no_use_are_explained(demo, tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        read(tmp_path / "nowhere")
    with pytest.raises(InputError, match="holds no network"):
        read(tmp_path)
    (tmp_path / "edges.csv").write_text("a,b\n")
    with pytest.raises(InputError, match="not a file"):
        read(tmp_path / "edges.csv", tmp_path)
    (tmp_path / "links.tsv").write_text("a,b\n")
    with pytest.raises(InputError, match="both look like edges"):
        read(tmp_path)
    write(demo, tmp_path / "net.npz")
    with pytest.raises(InputError, match="do not belong together"):
        read(tmp_path / "edges.csv", tmp_path / "net.npz")


def test_the_demo_is_what_its_documentation_says(demo):
    assert np.bincount(demo.labels).tolist() == [178, 101, 151, 674, 280, 54, 38]
    assert demo.attributes.nnz == 8769
    assert not demo.weighted_links
    assert not demo.real_attributes
    assert demo.notices == ()
