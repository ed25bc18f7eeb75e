"""The cells of one column as they came, and the few questions that all kinds ask of them.

A column of a million cells often has few distinct ones: what costs time is done to these.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from coembed.errors import InputError

# fmt: off
MISSING = (
    "", "na", "n/a", "n.a.", "#n/a", "<na>", "nan", "nat", "null", "none", "unknown", "-", "--", ".", "?",
)
# fmt: on
"""Words for an empty cell, in lower case: of numbers, categories, yes/no, dates; of ids and texts never."""
SIGNS = tuple(each for each in MISSING if not each.isalpha())
"""The same of tags: what is no word, where a cell holds nothing else."""
_TEXT = pa.large_string()


@dataclass(frozen=True, eq=False)
class Cells:
    """One column: its name, and text or typed values with or without gaps.

    Examples
    --------
    >>> city = Cells.of("city", ["Oslo", "", "Rome", "n/a", "Oslo"])
    >>> city.distinct.to_pylist(), city.codes, city.counts
    (['Oslo', '', 'Rome', 'n/a'], array([0, 1, 2, 3, 0]), array([2, 1, 1, 1]))
    >>> city.known.tolist()
    [True, False, True, False]
    """

    name: str
    array: pa.ChunkedArray

    @classmethod
    def of(cls, name: str, values: object) -> Cells:
        """From anything pyarrow makes an array of."""
        array = values if isinstance(values, (pa.Array, pa.ChunkedArray)) else pa.array(values)
        chunked = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
        if pa.types.is_dictionary(chunked.type):
            chunked = chunked.cast(chunked.type.value_type)
        return cls(name, chunked)

    def __len__(self) -> int:
        return len(self.array)

    @property
    def type(self) -> pa.DataType:
        return self.array.type

    @property
    def is_list(self) -> bool:
        return bool(pa.types.is_list(self.type) or pa.types.is_large_list(self.type))

    @property
    def is_number(self) -> bool:
        """Whether the table itself says that these are numbers."""
        kind = self.type
        return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))

    @property
    def is_date(self) -> bool:
        return bool(pa.types.is_temporal(self.type) and not pa.types.is_duration(self.type))

    @property
    def is_nested(self) -> bool:
        """Whether a cell is itself a record, or bytes: of no use here."""
        binary = pa.types.is_binary(self.type) or pa.types.is_large_binary(self.type)
        return bool(binary or (pa.types.is_nested(self.type) and not self.is_list))

    @cached_property
    def texts(self) -> pa.ChunkedArray:
        """As trimmed texts, empty where there is nothing."""
        try:
            texts = self.array.cast(_TEXT)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise InputError(
                f"column {self.name!r} holds {self.type}, which is neither text nor numbers; leave it out"
            ) from None
        return pc.utf8_trim_whitespace(texts.fill_null(""))

    @cached_property
    def _encoded(self) -> tuple[pa.Array, np.ndarray]:
        encoded = self.texts.combine_chunks().dictionary_encode()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.chunk(0) if encoded.num_chunks else pa.array([], _TEXT).dictionary_encode()
        return encoded.dictionary, encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)

    @property
    def distinct(self) -> pa.Array:
        """The distinct texts, in order of first appearance."""
        return self._encoded[0]

    @property
    def codes(self) -> np.ndarray:
        """Which of them each cell has."""
        return self._encoded[1]

    @cached_property
    def counts(self) -> np.ndarray:
        """How many cells each of them has."""
        return np.bincount(self.codes, minlength=len(self.distinct))

    @cached_property
    def known(self) -> np.ndarray:
        """Which of the distinct texts say something, that is: are no words for an empty cell."""
        return ~_as_bool(pc.is_in(pc.utf8_lower(self.distinct), pa.array(MISSING, _TEXT)))

    @cached_property
    def filled(self) -> np.ndarray:
        """Which of the distinct texts are not empty; in texts and tags every word is one."""
        return _as_bool(pc.not_equal(self.distinct, ""))

    @cached_property
    def listing(self) -> np.ndarray:
        """Which of the distinct texts may be lists of tags: all but signs for an empty cell."""
        return ~_as_bool(pc.is_in(pc.utf8_lower(self.distinct), pa.array(SIGNS, _TEXT)))

    def example(self, chosen: np.ndarray) -> str:
        """A short sample of the distinct texts chosen."""
        places = np.flatnonzero(chosen)
        return str(self.distinct[int(places[0])].as_py())[:40] if len(places) else ""


def spread(per_distinct: sp.csr_array, codes: np.ndarray) -> sp.csr_array:
    """From a row for each distinct cell to a row for each cell.

    Examples
    --------
    >>> spread(sp.csr_array([[1.0, 0.0], [0.0, 2.0]]), np.array([1, 0, 1])).toarray().tolist()
    [[0.0, 2.0], [1.0, 0.0], [0.0, 2.0]]
    """
    sizes = np.diff(per_distinct.indptr)[codes]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    starts = np.repeat(per_distinct.indptr[codes] - indptr[:-1], sizes)
    places = starts + np.arange(indptr[-1])
    shape = (len(codes), per_distinct.shape[1])
    return sp.csr_array((per_distinct.data[places], per_distinct.indices[places], indptr), shape=shape)


def _as_bool(mask: pa.Array) -> np.ndarray:
    return np.asarray(mask.to_numpy(zero_copy_only=False), dtype=bool)
