"""The column of a table that holds classes: one in each cell, or several."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coembed.errors import InputError
from coembed.network.columns import Cells, find_kind
from coembed.network.columns.categories import sorted_texts
from coembed.network.columns.tags import SEPARATORS, cell_groups, separator_of, split_cells
from coembed.network.items import UNKNOWN, Labels

MOST_CLASSES = 1_000
MOST_CELLS = 500_000_000
"""Items x classes up to which each item may have several: a byte each."""
DOUBT = "?"
"""Before a class of several: it is not known whether the item has it."""


def has_several(cells: Cells) -> bool:
    """Whether cells hold several classes each: as tags do; or some are parted by ; or | and share classes.

    Examples
    --------
    >>> has_several(Cells.of("topic", ["a|b", "a", "b"])), has_several(Cells.of("team", ["R|B", "Soul"]))
    (True, False)
    """
    if cells.is_list:
        return True
    kind = find_kind(cells).kind
    if kind in ("tags", "counts"):
        return True
    if kind in ("number", "date", "yes/no") or separator_of(cells) not in (";", "|"):
        return False
    tokens, owners = split_cells(cells)
    codes = pc.utf8_ltrim(tokens, DOUBT).dictionary_encode().indices.to_numpy(zero_copy_only=False)
    parted = np.bincount(owners, minlength=len(cells.distinct)) > 1
    listed = np.unique(codes[parted[owners]])
    shared = np.bincount(codes)[listed] > 1
    return bool(len(listed)) and bool(shared.mean() >= 0.5)


def read_labels(cells: Cells, where: str, several: bool, classes: Sequence[str] | None = None) -> Labels:
    """The classes of items; where several are in a cell, each class is known as yes or no, item by item.

    Parameters
    ----------
    where
        What to call the column in messages.
    classes
        All classes in order, where the cells alone would not tell.

    Examples
    --------
    >>> read_labels(Cells.of("job", ["cook", "", "smith"]), "job", several=False).values
    array([ 0, -1,  1])
    >>> frames = read_labels(Cells.of("frames", ["8;26", "", ";", "26;?8"]), "frames", several=True)
    >>> list(frames.classes), frames.values.tolist()
    (['8', '26'], [[1, 1], [-1, -1], [0, 0], [-1, 1]])
    """
    found = _several(cells, classes) if several else _one(cells, classes)
    names, values = found
    if len(names) > MOST_CLASSES:
        raise InputError(f"{where} has {len(names):,} classes; choose one with at most {MOST_CLASSES:,}")
    strange = set() if classes is None else set(names) - set(classes)
    if strange:
        raise InputError(f"{where} holds {min(strange)!r}, which is none of the classes of the schema")
    if several:
        if values.size > MOST_CELLS:
            raise InputError(
                f"{where} has {values.shape[1]:,} classes of {values.shape[0]:,} items: too many"
            )
        return Labels.of_several(values, names, cells.name)
    return Labels.build(values, names, cells.name)


def _one(cells: Cells, given: Sequence[str] | None) -> tuple[list[str], np.ndarray]:
    known = cells.known.copy()
    if given is not None:
        known |= np.asarray(pc.is_in(cells.distinct, pa.array(given, pa.large_string())), dtype=bool)
    texts = cells.distinct.filter(pa.array(known))
    if given is None and pc.all(pc.match_substring_regex(texts, r"^-?\d+$")).as_py():
        # -1 is how integers say unknown
        known &= np.asarray(pc.not_equal(cells.distinct, "-1"), dtype=bool)
    names = sorted_texts(cells.distinct.filter(pa.array(known)))
    if given is not None and set(names) <= set(given):
        names = list(given)
    places = pc.index_in(cells.distinct, pa.array(names, pa.large_string())).fill_null(UNKNOWN)
    values = np.where(known, places.to_numpy(zero_copy_only=False), UNKNOWN)[cells.codes]
    return names, values.astype(np.int64)


def _several(cells: Cells, given: Sequence[str] | None) -> tuple[list[str], np.ndarray]:
    tokens, owners = split_cells(cells)
    doubtful = pc.and_(pc.starts_with(tokens, DOUBT), pc.not_equal(tokens, DOUBT))
    bare = pc.if_else(doubtful, pc.utf8_slice_codeunits(tokens, 1), tokens)
    names = sorted_texts(bare.unique())
    if given is not None and set(names) <= set(given):
        names = list(given)
    codes, groups = cell_groups(cells)
    values = np.zeros((len(groups), len(names)), dtype=np.int8)
    places = pc.index_in(bare, pa.array(names, pa.large_string())).to_numpy(zero_copy_only=False)
    values[owners, places] = np.where(doubtful.to_numpy(zero_copy_only=False), UNKNOWN, 1)
    values[np.asarray(cells.array.is_null(), dtype=bool) if cells.is_list else ~cells.listing] = UNKNOWN
    return names, values[codes]


def label_cells(labels: Labels) -> pa.Array | None:
    """Labels of several classes as the cells of a table; None where the names of classes forbid it."""
    names = [str(name) for name in labels.classes]
    if any(name.startswith(DOUBT) or separator in name for name in names for separator in SEPARATORS):
        return None
    return labels.texts(np.arange(len(labels.values)), DOUBT)
