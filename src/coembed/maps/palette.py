"""Colours and marks of the classes, the same on the page and in the pictures."""

from __future__ import annotations

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8A500", "#6A6A6A")
"""Okabe and Ito's colours, told apart by nearly every eye; the yellow darker, to be seen on white."""

MARKS = ("circle", "square", "triangle", "diamond", "wedge", "plus")
"""A second round of classes takes darker colours and another mark, a third lighter ones and the next mark."""

_SHADES = ((0, 0.0), (0, 0.45), (255, 0.42))
"""Towards what, and how far, the colours of a round are moved."""


def class_mark(k: int) -> tuple[str, str]:
    """Colour and mark of the k-th class: no two of 144 have both alike, no two of 24 the colour.

    Examples
    --------
    >>> class_mark(0), class_mark(8)
    (('#0072B2', 'circle'), ('#003F62', 'square'))
    """
    turn, place = divmod(k, len(COLOURS))
    towards, share = _SHADES[(turn + turn // len(MARKS)) % len(_SHADES)]
    own = (int(COLOURS[place][at : at + 2], 16) for at in (1, 3, 5))
    moved = "".join(f"{round(value + share * (towards - value)):02X}" for value in own)
    return f"#{moved}", MARKS[turn % len(MARKS)]
