"""Any file or folder to a network: the format is told by the content, not only by the name."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from coembed.errors import InputError
from coembed.files import recover
from coembed.network.network import Network
from coembed.network.readers.edge_tables import read_tables
from coembed.network.readers.link_lists import lists_links
from coembed.network.readers.mapped import RECORD, is_mapped, open_mapped
from coembed.network.readers.matlab import read_mat
from coembed.network.readers.npz import read_npz
from coembed.network.readers.planetoid_files import planetoid_name, read_planetoid
from coembed.network.readers.scan_text import ENDINGS, is_scan_text, read_scan_text, siblings
from coembed.network.readers.table_folder import Tables, build_network, open_tables
from coembed.network.readers.table_roles import assign_roles, role_of_name
from coembed.network.readers.table_schema import SCHEMA_FILE, Schema
from coembed.untrusted import check_place, reading, told

TABLE_ENDINGS = {".csv", ".tsv", ".txt", ".tab", ".parquet", ".pq"}
ITEM_ENDINGS = TABLE_ENDINGS - {".txt"}
"""Of tables of items: any text may lie beside these."""
PACKED_ENDINGS = {".gz", ".bz2", ".zst"}
EXPECTED = (
    "give tables of items and relations, or edges.csv (source, target), attributes.csv and labels.csv, "
    "the same as Parquet, an .npz, a .mat, NAME.edge/.node/.label, or ind.NAME.*"
)


@dataclass(frozen=True)
class Asked:
    """What was said about tables; if anything was, they are read as tables of items."""

    labels: Sequence[str] = ()
    kinds: Mapping[str, str] | None = None
    schema: Schema | str | Path | None = None

    def __bool__(self) -> bool:
        return bool(self.labels or self.kinds or self.schema is not None)


def read(
    path: Any,
    *more_paths: str | Path,
    labels: Sequence[str] | str = (),
    kinds: Mapping[str, str] | None = None,
    schema: Schema | str | Path | None = None,
) -> Network:
    """Read a network from a folder, a file, several tables, or an object of another library.

    Parameters
    ----------
    path, more_paths
        A folder or one file of any format; or several tables. Tables of links, attributes and labels are told
        apart by their names (``edges.csv``, ``my_labels.tsv``), else taken in this order. Or a data frame,
        several by name, a graph of NetworkX or igraph, `Data` or `HeteroData`, AnnData, a matrix.
    labels
        Of tables of items: the columns that hold labels, as ``column`` or ``table.column``.
    kinds
        Of tables of items: what a column is, where it should not be found out: ``{"age": "number"}``; kinds
        are number, category, yes/no, tags, counts, text, date, and skip.
    schema
        A ``network.toml`` that says what the tables are; one that lies in the folder is found.

    Notes
    -----
    ===========================  ================================================================
    tables, text or Parquet      ``edges``: source, target[, weight]; ``attributes``: node, attribute
                                 [, value], or node and one column an attribute; ``labels``: node, label
    any other tables             a table with a column of unique ids is a type of items, a table of their
                                 ids a relation; kinds of columns are found
    ``.npz``                     arrays, as :func:`coembed.network.write` makes them
    ``.edge``, ``.node``,        SCAN's text format; any one of the files finds the others
    ``.label``
    ``.mat``                     MATLAB variables Network, Attributes, Label
    ``ind.NAME.*``               Planetoid
    ``network.json``, ``.npy``   a mapped network, whose arrays stay in the files
    ``.graphml``, ``.gexf``,     graphs that NetworkX reads
    ``.gml``
    ``.h5ad``                    AnnData, where it is installed
    ===========================  ================================================================

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "edges.csv").write_text("ann,bob\\nbob,eve\\n")
    >>> _ = (folder / "labels.csv").write_text("node,label\\nann,tall\\n")
    >>> network = read(folder)
    >>> list(network.node_names), network.n_links, network.labels.tolist()
    (['ann', 'bob', 'eve'], 2, [0, -1, -1])
    >>> _ = (folder / "people.csv").write_text("id,age,town\\nann,31,Oslo\\nbob,,Rome\\neve,24,Oslo\\n")
    >>> read(folder / "people.csv")
    Network('people'): 3 people, 3 people.attributes
      age: people to people.attributes, 2 entries (number)
      town: people to people.attributes, 3 entries (category)
    """
    if not isinstance(path, (str, PathLike)):
        from coembed.network.adapters.objects import adapt

        if more_paths:
            raise InputError(
                "give one object; several tables go by name: read({'people': ..., 'calls': ...})"
            )
        return adapt(path, [labels] if isinstance(labels, str) else labels, kinds, schema)
    if not all(map(str, (path, *more_paths))):
        raise InputError("the path is empty; give a file or folder, or . for this folder")
    paths = [Path(path), *(Path(more) for more in more_paths)]
    asked = Asked([labels] if isinstance(labels, str) else labels, kinds, schema)
    _check_paths(paths)
    with told(paths[0]):
        return _read(paths, asked)


def _read(paths: list[Path], asked: Asked) -> Network:
    if len(paths) == 1 and paths[0].is_file() and paths[0].suffix.lower() in BY_ENDING:
        return _read_by_ending(paths[0], asked)
    found = open_items(*paths, asked=asked)
    if found is not None:
        return build_network(found)
    if asked:
        raise InputError(
            f"{paths[0]} holds no tables of items: labels, kinds and schemas are for columns of those"
        )
    if len(paths) == 1:
        return _read_folder(paths[0]) if paths[0].is_dir() else _read_file(paths[0])
    tables = find_tables(*paths)
    if tables is not None:
        return read_tables(*tables)
    if {_format(place) for place in paths} <= {"scan", "text"}:
        return read_scan_text(paths)
    raise InputError(f"{paths[0]} and {paths[1]} do not belong together; several files must be tables")


def _read_by_ending(path: Path, asked: Asked) -> Network:
    if asked.schema is not None:
        raise InputError(f"{path} holds no tables, which a schema is about; leave the schema out")
    return BY_ENDING[path.suffix.lower()](path, asked)


def _cells(path: Path, asked: Asked) -> Network:
    from coembed.network.adapters.annotated_data import read_h5ad

    return read_h5ad(path, asked.labels, asked.kinds)


def _graph(path: Path, asked: Asked) -> Network:
    from coembed.network.adapters.graph_objects import read_graph_file

    return read_graph_file(path, asked.labels, asked.kinds)


BY_ENDING: dict[str, Callable[[Path, Asked], Network]] = {
    ".graphml": _graph,
    ".gexf": _graph,
    ".gml": _graph,
    ".h5ad": _cells,
}
"""Readers of files whose ending says all, each of a path and of what was said about columns."""


def open_items(*paths: Path, asked: Asked | None = None) -> Tables | None:
    """Tables of items with what they are, if that is what :func:`read` would find there."""
    asked = asked or Asked()
    schema = asked.schema
    if len(paths) == 1 and paths[0].is_dir():
        folder = paths[0]
        if schema is None and (folder / SCHEMA_FILE).is_file() and not is_mapped(folder):
            schema = folder / SCHEMA_FILE
        files = _item_files(folder, bool(asked) or schema is not None)
        name = _folder_name(folder)
    elif len(paths) == 1:
        files = list(paths) if _is_item_table(paths[0], bool(asked)) else []
        name = paths[0].name.split(".")[0]
    else:
        files = list(paths) if _are_item_tables(paths, bool(asked)) else []
        name = _folder_name(paths[0].parent)
    return open_tables(files, name, asked.labels, asked.kinds, schema) if files else None


def _check_paths(paths: list[Path]) -> None:
    for place in paths:
        with suppress(OSError):
            recover(place)
        check_place(place)
        if len(paths) > 1 and not place.is_file():
            raise InputError(f"{place} is not a file; give one folder, or several files")


def _item_files(folder: Path, asked: bool) -> list[Path]:
    """The tables of items of a folder; none if it holds a network of another format, links foremost."""
    if is_mapped(folder) or (folder / "model.json").is_file():
        return []
    kinds = _files_by_kind(folder)
    files = sorted(p for p in folder.iterdir() if p.is_file() and not p.name.startswith("."))
    found = [p for p in files if _is_table_name(p, ITEM_ENDINGS) and "." in p.name]
    if asked:
        return found
    if kinds["planetoid"] or kinds["scan"]:
        return []
    roles = {role_of_name(p) for p in kinds["tables"]}
    others = [p for p in found if role_of_name(p) is None and p.name != "truth.csv"]
    if not others or ("edges" in roles and roles & {"attributes", "labels", "names"}):
        return []
    return found if len(found) > 1 or not lists_links(found[0]) else []


def _is_item_table(path: Path, asked: bool) -> bool:
    """Whether a table on its own is one of items: all but lists of links are."""
    if path.name == RECORD or _format(path) not in ("text", "parquet"):
        return False
    return asked or (role_of_name(path) is None and not lists_links(path))


def _are_item_tables(paths: Sequence[Path], asked: bool) -> bool:
    if not all(_format(path) in ("text", "parquet") for path in paths):
        return False
    if asked:
        return True
    nameless = all(role_of_name(path) is None for path in paths)
    return nameless and not lists_links(paths[0])


def find_tables(path: Path, *more_paths: Path) -> tuple[dict[str, Path], str] | None:
    """The tables of links by role, and the name of the network, if that is what :func:`read` would find."""
    paths = [path, *more_paths]
    if len(paths) == 1 and path.is_dir():
        if is_mapped(path) or _item_files(path, (path / SCHEMA_FILE).is_file()):
            return None
        found = _links_files(path)
        return (assign_roles(found), _folder_name(path)) if found else None
    if not all(_format(place) in ("text", "parquet") for place in paths):
        return None
    if len(paths) > 1:
        return None if _are_item_tables(paths, False) else (assign_roles(paths), _folder_name(path.parent))
    if _is_item_table(path, False):
        return None
    stem = path.name.split(".")[0]
    return {"edges": path}, _folder_name(path.parent) if role_of_name(path) else stem


def _links_files(folder: Path) -> list[Path]:
    """The tables that are links, attributes and labels by name; or the only one, whose columns say so."""
    kinds = _files_by_kind(folder)
    if kinds["tables"] or kinds["planetoid"] or kinds["scan"] or kinds["whole"]:
        return kinds["tables"]
    files = [p for p in sorted(folder.iterdir()) if p.is_file() and not p.name.startswith(".")]
    alone = [p for p in files if "." in p.name and _is_table_name(p, ITEM_ENDINGS)]
    return alone if len(alone) == 1 else []


def _read_file(path: Path) -> Network:
    if path.name == RECORD and is_mapped(path.parent):
        return open_mapped(path.parent)
    format = _format(path)
    if format == "npz":
        return read_npz(path)
    if format == "mat":
        return read_mat(path)
    if format == "planetoid":
        return read_planetoid(path.parent, planetoid_name(path) or "")
    if format == "scan":
        return read_scan_text(siblings(path))
    tables = find_tables(path)
    assert tables is not None
    network = read_tables(*tables)
    return replace(network, notices=(*network.notices, *unread_beside(path)))


def unread_beside(path: Path) -> list[str]:
    """A notice if there are tables beside one of links, which was given alone."""
    beside = sorted(p.name for p in path.parent.iterdir() if role_of_name(path) and _is_other_table(p))
    return [f"{', '.join(beside)} beside {path.name} not read: give the folder to have all"] if beside else []


def _read_folder(folder: Path) -> Network:
    if is_mapped(folder):
        return open_mapped(folder)
    if (folder / "model.json").is_file():
        raise InputError(f"{folder} is a model, not a network; ask it, or give the network it was trained on")
    kinds = _files_by_kind(folder)
    planetoid = sorted({planetoid_name(p) or "" for p in kinds["planetoid"]})
    scan, tables, whole = kinds["scan"], _links_files(folder), kinds["whole"]
    networks = {*planetoid, *(p.stem for p in scan)}
    if len(networks) > 1:
        raise InputError(
            f"{folder} holds several networks ({', '.join(sorted(networks))}); give a file of one"
        )
    if planetoid:
        return read_planetoid(folder, planetoid[0])
    if scan:
        return read_scan_text(scan)
    if tables:
        return read_tables(assign_roles(tables), _folder_name(folder))
    if len(whole) > 1:
        raise InputError(
            f"{folder} holds several networks ({', '.join(p.name for p in whole)}); give one of them"
        )
    if whole:
        return _read_file(whole[0])
    raise InputError(f"{folder} holds no network; {EXPECTED}")


def _files_by_kind(folder: Path) -> dict[str, list[Path]]:
    """Files by what their names say; tables only where nothing else takes the folder first."""
    files = sorted(p for p in folder.iterdir() if p.is_file() and not p.name.startswith("."))
    planetoid = [p for p in files if planetoid_name(p)]
    scan = [p for p in files if p.suffix.lower() in ENDINGS]
    tables = [p for p in files if _is_table_name(p) and role_of_name(p)]
    return {
        "planetoid": planetoid,
        "scan": scan,
        "tables": [] if planetoid or scan else tables,
        "whole": [p for p in files if p.suffix.lower() in (".npz", ".mat")],
    }


def network_files(folder: Path) -> list[Path]:
    """The files that make a folder a network, of whatever format: beside them nothing else is written.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("thesis.tex", "friends.csv", "cora.npz"):
    ...     (folder / name).touch()
    >>> [file.name for file in network_files(folder)]
    ['cora.npz', 'friends.csv']
    """
    files = sorted(p for p in folder.iterdir() if p.is_file() and not p.name.startswith("."))
    known = {p for found in _files_by_kind(folder).values() for p in found}
    known |= {p for p in files if p.suffix and _is_table_name(p, ITEM_ENDINGS)}
    return [p for p in files if p in known or p.name in (RECORD, SCHEMA_FILE)]


def _format(path: Path) -> str:
    """npz, mat, parquet, planetoid, scan or text, by the first bytes."""
    with reading(path, "readable"), path.open("rb") as file:
        start = file.read(512)
    if not start:
        raise InputError(f"{path} is empty; {EXPECTED}")
    if planetoid_name(path):
        return "planetoid"
    if start.startswith(b"PK\x03\x04"):
        return _zipped(path)
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"MATLAB ") or start[126:128] in (b"IM", b"MI") or path.suffix.lower() == ".mat":
        return "mat"
    if start.startswith(b"\x80") and len(start) > 1 and start[1] <= 5:
        raise InputError(f"{path} is a pickle, which could run any program and is not opened; {EXPECTED}")
    if path.suffix.lower() == ".npz":
        raise InputError(f"{path} is not a whole .npz file; fetch or write it again")
    if path.suffix.lower() in (".parquet", ".pq"):
        raise InputError(f"{path} is not a Parquet file; fetch or write it again")
    packed = start.startswith((b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd"))
    if not packed and b"\0" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{path} is in a format that is not known; {EXPECTED}")
    return "scan" if is_scan_text(path) else "text"


def _zipped(path: Path) -> str:
    with reading(path, "a whole archive"), zipfile.ZipFile(path) as file:
        names = file.namelist()
    if any(name.startswith("xl/") for name in names):
        raise InputError(f"{path} is an Excel workbook; save its sheets as CSV files")
    if not any(name.endswith(".npy") for name in names):
        raise InputError(f"{path} is an archive; unpack it and give the folder")
    return "npz"


def _is_table_name(path: Path, known: set[str] = TABLE_ENDINGS) -> bool:
    endings = [suffix.lower() for suffix in path.suffixes]
    if endings and endings[-1] in PACKED_ENDINGS:
        endings.pop()
    return not endings or endings[-1] in known


def _is_other_table(path: Path) -> bool:
    return path.is_file() and _is_table_name(path) and role_of_name(path) in ("attributes", "labels")


def _folder_name(folder: Path) -> str:
    return folder.resolve().name or "network"
