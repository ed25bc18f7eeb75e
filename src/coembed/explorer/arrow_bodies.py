"""Tables over the wire: streams of Arrow, whatever they claim, or columns in JSON."""

from __future__ import annotations

import struct
from typing import Any

import pyarrow as pa

from coembed.errors import InputError, one_line
from coembed.explorer.request_schemas import MOST_BATCH

_DICTIONARY, _RECORDS = 2, 3  # kinds of messages that hold buffers
_REMEDY = "write it with pyarrow.ipc.new_stream, without compression"


def read_arrow(body: bytes) -> pa.Table:
    """The table of a stream from a stranger: of so many rows, not packed, and whole.

    A packed buffer of some bytes can hold terabytes, and is unpacked before anybody may look at it.
    """
    try:
        _refuse_packed(body)
        batches, rows = [], 0
        with pa.ipc.open_stream(pa.BufferReader(body)) as reader:
            for batch in reader:
                rows += batch.num_rows
                if rows > MOST_BATCH:
                    raise InputError(f"a table has at most {MOST_BATCH:,} rows; ask in several requests")
                batches.append(batch)
            table = pa.Table.from_batches(batches, reader.schema)
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, struct.error) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"the body is no Arrow stream ({one_line(error, 100)}); {_REMEDY}") from None
    return table


def write_arrow(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def arrow_table(columns: dict[str, Any]) -> pa.Table:
    """Columns as they are; a name that is no Unicode, which Arrow does not take, with question marks."""
    return pa.table({name: _array(values) for name, values in columns.items()})


def _array(values: Any) -> Any:
    if isinstance(values, list) and any(isinstance(each, str) for each in values):
        return pa.array(
            [None if each is None else each.encode("utf-8", "replace").decode() for each in values]
        )
    return values


def _refuse_packed(body: bytes) -> None:
    stream = pa.BufferReader(body)
    while True:
        try:
            message = pa.ipc.read_message(stream)
        except EOFError:
            return
        if _is_packed(message.metadata.to_pybytes()):
            raise InputError(f"the Arrow stream is compressed; {_REMEDY}")


def _is_packed(head: bytes) -> bool:
    """Whether the message with this head (a flat buffer) says that its buffers are packed."""
    (message,) = struct.unpack_from("<I", head)
    kind_at, header_at = _field(head, message, 1), _field(head, message, 2)
    if kind_at is None or header_at is None or head[kind_at] not in (_DICTIONARY, _RECORDS):
        return False
    records = _table_at(head, header_at)
    if head[kind_at] == _DICTIONARY:
        data_at = _field(head, records, 1)
        if data_at is None:
            return False
        records = _table_at(head, data_at)
    return _field(head, records, 3) is not None


def _table_at(head: bytes, at: int) -> int:
    return at + int(struct.unpack_from("<I", head, at)[0])


def _field(head: bytes, table: int, number: int) -> int | None:
    """Where a table of a flat buffer has one of its fields."""
    listed = table - struct.unpack_from("<i", head, table)[0]
    (size,) = struct.unpack_from("<H", head, listed)
    if 4 + 2 * number >= size:
        return None
    (offset,) = struct.unpack_from("<H", head, listed + 4 + 2 * number)
    return table + offset if offset else None
