"""Whether a table on its own is a list of links or a table of items; only its beginning is looked at."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from coembed.network.columns import SKIP, Cells, find_kind
from coembed.network.readers.delimited_text import ID_TITLES, head, stream_text
from coembed.network.readers.keys import ID_NAMES, TITLE_NAMES, Ids, is_id_name
from coembed.network.readers.named_table import table_name
from coembed.network.readers.sheet import Sheet, stream_parquet

LINK_TITLES = ID_TITLES - ID_NAMES - {*TITLE_NAMES, "ids", "kind"}
"""Titles of the ends of links."""
SAMPLE_ROWS = 1000


def lists_links(path: Path) -> bool:
    """Two columns, unless they are an id and what it has; or those of links by name; or, without names, two
    of ids and one of numbers.
    """
    parquet = head(path, 4) == b"PAR1"
    # a list of links may be larger than memory
    sheet = next(stream_parquet(path, SAMPLE_ROWS) if parquet else stream_text(path, line_ends=True))
    width = len(sheet.columns)
    if width == 2 and sheet.header is not None:
        return not _is_key_and_cell(sheet, sheet.header, table_name(path))
    if width <= 2:
        return True
    if sheet.header is not None:
        return all(title in LINK_TITLES for title in sheet.header[:2])
    return width == 3 and sheet.is_numeric(2)


def _is_key_and_cell(sheet: Sheet, header: tuple[str, ...], table: str) -> bool:
    """Whether the first of two columns has the ids of items and the second what each has, as in ``id,age``.

    Under an id the second column is links only where ids repeat and it holds some of them; ages are found
    among numbered ids, too. Under any other title the second column must be of a kind of its own.
    """
    key, other = (Cells.of(title, column) for title, column in zip(header, sheet.columns, strict=True))
    if other.name in LINK_TITLES or not sheet.n_rows:
        return False
    if other.is_list or other.is_nested:
        return True
    ids = Ids.of(table, key)
    unique = len(ids.texts) == sheet.n_rows
    apart = not pc.any(pc.is_in(other.distinct.filter(pa.array(other.known)), ids.texts)).as_py()
    if is_id_name(key.name, table):
        return unique or apart or ids.integers
    if not apart or sheet.is_numeric(0):
        return False
    return sheet.is_numeric(1) or (unique and find_kind(other).kind != SKIP)
