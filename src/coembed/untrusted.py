"""What a file claims, against what its bytes can hold: asked before anything is allocated.

Networks and models come from strangers. A few bytes can claim terabytes, indices can point beside arrays, and
whatever library reads them raises nearly anything; here all of that becomes an :class:`InputError`.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError, one_line

ROOM = 1 << 28
"""Bytes that any file may ask for, however small it is."""
TIMES = 200
"""Beyond that: how many times its own size. Tables compress to a tenth, lists of few names to a hundredth."""
ITEMS = 1_000_000
"""Items without any entry that any file may announce."""


@contextmanager
def reading(
    path: Path, what: str, remedy: str = "fetch or write it again", pipes: bool = False
) -> Iterator[None]:
    """Whatever goes wrong inside is told as: the file is not whole. A pipe is none, unless `pipes` will do.

    Examples
    --------
    >>> with reading(Path(), "a whole network"):
    ...     raise KeyError("header")
    Traceback (most recent call last):
    coembed.errors.InputError: . is not a whole network ('header'); fetch or write it again
    """
    try:
        if not pipes:
            check_kind(path)
        yield
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; check the path") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({_reason(error)}); check the file") from None
    except Exception as error:  # broken files make the libraries raise nearly anything
        raise InputError(f"{path} is not {what} ({one_line(error, 160)}); {remedy}") from None


@contextmanager
def told(place: object) -> Iterator[None]:
    """Troubles of the machine, such as a full disk or memory, in one sentence."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{error.filename or place}: {_reason(error)}; choose another place") from None
    except MemoryError:
        raise InputError(
            f"{place} needs more memory than there is; free some, or take a smaller one"
        ) from None


def check_place(path: Path) -> None:
    """Refuse what is neither a file nor a folder: a pipe may never end, a device never does."""
    try:
        check_kind(path)
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; check the path") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read ({_reason(error)}); check the path") from None


def check_kind(path: Path) -> None:
    """The same of what is there; else an OSError."""
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise InputError(f"{path} is neither a file nor a folder; copy what it gives to a file")


def check_unpacked(path: Path, claimed: int) -> None:
    """Refuse a file that unpacks to far more than such files do."""
    held = path.stat().st_size
    if claimed > ROOM + TIMES * held:
        raise InputError(
            f"{path} has {held:,} bytes and unpacks to {claimed:,} or more, as a file made to fill memories "
            "does; unpack it yourself if you trust it"
        )


def check_count(where: object, what: str, count: int, entries: int) -> None:
    """Refuse to make room for a stray number: far more items than there are entries of any.

    Examples
    --------
    >>> check_count("net.edge", "nodes", 10**9, 3)
    Traceback (most recent call last):
    coembed.errors.InputError: net.edge: 1,000,000,000 nodes, but 3 entries; number them from 0
    """
    if count > ITEMS + 100 * entries:
        raise InputError(f"{where}: {count:,} {what}, but {entries:,} entries; number them from 0")


def checked_csr(data: Any, indices: Any, indptr: Any, shape: Any) -> sp.csr_array:
    """A matrix of pieces that cannot point beside themselves; strange ones are a ValueError.

    SciPy's own products trust the positions, and take floats for them, cut to whole numbers.

    Examples
    --------
    >>> checked_csr(np.ones(1), np.array([7]), np.array([0, 1]), (1, 2))
    Traceback (most recent call last):
    ValueError: its positions leave the 2 columns
    """
    data, indices, indptr = (np.asarray(piece) for piece in (data, indices, indptr))
    rows, columns = (int(n) for n in shape)
    if data.dtype.kind not in "biuf":
        raise ValueError(f"its values are {data.dtype}, not numbers")
    if indices.dtype.kind not in "iu" or indptr.dtype.kind not in "iu":
        raise ValueError("its positions are not whole numbers")
    if any(piece.ndim != 1 for piece in (data, indices, indptr)) or len(data) != len(indices):
        raise ValueError("its values and positions are not two lists of the same length")
    if not 0 <= rows == len(indptr) - 1 or not 0 <= columns < 2**62:
        raise ValueError(f"its {len(indptr)} row ends do not make {rows} rows")
    check_positions(indices, indptr, columns)
    return sp.csr_array((data, indices, indptr), shape=(rows, columns))


def check_positions(indices: np.ndarray, indptr: np.ndarray, columns: int) -> None:
    """Refuse positions beside a matrix; what SciPy itself checks can overflow, and does not notice then."""
    if int(indptr[0]) != 0 or int(indptr[-1]) != len(indices) or (indptr[1:] < indptr[:-1]).any():
        raise ValueError("its row ends do not go from 0 up to the number of its entries")
    if len(indices) and not (indices.min() >= 0 and indices.max() < columns):
        raise ValueError(f"its positions leave the {columns} columns")


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or one_line(error, 160)) or type(error).__name__
