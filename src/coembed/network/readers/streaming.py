"""Tables larger than memory to a mapped network, by streaming them through duckdb.

Links and lists of attributes are read in blocks by the reader of all tables, and kept as rows of a database
beside the target. There names become positions, repeated rows are joined, links are mirrored and sorted, all
within a limit of memory and with the disk for the rest; the result is written array by array. It is the same
network, in the same order, as :func:`coembed.network.read` makes of the same files. Labels, a table of names
and a wide table of attributes are read as a whole.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from coembed.errors import InputError
from coembed.files import replacing_folder
from coembed.network.matrices import say_vanished
from coembed.network.names import Names
from coembed.network.network import Network
from coembed.network.readers.database import FETCHED_ROWS, Database, database
from coembed.network.readers.delimited_text import head, stream_text
from coembed.network.readers.edge_tables import (
    NO_NAMES,
    listed_names,
    nothing_in,
    read_labels,
    read_sheet,
    say_lonely,
)
from coembed.network.readers.mapped import OWN_NAMES, ArrayFile, index_type, open_mapped, save_array, seal
from coembed.network.readers.sheet import Sheet, stream_parquet
from coembed.network.readers.table_roles import (
    Entries,
    attributes_are_wide,
    edge_entries,
    label_columns,
    list_entries,
    wide_entries,
)
from coembed.progress import Tell

BLOCK_BYTES = 1 << 25
"""Text read at a time."""
MEMORY = "3GB"
"""What duckdb may use; the whole process stays below twice that."""

# of a pair's two directions the value of larger magnitude, as the in-memory network takes it
_WIDER = """CASE WHEN back IS NULL THEN forth WHEN forth IS NULL THEN back
    WHEN abs(forth) > abs(back) THEN forth WHEN abs(forth) < abs(back) THEN back
    ELSE greatest(forth, back) END"""


def stream_tables(
    files: dict[str, Path],
    name: str,
    folder: str | os.PathLike[str],
    *,
    memory: str = MEMORY,
    progress: Tell | None = None,
) -> Network:
    """Convert tables, given by role, to a mapped network in `folder`, and open it.

    Parameters
    ----------
    memory
        What duckdb may use, such as ``3GB``; what does not fit goes to files beside `folder` for a while.
    progress
        Called with the name of each step.

    Examples
    --------
    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp())
    >>> _ = (place / "edges.csv").write_text("ann,bob\\nbob,eve\\nbob,ann\\n")
    >>> network = stream_tables({"edges": place / "edges.csv"}, "friends", place / "friends")
    >>> list(network.node_names), network.n_links
    (['ann', 'bob', 'eve'], 2)
    """
    if "edges" not in files:
        given = ", ".join(str(path) for path in files.values())
        raise InputError(f"{given}: there is no table of links; add one called edges.csv (source, target)")
    place = Path(folder)
    with replacing_folder(place, OWN_NAMES) as sibling, database(sibling / "work", memory) as tables:
        _Conversion(tables, files, name, sibling, progress or (lambda step: None)).run()
    return open_mapped(place)


def stream_sheets(path: Path) -> Iterator[Sheet]:
    """A table, text or Parquet, block by block."""
    if head(path, 4) == b"PAR1":
        return stream_parquet(path, FETCHED_ROWS)
    return stream_text(path, BLOCK_BYTES)


class _Conversion:
    """The steps from files to arrays; `said` gathers the notices in the order of the in-memory reader."""

    def __init__(
        self,
        tables: Database,
        files: dict[str, Path],
        name: str,
        folder: Path,
        progress: Tell,
    ) -> None:
        self.tables, self.files, self.name, self.folder, self.say = tables, files, name, folder, progress
        self.said: list[str] = []
        self.vanished = {"edges": 0, "attributes": 0}

    def run(self) -> None:
        listed = listed_names(read_sheet(self.files["names"]) if "names" in self.files else None)
        labels = read_sheet(self.files["labels"]) if "labels" in self.files else None
        label_nodes, label_texts = label_columns(labels) if labels is not None else (NO_NAMES, NO_NAMES)

        self.say("reading links")
        weighted = self._take_in("edges", stream_sheets(self.files["edges"]), edge_entries)
        self.say("reading attributes")
        present, columns, valued = self._attributes()

        self.say("numbering names")
        nodes = self._number(
            "nodes", [listed["node"], label_nodes, present], ["owned.l", "edges.l", "edges.r"]
        )
        if not nodes:
            raise nothing_in(self.files["edges"])
        attributes = self._number("attributes", [listed["attribute"], columns], ["owned.r"])

        self.say("sorting links")
        self._replace_names("edges", "nodes", "nodes")
        last_notices = self._write_links(nodes, weighted)
        self.say("sorting attributes")
        self._replace_names("owned", "nodes", "attributes")
        self._write_entries(nodes, attributes, valued)

        self.say("writing names and labels")
        label_rows = self._positions("nodes", label_nodes)
        codes, classes = read_labels(label_rows, label_texts, nodes, listed["class"], labels, self.said)
        save_array(self.folder, "labels", codes.astype(np.int64))
        self._write_names("node", "nodes")
        self._write_names("attribute", "attributes")
        seal(self.folder, self.name, nodes, attributes, classes, [*self.said, *last_notices])

    def _attributes(self) -> tuple[pa.ChunkedArray, pa.ChunkedArray, bool]:
        """Take the entries in; nodes and attributes of a wide table, and whether there are values."""
        path = self.files.get("attributes")
        if path is None:
            return NO_NAMES, NO_NAMES, self._take_in("owned", iter(()), list_entries)
        if attributes_are_wide(next(stream_sheets(path))):  # as far as the first block tells
            whole = read_sheet(path)
            if attributes_are_wide(whole):
                entries, columns = wide_entries(whole)
                self._take_in("owned", iter([whole]), lambda sheet, said: entries)
                return whole.ids(0, "node"), columns, True
        return NO_NAMES, NO_NAMES, self._take_in("owned", stream_sheets(path), list_entries)

    def _take_in(
        self, table: str, sheets: Iterator[Sheet], entries_of: Callable[[Sheet, list[str]], Entries]
    ) -> bool:
        """Rows of a file to a table (position, left, right, value); whether there are values."""
        self.tables.run(f"CREATE TABLE {table} (pos BIGINT, l VARCHAR, r VARCHAR, v FLOAT)")
        done, valued = 0, False
        for sheet in sheets:
            said: list[str] = []
            entries = entries_of(sheet, said)
            valued = entries.values is not None
            if not done:
                self.said += said
            with np.errstate(over="ignore", under="ignore"):  # told below
                values = np.array([] if entries.values is None else entries.values, dtype=np.float32)
            role = "edges" if table == "edges" else "attributes"
            self.vanished[role] += (
                int(np.count_nonzero((values == 0) & (entries.values != 0))) if valued else 0
            )
            if not np.isfinite(values).all():
                row = int(np.argmin(np.isfinite(values)))
                raise InputError(f"{sheet.place(row)}: {entries.values[row]} is too large; scale the values")  # type: ignore[index]
            size = len(entries.left)
            columns = {
                "pos": np.arange(done, done + size),
                "l": entries.left,
                "r": entries.right,
                "v": values if valued else pa.nulls(size, pa.float32()),
            }
            with self.tables.lent("block", columns):
                self.tables.run(f"INSERT INTO {table} SELECT * FROM block")
            done += size
            self.say(f"reading {sheet.path.name}: {done:,} rows")
        return valued

    def _number(self, table: str, given: list[pa.ChunkedArray], stored: list[str]) -> int:
        """Number distinct names in order of first appearance: in the `given` ones, then in columns."""
        names = pa.chunked_array([chunk for each in given for chunk in each.chunks], type=pa.large_string())
        sources, before = ["SELECT name, pos FROM given"], len(names)
        for column in stored:
            source = column.split(".")[0]
            sources.append(f"SELECT {column} AS name, pos + {before} AS pos FROM {source}")
            before += self.tables.count(f"SELECT count(*) FROM {source}")
        index = "INTEGER" if before < 2**31 else "BIGINT"
        with self.tables.lent("given", {"name": names, "pos": np.arange(len(names))}):
            self.tables.run(
                f"""
                CREATE TABLE {table} AS
                SELECT name, (row_number() OVER (ORDER BY first) - 1)::{index} AS id
                FROM (SELECT name, min(pos) AS first FROM ({" UNION ALL ".join(sources)}) GROUP BY name)
                """
            )
        return self.tables.count(f"SELECT count(*) FROM {table}")

    def _replace_names(self, table: str, left: str, right: str) -> None:
        """Names to positions: columns l, r become i, j."""
        self.tables.run(
            f"""
            CREATE TABLE numbered AS SELECT a.id AS i, b.id AS j, v
            FROM {table} JOIN {left} a ON l = a.name JOIN {right} b ON r = b.name;
            DROP TABLE {table};
            ALTER TABLE numbered RENAME TO {table};
            """
        )

    def _write_links(self, nodes: int, weighted: bool) -> list[str]:
        """Join repeated rows and both directions of a pair, drop loops; returns what was changed last."""
        total = "sum(v)" if weighted else "max(1)"
        rows = self.tables.count("SELECT count(*) FROM edges")
        # forth and back: what is listed in either direction, NULL where nothing is
        self.tables.run(
            f"""
            CREATE TABLE pairs AS
            SELECT least(i, j) AS lo, greatest(i, j) AS hi,
                   {_narrow(f"{total} FILTER (WHERE i < j)")} AS forth,
                   {_narrow(f"{total} FILTER (WHERE i > j)")} AS back
            FROM edges WHERE i <> j GROUP BY lo, hi
            """
        )
        listed_loops, loops = self.tables.row(
            f"""SELECT count(*), count(*) FILTER (WHERE total <> 0)
                FROM (SELECT {_narrow(total)} AS total FROM edges WHERE i = j GROUP BY i)"""
        )
        self.tables.run("DROP TABLE edges")
        listed, both, uneven = self.tables.row(
            """SELECT count(forth) + count(back),
                      count(*) FILTER (WHERE forth IS NOT NULL AND back IS NOT NULL),
                      count(*) FILTER (WHERE nullif(forth, 0) IS DISTINCT FROM nullif(back, 0)) FROM pairs"""
        )
        self._say_repeated("edges", rows - listed - listed_loops, weighted)
        degrees = self._write_matrix(
            "links",
            (nodes, nodes),
            2 * self.tables.count(f"SELECT count(*) FROM pairs WHERE {_WIDER} <> 0"),
            f"""WITH kept AS (SELECT lo, hi, {_WIDER} AS v FROM pairs WHERE {_WIDER} <> 0)
                SELECT lo AS i, hi AS j, v FROM kept UNION ALL SELECT hi, lo, v FROM kept ORDER BY i, j""",
        )
        self.tables.run("DROP TABLE pairs")
        changed = []
        if not both and listed + listed_loops:
            changed.append("every link was listed in one direction and taken as undirected")
        if loops:
            changed.append(f"links: {loops} self-loop(s) were dropped")
        if both and uneven:
            changed.append("links were directed: every pair was made undirected")
        return changed + say_lonely(degrees, self._node_name, self.files)

    def _node_name(self, row: int) -> str:
        return str(self.tables.row(f"SELECT name FROM nodes WHERE id = {row}")[0])

    def _write_entries(self, nodes: int, attributes: int, valued: bool) -> None:
        """Join repeated rows."""
        value = _narrow("sum(v)") if valued else "1::FLOAT"
        rows = self.tables.count("SELECT count(*) FROM owned")
        self.tables.run(f"CREATE TABLE kept AS SELECT i, j, {value} AS v FROM owned GROUP BY i, j")
        self.tables.run("DROP TABLE owned")
        distinct, count = self.tables.row("SELECT count(*), count(*) FILTER (WHERE v <> 0) FROM kept")
        self._say_repeated("attributes", rows - distinct, valued)
        query = "SELECT i, j, v FROM kept WHERE v <> 0 ORDER BY i, j"
        self._write_matrix("attributes", (nodes, attributes), count, query)
        self.tables.run("DROP TABLE kept")

    def _say_repeated(self, role: str, repeated: int, valued: bool) -> None:
        if self.vanished[role]:
            say_vanished(self.files[role].name, self.vanished[role], self.said.append)
        if repeated:
            what = "added up" if valued else "counted once"
            self.said.append(f"{self.files[role].name}: {repeated} repeated row(s) were {what}")

    def _write_matrix(self, name: str, shape: tuple[int, int], count: int, query: str) -> np.ndarray:
        """Entries (i, j, v), sorted, as the pieces of a CSR matrix; returns how many each row has."""
        index = index_type(count, shape[1])
        sizes = np.zeros(shape[0] + 1, dtype=np.int64)
        with (
            ArrayFile(self.folder, f"{name}.indices", index, count) as indices,
            ArrayFile(self.folder, f"{name}.data", np.dtype(np.float32), count) as data,
        ):
            for batch in self.tables.batches(query):
                rows, columns, values = (batch.column(k).to_numpy(zero_copy_only=False) for k in range(3))
                if not np.isfinite(values).all():
                    raise InputError(f"{name} hold NaN or infinity once repeated rows are added up")
                first = int(rows[0])
                counted = np.bincount(rows - first)
                sizes[first + 1 : first + 1 + len(counted)] += counted
                indices.write(columns)
                data.write(values)
        save_array(self.folder, f"{name}.indptr", np.cumsum(sizes).astype(index))
        return sizes[1:]

    def _write_names(self, kind: str, table: str) -> None:
        count, octets = self.tables.row(f"SELECT count(*), coalesce(sum(strlen(name)), 0) FROM {table}")
        with (
            ArrayFile(self.folder, f"{kind}_names.bytes", np.dtype(np.uint8), int(octets)) as blob,
            ArrayFile(self.folder, f"{kind}_names.offsets", np.dtype(np.int64), count + 1) as offsets,
        ):
            offsets.write(np.zeros(1))
            done = 0
            for batch in self.tables.batches(f"SELECT name FROM {table} ORDER BY id"):
                names = Names.from_arrow(batch.column(0))
                blob.write(names.octets)
                offsets.write(names.offsets[1:] + done)
                done += len(names.octets)

    def _positions(self, table: str, names: pa.ChunkedArray) -> np.ndarray:
        query = f"SELECT id FROM asked JOIN {table} USING (name) ORDER BY pos"
        with self.tables.lent("asked", {"name": names, "pos": np.arange(len(names))}):
            found = [batch.column(0).to_numpy(zero_copy_only=False) for batch in self.tables.batches(query)]
        return np.concatenate([np.empty(0, dtype=np.int64), *found])


def _narrow(total: str) -> str:
    """A sum as it is kept; what is too large for that is infinite, and refused where it is written."""
    return f"CASE WHEN abs({total}) > {np.finfo(np.float32).max} THEN 'inf'::FLOAT ELSE ({total})::FLOAT END"
