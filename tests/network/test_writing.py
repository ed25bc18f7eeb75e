"""What is written reads back the same, and failure leaves nothing behind."""

import os

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest

from coembed.errors import InputError
from coembed.network import Network, read, write

PLACES = [
    ("net.npz", None),
    ("net", None),
    ("net", "parquet"),
    ("net.parquet", None),
    ("net", "npz"),
    ("net", "mapped"),
    ("net.mapped", None),
]


@pytest.mark.parametrize(("place", "format"), PLACES)
def test_written_equals_read(demo, odd, tmp_path, assert_same, place, format):
    for network in (demo, odd):
        write(network, tmp_path / network.name / place, format)
        assert_same(network, read(tmp_path / network.name / place))


@pytest.mark.parametrize(("place", "format"), PLACES)
def test_a_network_of_nothing_survives(tmp_path, assert_same, place, format):
    network = Network.build(np.zeros((2, 2)))
    write(network, tmp_path / place, format)
    assert_same(network, read(tmp_path / place))


@pytest.mark.parametrize(("place", "format"), PLACES)
def test_an_older_network_is_replaced(demo, odd, tmp_path, assert_same, place, format):
    write(demo, tmp_path / place, format)
    write(odd, tmp_path / place, format)
    assert_same(odd, read(tmp_path / place))
    assert os.listdir(tmp_path) == [place]


@pytest.mark.parametrize("format", ["npz", "csv", "parquet"])
@pytest.mark.parametrize("older", [False, True])
def test_a_failure_leaves_the_older_network_or_nothing(
    demo, odd, tmp_path, assert_same, monkeypatch, format, older
):
    if older:
        write(odd, tmp_path / "net", format)

    def full_disk(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full_disk)
    # the last table of the folder, so that the others are written already
    real = {"csv": pyarrow.csv.write_csv, "parquet": pyarrow.parquet.write_table}

    def fail_late(kind):
        def writer(table, file, *rest):
            if file.name.startswith("names"):
                full_disk()
            real[kind](table, file, *rest)

        return writer

    monkeypatch.setattr(pyarrow.csv, "write_csv", fail_late("csv"))
    monkeypatch.setattr(pyarrow.parquet, "write_table", fail_late("parquet"))
    with pytest.raises(InputError, match="No space"):
        write(demo, tmp_path / "net", format)
    assert os.listdir(tmp_path) == (["net"] if older else [])
    if older:
        assert_same(odd, read(tmp_path / "net"))


def test_a_folder_with_other_files_is_never_touched(demo, tmp_path):
    (tmp_path / "thesis.txt").write_text("my life")
    with pytest.raises(InputError, match=r"other files \(thesis\.txt\)"):
        write(demo, tmp_path, "csv")
    assert os.listdir(tmp_path) == ["thesis.txt"]


def test_places_that_cannot_be_written_are_explained(demo, tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        write(demo, tmp_path, "npz")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"):
        write(demo, tmp_path / "file", "csv")
    with pytest.raises(InputError, match="cannot be written"):
        write(demo, tmp_path / "file" / "net.npz")
    with pytest.raises(InputError, match="no format 'xlsx'"):
        write(demo, tmp_path / "net.xlsx")


@pytest.mark.parametrize("name", ["", " a", "a\nb"])
def test_names_that_csv_would_lose_are_refused_by_it(tmp_path, assert_same, name):
    network = Network.build([[0, 1], [1, 0]], node_names=[name, "other"])
    with pytest.raises(InputError, match="csv would lose the name"):
        write(network, tmp_path / "csv")
    assert os.listdir(tmp_path) == []
    places = ["net.npz", "net.mapped"] if not name else ["net.npz", "net.mapped", "net.parquet"]
    for place in places:
        write(network, tmp_path / place)
        assert_same(network, read(tmp_path / place))
