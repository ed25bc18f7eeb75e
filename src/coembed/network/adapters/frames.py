"""Any data frame as a table of pyarrow: pandas, polars, whatever hands its columns on, columns by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from coembed.errors import InputError, one_line


def roots(thing: object) -> set[str]:
    """The packages that the classes of an object come from.

    Examples
    --------
    >>> "pyarrow" in roots(pa.table({"a": [1]}))
    True
    """
    return {kind.__module__.partition(".")[0] for kind in type(thing).__mro__}


def is_frame(thing: object) -> bool:
    """Whether it is one table: a frame of any library, or an array with named fields."""
    if isinstance(thing, np.ndarray):
        return thing.dtype.names is not None
    handed = any(
        hasattr(thing, name) for name in ("__arrow_c_stream__", "__arrow_c_array__", "__dataframe__")
    )
    return isinstance(thing, (pa.Table, pa.RecordBatch, pa.RecordBatchReader)) or handed or _is_lazy(thing)


def as_table(name: str, thing: Any) -> pa.Table:
    """The table that a frame is; `name` is what it is called in messages.

    Examples
    --------
    >>> as_table("people", {"id": ["ann"], "age": np.array([31])}).column_names
    ['id', 'age']
    >>> as_table("people", [{"id": "ann"}, {"id": "bob", "age": 31}]).to_pydict()
    {'id': ['ann', 'bob'], 'age': [None, 31]}
    """
    try:
        return _plain_texts(_table(thing))
    except (TypeError, ValueError, KeyError, pa.ArrowException) as error:
        reason = one_line(error, 120)
        raise InputError(f"{name} cannot be read as a table ({reason}); give a data frame") from None


def _table(thing: Any) -> pa.Table:
    if isinstance(thing, pa.Table):
        return thing
    if isinstance(thing, pa.RecordBatchReader):
        return thing.read_all()
    if "pandas" in roots(thing):
        return _from_pandas(thing)
    if _is_lazy(thing):
        import narwhals

        return narwhals.from_native(thing).lazy().collect(backend="pyarrow").to_native()
    if isinstance(thing, np.ndarray) and thing.dtype.names is not None:
        thing = {name: thing[name] for name in thing.dtype.names}
    if isinstance(thing, (list, tuple)) and all(isinstance(row, Mapping) for row in thing):
        names = dict.fromkeys(name for row in thing for name in row)
        thing = {name: [row.get(name) for row in thing] for name in names}
    if isinstance(thing, Mapping):
        return pa.table({str(name): _column(values) for name, values in thing.items()})
    if hasattr(thing, "__arrow_c_stream__") or isinstance(thing, pa.RecordBatch):
        return pa.table(thing)
    if not hasattr(thing, "__dataframe__"):
        raise TypeError(f"it is of type {type(thing).__name__}")
    from pyarrow.interchange import from_dataframe

    return from_dataframe(thing)


def _column(values: Any) -> pa.Array:
    """Cells; those of NumPy that pyarrow does not take one by one, as dates, in one array."""
    try:
        return pa.array(values, from_pandas=True)
    except (TypeError, pa.ArrowException):
        together = np.asarray(values)
        if together.dtype == object or together.ndim != 1:
            raise
        return pa.array(together, from_pandas=True)


def _from_pandas(frame: Any) -> pa.Table:
    """An index that says something is a column, too: the ids, if it has no name."""
    index = frame.index
    counts = type(index).__name__ == "RangeIndex" and index.name is None
    if not counts:
        if index.nlevels == 1 and index.name is None:
            frame = frame.rename_axis(index="id" if "id" not in frame.columns else "index")
        frame = frame.reset_index()
    return pa.Table.from_pandas(frame, preserve_index=False)


def _is_lazy(thing: object) -> bool:
    """A frame that is a plan of one: of polars, or of what narwhals knows beside it."""
    return type(thing).__name__ in ("LazyFrame", "DuckDBPyRelation") and not hasattr(
        thing, "__arrow_c_array__"
    )


def _plain_texts(table: pa.Table) -> pa.Table:
    """Texts that are views on others, as polars hands them on, as texts of their own."""
    for place, field in enumerate(table.schema):
        plain = _plain_type(field.type)
        if plain != field.type:
            table = table.set_column(place, field.name, table.column(place).cast(plain))
    return table


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_dictionary(kind) and pa.types.is_string_view(kind.value_type):
        return pa.large_string()
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        inner = _plain_type(kind.value_type)
        return kind if inner == kind.value_type else pa.large_list(inner)
    return kind
