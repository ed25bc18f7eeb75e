"""Many items in few letters: a bit each, in base64."""

from __future__ import annotations

import base64

import numpy as np


def to_bits(rows: np.ndarray, count: int) -> str:
    """Which of all items, a bit each, the first in the lowest bit.

    Examples
    --------
    >>> to_bits(np.array([0, 9]), 12)
    'AQI='
    """
    mask = np.zeros(count, dtype=bool)
    mask[rows] = True
    return base64.b64encode(np.packbits(mask, bitorder="little").tobytes()).decode()
