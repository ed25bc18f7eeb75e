"""What tuning may try for each method: ranges around its own values, as wide as its page discusses."""

from __future__ import annotations

from typing import Any, NamedTuple


class Range(NamedTuple):
    """Numbers from low to high, on a logarithmic scale if so asked; whole ones if both ends are."""

    low: float
    high: float
    log: bool = False

    @property
    def whole(self) -> bool:
        return isinstance(self.low, int) and isinstance(self.high, int)


Space = dict[str, "Range | tuple[Any, ...]"]
"""Name of a setting to its range, or to the few values that it may have."""

_SCAN: Space = {
    "alpha": Range(3.0, 300.0, log=True),
    "beta": Range(0.1, 0.9),
    "learning_rate": Range(0.003, 0.03, log=True),
    "epochs": (100, 150, 250, 400),
}

SPACES: dict[str, Space] = {
    "scan": _SCAN,
    "can": {
        "beta": Range(0.1, 0.9),
        "kl_weight": Range(0.1, 10.0, log=True),
        "learning_rate": Range(0.003, 0.03, log=True),
        "epochs": (100, 200, 400),
    },
    "gcn": {
        "inputs": ("values", "unit", "idf"),
        "weight_decay": Range(1e-5, 1e-2, log=True),
        "dropout": Range(0.2, 0.8),
        "learning_rate": Range(0.003, 0.03, log=True),
        "epochs": (100, 200, 400),
    },
    "planetoid": {
        "context_rate": Range(0.003, 0.1, log=True),
        "vector_decay": Range(0.01, 1.0, log=True),
        "learning_rate": Range(0.003, 0.03, log=True),
        "epochs": (100, 200),
    },
    "seano": {
        "own": Range(0.3, 0.95),
        "context": Range(0.0003, 0.03, log=True),
        "label_pairs": (1000, 5000, 20000),
        "dropout": Range(0.0, 0.6),
        "learning_rate": Range(0.003, 0.03, log=True),
        "epochs": (20, 40, 80),
    },
    "graphsgan": {
        "own": Range(0.3, 0.9),
        "real": Range(0.1, 2.0, log=True),
        "sure": Range(0.1, 3.0, log=True),
        "learning_rate": Range(0.001, 0.01, log=True),
        "epochs": (100, 200, 300),
    },
    "san": {"restart": Range(0.2, 0.8), "links": Range(0.01, 1.0, log=True), "steps": (4, 8, 12)},
    "edgeexp": {
        "steep": Range(3.0, 30.0, log=True),
        "shift": Range(-4.0, 0.0),
        "rate": Range(0.1, 1.0, log=True),
        "rounds": (2, 3, 5),
    },
    "bla": {
        "rounds": (0, 1, 2, 3),
        "keep": Range(0.05, 0.5),
        "observed": Range(0.0, 0.5),
        "candidates": (10, 20, 40),
    },
}
"""By method."""
