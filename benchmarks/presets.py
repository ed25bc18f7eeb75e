"""Processor time of an epoch of `paper` and of `best`, in turn in one process.

OMP_NUM_THREADS=1 python benchmarks/presets.py NETWORK.npz ...
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from statistics import median

import numpy as np
import torch

from coembed.kernels import Noise
from coembed.model import SVAE
from coembed.model.scan import scan
from coembed.network import Network, read, split_labels
from coembed.settings import preset_settings

WARM_UP, EPOCHS = 2, 10


def model_of(network: Network, preset: str) -> SVAE:
    # what the label ensemble thinks does not change what it costs to listen to it
    opinion = np.full((network.n_nodes, network.n_classes), 1 / network.n_classes, np.float32)
    return scan(network, preset_settings(preset), opinions={network.main.name: opinion})


def seconds_of(models: dict[str, SVAE]) -> dict[str, float]:
    """The median over epochs, of each."""
    optimizers = {name: torch.optim.Adam(model.parameters(), fused=True) for name, model in models.items()}
    found: dict[str, list[float]] = {name: [] for name in models}
    for epoch in range(WARM_UP + EPOCHS):
        for name, model in models.items():
            start = time.process_time()
            loss = model(Noise(0).at(epoch))
            optimizers[name].zero_grad()
            loss.total.backward()
            optimizers[name].step()
            found[name].append(time.process_time() - start)
    return {name: median(seconds[WARM_UP:]) for name, seconds in found.items()}


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        whole = read(path)
        network = split_labels(whole, 0.1, seed=0).visible(whole)
        seconds = seconds_of({preset: model_of(network, preset) for preset in ("paper", "best")})
        ratio = seconds["best"] / seconds["paper"]
        print(f"{path.stem}: paper {seconds['paper']:.3f} s, best {seconds['best']:.3f} s, {ratio:.2f} times")
