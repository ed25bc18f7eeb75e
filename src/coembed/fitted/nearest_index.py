"""An index of directions: the items nearest to one, among a million, in a millisecond.

Up to ``EXACT_ITEMS`` items every question compares with all of them. Beyond, an approximate index (an
inverted file, by faiss of the extra ``coembed[large]``: items lie in lists around centres, and a question
looks into those nearest to it) proposes candidates, which are then compared exactly: an answer can miss an
item, but its scores and their order are right. How many of the true nearest are found is measured when the
index is built, and kept beside it. Without faiss all items are compared, block by block.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from coembed.errors import one_line
from coembed.files import put_in_place
from coembed.fitted.moments import unit_length
from coembed.progress import Tell

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted

EXACT_ITEMS = 200_000
"""Items of a kind up to which all are compared."""
MEASURED = 200
"""Questions from which the recall is estimated."""

_BLOCK = 65_536
_FORMAT, _VERSION = "coembed index", 2
# usearch was the library of version 1
_FILE = re.compile(r"\.?index-(node|attribute|t[0-9]+)-[0-9a-f]{8}\.(faiss|usearch|json|tmp)")
# 2 sqrt(N) lists of which 128 are looked into: of a million nodes every 16th is compared, in 7 ms. One byte a
# coordinate is enough to find candidates, which are compared exactly.
_LISTS, _PROBES, _LEARNT_FROM = 2, 128, 64


@dataclass(frozen=True, eq=False)
class ItemIndex:
    """Candidates for the nearest items of a kind.

    Attributes
    ----------
    recall
        Share of the true ten nearest that answers hold, in `asked` random questions.
    """

    kind: str
    recall: float
    asked: int
    searcher: Any

    def candidates(self, direction: np.ndarray, count: int) -> np.ndarray:
        """Positions of about the `count` items nearest to a direction."""
        found: np.ndarray = self.searcher.search(np.asarray(direction, np.float32)[None], count)[1][0]
        return found[found >= 0]

    def note(self) -> str:
        """What to tell with an answer."""
        return (
            f"approximate: in {self.asked} questions the index found {self.recall:.1%} of the ten nearest "
            f"{self.kind}s"
        )


_PLACES: WeakKeyDictionary[Fitted, dict[str, Any]] = WeakKeyDictionary()
"""Where the indexes of a loaded result lie, and those already opened."""


def item_count(fitted: Fitted, kind: str) -> int:
    return len(fitted.network.items(kind))


def shortlist(fitted: Fitted, kind: str, direction: np.ndarray, count: int) -> np.ndarray:
    """Positions that hold the `count` items nearest to a direction: nearly all with an index, else surely."""
    index = index_of(fitted, kind)
    if index is not None:
        return index.candidates(direction, min(_proposals(count), item_count(fitted, kind)))
    return nearest_exactly(fitted, kind, direction[None], count)[0]


def nearest_exactly(fitted: Fitted, kind: str, directions: np.ndarray, count: int) -> np.ndarray:
    """The `count` nearest items of each direction, by comparing with all, block by block."""
    best: np.ndarray = np.empty((len(directions), 0), dtype=np.int64)
    scores: np.ndarray = np.empty((len(directions), 0), dtype=np.float32)
    for rows, units in _blocks(fitted, kind):
        best = np.hstack([best, np.broadcast_to(rows, (len(directions), len(rows)))])
        scores = np.hstack([scores, directions @ units.T])
        if best.shape[1] > count:
            kept = np.argpartition(-scores, count - 1, axis=1)[:, :count]
            best, scores = (np.take_along_axis(each, kept, axis=1) for each in (best, scores))
    return np.take_along_axis(best, np.argsort(-scores, axis=1, kind="stable"), axis=1)


def build_index(fitted: Fitted, folder: Path, key: str, progress: Tell | None = None) -> dict[str, ItemIndex]:
    """Build the indexes that a result needs and keep them in its folder; `key` ties them to its arrays."""
    if find_spec("faiss") is None:
        return {}
    needed = [kind for kind in fitted.network.types if item_count(fitted, kind) > EXACT_ITEMS]
    built: dict[str, ItemIndex] = {
        kind: _build(fitted, kind, folder, key, progress or (lambda step: None)) for kind in needed
    }
    if built:
        _PLACES[fitted] = {"folder": folder, "key": key, **built}
    return built


def attach_index(fitted: Fitted, folder: Path, key: str) -> None:
    """Remember where the indexes of a loaded result lie; they are opened when first needed."""
    _PLACES[fitted] = {"folder": folder, "key": key}


def index_of(fitted: Fitted, kind: str) -> ItemIndex | None:
    """The index of a kind; None where all items are compared."""
    if item_count(fitted, kind) <= EXACT_ITEMS or fitted not in _PLACES:
        return None
    known = _PLACES[fitted]
    if kind not in known:
        known[kind] = _open(fitted, kind, known["folder"], known["key"])
    found: ItemIndex | None = known[kind]
    return found


def is_index_file(name: str) -> bool:
    """Whether a file of a model's folder is an index, and may be removed with its model.

    Examples
    --------
    >>> is_index_file("index-node-0123abcd.usearch"), is_index_file("index.html")
    (True, False)
    """
    return _FILE.fullmatch(name) is not None


def _build(fitted: Fitted, kind: str, folder: Path, key: str, say: Tell) -> ItemIndex:
    import faiss

    start = time.perf_counter()
    dim, count = fitted.code_dim, item_count(fitted, kind)
    n_lists = min(round(_LISTS * count**0.5), count)
    searcher = faiss.IndexIVFScalarQuantizer(
        faiss.IndexFlatIP(dim), dim, n_lists, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT
    )
    searcher.cp.niter, searcher.cp.min_points_per_centroid, searcher.cp.seed = 8, 1, 0
    say(f"indexing {kind}s: {n_lists:,} centres")
    some = np.random.default_rng(0).choice(count, min(count, _LEARNT_FROM * n_lists), replace=False)
    searcher.train(unit_length(fitted.codes_at(kind, np.sort(some)).mean).astype(np.float32))
    searcher.nprobe = _PROBES
    for _, units in _blocks(fitted, kind):
        searcher.add(units)
        say(f"indexing {kind}s: {searcher.ntotal:,} of {count:,}")
    recall, asked = _recall(fitted, kind, searcher)
    path = _path(fitted, folder, kind, key)
    sibling = path.with_name(f".{path.stem}.tmp")
    record = {
        "format": _FORMAT,
        "version": _VERSION,
        "items": count,
        "dim": dim,
        "recall_at_10": recall,
        "asked": asked,
        "seconds": round(time.perf_counter() - start, 1),
    }
    try:
        faiss.write_index(searcher, str(sibling))
        record["bytes"] = sibling.stat().st_size
        put_in_place(sibling, path)
        sibling.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        put_in_place(sibling, path.with_suffix(".json"))
    except (OSError, RuntimeError) as error:  # the model is complete without it
        say(f"the index of {kind}s could not be kept ({one_line(error, 80)}); questions compare all items")
    finally:
        sibling.unlink(missing_ok=True)
    return ItemIndex(kind, recall, asked, searcher)


def _open(fitted: Fitted, kind: str, folder: Path, key: str) -> ItemIndex | None:
    """Map a kept index into memory; None if there is none that fits, and all items are compared then."""
    path = _path(fitted, folder, kind, key)
    if find_spec("faiss") is None or not path.is_file():
        return None
    import faiss

    try:
        record = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        fits = (record["format"], record["version"], record["items"], record["dim"], record["bytes"]) == (
            _FORMAT,
            _VERSION,
            item_count(fitted, kind),
            fitted.code_dim,
            path.stat().st_size,
        )
        if not fits:
            return None
        searcher = faiss.read_index(str(path), faiss.IO_FLAG_MMAP | faiss.IO_FLAG_READ_ONLY)
        if (searcher.ntotal, searcher.d) != (record["items"], record["dim"]):
            return None
        return ItemIndex(kind, float(record["recall_at_10"]), int(record["asked"]), searcher)
    except (OSError, ValueError, KeyError, TypeError, RuntimeError):
        return None  # broken: as good as none


def _recall(fitted: Fitted, kind: str, searcher: Any) -> tuple[float, int]:
    """Share of the true ten nearest found, asking from random items of all types; and how many."""
    rng = np.random.default_rng(0)
    asked: list[np.ndarray] = []
    for other in fitted.network.types:
        count = item_count(fitted, other)
        rows = np.sort(rng.choice(count, min(count, MEASURED // len(fitted.network.types)), replace=False))
        asked.append(unit_length(fitted.codes_at(other, rows).mean))
    directions = np.vstack(asked).astype(np.float32)
    index = ItemIndex(kind, 0.0, 0, searcher)
    hits = 0
    right = nearest_exactly(fitted, kind, directions, 10)
    for direction, nearest in zip(directions, right, strict=True):
        found = index.candidates(direction, _proposals(10))
        scores = unit_length(fitted.codes_at(kind, found).mean) @ direction
        hits += len(np.intersect1d(found[np.argsort(-scores)][:10], nearest))
    return hits / right.size, len(directions)


def _blocks(fitted: Fitted, kind: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Positions and unit codes of all items, block by block."""
    count = item_count(fitted, kind)
    for start in range(0, count, _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, count))
        yield rows, unit_length(fitted.codes_at(kind, rows).mean).astype(np.float32)


def _proposals(count: int) -> int:
    """Candidates to compare: more than asked for, since one byte a coordinate blurs the order."""
    return 4 * count + 40


def _path(fitted: Fitted, folder: Path, kind: str, key: str) -> Path:
    # by place, since a type may be called anything; a plain network's have names of their own
    name = kind if fitted.network.is_plain else f"t{list(fitted.network.types).index(kind)}"
    return folder / f"index-{name}-{key.removeprefix('arrays-')[:8]}.faiss"
