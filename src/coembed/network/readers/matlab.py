"""MATLAB files as the BlogCatalog and Flickr networks come: variables Network, Attributes, Label."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network.network import Network
from coembed.network.readers.matlab_file import Matrix, list_variables
from coembed.network.readers.scan_text import whole_labels
from coembed.untrusted import reading

_NAMES = {
    "links": ("network", "net", "adjacency", "a"),
    "attributes": ("attributes", "attrb", "features", "x"),
    "labels": ("label", "labels", "group", "y"),
}


def read_mat(path: Path) -> Network:
    """Read a ``.mat`` file up to version 7; labels may be a column of numbers or one column a class."""
    content = _wanted(path)
    links = content.get("links")
    n_nodes = 0 if links is None else int(links.shape[0])
    attributes = content.get("attributes")
    # before anything is made of them: a few bytes can claim a billion rows
    for what, count in (
        ("columns of Network", None if links is None else links.shape[1]),
        ("rows of Attributes", None if attributes is None else attributes.shape[0]),
    ):
        if count not in (n_nodes, None):
            raise InputError(f"{path}: {count} {what} for {n_nodes} nodes; give one for every node")
    labels, class_names = None, None
    if "labels" in content:
        labels, class_names = _labels(path, content["labels"], n_nodes)
    return Network.build(links, attributes, labels, class_names=class_names, name=path.stem)


def _wanted(path: Path) -> dict[str, Matrix]:
    """The variables that are parts of a network, by part."""
    with reading(path, "a whole MATLAB file", "fetch or save it again"):
        present = {variable.name.lower(): variable for variable in list_variables(path)}
        names = {part: _find(names, present) for part, names in _NAMES.items()}
        if names["links"] is None:
            found = ", ".join(sorted(variable.name for variable in present.values())) or "none"
            raise InputError(f"{path} has no variable Network (found: {found}); give links that name")
        content: dict[str, Matrix] = {}
        for part, name in names.items():
            if name is None:
                continue
            variable = present[name]
            matrix = None if variable.load is None else variable.load()
            if matrix is None or matrix.ndim != 2:
                raise InputError(
                    f"{path}: {variable.name} is not a matrix of real numbers; give a sparse or full matrix"
                )
            content[part] = matrix
        return content


def _find(names: tuple[str, ...], present: Container[str]) -> str | None:
    return next((name for name in names if name in present), None)


def _labels(path: Path, value: Any, n_nodes: int) -> tuple[np.ndarray, list[str]]:
    if min(value.shape) == 1 and max(value.shape) == n_nodes:
        value = value.toarray() if sp.issparse(value) else value
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
    if indicator.dtype.kind not in "biuf" or not np.isfinite(indicator.data).all():
        raise InputError(f"{where}: the columns of the classes hold NaN or infinity; give 0 and 1")
    indicator.eliminate_zeros()
    times = np.diff(indicator.indptr)
    if (times > 1).any():
        row = int(np.argmax(times > 1))
        raise InputError(f"{where}: node {row} has {times[row]} labels; give each node one")
    labels = np.full(indicator.shape[0], -1, dtype=np.int64)
    labels[times == 1] = indicator.indices
    return labels
