"""A table on standard input, named ``-``: put into a file for as long as a command runs."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TypeVar

import typer

from coembed.distributed.job import job_here
from coembed.errors import InputError

HERE = Path("-")
NAME = "stdin"
"""What the table is called, and the network that it is."""
_MARK = "coembed-stdin-"

Paths = TypeVar("Paths", Path, "list[Path]", "Path | None")


def from_standard_input(context: typer.Context, given: Paths) -> Paths:
    """What was given, with a file that holds standard input in place of ``-``."""
    paths = given if isinstance(given, list) else [given]
    if HERE not in paths:
        return given
    if paths.count(HERE) > 1:
        raise InputError("standard input holds one table; give - once")
    if job_here().processes > 1:
        raise InputError("several processes cannot share standard input; give a file")
    folder = Path(tempfile.mkdtemp(prefix=_MARK))
    context.call_on_close(lambda: shutil.rmtree(folder, ignore_errors=True))
    file = _spooled(folder / NAME)
    return [file if path == HERE else path for path in paths] if isinstance(given, list) else file  # type: ignore[return-value]


def in_words(message: str) -> str:
    """A message in which the file that holds standard input is called so.

    Examples
    --------
    >>> in_words("/tmp/coembed-stdin-ab_1/stdin/stdin.csv, line 3: no number")
    'standard input, line 3: no number'
    """
    return re.sub(rf"\S*{_MARK}\S*?/{NAME}\.(csv|parquet)", "standard input", message)


def _spooled(folder: Path) -> Path:
    folder.mkdir()
    source = sys.stdin.buffer
    start = source.read(4)
    file = folder / f"{NAME}.{'parquet' if start == b'PAR1' else 'csv'}"
    with file.open("wb") as target:
        target.write(start)
        shutil.copyfileobj(source, target, 1 << 20)
    return file
