"""Our own file of a network: NumPy arrays in a zip, no pickled objects."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.files import replacing_file
from coembed.network.matrices import as_float32
from coembed.network.names import NameArray, Names
from coembed.network.network import Network
from coembed.untrusted import check_count, check_unpacked, checked_csr, reading

REMEDY = "write it again with `coembed convert`"
NAMES = ("node_names", "attr_names", "label_names", "node_titles")
PACKED = ("bytes", "offsets")
"""Names that NumPy's texts would change or blow up: UTF-8 of all of them, and where each begins."""
_KNOWN = {
    *(f"{key}_{piece}" for key in ("adj", "attr") for piece in ("data", "indices", "indptr", "shape")),
    *(f"{kind}{ending}" for kind in NAMES for ending in ("", *(f".{piece}" for piece in PACKED))),
    "labels",
}
# a .npy begins with its magic, a version, and a header of at most this length that numpy parses
_LONGEST_HEADER = 10_000


def read_npz(path: Path) -> Network:
    """Read the CSR pieces ``adj_*`` and ``attr_*``, ``labels``, and the names where they are known.

    Only ``adj_*`` must be there; other arrays are not looked at.
    """
    arrays = load_arrays(path, _KNOWN)
    said: list[str] = []
    names = {kind: _names(path, arrays, kind) for kind in NAMES}
    links = _matrix(path, arrays, "adj", said)
    attributes = _matrix(path, arrays, "attr", said) if "attr_data" in arrays else None
    if attributes is not None and names["attr_names"] is None:
        check_count(path, "attributes", attributes.shape[1], attributes.nnz)
    if attributes is not None and attributes.shape[0] != links.shape[0]:
        raise InputError(
            f"{path}: {attributes.shape[0]} rows of attributes for {links.shape[0]} nodes; {REMEDY}"
        )
    labels = arrays.get("labels")
    if labels is not None and (labels.dtype.kind not in "iu" or labels.shape != (links.shape[0],)):
        raise InputError(
            f"{path}: labels must be {links.shape[0]} integers, "
            f"got {labels.dtype} of shape {labels.shape}; {REMEDY}"
        )
    network = Network.build(
        links,
        attributes,
        labels,
        node_names=names["node_names"],
        attribute_names=names["attr_names"],
        class_names=names["label_names"],
        name=path.stem,
        notices=said,
    )
    titles = names["node_titles"]
    if titles is None:
        return network
    return network.with_titles(titles)


def write_npz(network: Network, path: Path) -> None:
    """Write what :func:`read_npz` reads; the file is there complete or not at all."""
    arrays: dict[str, Any] = {"labels": network.labels}
    texts = (network.node_names, network.attribute_names, network.class_names, network.main.titles)
    for kind, names in zip(NAMES, texts, strict=True):
        if names is not None:
            arrays |= _name_arrays(kind, names)
    for key, matrix in (("adj", network.links), ("attr", network.attributes)):
        arrays[f"{key}_data"] = matrix.data
        arrays[f"{key}_indices"] = matrix.indices
        arrays[f"{key}_indptr"] = matrix.indptr
        arrays[f"{key}_shape"] = np.array(matrix.shape, dtype=np.int64)
    save_arrays(path, arrays)


def load_arrays(path: Path, known: Collection[str] | None = None) -> dict[str, np.ndarray]:
    """Arrays of an ``.npz``, all or those of `known` names, as far as they are there.

    A broken file, one with pickled objects, or one that claims more than it holds, is an InputError.
    """
    with reading(path, "a whole .npz file"), zipfile.ZipFile(path) as file:
        members = {info.filename.removesuffix(".npy"): info for info in file.infolist()}
        wanted = [name for name in members if known is None or name in known]
        check_unpacked(path, sum(members[name].file_size for name in wanted))
        found = {}
        for name in wanted:
            with file.open(members[name]) as stream:
                found[name] = _load_array(path, name, stream, members[name].file_size)
        return found


def _load_array(path: Path, name: str, stream: IO[bytes], size: int) -> np.ndarray:
    """One array, if its header fits its bytes."""
    version = np.lib.format.read_magic(stream)
    read_header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in read_header:
        raise ValueError(f"{name} is in version {version} of its format")
    shape, by_column, dtype = read_header[version](stream, max_header_size=_LONGEST_HEADER)
    if dtype.hasobject:
        raise InputError(
            f"{path} holds pickled objects, which could run any program; save plain arrays instead"
        )
    count = math.prod(shape)
    if count * dtype.itemsize > size or (count and not dtype.itemsize):
        raise ValueError(f"{name} claims {count:,} entries in {size:,} bytes")
    flat = np.frombuffer(stream.read(count * dtype.itemsize), dtype=dtype, count=count)
    return flat.reshape(shape, order="F" if by_column else "C")


def save_arrays(path: Path, arrays: dict[str, Any]) -> None:
    """Write arrays to an ``.npz``, complete or not at all."""
    with replacing_file(path) as sibling, sibling.open("wb") as stream:
        np.savez_compressed(stream, **arrays)


def _names(path: Path, arrays: dict[str, np.ndarray], kind: str) -> NameArray | None:
    """Names as they were written: an array of texts, or packed."""
    if f"{kind}.bytes" in arrays:
        with reading(path, "a whole .npz file", REMEDY):
            try:
                return np.asarray(Names(arrays[f"{kind}.bytes"], arrays[f"{kind}.offsets"]))
            except InputError as error:
                raise InputError(f"{path}: {kind}: {error}; {REMEDY}") from None
    names = arrays.get(kind)
    if names is not None and (names.ndim != 1 or names.dtype.kind not in "USiu"):
        raise InputError(
            f"{path}: {kind} must be a list of texts, got {names.dtype} of shape {names.shape}; {REMEDY}"
        )
    return names


def _name_arrays(kind: str, names: NameArray) -> dict[str, np.ndarray]:
    """Texts of NumPy where these hold the names: they end at the last character that is not NUL.

    They are also all as wide as the longest; a long one among many would take gigabytes.
    """
    packed = Names.of(names)
    lengths = np.diff(packed.offsets)
    ends = packed.octets[packed.offsets[1:][lengths > 0] - 1]
    if (ends == 0).any() or 4 * lengths.max(initial=0) * len(lengths) > 1_000_000 + 64 * len(packed.octets):
        return {f"{kind}.bytes": packed.octets, f"{kind}.offsets": packed.offsets}
    return {kind: np.asarray(names).astype(str)}


def _matrix(path: Path, arrays: dict[str, np.ndarray], key: str, said: list[str]) -> sp.csr_array:
    pieces = [f"{key}_{piece}" for piece in ("data", "indices", "indptr", "shape")]
    missing = [piece for piece in pieces if piece not in arrays]
    if missing:
        raise InputError(f"{path} has no array {missing[0]!r}; {REMEDY}")
    data, indices, indptr, shape = (arrays[piece] for piece in pieces)
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or data.dtype.kind not in "biuf":
        raise InputError(f"{path}: {key}_shape must be two integers and {key}_data numbers; {REMEDY}")
    try:
        return checked_csr(as_float32(data, f"{key}_data", said.append), indices, indptr, shape)
    except ValueError as error:
        raise InputError(f"{path}: the {key}_ arrays do not make a CSR matrix ({error}); {REMEDY}") from None
