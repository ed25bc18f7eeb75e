"""Requests and how long they took, counted by address, and told in the text format of Prometheus.

Workers count in rows of one shared table, so that whichever of them is asked tells of all.
"""

from __future__ import annotations

import multiprocessing
from bisect import bisect_left
from multiprocessing.sharedctypes import RawArray, RawValue
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from coembed.version import __version__

if TYPE_CHECKING:
    from coembed.explorer.model_loading import Loaded

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""Seconds up to which an answer counts; the last bucket holds the rest."""
_CLASSES = ("2xx", "3xx", "4xx", "5xx")
_SECONDS = len(_CLASSES) + len(BUCKETS) + 1
_WIDTH, _MOST_PATHS, _MOST_WORKERS = _SECONDS + 1, 64, 64


class SharedCounts:
    """Room for the counts of several workers; made once, before they start, and handed to each."""

    def __init__(self) -> None:
        self.cells = RawArray("d", _MOST_WORKERS * _MOST_PATHS * _WIDTH)
        self.taken = RawValue("i", 0)
        self.lock = multiprocessing.get_context("spawn").Lock()

    def next_row(self) -> int:
        """A row of its own for a worker; one that is started again leaves what was counted before."""
        with self.lock:
            row = self.taken.value % _MOST_WORKERS
            self.taken.value += 1
        return row


class RequestCounts:
    """Of every address its answers by class of status, and how many came within how many seconds."""

    def __init__(self, paths: list[str], shared: SharedCounts | None = None) -> None:
        self.paths = [*paths[: _MOST_PATHS - 1], "other"]
        self.places = {path: i for i, path in enumerate(self.paths)}
        cells = np.zeros(_MOST_WORKERS * _MOST_PATHS * _WIDTH) if shared is None else shared.cells
        self.table = np.frombuffer(cells, np.float64).reshape(_MOST_WORKERS, _MOST_PATHS, _WIDTH)
        self.own = self.table[0 if shared is None else shared.next_row()]
        self.lock = Lock()

    def add(self, path: str, status: int, seconds: float) -> None:
        row = self.own[self.places.get(path, len(self.paths) - 1)]
        with self.lock:
            row[min(max(status // 100, 2), 5) - 2] += 1
            row[len(_CLASSES) + bisect_left(BUCKETS, seconds)] += 1
            row[_SECONDS] += seconds

    def in_prometheus(self, loaded: Loaded) -> str:
        """All that there is to tell, a line each."""
        total = self.table.sum(axis=0)
        lines = [
            "# HELP coembed_requests_total Answers by address and class of status.",
            "# TYPE coembed_requests_total counter",
        ]
        asked = [(path, row) for path, row in zip(self.paths, total, strict=False) if row.any()]
        for path, row in asked:
            lines += [
                f'coembed_requests_total{{path="{path}",status="{status}"}} {count:.0f}'
                for status, count in zip(_CLASSES, row, strict=False)
                if count
            ]
        lines += [
            "# HELP coembed_request_seconds How long answers took.",
            "# TYPE coembed_request_seconds histogram",
        ]
        for path, row in asked:
            within = np.cumsum(row[len(_CLASSES) : _SECONDS])
            lines += [
                f'coembed_request_seconds_bucket{{path="{path}",le="{edge}"}} {count:.0f}'
                for edge, count in zip([*map(str, BUCKETS), "+Inf"], within, strict=True)
            ]
            lines.append(f'coembed_request_seconds_sum{{path="{path}"}} {row[_SECONDS]:.6f}')
            lines.append(f'coembed_request_seconds_count{{path="{path}"}} {within[-1]:.0f}')
        lines += [
            "# HELP coembed_ready Whether the model answers.",
            "# TYPE coembed_ready gauge",
            f"coembed_ready {int(loaded.ready)}",
            "# HELP coembed_model_loads_total How often this worker loaded a model.",
            "# TYPE coembed_model_loads_total counter",
            f"coembed_model_loads_total {loaded.loads}",
            "# HELP coembed_build_info The version that answers.",
            "# TYPE coembed_build_info gauge",
            f'coembed_build_info{{version="{__version__}"}} 1',
        ]
        return "\n".join(lines) + "\n"
