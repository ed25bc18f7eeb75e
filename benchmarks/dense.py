"""What an epoch costs: ours with sampled and with exact zeros, and a plain dense implementation.

    python benchmarks/dense.py [--network PATH] [--epochs N] [--json]

The dense one is the oracle of the tests: the same loss from all N x N and N x M logits, through autograd,
with the same weights and the same optimiser. Each variant runs in a process of its own, so that its peak of
memory is its own, too; memory is that peak minus what is resident once the network and the libraries are
loaded, and time is processor time of an epoch after one to warm up.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1] / "tests"
VARIANTS = ("sampled", "exact", "dense")
THREAD_SETTINGS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def main() -> None:
    arguments = parse()
    if arguments.variant:
        print(json.dumps(measure(arguments.variant, arguments.network, arguments.epochs)))
        return
    found = {variant: in_own_process(variant, arguments) for variant in VARIANTS}
    dense = found["dense"]
    report = {
        "network": found["sampled"]["network"],
        "epochs": arguments.epochs,
        "threads": arguments.threads,
        "variants": found,
        "ratios": {
            variant: {
                "times_faster": dense["seconds"] / found[variant]["seconds"],
                "share_of_memory": found[variant]["memory_mb"] / dense["memory_mb"],
            }
            for variant in VARIANTS[:2]
        },
    }
    print(json.dumps(report, indent=2) if arguments.json else as_text(report))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", help="any file or folder that coembed reads; default: the bundled one")
    parser.add_argument("--epochs", type=int, default=5, help="epochs to average over (default 5)")
    parser.add_argument("--threads", type=int, default=1, help="threads of every variant (default 1)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--variant", choices=VARIANTS, help=argparse.SUPPRESS)
    return parser.parse_args()


def in_own_process(variant: str, arguments: argparse.Namespace) -> dict[str, Any]:
    command = [sys.executable, __file__, "--variant", variant, "--epochs", str(arguments.epochs)]
    if arguments.network:
        command += ["--network", arguments.network]
    threads = dict.fromkeys(THREAD_SETTINGS, str(arguments.threads))
    done = subprocess.run(command, env=os.environ | threads, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"the variant {variant!r} failed")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def measure(variant: str, path: str | None, epochs: int) -> dict[str, Any]:
    """Processor seconds and memory of an epoch of one variant."""
    sys.path.insert(0, str(TESTS))
    import torch
    from dense_oracle import DenseNetwork, dense_loss, relaxed_labels

    from coembed.kernels import Noise
    from coembed.model import scan
    from coembed.network import demo_network, read
    from coembed.settings import preset_settings

    network = read(path) if path else demo_network()
    all_pairs = "exact" if variant == "exact" else "sampled"
    # dropout, which costs next to nothing, is off: the dense loss has none
    settings = preset_settings("paper", all_pairs=all_pairs, dropout=0.0, encoder_dropout=0.0)
    loaded = resident_mb()
    forget_peak()

    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    model = scan(network, settings)
    if variant == "dense":
        whole = DenseNetwork.of(network, settings, torch.float32)
        noise_shapes = {name: (t.n_items, model.latent_size(name)) for name, t in model.types.items()}
    optimizer = torch.optim.Adam(model.parameters(), lr=settings.learning_rate, fused=True)

    steps = [0]

    def epoch() -> float:
        if variant == "dense":
            noise = {name: torch.randn(shape, generator=generator) for name, shape in noise_shapes.items()}
            uniform = torch.rand((network.n_nodes, network.n_classes), generator=generator)
            loss = dense_loss(model, settings, whole, noise, relaxed_labels(uniform, settings.tau))
        else:
            steps[0] += 1
            loss = model(Noise(0, steps[0])).total
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return float(loss.detach())

    epoch()
    start = time.process_time()
    for _ in range(epochs):
        loss = epoch()
    seconds = (time.process_time() - start) / epochs
    return {
        "network": network.name,
        "seconds": seconds,
        "memory_mb": peak_mb() - loaded,
        "loaded_mb": loaded,
        "loss": loss,
    }


def resident_mb() -> float:
    return status_mb("VmRSS") or peak_mb()


def peak_mb() -> float:
    """The highest resident memory, since the peak was forgotten where the system can forget it."""
    # macOS counts bytes where others count kilobytes
    unit = 1e6 if sys.platform == "darwin" else 1024
    return status_mb("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def forget_peak() -> None:
    """Loading may have peaked higher than what it left; Linux starts to count anew on request."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def status_mb(field: str) -> float | None:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(field + ":")), None)


def as_text(report: dict[str, Any]) -> str:
    lines = [
        f"An epoch on {report['network']} (mean of {report['epochs']}, {report['threads']} thread(s))",
        "",
    ]
    lines.append(f"{'':<10}{'CPU s':>10}{'memory MB':>12}{'times faster':>15}{'of its memory':>16}")
    for variant, figures in report["variants"].items():
        line = f"{variant:<10}{figures['seconds']:>10.3f}{figures['memory_mb']:>12.0f}"
        if variant in report["ratios"]:
            ratios = report["ratios"][variant]
            line += f"{ratios['times_faster']:>14.1f}x{ratios['share_of_memory']:>16.3f}"
        lines.append(line)
    return "\n".join(lines)


if __name__ == "__main__":
    main()
