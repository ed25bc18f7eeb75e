"""Who watches something long is told in one of three ways."""

from __future__ import annotations

from collections.abc import Callable

EpochProgress = Callable[[int, int, dict[str, float]], None]
"""Called after every epoch with its number (from 1), the number of epochs, and the figures so far."""

CountProgress = Callable[[int, int], None]
"""Called on the way with the number of steps done and the number of all."""

Tell = Callable[[str], None]
"""Called with a sentence, or the name of the step that begins."""
