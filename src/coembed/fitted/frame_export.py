"""What a model knows of a type as one table: classes, probabilities, codes and how spread they are."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from coembed.errors import InputError
from coembed.fitted.class_answers import class_texts
from coembed.network.adapters.frames import roots

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted

IN_USE = ("pandas", "polars")


def to_frame(fitted: Fitted, type: str | None = None, like: Any = None) -> Any:
    """See :meth:`Fitted.to_frame`."""
    return in_library(table_of(fitted, type), like)


def table_of(fitted: Fitted, type: str | None = None) -> pa.Table:
    """A row an item, in the order of the network."""
    items = fitted.network.items(type)
    everybody = np.arange(len(items))
    columns: dict[str, Any] = {"id": [str(each) for each in items.ids]}
    if items.titles is not None:
        columns["title"] = [items.title(i) for i in range(len(items))]
    probabilities = fitted.probabilities_of(items.name)
    if items.labels is not None and probabilities is not None and items.n_classes:
        known = items.labels.texts(everybody).to_pylist()
        columns["label"] = [text or None for text in known]
        columns["class"] = class_texts(fitted, items.name, everybody)
        columns["probability"] = probabilities.max(axis=1)
        columns |= {f"p({name})": probabilities[:, k] for k, name in enumerate(items.labels.classes)}
    codes = fitted.codes(items.name)
    columns["spread"] = spreads(fitted, items.name)
    columns |= {f"code{i}": np.ascontiguousarray(codes.mean[:, i]) for i in range(codes.mean.shape[1])}
    return pa.table(columns)


def spreads(fitted: Fitted, type: str) -> np.ndarray:
    """How uncertain the place of each item is: the root of the mean of its variances."""
    return np.sqrt(np.mean(np.square(fitted.codes(type).std, dtype=np.float64), axis=1))


def in_library(table: pa.Table, like: Any = None) -> Any:
    """The table as a frame of a library, by its name or that of any of its frames; else of the one in use."""
    name = like if isinstance(like, str) else None
    if like is not None and name is None:
        name = next((each for each in (*IN_USE, "pyarrow") if each in roots(like)), None)
        name = name or next(iter(roots(like) - {"builtins"}), "pyarrow")
    name = name or next((each for each in IN_USE if each in sys.modules), "pyarrow")
    if name == "pyarrow":
        return table
    try:
        if name == "pandas":
            return table.to_pandas()
        import narwhals

        return narwhals.from_arrow(table, backend=name).to_native()  # type: ignore[arg-type]
    except (ModuleNotFoundError, ValueError, TypeError) as error:
        raise InputError(f"a frame of {name} cannot be made ({error}); is it installed?") from None
