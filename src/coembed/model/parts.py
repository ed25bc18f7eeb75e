"""Rows of very many items, part by part: what is worked out for a part is forgotten before the next."""

from __future__ import annotations

from collections.abc import Callable

from coembed.model.inference import Evidence

WHOLE = 65_536
"""Items up to which all are taken at once."""
PART = 8192
"""Items of a part: large enough for long products, small enough for the processor's cache."""


def row_parts(n_items: int) -> list[slice]:
    """The parts of so many rows.

    Examples
    --------
    >>> row_parts(100), len(row_parts(1_000_000))
    ([slice(0, 100, None)], 123)
    """
    if n_items <= WHOLE:
        return [slice(0, n_items)]
    return [slice(start, min(start + PART, n_items)) for start in range(0, n_items, PART)]


def read_whole(evidence: Evidence) -> Callable[[int], Evidence]:
    """A reader of parts for a network that cannot work by parts."""
    output = evidence.output.split(PART)
    logits = None if evidence.label_logits is None else evidence.label_logits.split(PART)
    return lambda place: Evidence(output[place], None if logits is None else logits[place])
