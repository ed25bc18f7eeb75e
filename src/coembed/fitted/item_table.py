"""Items as rows of one table: names, class, probability, and all of their columns as people write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from coembed.fitted.item_fields import TYPE, Field, field_names, field_of
from coembed.network.items import UNKNOWN
from coembed.network.names import as_unicode

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted


def item_table(fitted: Fitted, type: str, rows: np.ndarray) -> pa.Table:
    """Some items of a type with all that is known of them; a row an item, in the order of `rows`."""
    items = fitted.network.items(type)
    columns = {"id": pa.array([as_unicode(str(items.ids[int(i)])) for i in rows], pa.large_string())}
    if items.titles is not None:
        columns["title"] = pa.array([as_unicode(items.title(int(i))) for i in rows], pa.large_string())
    for name, _ in field_names(fitted, type):
        field = field_of(fitted, type, name)
        if field is not None and name != TYPE:
            columns[free_name(name, columns)] = field_array(field, rows)
    return pa.table(columns)


def free_name(name: str, taken: dict[str, pa.Array]) -> str:
    """A column may be called as another thing of the item is: ``id`` then stands as ``.id``."""
    return f".{name}" if name in taken else name


def field_array(field: Field, rows: np.ndarray) -> pa.Array:
    """The values of some items: numbers as they are, dates and names as texts, tags parted by ``;``."""
    names = pa.array([as_unicode(each) for each in field.names], pa.large_string())
    if isinstance(field.values, sp.csr_array):
        some = field.values[rows]
        tags = names.take(pa.array(some.indices.astype(np.int64)))
        lists = pa.LargeListArray.from_arrays(pa.array(some.indptr.astype(np.int64)), tags)
        return pc.binary_join(lists, pa.scalar(";", pa.large_string()))
    values = field.values[rows]
    if field.kind == "number":
        column = None if field.relation is None else field.relation.column
        whole = field.name == "degree" or (column is not None and column.whole)
        unknown = np.isnan(values)
        kept = np.where(unknown, 0, values)
        return pa.array(kept.astype(np.int64) if whole else kept, mask=unknown)
    if field.kind == "date":
        unknown = np.isnan(values)
        days = np.where(unknown, 0, np.rint(values)).astype("datetime64[D]")
        return pa.array(np.datetime_as_string(days).astype(object), pa.large_string(), mask=unknown)
    return names.take(pa.array(values, mask=values == UNKNOWN))
