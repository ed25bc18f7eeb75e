"""Our own file of a network: NumPy arrays in a zip, no pickled objects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.files import replacing_file
from coembed.network.network import Network

REMEDY = "write it again with `coembed convert`"


def read_npz(path: Path) -> Network:
    """Read the CSR pieces ``adj_*`` and ``attr_*``, ``labels``, and the names where they are known.

    Only ``adj_*`` must be there.
    """
    arrays = load_arrays(path)
    links = _matrix(path, arrays, "adj")
    attributes = _matrix(path, arrays, "attr") if "attr_data" in arrays else None
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
        node_names=arrays.get("node_names"),
        attribute_names=arrays.get("attr_names"),
        class_names=arrays.get("label_names"),
        name=path.stem,
    )
    titles = arrays.get("node_titles")
    if titles is None:
        return network
    return network.with_titles(titles)


def write_npz(network: Network, path: Path) -> None:
    """Write what :func:`read_npz` reads; the file is there complete or not at all."""
    arrays: dict[str, Any] = {
        "labels": network.labels,
        "node_names": network.node_names.astype(str),
        "attr_names": network.attribute_names.astype(str),
        "label_names": network.class_names.astype(str),
    }
    if network.main.titles is not None:
        arrays["node_titles"] = np.asarray(network.main.titles).astype(str)
    for key, matrix in (("adj", network.links), ("attr", network.attributes)):
        arrays[f"{key}_data"] = matrix.data
        arrays[f"{key}_indices"] = matrix.indices
        arrays[f"{key}_indptr"] = matrix.indptr
        arrays[f"{key}_shape"] = np.array(matrix.shape, dtype=np.int64)
    save_arrays(path, arrays)


def load_arrays(path: Path) -> dict[str, np.ndarray]:
    """All arrays of an ``.npz``; a broken file, or one with pickled objects, is an InputError."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {key: file[key] for key in file.files}
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; check the path") from None
    except Exception as error:  # a damaged file makes NumPy raise nearly anything
        if "pickle" in str(error):
            raise InputError(
                f"{path} holds pickled objects, which could run any program; save plain arrays instead"
            ) from None
        said = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{path} is not a whole .npz file ({said}); fetch or write it again") from None


def save_arrays(path: Path, arrays: dict[str, Any]) -> None:
    """Write arrays to an ``.npz``, complete or not at all."""
    with replacing_file(path) as sibling, sibling.open("wb") as stream:
        np.savez_compressed(stream, **arrays)


def _matrix(path: Path, arrays: dict[str, np.ndarray], key: str) -> sp.csr_array:
    pieces = [f"{key}_{piece}" for piece in ("data", "indices", "indptr", "shape")]
    missing = [piece for piece in pieces if piece not in arrays]
    if missing:
        raise InputError(f"{path} has no array {missing[0]!r}; {REMEDY}")
    data, indices, indptr, shape = (arrays[piece] for piece in pieces)
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or data.dtype.kind not in "biuf":
        raise InputError(f"{path}: {key}_shape must be two integers and {key}_data numbers; {REMEDY}")
    try:
        matrix = sp.csr_array((data.astype(np.float32), indices, indptr), shape=tuple(int(n) for n in shape))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"{path}: the {key}_ arrays do not make a CSR matrix ({error}); {REMEDY}") from None
    return matrix
