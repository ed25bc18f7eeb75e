"""Many names as bytes and offsets: a million cost neither time nor a string each until they are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coembed.errors import InputError

NameArray = Any
"""An object array of strings, or :class:`Names`: they share all that is used of either."""

_BLOCK = 65_536


class Names:
    """Unique strings that behave as a read-only object array does, and are decoded when looked at.

    Parameters
    ----------
    octets, offsets
        UTF-8 of all names in a row (uint8), and where each begins and the last one ends (int64); they may be
        mapped from a file, and are not copied.

    Examples
    --------
    >>> names = Names.pack(["ann", "bob", "eve"])
    >>> names[1], names[[2, 0]], len(names)
    ('bob', array(['eve', 'ann'], dtype=object), 3)
    >>> names.find("eve"), names.find("zoe")
    (2, None)
    >>> names == "bob"
    array([False,  True, False])
    """

    dtype = np.dtype(object)
    ndim = 1

    def __init__(self, octets: np.ndarray, offsets: np.ndarray) -> None:
        if octets.dtype != np.uint8 or octets.ndim != 1 or offsets.dtype != np.int64 or offsets.ndim != 1:
            raise InputError("names must be bytes (uint8) and offsets (int64)")
        if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(octets):
            raise InputError("the offsets of the names do not fit their bytes")
        self.octets, self.offsets = octets, offsets
        buffers = [None, pa.py_buffer(_plain(offsets)), pa.py_buffer(_plain(octets))]
        self._texts = pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)
        try:
            self._texts.validate(full=True)  # offsets out of order would make pyarrow read beside the bytes
        except pa.ArrowInvalid:
            raise InputError("the offsets of the names do not fit their bytes") from None

    @classmethod
    def pack(cls, texts: Iterable[str]) -> Names:
        """Names from strings."""
        # surrogatepass: an undecodable file name is a legal Python string, and must come back as it was
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(text) for text in encoded], out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets)

    @classmethod
    def of(cls, names: NameArray) -> Names:
        """The names themselves, or packed."""
        return names if isinstance(names, Names) else cls.pack(names)

    @classmethod
    def from_arrow(cls, texts: pa.Array) -> Names:
        """Names from a pyarrow array of strings without gaps."""
        texts = texts.cast(pa.large_binary())
        _, offsets, octets = texts.buffers()
        bounds = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
        bounds = bounds if len(bounds) else np.zeros(1, dtype=np.int64)
        blob = np.frombuffer(octets or b"", dtype=np.uint8)[bounds[0] : bounds[-1]]
        return cls(blob, bounds - bounds[0])

    @classmethod
    def numbered(cls, kind: str, count: int) -> Names:
        """``node0``, ``node1``, ..."""
        numbers = pa.array(np.arange(count)).cast(pa.large_string())
        prefix, nothing = (pa.scalar(text, pa.large_string()) for text in (kind, ""))
        return cls.from_arrow(pc.binary_join_element_wise(prefix, numbers, nothing))

    @property
    def texts(self) -> pa.Array:
        """The names as pyarrow's strings."""
        return self._texts.cast(pa.large_string())

    @property
    def shape(self) -> tuple[int]:
        return (len(self),)

    @property
    def size(self) -> int:
        return len(self)

    def __len__(self) -> int:
        return len(self._texts)

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _BLOCK):
            yield from _decoded(self._texts.slice(start, _BLOCK))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, (int, np.integer)):
            if not -len(self) <= key < len(self):
                raise IndexError(f"name {key} of {len(self)}")
            place = int(key) % len(self)
            return self.octets[self.offsets[place] : self.offsets[place + 1]].tobytes().decode(*_AS)
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1:
                return _array(_decoded(self._texts.slice(start, max(stop - start, 0))))
        places = np.arange(len(self))[key]
        return _array(_decoded(self._texts.take(pa.array(places.ravel())))).reshape(places.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = _array(list(self))
        return array if dtype is None else array.astype(dtype)

    def __eq__(self, other: object) -> Any:
        if isinstance(other, str):
            found = pc.equal(self._texts, pa.scalar(other.encode(*_AS), pa.large_binary()))
            return found.to_numpy(zero_copy_only=False)
        if isinstance(other, Names):
            other = np.asarray(other)
        return np.asarray(self) == other

    def __ne__(self, other: object) -> Any:
        return ~(self == other)

    __hash__ = None  # type: ignore[assignment]  # as an array

    def __contains__(self, text: object) -> bool:
        return isinstance(text, str) and self.find(text) is not None

    def __repr__(self) -> str:
        return f"<{len(self)} names>"

    def find(self, text: str) -> int | None:
        """Position of a name, in a pass over the bytes; None if it is not there."""
        place = pc.index(self._texts, pa.scalar(text.encode(*_AS), pa.large_binary())).as_py()
        return place if place >= 0 else None

    def repeated(self) -> str | None:
        """A name that occurs twice, if there is one."""
        if pc.count_distinct(self._texts).as_py() == len(self):
            return None
        counts = pc.value_counts(self._texts)
        twice = counts.filter(pc.greater(counts.field("counts"), 1))
        return str(twice[0]["values"].as_py().decode(*_AS))

    def decodable(self) -> bool:
        """Whether all bytes are texts."""
        for start in range(0, len(self), _BLOCK):
            block = self._texts.slice(start, _BLOCK)
            try:
                block.cast(pa.large_string())
            except pa.ArrowInvalid:  # or it holds surrogates, which only Python takes for texts
                try:
                    _decoded(block)
                except UnicodeDecodeError:
                    return False
        return True

    def astype(self, dtype: Any) -> np.ndarray:
        return np.asarray(self).astype(dtype)

    def tolist(self) -> list[str]:
        return list(self)


_AS = ("utf-8", "surrogatepass")


def is_unicode(text: str) -> bool:
    """Whether other programs can read it; a file name that is no text has surrogates in its place.

    Examples
    --------
    >>> is_unicode("日本"), is_unicode("\\udcff")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def as_unicode(text: str) -> str:
    """The text, surrogates written out.

    Examples
    --------
    >>> as_unicode("a\\udcff") == r"a\\udcff"
    True
    """
    return text.encode("utf-8", "backslashreplace").decode()


def _decoded(texts: pa.Array) -> list[str]:
    return [text.decode(*_AS) for text in texts.to_pylist()]


def _array(texts: list[str]) -> np.ndarray:
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array


def _plain(array: np.ndarray) -> np.ndarray:
    """A view that pyarrow may hold: contiguous, and not of a class of its own."""
    return np.ascontiguousarray(array).view(np.ndarray)
