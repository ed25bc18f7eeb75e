"""A network to a file or folder."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from coembed.errors import InputError
from coembed.files import replacing_folder
from coembed.network.names import Names, is_unicode
from coembed.network.network import Network
from coembed.network.pairs import entries
from coembed.network.readers.mapped import write_mapped
from coembed.network.readers.npz import write_npz
from coembed.network.readers.write_tables import write_general

Format = Literal["npz", "csv", "parquet", "mapped"]
ROLES = ("edges", "attributes", "labels", "names")
OWN_NAMES = frozenset({"truth.csv", *(f"{role}.{ending}" for role in ROLES for ending in ("csv", "parquet"))})
"""Files of a folder that another network may replace."""


def write(network: Network, path: str | Path, format: str | None = None) -> None:
    """Write a network; nothing half-written is left behind.

    Parameters
    ----------
    path
        A file for ``npz``, which holds plain networks only; a folder for the others, made if it is not there.
        A folder with other files in it is left alone.
    format
        ``npz``, ``csv``, ``parquet``, or ``mapped``: raw arrays that are opened without being read; None: by
        the ending of `path`, and a folder of csv if there is none.

    Examples
    --------
    >>> import tempfile
    >>> from coembed.network import demo_network, read
    >>> folder = Path(tempfile.mkdtemp()) / "wordnet"
    >>> write(demo_network(), folder)
    >>> sorted(file.name for file in folder.iterdir())
    ['attributes.csv', 'edges.csv', 'labels.csv', 'names.csv']
    >>> read(folder).n_links
    3682
    """
    path = Path(path)
    format = chosen_format(path, format)
    if format == "npz":
        if not network.is_plain:
            raise InputError(
                f"{network.name} has the types {', '.join(network.types)}, an .npz holds one of nodes and "
                f"attributes only; write a folder of tables, or {path.stem}.mapped"
            )
        write_npz(network, path)
        return
    if format == "mapped":
        write_mapped(network, path)
        return
    if not network.is_plain or network.main.titles is not None:
        write_general(network, path, format)
        return
    _check_names(network, format)
    tables = as_tables(network)
    with replacing_folder(path, OWN_NAMES) as folder:
        for role, table in tables.items():
            file = folder / f"{role}.{format}"
            if format == "csv":
                pa_csv.write_csv(table, file)
            else:
                pq.write_table(table, file)


def chosen_format(path: Path, format: str | None = None) -> Format:
    """The format that was named, or that the ending of the path says.

    Examples
    --------
    >>> chosen_format(Path("net.npz")), chosen_format(Path("net")), chosen_format(Path("net"), "mapped")
    ('npz', 'csv', 'mapped')
    """
    if format is None:
        format = path.suffix.lower().removeprefix(".") or "csv"
    for known in get_args(Format):
        if format == known:
            return known  # type: ignore[no-any-return]
    raise InputError(
        f"{path}: there is no format {format!r} to write; use a name ending in .npz, .parquet, .csv or "
        ".mapped, or a folder without ending"
    )


def as_tables(network: Network) -> dict[str, pa.Table]:
    """Links once each, attribute entries, known labels; and all names in order, so that nothing is lost."""
    nodes, attributes, classes = (
        names.texts if isinstance(names, Names) else pa.array(names, type=pa.large_string())
        for names in (network.node_names, network.attribute_names, network.class_names)
    )
    links = entries(network.links)
    once = links[:, 0] < links[:, 1]
    owned = entries(network.attributes)
    labelled = network.labelled
    edge_table = {"source": nodes.take(links[once, 0]), "target": nodes.take(links[once, 1])}
    if network.weighted_links:
        edge_table["weight"] = pa.array(network.links.data[once])
    attribute_table = {"node": nodes.take(owned[:, 0]), "attribute": attributes.take(owned[:, 1])}
    if network.real_attributes:
        attribute_table["value"] = pa.array(network.attributes.data)
    kinds = np.repeat(["node", "attribute", "class"], [len(nodes), len(attributes), len(classes)])
    return {
        "edges": pa.table(edge_table),
        "attributes": pa.table(attribute_table),
        "labels": pa.table({"node": nodes.take(labelled), "label": classes.take(network.labels[labelled])}),
        "names": pa.table({"kind": kinds, "name": pa.concat_arrays([nodes, attributes, classes])}),
    }


def _check_names(network: Network, format: str) -> None:
    """Tables cannot hold every name (text: no outer blanks, no line ends): refuse, rather than change one."""
    for names in (network.node_names, network.attribute_names, network.class_names):
        for name in names:
            lost = not name or (format == "csv" and (name != name.strip() or "\n" in name or "\r" in name))
            if lost or not is_unicode(name):
                raise InputError(
                    f"{network.name}: {format} would lose the name {name[:40]!r} (empty, outer blanks, "
                    "a line end, or not Unicode); write .npz instead"
                )
