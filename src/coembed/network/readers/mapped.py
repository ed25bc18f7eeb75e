"""A network as a folder of raw arrays, opened by mapping them into memory: nothing is copied.

``network.json`` says what is there: sizes, names of classes, and type, shape and CRC-32 of every array; each
array is a ``.npy`` of its own, which any program with NumPy opens. Strings are UTF-8 bytes and offsets.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.files import replacing_folder
from coembed.network.matrix_checks import Rules
from coembed.network.names import Names
from coembed.network.network import UNKNOWN, Network
from coembed.network.readers.mapped_arrays import (
    RECORD,
    ArrayFile,
    Check,
    array_path,
    check_checksums,
    check_texts,
    checksum,
    classes_of,
    count_of,
    index_type,
    open_array,
    open_matrix,
    save_array,
    text_of,
)
from coembed.network.readers.mapped_types import GENERAL, open_types, save_types
from coembed.untrusted import check_kind

__all__ = [
    "RECORD",
    "ArrayFile",
    "index_type",
    "is_mapped",
    "open_mapped",
    "save_array",
    "seal",
    "write_mapped",
]

FORMAT = "coembed mapped network"
PLAIN, VERSION = 1, GENERAL
"""Versions of the format: a plain network, and one of any types."""
MATRICES = ("links", "attributes")
ARRAYS = (
    *(f"{matrix}.{piece}" for matrix in MATRICES for piece in ("indptr", "indices", "data")),
    "labels",
    *(f"{kind}_names.{piece}" for kind in ("node", "attribute") for piece in ("bytes", "offsets")),
)
OWN_NAMES = frozenset({RECORD, "truth.csv", *(f"{name}.npy" for name in ARRAYS)})
_REMEDY = "write it again with `coembed convert`"


def is_mapped(folder: Path) -> bool:
    """Whether a folder says that it is a mapped network."""
    try:
        check_kind(folder / RECORD)  # opening a pipe would wait for whoever writes to it
        with (folder / RECORD).open("rb") as file:
            return FORMAT.encode() in file.read(4096)
    except (OSError, InputError):
        return False


def open_mapped(folder: str | os.PathLike[str], check: Check = "bounds") -> Network:
    """Open a folder that :func:`write_mapped` or ``coembed convert`` wrote; its arrays stay in the files.

    Parameters
    ----------
    check
        ``sizes``: what the record says and what the files hold fit together, no array is read; for a process
        that takes a few rows of a folder that was checked before. ``bounds``: positions stay inside the
        matrices besides, so that no product can read beside them; one pass over the positions. ``full``:
        checksums, order, symmetry, finite values and unique names besides.

    Examples
    --------
    >>> import tempfile
    >>> from coembed.network import demo_network
    >>> folder = Path(tempfile.mkdtemp()) / "wordnet"
    >>> write_mapped(demo_network(), folder)
    >>> network = open_mapped(folder, check="full")
    >>> network.n_links, network.links.data.flags.writeable, network.node_names[0]
    (3682, False, 'Animalia.n.01')
    """
    if check not in get_args(Check):
        raise InputError(f"there is no check {check!r}; known: {', '.join(get_args(Check))}")
    place = Path(folder)
    record = _read_record(place)
    try:
        if record["version"] == GENERAL:
            return open_types(place, record, check)
        nodes, attributes = (count_of(record, key) for key in ("nodes", "attributes"))
        class_names = classes_of(record["classes"])
        arrays = {name: open_array(place, name, record["arrays"][name]) for name in ARRAYS}
        network = Network.plain(
            links=open_matrix(arrays, "links", (nodes, nodes), check, Rules(loops=False, symmetric=True)),
            attributes=open_matrix(arrays, "attributes", (nodes, attributes), check, Rules()),
            labels=arrays["labels"],
            node_names=_names(arrays, "node", nodes, check),
            attribute_names=_names(arrays, "attribute", attributes, check),
            class_names=class_names,
            name=text_of(record["name"]),
            notices=tuple(text_of(notice) for notice in record["notices"]),
        )
        _check_labels(network, check)
        if check == "full":
            check_checksums(arrays, record["arrays"])
    except KeyError as error:
        raise InputError(f"{place / RECORD} does not say {error.args[0]!r}; {_REMEDY}") from None
    except (ValueError, TypeError, OverflowError, AttributeError) as error:
        raise InputError(f"{place} is not a sound mapped network: {error}; {_REMEDY}") from None
    return network


def write_mapped(network: Network, folder: str | os.PathLike[str]) -> None:
    """Write a network; the folder is there complete, or as it was before."""
    with replacing_folder(Path(folder), own_names(Path(folder))) as sibling:
        if network.is_plain and network.main.titles is None:
            _save_plain(network, sibling)
        else:
            arrays, record = save_types(network, sibling)
            _write_record(sibling, GENERAL, arrays, record)


def own_names(folder: Path) -> frozenset[str]:
    """Files of a mapped network, which another may replace."""
    if not is_mapped(folder):
        return OWN_NAMES
    arrays = (file.name for file in folder.glob("*.npy"))
    return OWN_NAMES | {name for name in arrays if re.fullmatch(r"[tr]\d+\.[a-z.]+", name)}


def _save_plain(network: Network, folder: Path) -> None:
    for name in MATRICES:
        matrix: sp.csr_array = getattr(network, name)
        index = index_type(matrix.nnz, matrix.shape[1])
        save_array(folder, f"{name}.indptr", matrix.indptr.astype(index, copy=False))
        save_array(folder, f"{name}.indices", matrix.indices.astype(index, copy=False))
        save_array(folder, f"{name}.data", matrix.data)
    save_array(folder, "labels", network.labels)
    for kind, names in (("node", network.node_names), ("attribute", network.attribute_names)):
        save_names(folder, kind, Names.of(names))
    seal(folder, network.name, network.n_nodes, network.n_attributes, network.class_names, network.notices)


def save_names(folder: Path, kind: str, names: Names) -> None:
    save_array(folder, f"{kind}_names.bytes", names.octets)
    save_array(folder, f"{kind}_names.offsets", names.offsets)


def seal(
    folder: Path, name: str, nodes: int, attributes: int, classes: Iterable[str], notices: Sequence[str]
) -> None:
    """Write the record of a folder whose arrays, those of a plain network, are complete."""
    links, entries = (len(np.load(array_path(folder, f"{name}.indices"), mmap_mode="r")) for name in MATRICES)
    record = {
        "name": name,
        "nodes": nodes,
        "links": links // 2,
        "attributes": attributes,
        "entries": entries,
        "classes": [str(each) for each in classes],
        "notices": list(notices),
    }
    _write_record(folder, PLAIN, ARRAYS, record)


def _write_record(folder: Path, version: int, arrays: Iterable[str], record: dict[str, Any]) -> None:
    found = {}
    for key in arrays:
        array = np.load(array_path(folder, key), mmap_mode="r", allow_pickle=False)
        found[key] = {"dtype": array.dtype.str, "shape": list(array.shape), "crc32": checksum(array)}
    record = {"format": FORMAT, "version": version, **record, "arrays": found}
    (folder / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _read_record(place: Path) -> dict[str, Any]:
    path = place / RECORD
    try:
        check_kind(path)
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{place} is not a mapped network: it has no {RECORD}; {_REMEDY}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read ({type(error).__name__}); {_REMEDY}") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise InputError(f"{path} is not the record of a mapped network; {_REMEDY}")
    version = record.get("version")
    if type(version) is not int or version < 1:
        raise InputError(f"{path} has no format version; {_REMEDY}")
    if version > VERSION:
        raise InputError(
            f"{path} has format version {version}, this program reads up to {VERSION}; "
            "install a newer coembed"
        )
    return record


def _names(arrays: dict[str, np.ndarray], kind: str, count: int, check: Check) -> Names:
    names = Names(arrays[f"{kind}_names.bytes"], arrays[f"{kind}_names.offsets"])
    if len(names) != count:
        raise InputError(f"{len(names)} {kind} names for {count}")
    check_texts(names, f"{kind} names", check)
    return names


def _check_labels(network: Network, check: Check) -> None:
    labels = network.labels
    if labels.dtype != np.int64 or labels.shape != (network.n_nodes,) or not network.n_nodes:
        raise InputError(f"labels must be int64, one for each of the {network.n_nodes} nodes")
    if check != "sizes" and not (labels.min() >= UNKNOWN and labels.max() < network.n_classes):
        raise InputError(f"labels name more than the {network.n_classes} classes")
