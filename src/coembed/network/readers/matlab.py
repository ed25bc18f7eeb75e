"""MATLAB files as the BlogCatalog and Flickr networks come: variables Network, Attributes, Label."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network.network import Network
from coembed.network.readers.scan_text import whole_labels

_NAMES = {
    "links": ("network", "net", "adjacency", "a"),
    "attributes": ("attributes", "attrb", "features", "x"),
    "labels": ("label", "labels", "group", "y"),
}


def read_mat(path: Path) -> Network:
    """Read a ``.mat`` file up to version 7; labels may be a column of numbers or one column a class."""
    try:
        present = {name.lower(): name for name, _, _ in scipy.io.whosmat(path)}
        wanted = {part: _find(names, present) for part, names in _NAMES.items()}
        content = scipy.io.loadmat(path, variable_names=[name for name in wanted.values() if name])
    except NotImplementedError:
        raise InputError(f"{path} is a MATLAB 7.3 file; save it in MATLAB with the option -v7") from None
    except Exception as error:  # the reader of SciPy raises nearly anything on a broken file
        said = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{path} is not a whole MATLAB file ({said}); fetch or save it again") from None
    if wanted["links"] is None:
        found = ", ".join(sorted(present.values())) or "none"
        raise InputError(f"{path} has no variable Network (found: {found}); give links that name")
    links = _matrix(path, content, wanted["links"])
    n_nodes = links.shape[0]
    attributes = None if wanted["attributes"] is None else _matrix(path, content, wanted["attributes"])
    labels, class_names = None, None
    if wanted["labels"] is not None:
        labels, class_names = _labels(path, content[wanted["labels"]], n_nodes)
    for what, rows in (
        ("columns of Network", links.shape[1]),
        ("rows of Attributes", _rows(attributes, n_nodes)),
    ):
        if rows != n_nodes:
            raise InputError(f"{path}: {rows} {what} for {n_nodes} nodes; give one for every node")
    return Network.build(links, attributes, labels, class_names=class_names, name=path.stem)


def _find(names: tuple[str, ...], present: dict[str, str]) -> str | None:
    return next((present[name] for name in names if name in present), None)


def _rows(matrix: sp.csr_array | None, otherwise: int) -> int:
    return otherwise if matrix is None else int(matrix.shape[0])


def _matrix(path: Path, content: dict[str, Any], name: str) -> sp.csr_array:
    value = content[name]
    if not (
        sp.issparse(value)
        or (isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "biuf")
    ):
        raise InputError(f"{path}: {name} is not a matrix of numbers; give a sparse or full matrix")
    matrix = sp.csr_array(value)
    if matrix.dtype.kind == "c":
        raise InputError(f"{path}: {name} holds complex numbers; give real ones")
    return matrix


def _labels(path: Path, value: Any, n_nodes: int) -> tuple[np.ndarray, list[str]]:
    if sp.issparse(value):
        value = value.toarray() if min(value.shape) == 1 else value
    elif not (isinstance(value, np.ndarray) and value.dtype.kind in "biuf"):
        raise InputError(f"{path}: Label is not an array of numbers; number the classes from 1")
    if min(value.shape) == 1 and max(value.shape) == n_nodes:
        flat = np.asarray(value, dtype=np.float64).ravel()
        return whole_labels(
            np.where(np.isnan(flat), -1, flat), lambda row: f"{path}: Label of node {row + 1}"
        )
    if value.shape[0] != n_nodes:
        raise InputError(f"{path}: Label has shape {value.shape} for {n_nodes} nodes; give one number a node")
    return one_hot_labels(sp.csr_array(value), str(path)), [str(k + 1) for k in range(value.shape[1])]


def one_hot_labels(indicator: sp.csr_array, where: str) -> np.ndarray:
    """One column a class to one number a row; a row without any is unknown, with two is refused.

    Examples
    --------
    >>> one_hot_labels(sp.csr_array([[0, 1], [0, 0], [1, 0]]), "here")
    array([ 1, -1,  0])
    """
    indicator = indicator.copy()
    indicator.eliminate_zeros()
    times = np.diff(indicator.indptr)
    if (times > 1).any():
        row = int(np.argmax(times > 1))
        raise InputError(f"{where}: node {row} has {times[row]} labels; give each node one")
    labels = np.full(indicator.shape[0], -1, dtype=np.int64)
    labels[times == 1] = indicator.indices
    return labels
