"""The embeddings as files that other programs read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from coembed.errors import InputError
from coembed.files import replacing_file
from coembed.fitted.class_answers import class_texts, leading_classes
from coembed.fitted.fitted import Fitted
from coembed.fitted.poles import numbers_of, pole_name
from coembed.network.items import Items
from coembed.network.names import as_unicode

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
    fitted: Fitted,
    path: str | os.PathLike[str],
    format: str | None = None,
    new: Mapping[str, np.ndarray] | None = None,
) -> list[Path]:
    """Write the codes of all items of all types; returns the files written.

    Parameters
    ----------
    format
        ``csv`` and ``parquet``: a row an item with type, id, title, label, probability, means and standard
        deviations; ``npz``: arrays (see :func:`arrays_of`); ``word2vec``: text that gensim reads;
        ``projector``: a pair of ``.tsv`` for the TensorBoard projector. By default what the ending says.
    new
        By type, positions of items that were placed without training: a column more in the tables.
    """
    target = Path(path)
    chosen = check_target(target, format)
    if chosen in ("csv", "parquet"):
        return _write_table(fitted, target, chosen, new)
    return _WRITERS[chosen](fitted, target)


@dataclass(frozen=True, eq=False)
class Exported:
    """The items of a type as they are written: codes of all, and of every number its low pole at the end."""

    items: Items
    ids: list[str]
    titles: list[str]
    mean: np.ndarray
    std: np.ndarray

    @classmethod
    def of(cls, fitted: Fitted, type: str) -> Exported:
        items, codes, numbers = (
            fitted.network.items(type),
            fitted.codes(type),
            numbers_of(fitted.network, type),
        )
        rows = list(numbers)

        def names(name: Callable[[int], str]) -> list[str]:
            high = [pole_name(name(i), numbers[i], 1) if i in numbers else name(i) for i in range(len(items))]
            return high + [pole_name(name(i), numbers[i], -1) for i in rows]

        mean, std = np.vstack([codes.mean, -codes.mean[rows]]), np.vstack([codes.std, codes.std[rows]])
        return cls(items, names(lambda i: str(items.ids[i])), names(items.title), mean, std)

    def __len__(self) -> int:
        return len(self.ids)


def _exported(fitted: Fitted) -> dict[str, Exported]:
    return {name: Exported.of(fitted, name) for name in fitted.network.types}


def arrays_of(fitted: Fitted) -> dict[str, np.ndarray]:
    """The codes as arrays by name.

    ``TYPE.ids``, ``TYPE.mean`` and ``TYPE.std`` of every type, in the common space: the inner product or the
    cosine of any two rows says how related they are. Of a number there are two rows, where it is high and
    where it is low. ``TYPE.titles`` where items have titles; ``TYPE.probabilities`` and ``TYPE.classes``
    where they have classes. Of a relation that has a direction, or that is one of several between the same
    types, ``RELATION.query`` and ``RELATION.key``: the inner product of a row of the one (a source) and of
    the other (a target) tells which way a pair goes, which a cosine cannot.
    """
    found: dict[str, np.ndarray] = {}
    for name, rows in _exported(fitted).items():
        items, probabilities = rows.items, fitted.probabilities_of(name)
        found[f"{name}.ids"] = np.array(rows.ids, dtype=str)
        if items.titles is not None:
            found[f"{name}.titles"] = np.array(rows.titles, dtype=str)
        found[f"{name}.mean"], found[f"{name}.std"] = rows.mean, rows.std
        if items.labels is not None and items.n_classes and probabilities is not None:
            found[f"{name}.probabilities"] = probabilities
            found[f"{name}.classes"] = items.labels.classes.astype(str)
    for name, fit in fitted.relations.items():
        if fit.turn is not None or fit.lean is not None:
            joined = fitted.network.relation(name)
            found[f"{name}.query"] = fit.query(fitted.latents(joined.source))
            found[f"{name}.key"] = fitted.latents(joined.target).mean
    return found


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


def _columns(parts: Mapping[str, Exported]) -> tuple[list[str], list[str], list[str], np.ndarray, np.ndarray]:
    """Type, id, title, mean and standard deviation of all rows, type after type."""
    return (
        [as_unicode(name) for name, rows in parts.items() for _ in range(len(rows))],
        [as_unicode(id) for rows in parts.values() for id in rows.ids],
        [as_unicode(title) for rows in parts.values() for title in rows.titles],
        np.vstack([rows.mean for rows in parts.values()]),
        np.vstack([rows.std for rows in parts.values()]),
    )


def _labels(fitted: Fitted, parts: Mapping[str, Exported]) -> tuple[list[str | None], list[float | None]]:
    """Class of every item, observed or else predicted, and the probability of that class."""
    labels: list[str | None] = []
    chances: list[float | None] = []
    for name, rows in parts.items():
        every = np.arange(len(rows.items))
        texts = class_texts(fitted, name, every)
        if texts is None or rows.items.labels is None:
            labels += [None] * len(rows)
            chances += [None] * len(rows)
            continue
        classes = leading_classes(fitted, name, every)
        likely = np.take_along_axis(fitted.predict_proba(name), classes[:, None], 1)[:, 0]
        labels += [as_unicode(text) for text in texts]
        chances += np.where(rows.items.labels.is_known, 1, likely).tolist()
    return labels, chances


def _write_table(fitted: Fitted, path: Path, format: str, new: Mapping[str, np.ndarray] | None) -> list[Path]:
    import pyarrow as pa
    from pyarrow import csv, parquet

    parts = _exported(fitted)
    labels, probability = _labels(fitted, parts)
    types, ids, titles, mean, std = _columns(parts)
    columns = {
        "type": pa.array(types, type=pa.string()),
        "id": pa.array(ids, type=pa.string()),
        "title": pa.array(titles, type=pa.string()),
        "label": pa.array(labels, type=pa.string()),
        "probability": pa.array(probability, type=pa.float32()),
    }
    if new is not None:
        fresh = [np.isin(np.arange(len(rows)), new.get(name, [])) for name, rows in parts.items()]
        columns["new"] = pa.array(np.concatenate(fresh))
    for part, values in (("mean", mean), ("std", std)):
        if format == "parquet":  # one column of vectors, as databases of vectors have it
            numbers = pa.array(np.ascontiguousarray(values, dtype=np.float32).ravel())
            columns[part] = pa.FixedSizeListArray.from_arrays(numbers, values.shape[1])
        else:
            columns |= {f"{part}{c}": pa.array(values[:, c]) for c in range(values.shape[1])}
    with replacing_file(path) as sibling:
        (csv.write_csv if format == "csv" else parquet.write_table)(pa.table(columns), sibling)
    return [path]


def _write_npz(fitted: Fitted, path: Path) -> list[Path]:
    with replacing_file(path) as sibling, sibling.open("wb") as stream:
        np.savez_compressed(stream, **arrays_of(fitted))  # type: ignore[arg-type]
    return [path]


def _write_word2vec(fitted: Fitted, path: Path) -> list[Path]:
    """A header line, then a line an item. Spaces part the fields, so those inside an id become underscores.

    An id of two types would stand for two vectors: then every id gets its type in front.
    """
    network, (types, ids, _, codes, _) = fitted.network, _columns(_exported(fitted))
    names = ["_".join(name.split()) or "_" for name in ids]
    if len(set(names)) < len(names):
        kinds = ["_".join(kind.split()) or "_" for kind in types]
        names = [f"{kind}:{name}" for kind, name in zip(kinds, names, strict=True)]
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
    parts = _exported(fitted)
    types, ids, titles, mean, _ = _columns(parts)
    columns = (titles, types, _labels(fitted, parts)[0], ids)
    # the vectors take their name last: who finds them finds the metadata too
    with replacing_file(path) as vectors, replacing_file(metadata) as about:
        np.savetxt(vectors, mean, fmt="%.7g", delimiter="\t")
        with about.open("w", encoding="utf-8", newline="\n") as stream:
            stream.write("title\ttype\tlabel\tid\n")
            for fields in zip(*columns, strict=True):
                stream.write("\t".join(" ".join(str(field or "").split()) for field in fields) + "\n")
    return [path, metadata]


_WRITERS: dict[str, Callable[[Fitted, Path], list[Path]]] = {
    "npz": _write_npz,
    "word2vec": _write_word2vec,
    "projector": _write_projector,
}
