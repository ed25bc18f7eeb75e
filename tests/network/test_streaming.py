"""Streaming gives the network that the in-memory reader gives, notices and errors included."""

import gzip
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from coembed.errors import InputError
from coembed.network import open_mapped, read, write
from coembed.network.readers import streaming
from coembed.network.readers.read import find_tables
from coembed.network.readers.streaming import stream_tables

pytest.importorskip("duckdb", reason="extra `large` is not installed")


@pytest.fixture
def both(tmp_path, assert_same, monkeypatch):
    """Read the same tables both ways, in blocks of some rows; the networks must be the same."""
    monkeypatch.setattr(streaming, "BLOCK_BYTES", 64)
    monkeypatch.setattr(streaming, "FETCHED_ROWS", 3)
    monkeypatch.setattr("coembed.network.readers.database.FETCHED_ROWS", 3)

    def read_both(folder):
        tables = find_tables(folder)
        streamed = stream_tables(*tables, tmp_path / "streamed", memory="200MB")
        expected = read(folder)
        assert_same(streamed, expected)
        assert (streamed.notices, streamed.name) == (expected.notices, expected.name)
        assert_same(open_mapped(tmp_path / "streamed", check="full"), expected)
        return streamed

    return read_both


def put(folder, **texts):
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


CASES = {
    "once": {"edges": "a,b\nb,c\n"},
    "both directions": {"edges": "a,b\nb,a\nb,c\nc,b\n"},
    "mixed directions": {"edges": "a,b\nb,a\nb,c\n"},
    "repeated": {"edges": "a,b\na,b\nb,c\n"},
    "loops": {"edges": "a,b\nb,b\nb,c\nc,c\nc,c\n"},
    "only loops": {"edges": "a,a\n"},
    "header, blanks, quotes": {"edges": '# why\nsource,target\n"a, b", c \nc,ø\n\n7,07\n'},
    "names without links": {"edges": "a,b\nb,c\n", "labels": "zoe,x\na,y\n", "attributes": "A,red\n"},
    "tabs": {"edges": "a\tb\nb\tc\n"},
    "weights": {"edges": "a,b,2.5\nb,c,-1\n"},
    "weights in both directions": {"edges": "a,b,2\nb,a,-3\nb,c,1\nc,b,1\nc,d,-2\nd,c,2\nd,e,5\n"},
    "weights added up": {"edges": "a,b,2\na,b,3\nb,a,1\nc,c,1\nc,c,-1\nb,c,4\nb,c,-4\n"},
    "another column": {"edges": "from,to,year\na,b,1999\n"},
    "no links": {"edges": "source,target\n", "labels": "node,label\na,x\n"},
    "list": {"edges": "a,b\n", "attributes": "a,red\nb,old\na,red\nc,blue\n"},
    "values": {
        "edges": "a,b\n",
        "attributes": "node,attribute,value\na,red,1\na,old,2\na,red,0.5\nb,red,0\n",
    },
    "wide": {"edges": "a,b\n", "attributes": "node,age,town\na,31,Oslo\nb,,Rome\nc,40,\nd,,\n"},
    "looks wide at first": {
        "edges": "a,b\n",
        "attributes": "node,thing\n" + "".join(f"n{i},{i}\n" for i in range(30)) + "a,red\n",
    },
    "labels": {"edges": "a,b\nc,d\n", "labels": "node,label\nd,10\nb,9\nc,\na,-1\n"},
    "everything": {
        "edges": "a,b\nb,c\nx,a\n",
        "attributes": "c,red\nz,old\n",
        "labels": "z,tall\nq,short\n",
        "names": "kind,name\nnode,x\nnode,alone\nattribute,never\nclass,tall\nclass,none\nclass,short\n",
    },
}


@pytest.mark.parametrize("case", CASES)
def test_streamed_is_read(both, tmp_path, case):
    both(put(tmp_path / "tables", **CASES[case]))


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_networks_written_as_tables_survive(both, part_of_demo, odd, tmp_path, format, assert_same):
    for network in (part_of_demo, odd):
        write(network, tmp_path / network.name, format)
        assert_same(both(tmp_path / network.name), network)


def test_many_random_links(both, tmp_path):
    rng = np.random.default_rng(0)
    pairs = rng.integers(60, size=(2000, 2))
    weights = rng.integers(-3, 4, size=2000)
    lines = [f"n{i},n{j},{w}" for (i, j), w in zip(pairs, weights, strict=True)]
    entries = [f"n{i},w{j}" for i, j in rng.integers(80, size=(500, 2))]
    both(put(tmp_path / "tables", edges="\n".join(lines), attributes="\n".join(entries)))


def test_compressed_and_parquet_tables(both, tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "edges.csv.gz").write_bytes(gzip.compress(b"a,b\nb,c\n" * 50))
    pq.write_table(
        pa.table({"node": pa.array([1, 2, 2]), "attribute": pa.array(["x", "y", "x"]).dictionary_encode()}),
        folder / "attributes.parquet",
    )
    both(folder)


@pytest.mark.parametrize(
    "files",
    [
        {"edges": ""},
        {"edges": "source,target\n"},
        {"edges": "a\nb\n"},
        {"edges": "a,b\n" * 40 + "b,c,d\n"},
        {"edges": "a,b,1\n" * 40 + "b,c,x\nc,d,1\n"},
        {"edges": "a,b,1\n" * 40 + "b,c,inf\n"},
        {"edges": "a,b\n" * 40 + ",c\n"},
        {"edges": b"a,b\n" * 40 + b"b,\xe6\n"},
        {"edges": gzip.compress(os.urandom(3000).hex().replace("a", ",").encode())[:-20]},
        {"edges": "a,b\n", "attributes": "a,red,1\n" * 40 + "b,red,many\n"},
        {"edges": "a,b\n", "labels": "a,x\nb,y\na,y\n"},
        {"labels": "a,x\n"},
    ],
)
def test_errors_are_those_of_the_reader_and_nothing_is_left(tmp_path, monkeypatch, files):
    monkeypatch.setattr(streaming, "BLOCK_BYTES", 64)
    folder = put(tmp_path / "tables", **files)
    with pytest.raises(InputError) as expected:
        read(folder)
    with pytest.raises(InputError) as found:
        stream_tables(*find_tables(folder), tmp_path / "out")
    assert str(found.value) == str(expected.value)
    assert os.listdir(tmp_path) == ["tables"]


def test_values_too_large_are_told(tmp_path):
    folder = put(tmp_path / "tables", edges="a,b,1\nb,c,1e300\n")
    with pytest.raises(InputError, match=r"edges\.csv, line 2: 1e\+300 is too large"):
        stream_tables(*find_tables(folder), tmp_path / "out")
    folder = put(tmp_path / "tables", edges="a,b,3e38\na,b,3e38\n")
    with pytest.raises(InputError):
        stream_tables(*find_tables(folder), tmp_path / "out")
    assert os.listdir(tmp_path) == ["tables"]


def test_bad_memory_and_missing_duckdb_are_told(tmp_path, monkeypatch):
    folder = put(tmp_path / "tables", edges="a,b\n")
    with pytest.raises(InputError, match="could not be converted"):
        stream_tables(*find_tables(folder), tmp_path / "out", memory="much")
    monkeypatch.setattr("coembed.network.readers.database.can_stream", lambda: False)
    with pytest.raises(InputError, match=r"install coembed\[large\]"):
        stream_tables(*find_tables(folder), tmp_path / "out")
    assert os.listdir(tmp_path) == ["tables"]


def test_steps_are_told(tmp_path):
    steps = []
    folder = put(tmp_path / "tables", edges="a,b\n")
    stream_tables(*find_tables(folder), tmp_path / "out", progress=steps.append)
    assert "reading edges.csv: 1 rows" in steps
    assert "sorting links" in steps


def test_two_million_links_stay_within_memory(tmp_path, assert_same):
    """Links with long names: the process that converts them stays far below what they take in memory."""
    rng = np.random.default_rng(0)
    ends = (rng.random((2_000_000, 2)) ** 2 * 400_000).astype(np.int64)
    names = pa.array([f"person-{i:012d}" for i in range(400_000)])
    table = pa.table({"source": names.take(pa.array(ends[:, 0])), "target": names.take(pa.array(ends[:, 1]))})
    (tmp_path / "tables").mkdir()
    pa.csv.write_csv(table, tmp_path / "tables" / "edges.csv")
    program = rf"""
import re
from pathlib import Path
from coembed.network.readers.read import find_tables
from coembed.network.readers.streaming import stream_tables
stream_tables(*find_tables(Path({str(tmp_path / "tables")!r})), {str(tmp_path / "out")!r}, memory="300MB")
# not ru_maxrss, which begins with that of the process that started this one
print(int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 700
    assert_same(open_mapped(tmp_path / "out", check="full"), read(tmp_path / "tables"))
