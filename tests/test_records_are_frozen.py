"""What passes between the layers cannot be changed, and what holds arrays is compared as itself."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re

import coembed

LAYERS = ("network", "views", "fitted", "kernels", "model", "training", "evaluation", "baselines")
ARRAYS = re.compile(r"\b(ndarray|csr_array|Tensor)\b")
STATEFUL = {"Checkpoints", "History"}


def records() -> dict[str, type]:
    modules = [each.name for each in pkgutil.walk_packages(coembed.__path__, "coembed.")]
    found = {}
    for name in modules:
        if name.split(".")[1] in LAYERS:
            for value in vars(importlib.import_module(name)).values():
                if inspect.isclass(value) and dataclasses.is_dataclass(value):
                    found[value.__qualname__] = value
    return {name: value for name, value in found.items() if value.__module__.startswith("coembed.")}


def test_records_are_frozen() -> None:
    params = {name: each.__dataclass_params__ for name, each in records().items()}  # type: ignore[attr-defined]
    assert len(params) > 100
    assert {name for name, each in params.items() if not each.frozen} == STATEFUL


def test_records_of_arrays_are_compared_by_what_they_are() -> None:
    """Arrays are neither equal nor not: by them, records could not be compared, or kept in a set."""
    for name, record in records().items():
        of_arrays = any(ARRAYS.search(str(field.type)) for field in dataclasses.fields(record))
        assert not (of_arrays and record.__dataclass_params__.eq), name  # type: ignore[attr-defined]
