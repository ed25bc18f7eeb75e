"""Finding names by what somebody typed so far, spelling mistakes included.

Names are cut into pairs and triples of letters, with blanks before every word; an index says which names
hold a piece. What shares most pieces with the query is looked at closely: equal, begins so, a word begins
so, contains it, is spelt like it. A hundred thousand names take some milliseconds.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

LONGEST = 120
"""Letters of a name, or of a query, that are looked at."""
_CLOSELY, _SUBSTRINGS = 80, 60
_LEAST_SHARED, _LEAST_ALIKE = 0.28, 0.62
# ASCII that parts words; other scripts and signs are letters here, so that an emoji can be found
_GAPS = re.compile(r"[\x00-\x2f:-@\[-`{-\x7f\s]+")


class Hit(NamedTuple):
    """A name found: its position among the names, and how well it fits (5 equal ... 0 barely alike)."""

    position: int
    score: float


class NameIndex:
    """An index of names; `weights` settle which of two equally fitting names comes first.

    Examples
    --------
    >>> index = NameIndex(["Denmark.n.01", "Danish.a.01", "Île-de-France"], weights=[3, 1, 2])
    >>> [hit.position for hit in index.find("denmrak")]
    [0]
    >>> [hit.position for hit in index.find("ile france")]
    [2]
    """

    def __init__(self, names: Sequence[str] | np.ndarray, weights: Sequence[float] | np.ndarray) -> None:
        self.folded = [_fold(str(name)[:LONGEST]) for name in names]
        self.texts = [_spaced(text) for text in self.folded]
        self.weights = np.asarray(weights, dtype=np.float64)
        self.pieces, self.holders, self.piece_counts = _index(self.texts)
        # one long text: searching it is quicker than searching every name
        self.joined = "\n".join(self.folded)
        self.starts = np.cumsum([0, *(len(text) + 1 for text in self.folded)])[:-1]

    def find(self, query: str, limit: int = 10, offset: int = 0) -> list[Hit]:
        """The best names for what was typed, best first."""
        text = _fold(query[:LONGEST]).strip()
        if not text:
            return []
        candidates = np.union1d(self._sharing(_spaced(text)), self._containing(text))
        words = [TypedWord(word) for word in _words(text)]
        scored = [Hit(i, self._fit(i, text, words)) for i in candidates.tolist()]
        found = [hit for hit in scored if hit.score > 0]
        found.sort(key=lambda hit: (-round(hit.score, 2), -self.weights[hit.position], hit.position))
        return found[offset : offset + limit]

    def _sharing(self, spaced: str) -> np.ndarray:
        """The names that share most pieces with the query."""
        if len(self.pieces) == 0:
            return np.empty(0, dtype=np.int64)
        # no blank at the end: the last word may be unfinished
        asked = np.unique(_pieces(_codes(spaced.rstrip()))[0])
        if not len(asked):
            return np.empty(0, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.pieces, asked), len(self.pieces) - 1)
        rows = at[self.pieces[at] == asked]
        holders = self.holders
        listed = [holders.indices[holders.indptr[r] : holders.indptr[r + 1]] for r in rows]
        if not listed:
            return np.empty(0, dtype=np.int64)
        shared = np.bincount(np.concatenate(listed), minlength=len(self.folded))
        good = np.flatnonzero(shared >= max(1, _LEAST_SHARED * len(asked)))
        # mostly how much of the query is there; a little that not much else is; the last tie by weight
        score = shared[good] / len(asked) + 0.4 * shared[good] / (len(asked) + self.piece_counts[good])
        score += 1e-6 * np.log1p(self.weights[good])
        if len(good) > _CLOSELY:
            good = good[np.argpartition(-score, _CLOSELY)[:_CLOSELY]]
        return good

    def _containing(self, text: str) -> np.ndarray:
        """Some names that contain the query as it is."""
        places: list[int] = []
        at = self.joined.find(text)
        while at >= 0 and len(places) < _SUBSTRINGS:
            places.append(at)
            # on to the next name
            at = self.joined.find("\n", at)
            at = self.joined.find(text, at) if at >= 0 else -1
        return np.searchsorted(self.starts, np.array(places, dtype=np.int64), side="right") - 1

    def _fit(self, i: int, text: str, words: list[TypedWord]) -> float:
        name = self.folded[i]
        if name == text:
            return 5.0
        # the shorter the rest of the name, the better
        tight = len(text) / (len(name) + 1)
        if name.startswith(text):
            return 4.0 + 0.9 * tight
        own = self.texts[i].split()
        if words and all(any(word.startswith(each.text) for word in own) for each in words):
            return 3.0 + 0.9 * tight
        if text in name:
            return 2.0 + 0.9 * tight
        if not words or not own:
            return 0.0
        alike = sum(max(map(each.likeness, own)) for each in words) / len(words)
        return 1.9 * (alike - _LEAST_ALIKE) / (1 - _LEAST_ALIKE) if alike > _LEAST_ALIKE else 0.0


class TypedWord:
    """A word of a query, against which those of many names are held, each word once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._matcher = SequenceMatcher(None, "", text, autojunk=False)
        self._known: dict[str, float] = {}

    def likeness(self, word: str) -> float:
        """How alike two words are; what is typed may be the beginning of the word.

        Examples
        --------
        >>> TypedWord("denmrak").likeness("denmark") > 0.8 > TypedWord("denmrak").likeness("dancer")
        True
        """
        word = word[: len(self.text) + 2]
        if word not in self._known:
            self._known[word] = self._likeness(word)
        return self._known[word]

    def _likeness(self, word: str) -> float:
        matcher = self._matcher
        matcher.set_seq1(word)
        if matcher.real_quick_ratio() <= _LEAST_ALIKE or matcher.quick_ratio() <= _LEAST_ALIKE:
            return 0.0
        return matcher.ratio()


def _fold(text: str) -> str:
    """Small letters without accents, on one line."""
    if not text.isascii():
        parts = unicodedata.normalize("NFKD", text)
        text = "".join(letter for letter in parts if not unicodedata.combining(letter))
    return text.casefold().replace("\n", " ")


def _words(text: str) -> list[str]:
    return [word for word in _GAPS.split(text) if word]


def _spaced(text: str) -> str:
    """Two blanks before every word and one behind the last."""
    return "".join(f"  {word}" for word in _words(text)) + " "


def _codes(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.int64)


def _pieces(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs and triples of neighbouring letters as numbers, and where each begins; none of blanks alone."""
    blank = ord(" ")
    pairs, at_pairs = codes[:-1] << 21 | codes[1:], np.arange(max(len(codes) - 1, 0))
    triples = codes[:-2] << 42 | codes[1:-1] << 21 | codes[2:]
    at_triples = np.arange(max(len(codes) - 2, 0))
    keep_pairs, keep_triples = codes[1:] != blank, codes[2:] != blank
    return (
        np.concatenate([pairs[keep_pairs], triples[keep_triples]]),
        np.concatenate([at_pairs[keep_pairs], at_triples[keep_triples]]),
    )


def _index(texts: list[str]) -> tuple[np.ndarray, sp.csr_array, np.ndarray]:
    """The pieces in order, a matrix of pieces by names, and how many pieces each name has."""
    owner = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    pieces, at = _pieces(_codes("".join(texts)))
    # a text begins with two blanks and ends with one: whatever crosses to the next ends in a blank or begins
    # in the blank before it, and is told by its first letter's owner being another's than its last's
    width = np.where(pieces >= 1 << 42, 2, 1)
    inside = owner[at] == owner[at + width] if len(at) else np.zeros(0, dtype=bool)
    pieces, at = pieces[inside], at[inside]
    known, row = np.unique(pieces, return_inverse=True)
    ones = np.ones(len(row), dtype=np.int32)
    holders = sp.csr_array((ones, (row, owner[at])), shape=(len(known), len(texts)))
    holders.sum_duplicates()
    counts = np.bincount(holders.indices, minlength=len(texts))
    return known, holders, counts
