"""Models, mapped networks and checkpoints with right checksums and wrong contents."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

from coembed.files import checksum


def array_places(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Where in a record of a model arrays stand, and their names in the file."""
    if isinstance(value, dict):
        if "~array" in value:
            yield path, value["~array"]
            return
        for key, each in value.items():
            yield from array_places(each, f"{path}/{key}")
    elif isinstance(value, list):
        for i, each in enumerate(value):
            yield from array_places(each, f"{path}/{i}")


def forged_model(
    model: Path, to: Path, change: Callable[[dict[str, Any], dict[str, np.ndarray]], None]
) -> Path:
    """A copy of a model whose record and arrays were changed, with checksums that fit again."""
    shutil.copytree(model, to)
    record = json.loads((to / "model.json").read_text())
    record.pop("checksum", None)
    old = to / record["arrays"]
    arrays = dict(load_file(old))
    change(record, arrays)
    old.unlink()
    save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, to / "new")
    record["arrays"] = f"arrays-{checksum(to / 'new')}.safetensors"
    (to / "new").rename(to / record["arrays"])
    (to / "model.json").write_text(json.dumps(record))
    return to


def forged_checkpoint(
    checkpoint: Path, to: Path, change: Callable[[dict[str, Any], dict[str, np.ndarray]], None]
) -> Path:
    """The same of a checkpoint."""
    shutil.copytree(checkpoint, to)
    record = json.loads((to / "checkpoint.json").read_text())
    old = to / record["states"][0]
    arrays = dict(load_file(old))
    change(record, arrays)
    old.unlink()
    save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, to / "new")
    record["states"] = [f"state-{checksum(to / 'new')}.safetensors"]
    (to / "new").rename(to / record["states"][0])
    (to / "checkpoint.json").write_text(json.dumps(record))
    return to


def damaged(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """An array as somebody might forge it: other values, type or shape."""
    kind = rng.integers(9)
    if kind == 0 and array.size:
        return array.reshape(-1)[:-1]
    if kind == 1:
        return array[..., None]
    if kind == 2:
        return np.concatenate([array, array]) if array.ndim else array[None]
    if kind == 3 and array.dtype.kind in "biuf":
        return array.astype(np.float64 if array.dtype.kind != "f" else np.int32)
    if kind == 4:
        return np.zeros(0, array.dtype)
    if kind == 5 and array.ndim > 1:
        return array.T
    changed = array.copy()
    if not changed.size:
        return np.ones(3, array.dtype)
    if array.dtype.kind in "US":
        changed.reshape(-1)[0] = changed.reshape(-1)[-1]  # a name twice
        return changed
    extreme = {"f": [np.nan, np.inf, 1e30, -1e30], "b": [True], "u": [255]}
    values = extreme.get(array.dtype.kind, [-1, 2**31 - 1, -(2**31), 10**6])
    with np.errstate(all="ignore"):
        changed.reshape(-1)[rng.integers(changed.size)] = np.array(values[rng.integers(len(values))]).astype(
            array.dtype
        )
    return changed
