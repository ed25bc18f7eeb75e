"""The embeddings as files that other programs read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np

from coembed.errors import InputError
from coembed.files import replacing_file
from coembed.fitted.fitted import Fitted
from coembed.fitted.gaussians import Codes
from coembed.network.network import UNKNOWN

Format = Literal["csv", "parquet", "npz", "word2vec", "projector"]
FORMATS: tuple[Format, ...] = ("csv", "parquet", "npz", "word2vec", "projector")
_BY_SUFFIX: dict[str, Format] = {
    ".csv": "csv",
    ".parquet": "parquet",
    ".npz": "npz",
    ".txt": "word2vec",
    ".vec": "word2vec",
    ".tsv": "projector",
}


def export(
    fitted: Fitted, path: str | os.PathLike[str], format: str | None = None, new: np.ndarray | None = None
) -> list[Path]:
    """Write the codes of all nodes and attributes; returns the files written.

    Parameters
    ----------
    format
        ``csv`` and ``parquet``: a row an item with kind, name, label, probability, means and standard
        deviations; ``npz``: arrays; ``word2vec``: text that gensim reads; ``projector``: a pair of ``.tsv``
        for the TensorBoard projector. By default what the ending says.
    new
        True for items that were placed without training, nodes first: a column more in the tables.
    """
    target = Path(path)
    chosen = check_target(target, format)
    if chosen in ("csv", "parquet"):
        return _write_table(fitted, target, chosen, new)
    return _WRITERS[chosen](fitted, target)


def check_target(path: Path, format: str | None = None) -> Format:
    """The format to write; asked before the work, so that none is done in vain.

    Examples
    --------
    >>> check_target(Path("codes.vec"))
    'word2vec'
    """
    for known in FORMATS:
        if known == (format or _BY_SUFFIX.get(path.suffix.lower())):
            return known
    what = f"format {format!r}" if format else f"format for the ending of {path}"
    raise InputError(f"there is no {what}; known: {', '.join(FORMATS)} (choose with --format)")


def _both(fitted: Fitted) -> Codes:
    nodes, attributes = fitted.nodes, fitted.attributes
    return Codes(np.vstack([nodes.mean, attributes.mean]), np.vstack([nodes.std, attributes.std]))


def _names(fitted: Fitted) -> np.ndarray:
    return np.concatenate([fitted.network.node_names, fitted.network.attribute_names])


def _kinds(fitted: Fitted) -> list[str]:
    return ["node"] * fitted.network.n_nodes + ["attribute"] * fitted.network.n_attributes


def _labels(fitted: Fitted) -> tuple[list[str | None], list[float | None]]:
    """Class of every item, observed or else predicted, and the probability of that class."""
    network = fitted.network
    nothing: list[None] = [None] * network.n_attributes
    if not network.n_classes:
        return [*[None] * network.n_nodes, *nothing], [*[None] * network.n_nodes, *nothing]
    observed = network.labels != UNKNOWN
    classes = np.where(observed, network.labels, fitted.probabilities.argmax(axis=1))
    probability = np.where(observed, 1, np.take_along_axis(fitted.probabilities, classes[:, None], 1)[:, 0])
    return [*network.class_names[classes], *nothing], [*probability.tolist(), *nothing]


def _write_table(fitted: Fitted, path: Path, format: str, new: np.ndarray | None) -> list[Path]:
    import pyarrow as pa
    from pyarrow import csv, parquet

    codes = _both(fitted)
    labels, probability = _labels(fitted)
    columns = {
        "kind": pa.array(_kinds(fitted)),
        "name": pa.array(_names(fitted), type=pa.string()),
        "label": pa.array(labels, type=pa.string()),
        "probability": pa.array(probability, type=pa.float32()),
    }
    if new is not None:
        columns["new"] = pa.array(new)
    for prefix, values in (("mean", codes.mean), ("std", codes.std)):
        columns |= {f"{prefix}{c}": pa.array(values[:, c]) for c in range(values.shape[1])}
    with replacing_file(path) as sibling:
        (csv.write_csv if format == "csv" else parquet.write_table)(pa.table(columns), sibling)
    return [path]


def _write_npz(fitted: Fitted, path: Path) -> list[Path]:
    network = fitted.network
    with replacing_file(path) as sibling, sibling.open("wb") as stream:
        np.savez_compressed(
            stream,
            node_names=network.node_names.astype(str),
            attribute_names=network.attribute_names.astype(str),
            class_names=network.class_names.astype(str),
            node_mean=fitted.node_mean,
            node_std=fitted.node_std,
            node_code=fitted.node_code,
            node_code_std=fitted.node_code_std,
            probabilities=fitted.probabilities,
            attribute_mean=fitted.attribute_mean,
            attribute_std=fitted.attribute_std,
        )
    return [path]


def _write_word2vec(fitted: Fitted, path: Path) -> list[Path]:
    """A header line, then a line an item. Spaces part the fields, so those inside a name become underscores.

    A name of both kinds would stand for two vectors: then every name gets its kind in front.
    """
    network, codes = fitted.network, _both(fitted).mean
    names = ["_".join(str(name).split()) or "_" for name in _names(fitted)]
    if len(set(names)) < len(names):
        names = [f"{kind}:{name}" for kind, name in zip(_kinds(fitted), names, strict=True)]
    if len(set(names)) < len(names):
        raise InputError(
            f"{network.name} has names that differ in spaces only, which this text cannot tell apart; "
            "take csv"
        )
    with replacing_file(path) as sibling, sibling.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write(f"{len(names)} {codes.shape[1]}\n")
        for name, row in zip(names, codes, strict=True):
            stream.write(f"{name} {' '.join(f'{value:.7g}' for value in row)}\n")
    return [path]


def _write_projector(fitted: Fitted, path: Path) -> list[Path]:
    """``NAME.tsv`` with the vectors and ``NAME.metadata.tsv`` with what they stand for."""
    metadata = path.with_name(f"{path.stem}.metadata.tsv")
    labels, _ = _labels(fitted)
    # the vectors take their name last: who finds them finds the metadata too
    with replacing_file(path) as vectors, replacing_file(metadata) as about:
        np.savetxt(vectors, _both(fitted).mean, fmt="%.7g", delimiter="\t")
        with about.open("w", encoding="utf-8", newline="\n") as stream:
            stream.write("name\tkind\tlabel\n")
            for name, kind, label in zip(_names(fitted), _kinds(fitted), labels, strict=True):
                stream.write(
                    "\t".join(" ".join(str(field).split()) for field in (name, kind, label or "")) + "\n"
                )
    return [path, metadata]


_WRITERS: dict[str, Callable[[Fitted, Path], list[Path]]] = {
    "npz": _write_npz,
    "word2vec": _write_word2vec,
    "projector": _write_projector,
}
