"""Answers for all items at once, to a file, part by part."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from coembed.cli.console import Steps, say
from coembed.cli.predictions import check_output
from coembed.files import replacing_file

if TYPE_CHECKING:
    import pyarrow as pa

    from coembed.fitted.batch_answers import Batch


class Writer(Protocol):
    def write_table(self, table: pa.Table) -> None: ...

    def close(self) -> None: ...


def write_batch(batch: Batch, path: Path) -> None:
    """All answers to a file, complete or not at all; only a part of them is in memory."""
    if batch.note:
        say(batch.note, "dim")
    items = lines = 0
    with replacing_file(path) as sibling, Steps() as steps:
        writer: Writer | None = None
        for part in batch:
            table = batch.table(part)
            writer = writer or _writer(check_output(path), sibling, table.schema)
            writer.write_table(table)
            items += len(set(part.rows.tolist()))
            lines += len(part.rows)
            if lines > 100_000:
                steps(f"{items:,} of {len(batch.rows):,} items")
        if writer is not None:
            writer.close()
        else:
            sibling.touch()
    say(f"wrote {path}: {lines:,} answers for {items:,} of {len(batch.rows):,} items of type {batch.type}")


def _writer(ending: str, path: Path, schema: pa.Schema) -> Writer:
    from pyarrow import csv, parquet

    if ending == ".parquet":
        found: Writer = parquet.ParquetWriter(path, schema)
        return found
    if ending == ".json":
        return _JsonWriter(path)
    return csv.CSVWriter(  # type: ignore[no-any-return]
        path, schema, write_options=csv.WriteOptions(delimiter="\t" if ending == ".tsv" else ",")
    )


class _JsonWriter:
    """A list of objects."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("w", encoding="utf-8")
        self.between = "[\n"

    def write_table(self, table: pa.Table) -> None:
        for row in table.to_pylist():
            self.file.write(self.between + json.dumps(row, ensure_ascii=False))
            self.between = ",\n"

    def close(self) -> None:
        self.file.write("[]\n" if self.between == "[\n" else "\n]\n")
        self.file.close()
