"""Is a fit still the same fit? Losses of ten epochs and all that is kept, as hashes.

    OMP_NUM_THREADS=1 python benchmarks/hashes.py --data DIR [--write]

compares with ``benchmarks/hashes.json``, or writes it. Figures of floating point differ between machines and
versions of torch, so hashes only tell something where they were made.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import numpy as np

import coembed
from coembed.network import split_labels

RECORD = Path(__file__).with_suffix(".json")
NAMES = ("node_mean", "node_std", "probabilities", "label_shift", "attribute_mean", "attribute_std")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--presets", default="paper,best")
    options = parser.parse_args()
    found: dict[str, dict[str, str]] = {}
    for name in ("wordnet-demo", "cora", "citeseer"):
        network = coembed.read(options.data / f"{name}.npz")
        visible = split_labels(network, 0.1, seed=0).visible(network)
        for preset in options.presets.split(","):
            fitted = coembed.fit(visible, coembed.preset_settings(preset, epochs=10, seed=0), preset=preset)
            here = {"losses": _hash(np.array(fitted.history["loss"]))}
            here |= {each: _hash(getattr(fitted, each)) for each in NAMES}
            found[f"{name} {preset}"] = here
    if options.write:
        RECORD.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        return
    wanted = json.loads(RECORD.read_text(encoding="utf-8"))
    for fit, arrays in found.items():
        other = [name for name, value in arrays.items() if wanted[fit][name] != value]
        print(f"{fit}: {'as it was' if not other else 'other ' + ', '.join(other)}")


def _hash(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


if __name__ == "__main__":
    main()
