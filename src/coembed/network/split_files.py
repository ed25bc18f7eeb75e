"""Splits on disk, so that every method is asked the same questions."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from coembed.errors import InputError
from coembed.network.network import Network
from coembed.network.readers.npz import load_arrays, save_arrays
from coembed.network.splits import LabelSplit, PairSplit, fingerprint


def save_split(split: LabelSplit | PairSplit, path: str | Path) -> None:
    """Write a split to an ``.npz`` file (no pickles), complete or not at all."""
    arrays = {field.name: np.asarray(getattr(split, field.name)) for field in fields(split)}
    save_arrays(Path(path), arrays)


def load_split(path: str | Path, network: Network | None = None) -> LabelSplit | PairSplit:
    """Read a split back; one made for another network than `network` is refused.

    Examples
    --------
    >>> import tempfile
    >>> from coembed.network import demo_network, split_labels
    >>> file = Path(tempfile.mkdtemp()) / "seed0.npz"
    >>> save_split(split_labels(demo_network()), file)
    >>> len(load_split(file, demo_network()).test)
    1328
    """
    path = Path(path)
    arrays = load_arrays(path)
    if "kind" in arrays:  # of version 0.1
        arrays["relation"] = arrays.pop("kind")
    of_pairs = "relation" in arrays and str(arrays["relation"]) != "labels"
    kind = PairSplit if of_pairs else LabelSplit
    arrays.setdefault("type", np.asarray(""))
    if not {"test", "relation"} & arrays.keys():
        raise InputError(f"{path} is not a split; make one with save_split")
    made_for = str(arrays.get("fingerprint", ""))
    if network is not None and made_for != (own := fingerprint(network)):
        raise InputError(
            f"{path} is a split of another network ({made_for}) than {network.name} ({own}); "
            "split this one anew"
        )
    values: dict[str, Any] = {}
    for field in fields(kind):
        if field.name not in arrays:
            raise InputError(f"{path}: the split has no array {field.name!r}; write it again")
        values[field.name] = _value(path, of_pairs, field.name, arrays[field.name])
    return kind(**values)


def _value(path: Path, of_pairs: bool, name: str, array: np.ndarray) -> Any:
    if name in ("relation", "fingerprint", "type"):
        return str(array)
    if array.dtype.kind not in "iu" or (array.size and array.min() < 0):
        raise InputError(f"{path}: {name!r} must hold positions of nodes or attributes; write it again")
    if name == "unmatched":
        return int(array)
    if array.ndim != (2 if of_pairs else 1):
        raise InputError(f"{path}: {name!r} has the wrong shape {array.shape}; write it again")
    return array.astype(np.int64)
