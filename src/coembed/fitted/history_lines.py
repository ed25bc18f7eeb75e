"""How a fit went, epoch by epoch, as lines of JSON that other programs follow and draw."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

FILE = "history.jsonl"
AT = "validated_at"


def history_lines(history: Mapping[str, Any]) -> Iterator[str]:
    """One line an epoch: its number and all figures that it has.

    Examples
    --------
    >>> list(history_lines({"loss": [2.0, 1.5], "validation AUC": [0.7], "validated_at": [2]}))
    ['{"epoch": 1, "loss": 2.0}', '{"epoch": 2, "loss": 1.5, "validation AUC": 0.7}']
    """
    return (json.dumps({"epoch": epoch, **figures}) for epoch, figures in epoch_figures(history))


def epoch_figures(history: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, float]]]:
    """Every epoch, from 1, with all figures that it has."""
    lists = {name: values for name, values in history.items() if name != AT and _figures(values)}
    epochs = len(lists.get("loss", ()))
    asked = {int(epoch): place for place, epoch in enumerate(history.get(AT, ()))}
    for epoch in range(1, epochs + 1):
        found = {}
        for name, values in lists.items():
            place = epoch - 1 if len(values) == epochs else asked.get(epoch)
            if place is not None and place < len(values):
                found[name] = values[place]
        yield epoch, found


def _figures(values: Any) -> bool:
    return isinstance(values, (list, tuple)) and all(isinstance(each, (int, float)) for each in values)
