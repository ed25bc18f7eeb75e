"""Where the time of a fit of the default goes: CPU seconds of its stages.

    OMP_NUM_THREADS=1 python benchmarks/fit_stages.py --data DIR --network NAME [--task attributes] [--seed 0]
        [--set KEY=VALUE ...] [--json]

Strict protocol, a tenth of the labels known, as `default_fits.py`. A stage holds those that are indented
below it.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from coembed.evaluation import run_trial
from coembed.experiments.benchmark_networks import open_network

# of each module of `coembed.training`, functions that it calls by these names
STAGES = {
    "fit": (
        *("look_at", "training_views", "call_ensemble", "train", "validation_figures", "with_cell_models"),
        *("with_way_models", "with_pair_scores", "with_common_space", "with_pair_doubt"),
    ),
    "label_ensemble": ("discriminators", "linear", "trees", "spreading"),
    "pair_score_weights": ("item_vectors", "weigh", "ordering"),
    "common_space": ("neighbours_wanted", "taught_directions", "leaning", "with_code_questions"),
}


class Stages:
    """Seconds of every stage, by its way from the fit."""

    def __init__(self) -> None:
        self.seconds: dict[tuple[str, ...], float] = {}
        self.way: tuple[str, ...] = ()

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def timed(*given: Any, **named: Any) -> Any:
            above, self.way = self.way, (*self.way, name)
            self.seconds.setdefault(self.way, 0.0)
            start = time.process_time()
            try:
                return function(*given, **named)
            finally:
                self.seconds[self.way] += time.process_time() - start
                self.way = above

        return timed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path())
    parser.add_argument("--network", default="wordnet-demo")
    parser.add_argument("--task", default="attributes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", nargs="*", default=[])
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    network, stages = open_network(given.network, given.data), Stages()
    for module_name, names in STAGES.items():
        module = importlib.import_module(f"coembed.training.{module_name}")
        for name in names:
            setattr(module, name, stages.timed(name, getattr(module, name)))
    trial = stages.timed("a fit and its figures", run_trial)
    trial(network, given.task, "scan", given.seed, preset="best", labels=0.1, changes=given.set)
    if given.json:
        print(json.dumps({"/".join(way): round(spent, 2) for way, spent in stages.seconds.items()}))
        return
    for way, spent in stages.seconds.items():
        print(f"{spent:8.2f}  {'  ' * (len(way) - 1)}{way[-1]}")


if __name__ == "__main__":
    main()
