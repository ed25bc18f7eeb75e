"""Colours and marks of the classes, the same on the page and in the pictures."""

from __future__ import annotations

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8A500", "#6A6A6A")
"""Okabe and Ito's colours, told apart by nearly every eye; the yellow darker, to be seen on white."""

MARKS = ("circle", "square", "triangle", "diamond", "wedge", "plus")
"""A second round of classes takes the same colours and another mark."""


def class_mark(k: int) -> tuple[str, str]:
    """Colour and mark of the k-th class.

    Examples
    --------
    >>> class_mark(0), class_mark(9)
    (('#0072B2', 'circle'), ('#E69F00', 'square'))
    """
    return COLOURS[k % len(COLOURS)], MARKS[k // len(COLOURS) % len(MARKS)]
