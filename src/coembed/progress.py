"""How those who watch something long are told about it."""

from __future__ import annotations

from collections.abc import Callable

EpochProgress = Callable[[int, int, dict[str, float]], None]
"""Called after every epoch with its number (from 1), the number of epochs, and the figures so far."""

LOSS_PARTS = ("links", "attributes", "kl", "label", "classification")
"""Figures of an epoch that add up to its loss, in the order in which they are shown."""

CountProgress = Callable[[int, int], None]
"""Called on the way with the number of steps done and the number of all."""

Tell = Callable[[str], None]
"""Called with a sentence, or the name of the step that begins."""
