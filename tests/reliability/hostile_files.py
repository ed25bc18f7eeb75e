"""Files that once crashed, hung, filled the memory or were read as something else, each made by its name."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import pickle
import shutil
import struct
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.io
import scipy.sparse as sp

from coembed import untrusted
from coembed.network import Network, read, write

# bombs of megabytes instead of gigabytes, so that making them takes no time
untrusted.ROOM = 1 << 20

Make = Callable[[Path], Any]
MADE: dict[str, Make] = {}


def case(make: Make) -> Make:
    """Register a function that makes files in a folder and reads them."""
    MADE[make.__name__] = make
    return make


def try_case(name: str) -> Any:
    folder = Path(tempfile.mkdtemp(prefix="hostile-"))
    try:
        return MADE[name](folder)
    finally:
        shutil.rmtree(folder)


def shown(network: Network) -> str:
    names = list(network.node_names[:5])
    labels = [None if v < 0 else str(network.class_names[v]) for v in network.labels[:5]]
    return f"{network.n_nodes} nodes {network.n_links} links {names} {labels} {list(network.notices)}"


# MATLAB


def _mat(folder: Path, rows: tuple[int, ...] = (1, 0, 2), ends: tuple[int, ...] = (0, 1, 2, 3)) -> str:
    """A sparse matrix whose positions were changed in the file."""
    path = folder / "net.mat"
    scipy.io.savemat(path, {"Network": sp.csc_matrix(np.eye(3)[[1, 0, 2]])})
    octets = path.read_bytes()
    for old, new in (((1, 0, 2), rows), ((0, 1, 2, 3), ends)):
        octets = octets.replace(struct.pack(f"<{len(old)}i", *old), struct.pack(f"<{len(new)}i", *new))
    path.write_bytes(octets)
    return shown(read(path))


@case
def mat_with_a_position_far_outside(folder: Path) -> str:
    return _mat(folder, rows=(10**9, 0, 2))


@case
def mat_with_a_negative_position(folder: Path) -> str:
    return _mat(folder, rows=(-(5 * 10**8), 0, 2))


@case
def mat_with_row_ends_out_of_order(folder: Path) -> str:
    return _mat(folder, ends=(0, 10**8, 2, 3))


@case
def mat_with_a_billion_rows(folder: Path) -> str:
    path = folder / "net.mat"
    scipy.io.savemat(path, {"Network": sp.csc_matrix((10**9, 3)), "Attributes": sp.csc_matrix((10**9, 3))})
    return shown(read(path))


@case
def mat_of_version_4_with_negative_sizes(folder: Path) -> str:
    (folder / "net.mat").write_bytes(struct.pack("<5i", 0, -1, 20, 0, 8) + b"Network\0")
    return shown(read(folder / "net.mat"))


@case
def mat_of_cells(folder: Path) -> str:
    cells = np.empty(2, dtype=object)
    cells[:] = [np.eye(2), "x"]
    scipy.io.savemat(folder / "net.mat", {"Network": cells})
    return shown(read(folder / "net.mat"))


def _mat_labels(folder: Path, labels: Any) -> str:
    scipy.io.savemat(folder / "net.mat", {"Network": sp.csc_matrix(np.eye(2)[::-1]), "Label": labels})
    return shown(read(folder / "net.mat"))


@case
def mat_with_not_a_number_among_one_hot_labels(folder: Path) -> str:
    return _mat_labels(folder, np.array([[np.nan, 0.0, 0.0], [0.0, 1.0, 0.0]]))


@case
def mat_with_an_infinite_label(folder: Path) -> str:
    return _mat_labels(folder, np.array([[np.inf], [1.0]]))


@case
def mat_with_a_label_beyond_whole_numbers(folder: Path) -> str:
    return _mat_labels(folder, np.array([[1e19], [1.0]]))


# npz


def _npz(folder: Path, **changes: Any) -> str:
    pieces = {
        "adj_data": np.ones(2, np.float32),
        "adj_indices": np.array([1, 0]),
        "adj_indptr": np.array([0, 1, 2]),
        "adj_shape": np.array([2, 2]),
    }
    np.savez(folder / "net.npz", **(pieces | changes))
    return shown(read(folder / "net.npz"))


def _npz_claiming(folder: Path, name: str, dtype: str, count: int) -> str:
    """With an array whose header says far more than follows."""
    _npz(folder)
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": dtype, "fortran_order": False, "shape": (count,)})
    with zipfile.ZipFile(folder / "net.npz", "a") as file:
        file.writestr(f"{name}.npy", header.getvalue() + bytes(8))
    return shown(read(folder / "net.npz"))


@case
def npz_with_a_billion_attributes(folder: Path) -> str:
    none = {"attr_data": np.zeros(0, np.float32), "attr_indices": np.zeros(0, int)}
    return _npz(folder, attr_indptr=np.zeros(3, int), attr_shape=np.array([2, 2**30]), **none)


@case
def npz_with_names_of_a_gigabyte(folder: Path) -> str:
    return _npz_claiming(folder, "node_names", "<U300000000", 2)


@case
def npz_with_a_huge_array_that_nobody_needs(folder: Path) -> str:
    return _npz_claiming(folder, "other", "<f4", 10**12)


@case
def npz_that_unpacks_to_gigabytes(folder: Path) -> str:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "|u1", "fortran_order": False, "shape": (1 << 24,)}
    )
    with zipfile.ZipFile(folder / "net.npz", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("adj_data.npy", header.getvalue() + bytes(1 << 24))
    return shown(read(folder / "net.npz"))


@case
def npz_with_fractions_for_positions(folder: Path) -> str:
    return _npz(folder, adj_indices=np.array([1.7, 0.2]))


@case
def npz_with_fractions_for_row_ends(folder: Path) -> str:
    return _npz(folder, adj_indptr=np.array([0, 1.0, 2]))


@case
def npz_with_names_as_bytes(folder: Path) -> str:
    return _npz(folder, node_names=np.array([b"ann", "bøb".encode()]))


@case
def npz_with_names_in_rows(folder: Path) -> str:
    return _npz(folder, node_names=np.array([["ann", "x"], ["bob", "y"]]))


@case
def npz_with_a_single_name(folder: Path) -> str:
    return _npz(folder, node_names=np.array("ann"))


@case
def npz_with_a_label_of_2_to_the_60(folder: Path) -> str:
    return _npz(folder, labels=np.array([0, 2**60]))


@case
def npz_with_a_label_of_2_to_the_63(folder: Path) -> str:
    return _npz(folder, labels=np.array([0, 2**63], np.uint64))


@case
def npz_with_a_weight_that_vanishes(folder: Path) -> str:
    return _npz(folder, adj_data=np.array([1e-46, 1e-46]))


@case
def npz_with_complex_weights(folder: Path) -> str:
    return _npz(folder, adj_data=np.array([1j, 1j]))


@case
def npz_of_names_that_end_in_nul(folder: Path) -> str:
    write(Network.build([[0, 1], [1, 0]], node_names=["a\0", "a"]), folder / "net.npz")
    return shown(read(folder / "net.npz"))


@case
def npz_of_a_long_name_among_many(folder: Path) -> str:
    names = [f"n{i}" for i in range(20_000)]
    names[7] = "x" * 10_000  # as NumPy's texts all names would take 800 MB
    write(Network.build(sp.csr_array((20_000, 20_000)), node_names=names), folder / "net.npz")
    network = read(folder / "net.npz")
    assert list(network.node_names) == names
    return f"{(folder / 'net.npz').stat().st_size < 1_000_000}"


# texts


@case
def csv_with_a_quote_that_is_not_closed(folder: Path) -> str:
    rows = "".join(f"a{i},b{i}\n" for i in range(10)) + 'c,"open\n'
    rows += "".join(f"d{i},e{i}\n" for i in range(1000))
    (folder / "edges.csv").write_text("source,target\n" + rows)
    return shown(read(folder / "edges.csv"))


@case
def csv_with_a_quote_that_another_closes(folder: Path) -> str:
    (folder / "edges.csv").write_text('source,target\na,"open\nb,c\nd,"e"\nf,g\n')
    return shown(read(folder / "edges.csv"))


@case
def csv_of_items_with_a_quote_that_is_not_closed(folder: Path) -> str:
    rows = 'p0,31,"open\n' + "".join(f"p{i},32,Oslo\n" for i in range(1, 100))
    (folder / "people.csv").write_text("id,age,town\n" + rows)
    return f"{len(read(folder / 'people.csv').main)} people"


@case
def csv_of_items_with_line_ends_in_quotes(folder: Path) -> str:
    rows = "".join(f'p{i},{i},"one\ntwo ""three"""\n' for i in range(9))
    (folder / "people.csv").write_text("id,age,about\n" + rows)
    return f"{len(read(folder / 'people.csv').main)} people"


@case
def streamed_csv_with_a_quote_that_is_not_closed(folder: Path) -> str:
    from coembed.network.readers.streaming import stream_tables

    (folder / "edges.csv").write_text('a,b\nc,"d\n' + "e,f\n" * 100)
    return shown(stream_tables({"edges": folder / "edges.csv"}, "net", folder / "out"))


@case
def csv_with_a_weight_that_vanishes(folder: Path) -> str:
    (folder / "edges.csv").write_text("source,target,weight\na,b,1e-46\nb,c,1\n")
    return shown(read(folder / "edges.csv"))


@case
def gzip_bomb(folder: Path) -> str:
    with gzip.open(folder / "edges.csv.gz", "wb", compresslevel=9) as stream:
        stream.write(b"a,b\n" * (1 << 22))
    return shown(read(folder / "edges.csv.gz"))


@case
def bzip2_bomb_of_one_line(folder: Path) -> str:
    (folder / "edges.csv.bz2").write_bytes(bz2.compress(b"a,b\n" + b"A" * (1 << 24)))
    return shown(read(folder / "edges.csv.bz2"))


def _scan(folder: Path, edges: str, labels: str | None = None) -> str:
    (folder / "net.edge").write_text(edges)
    if labels is not None:
        (folder / "net.label").write_text(labels)
    return shown(read(folder / "net.edge"))


@case
def scan_text_of_a_billion_nodes(folder: Path) -> str:
    return _scan(folder, "#Nodes 1000000000\n#Edges 1\n0 1\n")


@case
def scan_text_of_a_billion_nodes_without_edges(folder: Path) -> str:
    return _scan(folder, "#Nodes 1000000000\n#Edges 0\n")


@case
def scan_text_that_announces_no_edges_and_lists_some(folder: Path) -> str:
    return _scan(folder, "#Nodes 3\n#Edges 0\n0 1\n1 2\n")


@case
def scan_text_with_a_count_of_5000_digits(folder: Path) -> str:
    return _scan(folder, f"#Nodes {'9' * 5000}\n#Edges 1\n0 1\n")


@case
def scan_label_of_1e19(folder: Path) -> str:
    return _scan(folder, "#Nodes 2\n#Edges 1\n0 1\n", "1\n1e19\n")


@case
def scan_label_of_2_to_the_53_and_1(folder: Path) -> str:
    return _scan(folder, "#Nodes 2\n#Edges 1\n0 1\n", "1\n9007199254740993\n")


# Planetoid


def _planetoid(folder: Path, **changes: Any) -> str:
    parts: dict[str, Any] = {
        "allx": sp.csr_matrix(np.eye(2)),
        "ally": np.eye(2),
        "tx": sp.csr_matrix(np.eye(2)[:1]),
        "ty": np.eye(2)[:1],
        "graph": {0: [1], 1: [0], 2: [0]},
    } | changes
    for ending, value in parts.items():
        octets = value if isinstance(value, bytes) else pickle.dumps(value, protocol=2)
        (folder / f"ind.x.{ending}").write_bytes(octets)
    (folder / "ind.x.test.index").write_text("2\n")
    return shown(read(folder))


@case
def pickle_with_a_huge_number_for_a_part(folder: Path) -> str:
    return _planetoid(folder, graph=b"\x80\x02Nr\xff\xff\xff\x3f.")


@case
def pickle_with_a_text_of_a_terabyte(folder: Path) -> str:
    return _planetoid(folder, graph=b"\x80\x04\x8e" + struct.pack("<Q", 2**40) + b"x.")


@case
def pickle_that_copies_one_array_again_and_again(folder: Path) -> str:
    made = b"cnumpy.core.numeric\n_frombuffer\np0\n0"
    raw = b"B" + struct.pack("<I", 1 << 20) + bytes(1 << 20) + b"p1\n0"
    number = b"cnumpy\ndtype\n(U\x02f8tRp2\n0"
    arguments = b"(g1\ng2\n(J" + struct.pack("<i", 1 << 17) + b"tU\x01Ctp3\n0"
    return _planetoid(
        folder, graph=b"\x80\x02" + made + raw + number + arguments + b"]" + b"g0\ng3\nRa" * 20_000 + b"."
    )


@case
def pickle_that_lists_one_list_again_and_again(folder: Path) -> str:
    near = list(range(1000))
    return _planetoid(folder, graph=dict.fromkeys(range(100_000), near))


@case
def pickle_with_a_trillion_columns(folder: Path) -> str:
    wide = sp.csr_matrix((2, 2))
    wide._shape = (2, 2**40)
    return _planetoid(folder, allx=wide, tx=_rows(wide, 1))


def _rows(wide: sp.csr_matrix, count: int) -> sp.csr_matrix:
    some = sp.csr_matrix((count, 2))
    some._shape = (count, wide.shape[1])
    return some


@case
def pickle_with_fractions_for_nodes(folder: Path) -> str:
    return _planetoid(folder, graph={0: [1.5], 1: [0], 2: [0]})


@case
def pickle_with_not_a_number_among_labels(folder: Path) -> str:
    return _planetoid(folder, ally=np.array([[np.nan, 0.0], [0.0, 1.0]]))


@case
def pickle_with_a_sparse_matrix_of_fractions(folder: Path) -> str:
    matrix = sp.csr_matrix(np.eye(2))
    matrix.indices = np.array([0.0, 1.7])
    return _planetoid(folder, allx=matrix)


# Parquet


@case
def parquet_of_a_million_rows_in_a_kilobyte(folder: Path) -> str:
    whole = pa.table({"source": pa.nulls(1 << 20, pa.int64()), "target": pa.nulls(1 << 20, pa.int64())})
    pq.write_table(whole, folder / "edges.parquet")
    return shown(read(folder / "edges.parquet"))


@case
def parquet_of_one_long_text_in_many_rows(folder: Path) -> str:
    long = pa.DictionaryArray.from_arrays(pa.array(np.zeros(10_000, np.int32)), ["x" * 1_000_000])
    table = pa.table({"source": long, "target": long}).replace_schema_metadata(None)
    pq.write_table(table, folder / "edges.parquet", store_schema=False)
    return shown(read(folder / "edges.parquet"))


@case
def parquet_with_bad_utf8(folder: Path) -> str:
    pq.write_table(pa.table({"source": ["aaaaaaaaaaa"], "target": ["b"]}), folder / "edges.parquet")
    octets = (folder / "edges.parquet").read_bytes().replace(b"aaaaaaaaaaa", b"\xff" * 11)
    (folder / "edges.parquet").write_bytes(octets)
    return shown(read(folder / "edges.parquet"))


# places


@case
def the_empty_path(folder: Path) -> str:
    os.chdir(folder)
    (folder / "edges.csv").write_text("a,b\n")
    return shown(read(""))


@case
def a_path_of_5000_characters(folder: Path) -> str:
    return shown(read("x" * 5000))


@case
def a_path_with_a_line_end(folder: Path) -> str:
    return shown(read("no\nsuch\nfile"))


@case
def a_pipe(folder: Path) -> str:
    os.mkfifo(folder / "edges.csv")
    return shown(read(folder / "edges.csv"))


@case
def a_device_that_never_ends(folder: Path) -> str:
    return shown(read("/dev/zero"))
